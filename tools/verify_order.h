
/*
 * Compares the order of admission with the places in line.
 */

#ifndef VERIFY_ORDER_H_INCLUDED
#define VERIFY_ORDER_H_INCLUDED


#include "verify_log.h"


typedef struct {
    size_t               prequeue;      /* shoppers in the pre-queue */
    size_t               later;         /* first attempt after the opening */
    size_t               admitted;      /* from the pre-queue */
    size_t               early;         /* admitted before the opening */

    /* shoppers of the pre-queue admitted after one with a later place, and the
       largest distances */
    size_t               inversions;
    size_t               worst_places;
    double               worst_s;
    double               kendall_tau;   /* NAN: undefined */

    /* shoppers of the pre-queue queued more than the slack after the admission
       of one with a later place */
    size_t               passed_over;
    double               worst_passed_over_s;
    uint64_t             worst_id;
} verify_order_t;


/*
 * Shoppers with a place below opens_us form the pre-queue; opened_us is the
 * actual time of the opening, at most opens_us.  False: no memory.
 */
bool verify_order_check(verify_order_t *order, const verify_log_t *log,
    uint64_t opens_us, int64_t opened_us, int64_t slack_us);


#endif /* VERIFY_ORDER_H_INCLUDED */
