
/*
 * A crowd before an opening, and the order of its admissions.
 */

#ifndef OPENING_H_INCLUDED
#define OPENING_H_INCLUDED


#include <math.h>
#include "crowd.h"
#include "core.h"


#define SECRET  "a secret for tests, and for nothing else"

static const ft_secret_t  secret = { SECRET, sizeof(SECRET) - 1 };


/* A minute before the opening; `before` shoppers arrive until a second
   before it, `later` ones every 50 ms after it. */
static inline crowd_t *
sale(unsigned before, unsigned later)
{
    crowd_t   *c;
    unsigned   i;

    c = crowd_create(before + later, 2);
    c->ring = ft_keyring_create(&secret, 1);
    assert_non_null(c->ring);

    c->now_ms += 600000;
    c->rules.opens_ms = c->now_ms + 60000;

    for (i = 0; i < before + later; i++) {
        crowd_arrive(c, i, i < before
                          ? c->now_ms + 1 + i * 59000ull / before
                          : c->rules.opens_ms + 1 + (i - before) * 50ull);
    }

    return c;
}


static inline void
sale_ends(crowd_t *c)
{
    ft_keyring_free(c->ring);
    crowd_free(c);
}


static inline uint64_t
place(const crowd_t *c, unsigned i)
{
    ft_call_t  call;

    call = crowd_call(c, 0);

    return ft_opening_timestamp_us(&call, &c->shopper[i].ticket);
}


/* Kendall's tau between place and admission, for shoppers from .. to - 1. */
static inline double
order(const crowd_t *c, unsigned from, unsigned to)
{
    int64_t   sum, pairs;
    unsigned  i, j;

    sum = pairs = 0;

    for (i = 0; i < c->admissions; i++) {
        for (j = 0; j < i; j++) {
            if (c->order[i] < from || c->order[i] >= to
                || c->order[j] < from || c->order[j] >= to)
            {
                continue;
            }

            pairs++;
            sum += place(c, c->order[j]) < place(c, c->order[i]) ? 1 : -1;
        }
    }

    return pairs ? (double) sum / (double) pairs : NAN;
}


#endif /* OPENING_H_INCLUDED */
