
/*
 * Parses a response of the edge or of the checkout.
 */

#ifndef CROWD_RESPONSE_H_INCLUDED
#define CROWD_RESPONSE_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include "crowd_http.h"


typedef enum {
    CROWD_RESPONSE_WAIT = 0,    /* repeat after retry_ms */
    CROWD_RESPONSE_ADMITTED,    /* of a poll: send the order */
    CROWD_RESPONSE_CONFIRMED,   /* the order, or the page */
    CROWD_RESPONSE_DECLINED,
    CROWD_RESPONSE_SOLD_OUT,
    CROWD_RESPONSE_TOO_LATE,
    CROWD_RESPONSE_UNKNOWN
} crowd_response_kind_t;


typedef struct {
    crowd_response_kind_t   kind;
    int64_t                 retry_ms;
    bool                    whole_seconds;      /* retry_ms is Retry-After */
    int64_t                 first_attempt_ms;   /* Unix time; 0: none */
} crowd_response_t;


/* poll: the request had Flash-Throttle-Poll: 1. */
crowd_response_t crowd_response_parse(const crowd_http_request_t *request,
    bool poll);


#endif /* CROWD_RESPONSE_H_INCLUDED */
