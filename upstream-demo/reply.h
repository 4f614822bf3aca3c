/*
 * Sends answers, and knows how many are not sent yet, so that the service
 * does not stop in the middle of one.
 */

#ifndef CO_REPLY_H
#define CO_REPLY_H


#include <stdint.h>

#include <event2/http.h>


#define CO_TYPE_HTML  "text/html; charset=utf-8"
#define CO_TYPE_JSON  "application/json"
#define CO_TYPE_TEXT  "text/plain; charset=utf-8"


typedef struct {
    int64_t   pending;                           /* answers not yet sent */
    int       closing;                           /* close after each answer */
    void    (*sent)(void *data);                 /* pending is less by one */
    void     *data;
} co_replies_t;


/*
 * Sends what the caller has put into the request's output buffer.
 * "retry_after" is in seconds, 0 for none.
 */
void co_reply(co_replies_t *replies, struct evhttp_request *req, int status,
    const char *type, int retry_after);

/* Whether the client asks for a page (else it gets JSON). */
int co_reply_wants_html(struct evhttp_request *req);


#endif /* CO_REPLY_H */
