#include "reply.h"

#include <stdio.h>
#include <string.h>

#include <event2/buffer.h>


static void co_reply_done(struct evhttp_request *req, void *data);
static void co_reply_lost(struct evhttp_connection *connection, void *data);


void
co_reply(co_replies_t *replies, struct evhttp_request *req, int status,
    const char *type, int retry_after)
{
    char                       number[24];
    struct evbuffer           *body;
    struct evkeyvalq          *headers;
    struct evhttp_connection  *connection;

    body = evhttp_request_get_output_buffer(req);
    headers = evhttp_request_get_output_headers(req);
    connection = evhttp_request_get_connection(req);

    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "Vary", "Accept");

    if (retry_after != 0) {
        snprintf(number, sizeof(number), "%d", retry_after);
        evhttp_add_header(headers, "Retry-After", number);
    }

    if (replies->closing) {
        evhttp_add_header(headers, "Connection", "close");
    }

    if (evhttp_request_get_command(req) == EVHTTP_REQ_HEAD) {
        snprintf(number, sizeof(number), "%zu", evbuffer_get_length(body));
        evhttp_add_header(headers, "Content-Length", number);
        evbuffer_drain(body, evbuffer_get_length(body));
    }

    /* without a connection evhttp_send_reply() only frees the request */
    if (connection != NULL) {
        replies->pending++;
        evhttp_request_set_on_complete_cb(req, co_reply_done, replies);
        evhttp_connection_set_closecb(connection, co_reply_lost, replies);
    }

    evhttp_send_reply(req, status, NULL, NULL);
}


static void
co_reply_done(struct evhttp_request *req, void *data)
{
    /* the end of a kept-alive connection is not the end of this answer */
    evhttp_connection_set_closecb(evhttp_request_get_connection(req), NULL,
                                  NULL);
    co_reply_lost(NULL, data);
}


static void
co_reply_lost(struct evhttp_connection *connection, void *data)
{
    co_replies_t  *replies = data;

    (void) connection;

    replies->pending--;
    replies->sent(replies->data);
}


int
co_reply_wants_html(struct evhttp_request *req)
{
    const char  *accept;

    accept = evhttp_find_header(evhttp_request_get_input_headers(req),
                                "Accept");

    return accept != NULL && strcasestr(accept, "text/html") != NULL;
}
