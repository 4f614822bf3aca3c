
/*
 * The order of admission against that of the places: see verify_order.h.
 */

#include "verify_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fairness.h"


/* An admission, and the latest place of all up to it. */
typedef struct {
    int64_t              at_us;
    uint64_t             place;
    uint64_t             latest;
} ft_admission_t;


static int
ft_admission_order(const void *a, const void *b)
{
    const ft_admission_t  *x, *y;

    x = a;
    y = b;

    /* of one instant the earlier place first: none of them overtook */

    return x->at_us != y->at_us ? (x->at_us > y->at_us) - (x->at_us < y->at_us)
                                : (x->place > y->place) - (x->place < y->place);
}


static int
ft_place_order(const void *a, const void *b)
{
    const uint64_t  *x, *y;

    x = a;
    y = b;

    return (*x > *y) - (*x < *y);
}


/* The first admission, of n, of a place that stands behind; n: there is none. */
static size_t
ft_order_overtaken(const ft_admission_t *list, size_t n, uint64_t place)
{
    size_t  low, high, mid;

    low = 0;
    high = n;

    while (low < high) {
        mid = (low + high) / 2;

        if (list[mid].latest > place) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }

    return low;
}


static size_t
ft_order_rank(const uint64_t *places, size_t n, uint64_t place)
{
    size_t  low, high, mid;

    low = 0;
    high = n;

    while (low < high) {
        mid = (low + high) / 2;

        if (places[mid] < place) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }

    return low;
}


/* The pre-queue's own order; `places` and `served` have room for all. */
static bool
ft_order_prequeue(ft_verify_order_t *order, const ft_admission_t *list,
    size_t n, uint64_t opens_us, uint64_t *places, ft_served_t *served)
{
    size_t         i, k, behind, first;
    uint64_t       latest;
    ft_fairness_t  fairness;

    k = 0;

    for (i = 0; i < n; i++) {
        if (list[i].place < opens_us) {
            places[k] = list[i].place;
            served[k].first_us = (int64_t) list[i].place;
            served[k++].admitted_us = list[i].at_us;
        }
    }

    order->admitted = k;
    qsort(places, k, sizeof(uint64_t), ft_place_order);

    latest = 0;

    for (i = 0; i < n; i++) {

        if (list[i].place >= opens_us) {
            continue;
        }

        if (latest > list[i].place) {
            order->inversions++;

            behind = ft_order_rank(places, k, latest)
                     - ft_order_rank(places, k, list[i].place);
            order->worst_places = behind > order->worst_places
                                  ? behind : order->worst_places;
        }

        first = ft_order_overtaken(list, i, list[i].place);

        if (first < i) {
            order->worst_s = fmax(order->worst_s,
                                  (double) (list[i].at_us - list[first].at_us)
                                  / 1e6);
        }

        latest = list[i].place > latest ? list[i].place : latest;
    }

    if (!ft_fairness(served, k, &fairness)) {
        return false;
    }

    order->kendall_tau = fairness.kendall_tau;

    return true;
}


/* Who was told to wait while one behind had been let in for too long. */
static void
ft_order_waits(ft_verify_order_t *order, const ft_verify_log_t *log,
    const ft_admission_t *list, size_t n, uint64_t opens_us, int64_t slack_us,
    uint8_t *wronged)
{
    size_t                i, first;
    int64_t               by_us;
    ft_verify_shopper_t  *s;

    for (i = 0; i < log->nwaits; i++) {
        s = ft_verify_find(log, log->waits[i].id);

        if (s == NULL || s->place >= opens_us) {
            continue;
        }

        first = ft_order_overtaken(list, n, s->place);

        if (first == n) {
            continue;
        }

        by_us = log->waits[i].at_us - list[first].at_us;

        if (by_us <= slack_us) {
            continue;
        }

        if (!wronged[s - log->shoppers]) {
            wronged[s - log->shoppers] = 1;
            order->passed_over++;
        }

        if ((double) by_us / 1e6 > order->worst_passed_s) {
            order->worst_passed_s = (double) by_us / 1e6;
            order->worst_id = s->id;
        }
    }
}


static size_t
ft_order_list(ft_verify_order_t *order, const ft_verify_log_t *log,
    uint64_t opens_us, int64_t opened_us, ft_admission_t *list)
{
    size_t                      i, n;
    uint64_t                    latest;
    const ft_verify_shopper_t  *s;

    n = 0;

    for (i = 0; i < log->n; i++) {
        s = &log->shoppers[i];

        if (s->place < opens_us) {
            order->shoppers++;
        } else {
            order->later++;
        }

        if (s->admitted_us < 0) {
            continue;
        }

        order->early += (s->admitted_us < opened_us);
        list[n].at_us = s->admitted_us;
        list[n++].place = s->place;
    }

    qsort(list, n, sizeof(ft_admission_t), ft_admission_order);

    latest = 0;

    for (i = 0; i < n; i++) {
        latest = list[i].place > latest ? list[i].place : latest;
        list[i].latest = latest;
    }

    return n;
}


bool
ft_verify_order(ft_verify_order_t *order, const ft_verify_log_t *log,
    uint64_t opens_us, int64_t opened_us, int64_t slack_us)
{
    bool             made;
    size_t           n;
    uint8_t         *wronged;
    uint64_t        *places;
    ft_served_t     *served;
    ft_admission_t  *list;

    memset(order, 0, sizeof(ft_verify_order_t));

    list = calloc(log->n + 1, sizeof(ft_admission_t));
    places = calloc(log->n + 1, sizeof(uint64_t));
    served = calloc(log->n + 1, sizeof(ft_served_t));
    wronged = calloc(log->n + 1, 1);

    made = list != NULL && places != NULL && served != NULL && wronged != NULL;

    if (made) {
        n = ft_order_list(order, log, opens_us, opened_us, list);
        made = ft_order_prequeue(order, list, n, opens_us, places, served);
        ft_order_waits(order, log, list, n, opens_us, slack_us, wronged);
    }

    free(list);
    free(places);
    free(served);
    free(wronged);

    return made;
}
