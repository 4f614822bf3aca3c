
/*
 * The state of one simulated sale.  Times are us from the start of the sale.
 */

#ifndef FT_SIM_WORLD_H_INCLUDED
#define FT_SIM_WORLD_H_INCLUDED


#include "checkout.h"
#include "edge.h"
#include "events.h"
#include "options.h"
#include "random.h"
#include "shopper.h"


typedef struct ft_world_s  ft_world_t;

struct ft_world_s {
    const ft_options_t  *options;
    ft_shopper_t        *shoppers;
    uint32_t             n;
    int64_t              now_us;
    ft_events_t          events;
    ft_checkout_t        checkout;
    ft_edge_t           *edge;          /* NULL: a variant without the edge */
    ft_bucket_t          ideal_bucket;  /* paces the ideal line without slots */
    bool                 ideal_waits;
    uint32_t             rate_milli;    /* current */
    uint32_t             inflight;
    ft_random_t          payments;
    ft_random_t          retries;
    ft_random_t          crowd;
};


#endif /* FT_SIM_WORLD_H_INCLUDED */
