
/*
 * Adaptation: the limits follow the upstream's answers.
 *
 * The time of the answers moves the window, the number of requests in flight.  By
 * Little's law (in flight = answers a second x time of an answer) the window sets
 * that time, and a slow upstream slows its admissions down without any
 * measurement.  Errors, which may come fast and free the window at once, move a
 * ceiling on the rate.
 *
 * There is no timer: the answer that completes a measuring period moves both.
 * The law and its figures: docs/adapt.md.
 */

#ifndef FT_ADAPT_H_INCLUDED
#define FT_ADAPT_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "ft_config.h"

#pragma GCC visibility push(hidden)


#define FT_ADAPT_TARGET_MIN_MS  10
#define FT_ADAPT_TARGET_MAX_MS  60000


/* Settings; rates in admissions a second x 1000. */
typedef struct {
    uint32_t          target_ms;    /* time of an answer */
    uint32_t          min_milli;    /* lowest rate, > 0 */
    uint32_t          max_milli;    /* highest rate; 0: the zone's, if any */
} ft_adapt_rules_t;


/* In shared memory; all 0 at first. */
typedef struct {
    _Atomic uint64_t  began_ms;     /* this measuring period */
    _Atomic uint64_t  took_ms;      /* sum over its answers */
    _Atomic uint32_t  answers;
    _Atomic uint32_t  errors;
    _Atomic uint32_t  turned_away;  /* a request found the window full */
    _Atomic uint32_t  window_milli; /* requests in flight x 1000; 0: not set */
    _Atomic uint32_t  mean_ms;      /* of the last period */
    _Atomic uint32_t  answered_milli;       /* answers a second x 1000 in it */
    _Atomic uint32_t  errors_milli; /* share of errors, of 1000 */
    _Atomic uint32_t  good_milli;   /* answered_milli with few errors */
    _Atomic uint32_t  ceiling_milli;        /* of the rate; 0: none */
    _Atomic uint32_t  floor_ms;     /* a time that a smaller window keeps */
    _Atomic uint32_t  floor_age;    /* in periods */
    _Atomic uint32_t  tried_milli;  /* the window before steps down; 0: none */
    _Atomic uint32_t  tried_ms;     /* the mean then */
} ft_adapt_t;


/* How an answer counts. */
typedef enum {
    FT_ANSWER_GOOD,
    FT_ANSWER_ERROR,        /* 5xx, no connection, a timeout */
    FT_ANSWER_LOST,         /* the client left: a lower bound of the time */
    FT_ANSWER_REFUSAL       /* 4xx: independent of the load */
} ft_answer_kind_t;


/* Counts an answer that took took_ms; limits: the zone's own. */
void ft_adapt_answer(ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_answer_kind_t kind, uint32_t took_ms,
    uint64_t now_ms);

/* Narrows the zone's own limits to those in force. */
void ft_adapt_limits(const ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    ft_limits_t *limits);

/* The rate that follows, admissions a second x 1000; 0: unknown. */
uint32_t ft_adapt_rate_milli(const ft_adapt_t *adapt,
    const ft_adapt_rules_t *rules, const ft_limits_t *limits);

#pragma GCC visibility pop


#endif /* FT_ADAPT_H_INCLUDED */
