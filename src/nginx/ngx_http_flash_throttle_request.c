
/*
 * Copyright (C) flash_throttle contributors
 *
 * What a request brings: its ticket, in a cookie or a header; whether it polls;
 * what it would like to be answered with.
 */


#include "ngx_http_flash_throttle.h"
#include "ft_accept.h"
#include "ft_cookie.h"


static void ngx_http_flash_throttle_note(ngx_table_elt_t *h,
    ngx_list_part_t *part, ngx_uint_t i,
    ngx_http_flash_throttle_brought_t *brought);
static ngx_table_elt_t *ngx_http_flash_throttle_next_line(
    ngx_http_flash_throttle_lines_t *lines, const char *name);
static void ngx_http_flash_throttle_read_cookie(ngx_str_t *header,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms,
    ngx_uint_t *tries);
static void ngx_http_flash_throttle_try(const char *text, size_t len,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms);


#define ngx_http_flash_throttle_is(h, name)                                   \
    (ngx_memcmp((h)->lowcase_key, name, sizeof(name) - 1) == 0)


/*
 * In the list of all headers rather than where nginx keeps those that it knows,
 * which differs between versions; and once, since a browser sends many.
 */

void
ngx_http_flash_throttle_look(ngx_http_request_t *r,
    ngx_http_flash_throttle_brought_t *brought)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    ngx_memzero(brought, sizeof(ngx_http_flash_throttle_brought_t));

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            ngx_http_flash_throttle_note(&h[i], part, i, brought);
        }
    }
}


static void
ngx_http_flash_throttle_note(ngx_table_elt_t *h, ngx_list_part_t *part,
    ngx_uint_t i, ngx_http_flash_throttle_brought_t *brought)
{
    ngx_http_flash_throttle_lines_t  *lines;

    switch (h->key.len) {

    case sizeof("cookie") - 1:

        if (ngx_http_flash_throttle_is(h, "cookie")) {
            lines = &brought->cookies;

        } else if (ngx_http_flash_throttle_is(h, "accept")) {
            lines = &brought->accepts;

        } else {
            break;
        }

        if (lines->n++ == 0) {
            lines->part = part;
            lines->i = i;
        }

        break;

    case sizeof("flash-throttle-poll") - 1:

        if (ngx_http_flash_throttle_is(h, "flash-throttle-poll")) {
            brought->poll = (h->value.len == 1 && h->value.data[0] == '1');
        }

        break;

    case sizeof("flash-throttle-ticket") - 1:

        if (ngx_http_flash_throttle_is(h, "flash-throttle-ticket")) {
            brought->ticket = &h->value;
        }

        break;

    case sizeof("access-control-request-method") - 1:

        if (ngx_http_flash_throttle_is(h, "access-control-request-method")) {
            brought->preflight = 1;
        }

        break;

    default:
        break;
    }
}


/* The next of the lines that were noted, NULL behind the last. */

static ngx_table_elt_t *
ngx_http_flash_throttle_next_line(ngx_http_flash_throttle_lines_t *lines,
    const char *name)
{
    ngx_table_elt_t  *h;

    while (lines->n) {

        if (lines->i == lines->part->nelts) {
            lines->part = lines->part->next;
            lines->i = 0;
            continue;
        }

        h = lines->part->elts;
        h += lines->i++;

        if (h->key.len == ngx_strlen(name)
            && ngx_strncmp(h->lowcase_key, name, h->key.len) == 0)
        {
            lines->n--;
            return h;
        }
    }

    return NULL;
}


/*
 * Of the usable ones a pass wins, then the ticket with the earliest stamp: the
 * shopper's best place, whoever else sets cookies of that name.  Of one stamp it is
 * the last that was given: the one that is counted.
 */

static void
ngx_http_flash_throttle_try(const char *text, size_t len,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms)
{
    ft_ticket_t   ticket, *best;

    best = &ctx->ticket;

    if (!ft_ticket_verify(ring, &ctx->context, text, len, &ticket)
        || (!ft_ticket_usable(&ticket, now_ms)
            && !ft_ticket_awaits(&ticket, ctx->conf->opens, now_ms)))
    {
        return;
    }

    if (best->kind == 0
        || (ticket.kind == FT_TICKET_PASS && best->kind != FT_TICKET_PASS)
        || (ticket.kind == best->kind
            && (ticket.first_ms < best->first_ms
                || (ticket.first_ms == best->first_ms
                    && ticket.seen_ms > best->seen_ms))))
    {
        *best = ticket;
        ctx->text = (u_char *) text;
    }
}


static void
ngx_http_flash_throttle_read_cookie(ngx_str_t *header,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms,
    ngx_uint_t *tries)
{
    ft_cookie_text_t   rest, value;
    ngx_str_t  *name;

    name = &ctx->conf->set_name;

    rest.data = (char *) header->data;
    rest.len = header->len;

    /* set_name ends with the "=" */

    while (*tries && ft_cookie_next(&rest, (char *) name->data, name->len - 1,
                                    &value))
    {
        if (ft_ticket_possible(ring, value.data, value.len)) {
            ngx_http_flash_throttle_try(value.data, value.len, ctx, ring,
                                        now_ms);
            (*tries)--;
        }
    }
}


void
ngx_http_flash_throttle_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_brought_t *brought, uint64_t now_ms)
{
    ngx_uint_t                            tries;
    ngx_table_elt_t                      *h;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    tries = NGX_HTTP_FLASH_THROTTLE_TRIES;

    while ((h = ngx_http_flash_throttle_next_line(&brought->cookies,
                                                  "cookie")))
    {
        ngx_http_flash_throttle_read_cookie(&h->value, ctx, ftmf->ring, now_ms,
                                            &tries);
    }

    if (brought->ticket) {
        ngx_http_flash_throttle_try((char *) brought->ticket->data,
                                    brought->ticket->len, ctx, ftmf->ring,
                                    now_ms);
    }
}


void
ngx_http_flash_throttle_draw(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    uint64_t                              opens_ms;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    opens_ms = ctx->conf->opens;

    if (ctx->ticket.first_ms >= opens_ms) {
        return;
    }

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    ctx->ticket.shuffle = ft_ticket_shuffle(ftmf->ring, &ctx->context, opens_ms,
                                      ctx->ticket.id);
}


ngx_uint_t
ngx_http_flash_throttle_wants_json(ngx_http_flash_throttle_brought_t *brought)
{
    ft_accept_t       accept;
    ngx_table_elt_t  *h;

    if (brought->accepts.n == 0) {
        return 0;
    }

    ngx_memzero(&accept, sizeof(ft_accept_t));

    while ((h = ngx_http_flash_throttle_next_line(&brought->accepts,
                                                  "accept")))
    {
        ft_accept_read(&accept, (char *) h->value.data, h->value.len);
    }

    return ft_accept_json(&accept);
}
