
/*
 * HTTP requests in an event loop: libcurl's multi interface, driven by
 * libevent.
 */

#ifndef FT_CROWD_HTTP_H_INCLUDED
#define FT_CROWD_HTTP_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>
#include <event2/event.h>


typedef struct ft_http_s     ft_http_t;
typedef struct ft_request_s  ft_request_t;

typedef void (*ft_request_done_pt)(ft_request_t *request);


/* A client that makes one request after another, with its own cookies. */
struct ft_request_s {
    ft_http_t           *http;
    CURL                *easy;
    ft_request_done_pt   done;
    void                *data;

    /* the answer, until the next request */
    CURLcode             result;        /* CURLE_OK: there is one */
    long                 status;
    const char          *type;          /* NULL: none given */
    int64_t              retry_after_s; /* 0: none given */
    char                *body;          /* ended with a zero byte; or NULL */
    size_t               len;
};


typedef struct {
    const char          *url;
    const char          *post;          /* the body; NULL: a GET */
    struct curl_slist   *headers;       /* kept by the caller until the end */
    int64_t              timeout_ms;
    bool                 fresh;         /* on a connection of its own */
} ft_question_t;


/* NULL: no memory. */
ft_http_t *ft_http_create(struct event_base *base);

/* All requests have to be closed before. */
void ft_http_free(ft_http_t *http);

/* False: no memory.  done is called when a request has ended. */
bool ft_request_open(ft_request_t *request, ft_http_t *http, bool cookies,
    ft_request_done_pt done, void *data);

/* Starts a request; the one before has ended. */
void ft_request_start(ft_request_t *request, const ft_question_t *question);

/* Drops a request that is under way. */
void ft_request_close(ft_request_t *request);


#endif /* FT_CROWD_HTTP_H_INCLUDED */
