
/*
 * A shopper, from the first attempt to the order or to leaving; and what
 * became of all of them.
 */

#ifndef FT_CROWD_SHOPPER_H_INCLUDED
#define FT_CROWD_SHOPPER_H_INCLUDED


#include <stdint.h>
#include "crowd_http.h"
#include "crowd_options.h"
#include "fairness.h"


typedef enum {
    FT_END_SERVED = 0,      /* has the order, or the page */
    FT_END_DECLINED,
    FT_END_SOLD_OUT,
    FT_END_TOO_LATE,        /* the checkout did not start the payment */
    FT_END_GAVE_UP,         /* out of patience */
    FT_END_VANISHED,        /* left without notice */
    FT_END_FAILED,          /* no answer, or none that makes sense */
    FT_ENDS
} ft_end_t;


typedef struct ft_shopper_s  ft_shopper_t;

typedef struct {
    const ft_crowd_options_t  *options;
    struct event_base         *base;
    ft_http_t                 *http;
    void                     (*ended)(void *data);  /* another shopper has */
    void                      *data;

    uint64_t                   arrived;
    uint64_t                   waiting;     /* were told to wait, now */
    uint64_t                   admitted;
    uint64_t                   ends[FT_ENDS];
    uint64_t                   ended_n;
    uint64_t                   polls;       /* requests up to admission */
    uint64_t                   unanswered;  /* requests without any answer */
    int64_t                    longest_us;  /* from request to answer */
    char                       trouble[256];/* the first failure; or empty */

    ft_served_t               *served;      /* room for every shopper */
    size_t                     nserved;

    ft_shopper_t              *first;       /* of those not ended */
} ft_crowd_t;


/* The next shopper makes the first attempt now.  False: no memory. */
bool ft_shopper_arrive(ft_crowd_t *crowd);

/* All who are here are gone at once, as if they gave up. */
void ft_shoppers_leave(ft_crowd_t *crowd);


#endif /* FT_CROWD_SHOPPER_H_INCLUDED */
