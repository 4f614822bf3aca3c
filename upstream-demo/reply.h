/*
 * Sends answers, and counts those that are not completely sent, so that the
 * service can wait for them before it stops.
 */

#ifndef CO_REPLY_H
#define CO_REPLY_H


#include <stdint.h>

#include <event2/http.h>


#define CO_TYPE_HTML  "text/html; charset=utf-8"
#define CO_TYPE_JSON  "application/json"
#define CO_TYPE_TEXT  "text/plain; charset=utf-8"


typedef struct {
    int64_t   pending;                           /* not completely sent */
    int       closing;                           /* close after each answer */
    void    (*sent)(void *data);                 /* "pending" decreased */
    void     *data;
} co_replies_t;


/*
 * Sends the request's output buffer.  "retry_after" is in seconds, 0 for none.
 */
void co_reply(co_replies_t *replies, struct evhttp_request *req, int status,
    const char *type, int retry_after);

/* Whether the client accepts HTML; all others get JSON. */
int co_reply_wants_html(struct evhttp_request *req);


#endif /* CO_REPLY_H */
