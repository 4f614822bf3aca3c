
#include "verify_order.h"
#include "fairness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


typedef struct {
    int64_t              at_us;
    uint64_t             place_us;
    uint64_t             max_us;        /* place_us of all admissions so far */
} verify_order_admission_t;


static int
verify_order_by_admission(const void *a, const void *b)
{
    const verify_order_admission_t  *x, *y;

    x = a;
    y = b;

    if (x->at_us != y->at_us) {
        return x->at_us < y->at_us ? -1 : 1;
    }

    /* simultaneous admissions are no inversion */

    return (x->place_us > y->place_us) - (x->place_us < y->place_us);
}


static int
verify_order_by_value(const void *a, const void *b)
{
    const uint64_t  *x, *y;

    x = a;
    y = b;

    return (*x > *y) - (*x < *y);
}


/* Index of the first of n admissions with a later place; n: none. */
static size_t
verify_order_find_later(const verify_order_admission_t *list, size_t n,
    uint64_t place_us)
{
    size_t  low, high, mid;

    low = 0;
    high = n;

    while (low < high) {
        mid = (low + high) / 2;

        if (list[mid].max_us > place_us) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }

    return low;
}


static size_t
verify_order_rank(const uint64_t *places, size_t n, uint64_t place_us)
{
    size_t  low, high, mid;

    low = 0;
    high = n;

    while (low < high) {
        mid = (low + high) / 2;

        if (places[mid] < place_us) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }

    return low;
}


/* Returns the number of admissions, which list receives in order. */
static size_t
verify_order_collect(verify_order_t *order, const verify_log_t *log,
    uint64_t opens_us, int64_t opened_us, verify_order_admission_t *list)
{
    size_t                       i, n;
    uint64_t                     max_us;
    const verify_log_shopper_t  *s;

    n = 0;

    for (i = 0; i < log->nshoppers; i++) {
        s = &log->shoppers[i];

        if (s->place_us < opens_us) {
            order->prequeue++;
        } else {
            order->later++;
        }

        if (s->admitted_us < 0) {
            continue;
        }

        order->early += (s->admitted_us < opened_us);
        list[n].at_us = s->admitted_us;
        list[n++].place_us = s->place_us;
    }

    qsort(list, n, sizeof(verify_order_admission_t),
          verify_order_by_admission);

    max_us = 0;

    for (i = 0; i < n; i++) {
        max_us = list[i].place_us > max_us ? list[i].place_us : max_us;
        list[i].max_us = max_us;
    }

    return n;
}


/* places and samples have space for n.  False: no memory. */
static bool
verify_order_check_admissions(verify_order_t *order,
    const verify_order_admission_t *list, size_t n, uint64_t opens_us,
    uint64_t *places, fairness_sample_t *samples)
{
    size_t       i, k, distance, later;
    uint64_t     max_us;
    fairness_t   fairness;

    k = 0;

    for (i = 0; i < n; i++) {
        if (list[i].place_us < opens_us) {
            places[k] = list[i].place_us;
            samples[k].first_us = (int64_t) list[i].place_us;
            samples[k++].admitted_us = list[i].at_us;
        }
    }

    order->admitted = k;
    qsort(places, k, sizeof(uint64_t), verify_order_by_value);

    max_us = 0;                         /* within the pre-queue */

    for (i = 0; i < n; i++) {

        if (list[i].place_us >= opens_us) {
            continue;
        }

        if (max_us > list[i].place_us) {
            order->inversions++;

            distance = verify_order_rank(places, k, max_us)
                       - verify_order_rank(places, k, list[i].place_us);
            order->worst_places = distance > order->worst_places
                                  ? distance : order->worst_places;
        }

        later = verify_order_find_later(list, i, list[i].place_us);

        if (later < i) {
            order->worst_s = fmax(order->worst_s,
                                  (double) (list[i].at_us - list[later].at_us)
                                  / 1e6);
        }

        max_us = list[i].place_us > max_us ? list[i].place_us : max_us;
    }

    if (!fairness_compute(samples, k, &fairness)) {
        return false;
    }

    order->kendall_tau = fairness.kendall_tau;

    return true;
}


/* counted has a zero for each shopper of the log. */
static void
verify_order_check_queued(verify_order_t *order, const verify_log_t *log,
    const verify_order_admission_t *list, size_t n, uint64_t opens_us,
    int64_t slack_us, uint8_t *counted)
{
    size_t                 i, later;
    int64_t                by_us;
    verify_log_shopper_t  *s;

    for (i = 0; i < log->nqueued; i++) {
        s = verify_log_find(log, log->queued[i].id);

        if (s == NULL || s->place_us >= opens_us) {
            continue;
        }

        later = verify_order_find_later(list, n, s->place_us);

        if (later == n) {
            continue;
        }

        by_us = log->queued[i].at_us - list[later].at_us;

        if (by_us <= slack_us) {
            continue;
        }

        if (!counted[s - log->shoppers]) {
            counted[s - log->shoppers] = 1;
            order->passed_over++;
        }

        if ((double) by_us / 1e6 > order->worst_passed_over_s) {
            order->worst_passed_over_s = (double) by_us / 1e6;
            order->worst_id = s->id;
        }
    }
}


bool
verify_order_check(verify_order_t *order, const verify_log_t *log,
    uint64_t opens_us, int64_t opened_us, int64_t slack_us)
{
    bool                       ok;
    size_t                     n, size;
    uint8_t                   *counted;
    uint64_t                  *places;
    fairness_sample_t         *samples;
    verify_order_admission_t  *list;

    memset(order, 0, sizeof(verify_order_t));

    size = log->nshoppers + 1;

    list = calloc(size, sizeof(verify_order_admission_t));
    places = calloc(size, sizeof(uint64_t));
    samples = calloc(size, sizeof(fairness_sample_t));
    counted = calloc(size, 1);

    ok = list != NULL && places != NULL && samples != NULL && counted != NULL;

    if (ok) {
        n = verify_order_collect(order, log, opens_us, opened_us, list);
        ok = verify_order_check_admissions(order, list, n, opens_us, places,
                                           samples);
        verify_order_check_queued(order, log, list, n, opens_us, slack_us,
                                  counted);
    }

    free(list);
    free(places);
    free(samples);
    free(counted);

    return ok;
}
