#include "http.h"
#include "clock.h"
#include "form.h"
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>


/* Many clients connect at once; the kernel limits this to somaxconn. */
#define CO_HTTP_BACKLOG          4096

#define CO_HTTP_HEADERS_MAX      16384

/*
 * Longer bodies are refused by libevent before they are read; those from
 * CO_FORM_BODY_MAX on get an error message.
 */
#define CO_HTTP_BODY_MAX         65536

/* Limits the read buffer, which libevent does not. */
#define CO_HTTP_READ_AHEAD       65536

/* The pause in accepting after running out of file descriptors. */
#define CO_HTTP_ACCEPT_PAUSE_US  100000

#define CO_HTTP_PAYMENT_MS_MAX   600000


typedef void (*co_http_handler_pt)(co_http_t *http,
    struct evhttp_request *req);


typedef struct {
    const char          *path;
    unsigned             methods;
    const char          *allow;
    co_http_handler_pt   handler;
    int                  reset;                  /* needs --allow-reset */
} co_http_route_t;


struct co_http_s {
    co_shop_t                   *shop;
    struct evhttp               *evhttp;
    struct evhttp_bound_socket  *bound;
    struct event                 resume;
    char                         address[80];

    co_store_call_t              reset_call;
    struct evhttp_request       *reset_req;      /* NULL: no reset */
};


/* libevent uses the data pointer of the listener itself. */
static co_http_t  *co_http_listening;


static struct evconnlistener *co_http_listen(co_http_t *http);
static struct bufferevent *co_http_buffer(struct event_base *base,
    void *data);
static void co_http_accept_failed(struct evconnlistener *listener, void *data);
static void co_http_resume(evutil_socket_t fd, short events, void *data);
static void co_http_dispatch(struct evhttp_request *req, void *data);
static void co_http_product(co_http_t *http, struct evhttp_request *req);
static void co_http_checkout(co_http_t *http, struct evhttp_request *req);
static void co_http_stats(co_http_t *http, struct evhttp_request *req);
static void co_http_health(co_http_t *http, struct evhttp_request *req);
static void co_http_payments(co_http_t *http, struct evhttp_request *req);
static int64_t co_http_ms(const struct evkeyvalq *query, const char *name);
static void co_http_reset(co_http_t *http, struct evhttp_request *req);
static void co_http_reset_done(void *data, co_store_result_e result);
static void co_http_refuse(co_http_t *http, struct evhttp_request *req,
    int status, const char *text);


#define CO_HTTP_READ  (EVHTTP_REQ_GET|EVHTTP_REQ_HEAD)


static const co_http_route_t  co_http_routes[] = {
    { "/", CO_HTTP_READ, "GET, HEAD", co_http_product, 0 },
    { "/checkout", CO_HTTP_READ|EVHTTP_REQ_POST, "GET, HEAD, POST",
      co_http_checkout, 0 },
    { "/stats", CO_HTTP_READ, "GET, HEAD", co_http_stats, 0 },
    { "/healthz", CO_HTTP_READ, "GET, HEAD", co_http_health, 0 },
    { "/payments", EVHTTP_REQ_POST, "POST", co_http_payments, 1 },
    { "/reset", EVHTTP_REQ_POST, "POST", co_http_reset, 1 }
};


co_http_t *
co_http_create(co_shop_t *shop)
{
    co_http_t              *http;
    struct timeval          tv;
    struct evconnlistener  *listener;

    http = calloc(1, sizeof(*http));
    if (http == NULL) {
        return NULL;
    }

    http->shop = shop;
    evtimer_assign(&http->resume, shop->base, co_http_resume, http);

    listener = co_http_listen(http);
    if (listener == NULL) {
        free(http);
        return NULL;
    }

    http->evhttp = evhttp_new(shop->base);
    if (http->evhttp == NULL) {
        evconnlistener_free(listener);
        free(http);
        return NULL;
    }

    tv.tv_sec = shop->options->client_timeout_ms / 1000;
    tv.tv_usec = shop->options->client_timeout_ms % 1000 * 1000;

    evhttp_set_timeout_tv(http->evhttp, &tv);
    evhttp_set_max_headers_size(http->evhttp, CO_HTTP_HEADERS_MAX);
    evhttp_set_max_body_size(http->evhttp, CO_HTTP_BODY_MAX);
    evhttp_set_flags(http->evhttp, EVHTTP_SERVER_LINGERING_CLOSE);
    evhttp_set_bevcb(http->evhttp, co_http_buffer, NULL);
    evhttp_set_gencb(http->evhttp, co_http_dispatch, http);

    /* all known methods, so that co_http_dispatch() answers 405 */
    evhttp_set_allowed_methods(http->evhttp,
        EVHTTP_REQ_GET|EVHTTP_REQ_POST|EVHTTP_REQ_HEAD|EVHTTP_REQ_PUT
        |EVHTTP_REQ_DELETE|EVHTTP_REQ_OPTIONS|EVHTTP_REQ_TRACE
        |EVHTTP_REQ_PATCH);

    http->bound = evhttp_bind_listener(http->evhttp, listener);
    evconnlistener_set_error_cb(listener, co_http_accept_failed);
    co_http_listening = http;

    return http;
}


