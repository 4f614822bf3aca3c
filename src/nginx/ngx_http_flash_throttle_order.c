
/*
 * Copyright (C) flash_throttle contributors
 *
 * An operator's order: what it says, and what came of it.  Which key it is for
 * is found in ngx_http_flash_throttle_order_for.c.
 */


#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_order.h"
#include "ngx_http_flash_throttle_status.h"


/* an answer's text but for names, each of which may be escaped */
#define NGX_HTTP_FLASH_THROTTLE_ANSWER_LEN                                    \
    (1024 + 16 * NGX_INT64_LEN)

#define NGX_HTTP_FLASH_THROTTLE_COMMANDS                                      \
    "\"rate\", \"hold\", \"open\", \"sold-out\", \"resume\" or \"reset\""


static ngx_int_t ngx_http_flash_throttle_order_read(
    ngx_http_flash_throttle_order_t *order, ngx_str_t *text);
static ngx_int_t ngx_http_flash_throttle_order_command(
    ngx_http_flash_throttle_order_t *order);
static void ngx_http_flash_throttle_order_give(
    ngx_http_flash_throttle_order_t *order);
static ngx_buf_t *ngx_http_flash_throttle_order_answer(
    ngx_http_flash_throttle_order_t *order);


#define ngx_http_flash_throttle_order_is(order, word)                         \
    ((order)->command.len == sizeof(word) - 1                                 \
     && ngx_memcmp((order)->command.data, word, sizeof(word) - 1) == 0)


ngx_buf_t *
ngx_http_flash_throttle_order(ngx_http_request_t *r, ngx_str_t *text,
    ngx_uint_t *status)
{
    ngx_buf_t                        *b;
    ngx_http_flash_throttle_order_t  *order;

    order = ngx_pcalloc(r->pool, sizeof(ngx_http_flash_throttle_order_t));
    if (order == NULL) {
        return NULL;
    }

    order->request = r;

    if (ngx_http_flash_throttle_order_read(order, text) == NGX_OK
        && ngx_http_flash_throttle_order_command(order) == NGX_OK
        && ngx_http_flash_throttle_order_for(order) == NGX_OK)
    {
        ngx_http_flash_throttle_order_give(order);

        *status = NGX_HTTP_OK;

        return ngx_http_flash_throttle_order_answer(order);
    }

    if (order->error.data == NULL) {
        return NULL;
    }

    *status = order->status;

    b = ngx_create_temp_buf(r->pool, sizeof("{\"error\":\"\"}\n")
                            + NGX_HTTP_FLASH_THROTTLE_ESCAPED
                              * order->error.len);
    if (b == NULL) {
        return NULL;
    }

    b->last = ngx_sprintf(b->last, "{\"error\":\"");
    b->last = ngx_http_flash_throttle_escape(b->last, order->error.data,
                                             order->error.len);
    b->last = ngx_sprintf(b->last, "\"}\n");

    return b;
}


