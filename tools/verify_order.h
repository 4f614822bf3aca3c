
/*
 * Whether shoppers were let in in the order of their places.
 */

#ifndef FT_VERIFY_ORDER_H_INCLUDED
#define FT_VERIFY_ORDER_H_INCLUDED


#include "verify_log.h"


typedef struct {
    size_t               shoppers;      /* in the pre-queue */
    size_t               later;         /* after the opening */
    size_t               admitted;      /* of the pre-queue */
    size_t               early;         /* let in before the opening */

    /* let in after somebody who stands behind: of the pre-queue, and by how many
       places of it, and by how much time, at worst */
    size_t               inversions;
    size_t               worst_places;
    double               worst_s;
    double               kendall_tau;   /* NAN: not defined */

    /* asked and were told to wait, although somebody who stands behind had been
       let in longer ago than the slack: the only ones who were wronged */
    size_t               passed_over;
    double               worst_passed_s;
    uint64_t             worst_id;
} ft_verify_order_t;


/*
 * shoppers: with their places, of the pre-queue those below opens_us.  opened_us:
 * when it opened.  False: no memory.
 */
bool ft_verify_order(ft_verify_order_t *order, const ft_verify_log_t *log,
    uint64_t opens_us, int64_t opened_us, int64_t slack_us);


#endif /* FT_VERIFY_ORDER_H_INCLUDED */
