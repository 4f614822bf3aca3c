
/*
 * Arrival times of the shoppers: an open model, independent of the responses.
 */

#ifndef CROWD_ARRIVALS_H_INCLUDED
#define CROWD_ARRIVALS_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>


#define CROWD_ARRIVALS_STAGES  32


/* The rate changes linearly, in shoppers a second. */
typedef struct {
    double                   seconds;
    double                   from;
    double                   to;
} crowd_arrivals_stage_t;

typedef struct {
    crowd_arrivals_stage_t   stages[CROWD_ARRIVALS_STAGES];
    size_t                   n;
} crowd_arrivals_t;


/* Parses "SECONDS:FROM-TO,...".  Returns NULL or an error message. */
const char *crowd_arrivals_parse(crowd_arrivals_t *arrivals, const char *text);

/* The number of shoppers, not rounded. */
double crowd_arrivals_total(const crowd_arrivals_t *arrivals);

/* Scales the rates so that `total` shoppers arrive. */
void crowd_arrivals_scale(crowd_arrivals_t *arrivals, double total);

/*
 * The arrival time of shopper i, from 1, in seconds from the start: the time at
 * which the integral of the rate reaches i, as in k6.  Negative: it does not.
 */
double crowd_arrivals_at(const crowd_arrivals_t *arrivals, double i);


#endif /* CROWD_ARRIVALS_H_INCLUDED */
