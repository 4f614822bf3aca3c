
/*
 * The results of a sale, as a table or as JSON.
 */

#ifndef CROWD_RESULTS_H_INCLUDED
#define CROWD_RESULTS_H_INCLUDED


#include "crowd_shopper.h"
#include "crowd_stats.h"


typedef struct {
    const crowd_t                 *crowd;
    const crowd_stats_checkout_t  *checkout;    /* of this sale, or NULL */
    fairness_t                     fairness;
} crowd_results_t;


/* False: no memory. */
bool crowd_results_compute(crowd_results_t *results, crowd_t *crowd,
    const crowd_stats_checkout_t *checkout);

void crowd_results_print(const crowd_results_t *results, bool json);

/* There are orders, none of them oversold or charged late. */
bool crowd_results_ok(const crowd_results_t *results);


#endif /* CROWD_RESULTS_H_INCLUDED */
