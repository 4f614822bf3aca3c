
/*
 * Shoppers: each one from its first attempt to its order or to leaving, and the
 * counters of all.
 */

#ifndef CROWD_SHOPPER_H_INCLUDED
#define CROWD_SHOPPER_H_INCLUDED


#include <stdint.h>
#include "crowd_http.h"
#include "crowd_options.h"
#include "fairness.h"


typedef enum {
    CROWD_END_CONFIRMED = 0,        /* the order, or the page */
    CROWD_END_DECLINED,
    CROWD_END_SOLD_OUT,
    CROWD_END_TOO_LATE,             /* the checkout did not start the payment */
    CROWD_END_GAVE_UP,              /* the patience ended */
    CROWD_END_VANISHED,             /* left early */
    CROWD_END_FAILED,               /* no response, or an unknown one */
    CROWD_ENDS
} crowd_end_t;


typedef struct crowd_shopper_s  crowd_shopper_t;

typedef struct {
    const crowd_options_t  *options;
    struct event_base      *base;
    crowd_http_t           *http;
    void                  (*on_end)(void *data);    /* a shopper has ended */
    void                   *data;

    uint64_t                arrived;
    uint64_t                waiting;        /* now */
    uint64_t                admitted;
    uint64_t                ends[CROWD_ENDS];
    uint64_t                ended;
    uint64_t                polls;          /* requests before admission */
    uint64_t                unanswered;     /* requests without a response */
    int64_t                 longest_us;     /* from request to response */
    char                    error[256];     /* the first one; "": none */

    fairness_sample_t      *samples;        /* space for all shoppers */
    size_t                  nsamples;

    crowd_shopper_t        *first;          /* list of those not ended */
} crowd_t;


/* Sends the first attempt of the next shopper.  False: no memory. */
bool crowd_shopper_arrive(crowd_t *crowd);

/* Ends all shoppers as CROWD_END_GAVE_UP. */
void crowd_shopper_end_all(crowd_t *crowd);


#endif /* CROWD_SHOPPER_H_INCLUDED */
