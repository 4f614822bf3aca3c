
/*
 * When the shoppers of a crowd come: an open model, in which nobody waits for
 * anybody else's answer.
 */

#ifndef FT_CROWD_ARRIVALS_H_INCLUDED
#define FT_CROWD_ARRIVALS_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>


#define FT_CROWD_STAGES  32


/* The rate goes evenly from one to the other, in shoppers a second. */
typedef struct {
    double             seconds;
    double             from;
    double             to;
} ft_crowd_stage_t;

typedef struct {
    ft_crowd_stage_t   stages[FT_CROWD_STAGES];
    size_t             n;
} ft_arrivals_t;


/*
 * Reads "SECONDS:FROM-TO,...".  NULL, or what is wrong with it.
 */
const char *ft_arrivals_parse(ft_arrivals_t *arrivals, const char *text);

/* How many shoppers come in all, not rounded. */
double ft_arrivals_total(const ft_arrivals_t *arrivals);

/* Keeps the shape and its length, and makes `total` shoppers of it. */
void ft_arrivals_scale(ft_arrivals_t *arrivals, double total);

/*
 * When the i-th shopper comes, i from 1, in seconds from the beginning: when
 * the integral of the rate reaches i, as k6 schedules them.  Negative: the
 * integral never does.
 */
double ft_arrivals_at(const ft_arrivals_t *arrivals, double i);


#endif /* FT_CROWD_ARRIVALS_H_INCLUDED */
