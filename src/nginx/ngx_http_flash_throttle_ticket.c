
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_request.h"
#include "ngx_http_flash_throttle_ticket.h"
#include "ft.h"
#include "ft_cookie.h"

#include <openssl/rand.h>


/*
 * Cookies of the name that are verified at most: more than fit into a line of
 * 8k, so that other cookies of the site cannot hide the ticket.
 */
#define NGX_HTTP_FLASH_THROTTLE_TICKET_TRIES  128


static void ngx_http_flash_throttle_ticket_read_cookie(ngx_str_t *header,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms,
    ngx_uint_t *tries);
static void ngx_http_flash_throttle_ticket_read(const char *text, size_t len,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms);
static ngx_uint_t ngx_http_flash_throttle_ticket_is_better(
    const ft_ticket_t *ticket, const ft_ticket_t *best);
static uint64_t ngx_http_flash_throttle_ticket_id(void);


void
ngx_http_flash_throttle_ticket_find(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_request_t *request, uint64_t now_ms)
{
    ngx_uint_t                            tries;
    ngx_table_elt_t                      *h;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    tries = NGX_HTTP_FLASH_THROTTLE_TICKET_TRIES;

    while ((h = ngx_http_flash_throttle_request_next(&request->cookie,
                                                     "cookie")))
    {
        ngx_http_flash_throttle_ticket_read_cookie(&h->value, ctx, ftmf->ring,
                                                   now_ms, &tries);
    }

    if (request->ticket) {
        ngx_http_flash_throttle_ticket_read((char *) request->ticket->data,
                                            request->ticket->len, ctx,
                                            ftmf->ring, now_ms);
    }
}


static void
ngx_http_flash_throttle_ticket_read_cookie(ngx_str_t *header,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms,
    ngx_uint_t *tries)
{
    ngx_str_t         *name;
    ft_cookie_text_t   rest, value;

    name = &ctx->conf->set_name;

    rest.data = (char *) header->data;
    rest.len = header->len;

    /* set_name ends with "=" */

    while (*tries && ft_cookie_next(&rest, (char *) name->data, name->len - 1,
                                    &value))
    {
        if (ft_ticket_possible(ring, value.data, value.len)) {
            ngx_http_flash_throttle_ticket_read(value.data, value.len, ctx,
                                                ring, now_ms);
            (*tries)--;
        }
    }
}


static void
ngx_http_flash_throttle_ticket_read(const char *text, size_t len,
    ngx_http_flash_throttle_ctx_t *ctx, ft_keyring_t *ring, uint64_t now_ms)
{
    ft_ticket_t  ticket;

    if (!ft_ticket_verify(ring, &ctx->context, text, len, &ticket)
        || (!ft_ticket_usable(&ticket, now_ms)
            && !ft_ticket_awaits(&ticket, ctx->conf->rules->opens_ms, now_ms)))
    {
        return;
    }

    if (ngx_http_flash_throttle_ticket_is_better(&ticket, &ctx->ticket)) {
        ctx->ticket = ticket;
        ctx->text = (u_char *) text;
    }
}


/*
 * A pass, otherwise the earliest timestamp; of equal timestamps the ticket that
 * was issued last, which is the one in the census.
 */

static ngx_uint_t
ngx_http_flash_throttle_ticket_is_better(const ft_ticket_t *ticket,
    const ft_ticket_t *best)
{
    if (best->kind == 0) {
        return 1;
    }

    if (ticket->kind != best->kind) {
        return ticket->kind == FT_TICKET_PASS;
    }

    if (ticket->first_ms != best->first_ms) {
        return ticket->first_ms < best->first_ms;
    }

    return ticket->seen_ms > best->seen_ms;
}


void
ngx_http_flash_throttle_ticket_new(ngx_http_flash_throttle_ctx_t *ctx,
    uint64_t now_ms)
{
    ngx_memzero(&ctx->ticket, sizeof(ft_ticket_t));

    ctx->fresh = 1;
    ctx->ticket.id = ngx_http_flash_throttle_ticket_id();
    ctx->ticket.first_ms = now_ms;
}


/*
 * Ids are unique over all workers and restarts.  They need not be secret: the
 * ticket is signed.
 */

static uint64_t
ngx_http_flash_throttle_ticket_id(void)
{
    static uint64_t   count;
    static ngx_pid_t  pid;

    if (pid != ngx_pid) {

        if (RAND_bytes((u_char *) &count, sizeof(count)) != 1) {
            count = (uint64_t) ngx_random() << 32 ^ ngx_random();
        }

        pid = ngx_pid;
    }

    count += UINT64_C(0x9e3779b97f4a7c15);

    return ft_mix(count);
}


ngx_int_t
ngx_http_flash_throttle_ticket_shuffle(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    uint64_t                              opens_ms;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    opens_ms = ctx->conf->rules->opens_ms;

    if (ctx->ticket.first_ms >= opens_ms) {
        return NGX_OK;
    }

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    ctx->ticket.shuffle = ft_ticket_shuffle(ftmf->ring, &ctx->context,
                                            opens_ms, ctx->ticket.id);

    /* without this check the ticket would be the first in line */

    if (ctx->ticket.shuffle == 0) {
        ngx_log_error(NGX_LOG_CRIT, r->connection->log, 0,
                      "ft_ticket_shuffle() failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_ticket_sign(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    if (!ft_ticket_sign(ftmf->ring, &ctx->context, &ctx->ticket,
                        (char *) text))
    {
        ngx_log_error(NGX_LOG_CRIT, r->connection->log, 0,
                      "ft_ticket_sign() failed");
        return NGX_ERROR;
    }

    return NGX_OK;
}
