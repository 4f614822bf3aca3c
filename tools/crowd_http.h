
/*
 * HTTP requests in an event loop: libcurl's multi interface driven by libevent.
 */

#ifndef CROWD_HTTP_H_INCLUDED
#define CROWD_HTTP_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>
#include <event2/event.h>


typedef struct crowd_http_s          crowd_http_t;
typedef struct crowd_http_request_s  crowd_http_request_t;

typedef void (*crowd_http_done_pt)(crowd_http_request_t *request);


/* A client that sends one request at a time and has its own cookies. */
struct crowd_http_request_s {
    crowd_http_t         *http;
    CURL                 *easy;
    crowd_http_done_pt    done;
    void                 *data;

    /* the response, until the next request */
    CURLcode              result;
    long                  status;
    const char           *type;         /* NULL: none */
    int64_t               retry_after_s; /* 0: none */
    char                 *body;         /* null-terminated; NULL: empty */
    size_t                len;
};


typedef struct {
    const char           *url;
    const char           *post;         /* body; NULL: GET */
    struct curl_slist    *headers;      /* must outlive the request */
    int64_t               timeout_ms;
    bool                  fresh;        /* on a new connection */
} crowd_http_params_t;


/* NULL: no memory. */
crowd_http_t *crowd_http_create(struct event_base *base);

/* All requests must be closed. */
void crowd_http_free(crowd_http_t *http);

/* done is called at the end of each request.  False: no memory. */
bool crowd_http_open(crowd_http_request_t *request, crowd_http_t *http,
    bool cookies, crowd_http_done_pt done, void *data);

/* Sends a request; no other may be active. */
void crowd_http_send(crowd_http_request_t *request,
    const crowd_http_params_t *params);

/* Cancels an active request. */
void crowd_http_close(crowd_http_request_t *request);


#endif /* CROWD_HTTP_H_INCLUDED */