static struct evconnlistener *
co_http_listen(co_http_t *http)
{
    int                       port;
    char                      host[INET6_ADDRSTRLEN];
    socklen_t                 len;
    const void               *numeric;
    const co_options_t       *options = http->shop->options;
    struct evconnlistener    *listener;
    struct sockaddr_storage   ss;
    struct sockaddr_in       *in = (struct sockaddr_in *) &ss;
    struct sockaddr_in6      *in6 = (struct sockaddr_in6 *) &ss;

    listener = evconnlistener_new_bind(http->shop->base, NULL, NULL,
                   LEV_OPT_CLOSE_ON_FREE|LEV_OPT_CLOSE_ON_EXEC
                   |LEV_OPT_REUSEABLE,
                   CO_HTTP_BACKLOG,
                   (const struct sockaddr *) &options->address,
                   options->address_len);

    memcpy(&ss, &options->address, sizeof(ss));

    if (listener != NULL) {
        len = sizeof(ss);
        getsockname(evconnlistener_get_fd(listener), (struct sockaddr *) &ss,
                    &len);
    }

    port = ntohs(ss.ss_family == AF_INET6 ? in6->sin6_port : in->sin_port);
    numeric = ss.ss_family == AF_INET6 ? (const void *) &in6->sin6_addr
                                       : (const void *) &in->sin_addr;

    snprintf(http->address, sizeof(http->address),
             ss.ss_family == AF_INET6 ? "[%s]:%d" : "%s:%d",
             inet_ntop(ss.ss_family, numeric, host, sizeof(host)), port);

    if (listener == NULL) {
        fprintf(stderr, "checkout: listening on %s failed (%d: %s)\n",
                http->address, errno, strerror(errno));
    }

    return listener;
}


static struct bufferevent *
co_http_buffer(struct event_base *base, void *data)
{
    struct bufferevent  *buffer;

    (void) data;

    buffer = bufferevent_socket_new(base, -1, 0);

    if (buffer != NULL) {
        bufferevent_setwatermark(buffer, EV_READ, 0, CO_HTTP_READ_AHEAD);
    }

    return buffer;
}


/*
 * The connection stays in the backlog; without a pause accept() would fail in
 * a loop.
 */
static void
co_http_accept_failed(struct evconnlistener *listener, void *data)
{
    int                          error;
    static int                   logged;
    static const struct timeval  pause = { 0, CO_HTTP_ACCEPT_PAUSE_US };

    (void) data;

    if (!logged) {
        logged = 1;
        error = EVUTIL_SOCKET_ERROR();
        fprintf(stderr, "checkout: accept() failed (%d: %s), new connections"
                " wait until others are closed\n",
                error, evutil_socket_error_to_string(error));
    }

    evconnlistener_disable(listener);
    evtimer_add(&co_http_listening->resume, &pause);
}


static void
co_http_resume(evutil_socket_t fd, short events, void *data)
{
    co_http_t  *http = data;

    (void) fd;
    (void) events;

    evconnlistener_enable(evhttp_bound_socket_get_listener(http->bound));
}


const char *
co_http_address(const co_http_t *http)
{
    return http->address;
}


void
co_http_stop(co_http_t *http)
{
    evtimer_del(&http->resume);
    evhttp_del_accept_socket(http->evhttp, http->bound);
}


void
co_http_destroy(co_http_t *http)
{
    evhttp_free(http->evhttp);
    free(http);
}


static void
co_http_dispatch(struct evhttp_request *req, void *data)
{
    size_t                  i;
    unsigned                method;
    co_http_t              *http = data;
    const char             *path;
    const co_http_route_t  *route;

    path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
    method = evhttp_request_get_command(req);

    for (i = 0; i < sizeof(co_http_routes) / sizeof(co_http_routes[0]); i++) {
        route = &co_http_routes[i];

        if (strcmp(path, route->path) != 0) {
            continue;
        }

        if (!(method & route->methods)) {
            evhttp_add_header(evhttp_request_get_output_headers(req), "Allow",
                              route->allow);
            co_http_refuse(http, req, 405, "Method not allowed.");

        } else if (route->reset && !http->shop->options->allow_reset) {
            co_http_refuse(http, req, 403, "This requires --allow-reset.");

        } else {
            route->handler(http, req);
        }

        return;
    }

    co_http_refuse(http, req, 404, "Not found.");
}