static ngx_int_t
ngx_http_flash_throttle_order_read(ngx_http_flash_throttle_order_t *order,
    ngx_str_t *text)
{
    size_t            at;
    const char       *wrong;
    ft_json_field_t  *f;

    f = order->fields;

    f[NGX_HTTP_FLASH_THROTTLE_ORDER_ZONE].name = "zone";
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_ZONE].value = (char *) order->zone_text;
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_ZONE].size = sizeof(order->zone_text);

    f[NGX_HTTP_FLASH_THROTTLE_ORDER_KEY].name = "key";
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_KEY].value = (char *) order->key_text;
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_KEY].size = sizeof(order->key_text);

    f[NGX_HTTP_FLASH_THROTTLE_ORDER_COMMAND].name = "command";
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_COMMAND].value
                                             = (char *) order->command_text;
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_COMMAND].size
                                             = sizeof(order->command_text);

    f[NGX_HTTP_FLASH_THROTTLE_ORDER_RATE].name = "rate";
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_RATE].value = (char *) order->rate_text;
    f[NGX_HTTP_FLASH_THROTTLE_ORDER_RATE].size = sizeof(order->rate_text);

    f[NGX_HTTP_FLASH_THROTTLE_ORDER_NEW].name = "new";

    wrong = ft_json_read((char *) text->data, text->len, f,
                         NGX_HTTP_FLASH_THROTTLE_ORDER_FIELDS, &at);

    if (wrong) {
        return ngx_http_flash_throttle_order_error(order, NGX_HTTP_BAD_REQUEST,
                   "%s at byte %uz; an order is an object of \"command\", "
                   "\"zone\", \"key\", \"rate\" and \"new\", as in "
                   "{\"command\":\"rate\",\"rate\":\"50r/s\"}", wrong, at);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_order_command(ngx_http_flash_throttle_order_t *order)
{
    ngx_str_t  rate;

    order->command = ngx_http_flash_throttle_order_text(order,
                                      NGX_HTTP_FLASH_THROTTLE_ORDER_COMMAND);
    rate = ngx_http_flash_throttle_order_text(order,
                                      NGX_HTTP_FLASH_THROTTLE_ORDER_RATE);

    if (ngx_http_flash_throttle_order_is(order, "rate")) {

        if (ngx_http_flash_throttle_rate(&rate, &order->rate_milli) != NGX_OK) {
            return ngx_http_flash_throttle_order_error(order,
                       NGX_HTTP_BAD_REQUEST,
                       "invalid rate \"%V\", it must be \"Nr/s\" or \"Nr/m\", "
                       "at most 1000000 a second; command \"hold\" lets "
                       "nobody in", &rate);
        }

        return NGX_OK;
    }

    if (!ngx_http_flash_throttle_order_is(order, "hold")
        && !ngx_http_flash_throttle_order_is(order, "open")
        && !ngx_http_flash_throttle_order_is(order, "sold-out")
        && !ngx_http_flash_throttle_order_is(order, "resume")
        && !ngx_http_flash_throttle_order_is(order, "reset"))
    {
        return ngx_http_flash_throttle_order_error(order, NGX_HTTP_BAD_REQUEST,
                   "invalid command \"%V\", it must be "
                   NGX_HTTP_FLASH_THROTTLE_COMMANDS, &order->command);
    }

    if (order->fields[NGX_HTTP_FLASH_THROTTLE_ORDER_RATE].given) {
        return ngx_http_flash_throttle_order_error(order, NGX_HTTP_BAD_REQUEST,
                   "\"rate\" goes with the command \"rate\" only");
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_order_error(ngx_http_flash_throttle_order_t *order,
    ngx_uint_t status, const char *fmt, ...)
{
    u_char   *p;
    size_t    size;
    va_list   args;

    size = NGX_HTTP_FLASH_THROTTLE_ANSWER_LEN
           + (NGX_HTTP_FLASH_THROTTLE_LISTED + 2)
             * (NGX_HTTP_FLASH_THROTTLE_NAME_MOST + sizeof(", \"\""));

    p = ngx_pnalloc(order->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    order->status = status;
    order->error.data = p;

    va_start(args, fmt);
    order->error.len = ngx_vslprintf(p, p + size, fmt, args) - p;
    va_end(args);

    return NGX_ERROR;
}


/* The client's address is in each line of a request's log. */

static void
ngx_http_flash_throttle_order_give(ngx_http_flash_throttle_order_t *order)
{
    u_char       key[FT_KEY_MAX];
    size_t       len;
    ngx_str_t    rate;
    ft_state_t  *state;

    state = order->state;
    rate = ngx_http_flash_throttle_order_text(order,
                                         NGX_HTTP_FLASH_THROTTLE_ORDER_RATE);

    if (ngx_http_flash_throttle_order_is(order, "rate")) {
        ft_override_rate(state, FT_OVERRIDE_OPERATOR, order->rate_milli);

    } else if (ngx_http_flash_throttle_order_is(order, "hold")) {
        ft_override_pause(state);

    } else if (ngx_http_flash_throttle_order_is(order, "sold-out")) {
        (void) ft_override_sold_out(state, FT_OVERRIDE_OPERATOR);

    } else if (ngx_http_flash_throttle_order_is(order, "open")) {
        ft_override_open(state, order->now_ms);

    } else if (ngx_http_flash_throttle_order_is(order, "resume")) {
        (void) ft_override_resume(state, FT_OVERRIDE_OPERATOR, order->now_ms);

    } else { /* reset */
        ft_override_reset(state, order->now_ms);
    }

    len = ngx_http_flash_throttle_printable(key, order->key.data,
                                            order->key.len);

    ngx_log_error(NGX_LOG_NOTICE, order->request->connection->log, 0,
                  "flash_throttle_control: \"%V%s%V\" for the key \"%*s\" of "
                  "zone \"%V\"", &order->command, rate.len ? " " : "", &rate,
                  len, key, &order->zone->shm_zone->shm.name);

    ngx_http_flash_throttle_hold_wake(order->zone, state);
}


static ngx_buf_t *
ngx_http_flash_throttle_order_answer(ngx_http_flash_throttle_order_t *order)
{
    ft_call_t       call;
    ngx_buf_t      *b;
    ngx_str_t      *zone;
    ft_stats_t   s;

    zone = &order->zone->shm_zone->shm.name;

    b = ngx_create_temp_buf(order->request->pool,
                            NGX_HTTP_FLASH_THROTTLE_ANSWER_LEN
                            + NGX_HTTP_FLASH_THROTTLE_ESCAPED
                              * (zone->len + order->key.len));
    if (b == NULL) {
        return NULL;
    }

    ngx_http_flash_throttle_call(order->zone, order->state,
                                 order->zone->rules, order->now_ms, &call);
    ft_bucket_settle(&order->state->bucket, &call.limits, order->now_ms);

    s = ft_stats_read(&call);

    b->last = ngx_sprintf(b->last, "{\"command\":\"%V\",\"zone\":\"",
                          &order->command);
    b->last = ngx_http_flash_throttle_escape(b->last, zone->data, zone->len);
    b->last = ngx_sprintf(b->last, "\",\"key\":\"");
    b->last = ngx_http_flash_throttle_escape(b->last, order->key.data,
                                             order->key.len);
    b->last = ngx_sprintf(b->last,
                          "\",\"state\":{\"hold\":%s,\"sold_out\":%s,"
                          "\"rate_now_milli\":%uD,\"rate_override_milli\":%uD,"
                          "\"rate_upstream_milli\":%uD,\"opens_ms\":%uL,"
                          "\"opened_ms\":%uL,\"queueing\":%s,"
                          "\"waiting\":%uD,\"held\":%uD,\"inflight\":%uD}}\n",
                          s.paused ? "true" : "false",
                          s.sold_out ? "true" : "false", s.rate_milli,
                          s.rate_override_milli, s.rate_upstream_milli,
                          s.opens_ms, s.opened_ms,
                          s.queueing ? "true" : "false",
                          s.waiting, s.held, s.inflight);

    return b;
}


ngx_str_t
ngx_http_flash_throttle_order_text(ngx_http_flash_throttle_order_t *order,
    ngx_uint_t field)
{
    ngx_str_t  text;

    text.data = (u_char *) order->fields[field].value;
    text.len = order->fields[field].len;

    return text;
}
