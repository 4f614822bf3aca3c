
/*
 * Adaptation: what is let in follows the upstream's own answers.
 *
 * Two things are moved.  How long answers take moves the window, the number of
 * requests that may be at the upstream at once: by Little's law (in flight =
 * answers a second x time of an answer) that is what sets the time, and a slow
 * upstream slows its own admissions down with no measurement at all.  Errors,
 * which may come fast and free the window at once, move a ceiling on the rate.
 *
 * No timer: whoever brings the answer that fills a measuring period moves them.
 * Without traffic nothing moves.  The law and its figures: docs/adapt.md.
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


/* What an operator sets; rates in admissions a second x 1000. */
typedef struct {
    uint32_t          target_ms;    /* the time that answers should take */
    uint32_t          min_milli;    /* never less is let in, > 0 */
    uint32_t          max_milli;    /* never more; 0: the zone's rate, if any */
} ft_adapt_rules_t;


/* In shared memory; all 0 at first. */
typedef struct {
    _Atomic uint64_t  began_ms;     /* this measuring period */
    _Atomic uint64_t  took_ms;      /* by the answers in it, summed */
    _Atomic uint32_t  answers;
    _Atomic uint32_t  errors;
    _Atomic uint32_t  turned_away;  /* somebody found the window full */
    _Atomic uint32_t  window_milli; /* in flight at once x 1000; 0: not begun */
    _Atomic uint32_t  mean_ms;      /* of the last period's answers */
    _Atomic uint32_t  answered_milli;       /* answers a second x 1000 in it */
    _Atomic uint32_t  errors_milli; /* errors among them, of 1000 */
    _Atomic uint32_t  good_milli;   /* answered_milli when there were few */
    _Atomic uint32_t  ceiling_milli;        /* on the rate; 0: none */
    _Atomic uint32_t  floor_ms;     /* a time that no smaller window lowers */
    _Atomic uint32_t  floor_age;    /* in periods */
    _Atomic uint32_t  tried_milli;  /* the window before steps down, 0: none */
    _Atomic uint32_t  tried_ms;     /* and the mean then */
} ft_adapt_t;


/* How an answer of the upstream counts. */
typedef enum {
    FT_ANSWER_GOOD,
    FT_ANSWER_ERROR,        /* 5xx, no connection, a timeout */
    FT_ANSWER_LOST,         /* the client left: it took at least so long */
    FT_ANSWER_REFUSAL       /* 4xx: says nothing of the load */
} ft_answer_kind_t;


/* An answer that the upstream took took_ms for; limits: the zone's own. */
void ft_adapt_answer(ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_answer_kind_t kind, uint32_t took_ms,
    uint64_t now_ms);

/* Narrows limits, the zone's own, to what is let in now. */
void ft_adapt_limits(const ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    ft_limits_t *limits);

/* What that is, admissions a second x 1000, as far as is known; 0: it is not. */
uint32_t ft_adapt_rate_milli(const ft_adapt_t *adapt,
    const ft_adapt_rules_t *rules, const ft_limits_t *limits);

#pragma GCC visibility pop


#endif /* FT_ADAPT_H_INCLUDED */