static void
co_http_product(co_http_t *http, struct evhttp_request *req)
{
    co_page_product(evhttp_request_get_output_buffer(req),
                    co_store_stock(http->shop->store));
    co_reply(&http->shop->replies, req, 200, CO_TYPE_HTML, 0);
}


static void
co_http_checkout(co_http_t *http, struct evhttp_request *req)
{
    int         status;
    char        error[CO_FORM_ERROR_LEN];
    int64_t     now;
    co_form_t   form;
    co_shop_t  *shop = http->shop;

    now = co_steady_us();
    co_stats_arrival(&shop->stats);

    if (evhttp_request_get_command(req) != EVHTTP_REQ_POST) {
        co_page_checkout(evhttp_request_get_output_buffer(req),
                         co_store_stock(shop->store));
        co_reply(&shop->replies, req, 200, CO_TYPE_HTML, 0);
        return;
    }

    status = co_form_read(req, &form, error);

    if (status != 0) {
        shop->stats.bad_requests++;
        co_http_refuse(http, req, status, error);
        return;
    }

    co_checkout_begin(shop, req, &form, now);
}


static void
co_http_stats(co_http_t *http, struct evhttp_request *req)
{
    char             *line;
    co_shop_t        *shop = http->shop;
    struct evbuffer  *out = evhttp_request_get_output_buffer(req);

    line = co_stats_json(&shop->stats, shop->store,
                         co_payments_waiting(shop->payments),
                         co_payments_running(shop->payments));

    if (line == NULL) {
        co_http_refuse(http, req, 500, "Out of memory.");
        return;
    }

    evbuffer_add_printf(out, "%s\n", line);
    free(line);

    co_reply(&shop->replies, req, 200, CO_TYPE_JSON, 0);
}


static void
co_http_health(co_http_t *http, struct evhttp_request *req)
{
    int  closing = http->shop->closing;

    evbuffer_add_printf(evhttp_request_get_output_buffer(req), "%s\n",
                        closing ? "closing" : "ok");
    co_reply(&http->shop->replies, req, closing ? 503 : 200, CO_TYPE_TEXT, 0);
}


static void
co_http_payments(co_http_t *http, struct evhttp_request *req)
{
    int64_t           min_ms, max_ms;
    const char       *text;
    co_shop_t        *shop = http->shop;
    struct evkeyvalq  query;

    text = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
    min_ms = max_ms = -1;

    if (text != NULL && evhttp_parse_query_str(text, &query) == 0) {
        min_ms = co_http_ms(&query, "min-ms");
        max_ms = co_http_ms(&query, "max-ms");
        evhttp_clear_headers(&query);
    }

    if (min_ms < 0 || max_ms < min_ms) {
        co_http_refuse(http, req, 400, "The query must be ?min-ms=N&max-ms=N"
                       " with numbers from 0 to 600000, the first at most the"
                       " second.");
        return;
    }

    co_payments_pace(shop->payments, min_ms, max_ms);

    evbuffer_add_printf(evhttp_request_get_output_buffer(req),
                        "payments take %lld to %lld ms\n",
                        (long long) min_ms, (long long) max_ms);
    co_reply(&shop->replies, req, 200, CO_TYPE_TEXT, 0);
}


/* -1: missing or not a duration. */
static int64_t
co_http_ms(const struct evkeyvalq *query, const char *name)
{
    const char  *text;

    text = evhttp_find_header(query, name);

    return text != NULL ? co_form_number(text, CO_HTTP_PAYMENT_MS_MAX) : -1;
}


static void
co_http_reset(co_http_t *http, struct evhttp_request *req)
{
    co_shop_t  *shop = http->shop;

    if (shop->stats.in_progress != 0 || http->reset_req != NULL) {
        co_http_refuse(http, req, 409, "Orders are in progress.");
        return;
    }

    http->reset_req = req;
    co_store_reset(shop->store, &http->reset_call, co_http_reset_done, http);
}


static void
co_http_reset_done(void *data, co_store_result_e result)
{
    co_http_t              *http = data;
    struct evhttp_request  *req = http->reset_req;

    http->reset_req = NULL;

    if (result != CO_STORE_OK) {
        co_http_refuse(http, req, 500, "The store could not be reset.");
        return;
    }

    co_stats_reset(&http->shop->stats);
    co_payments_rewind(http->shop->payments);

    evbuffer_add_printf(evhttp_request_get_output_buffer(req), "reset\n");
    co_reply(&http->shop->replies, req, 200, CO_TYPE_TEXT, 0);
}


static void
co_http_refuse(co_http_t *http, struct evhttp_request *req, int status,
    const char *text)
{
    co_answer_t  answer = { status, "refused", "Request refused", text, 0 };

    co_page_reply(&http->shop->replies, req, &answer, NULL);
}
