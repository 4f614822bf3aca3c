
/*
 * The stats of a key at this moment, for people and monitors.
 */

#ifndef FT_STATS_H_INCLUDED
#define FT_STATS_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


typedef struct {
    uint32_t          queueing;
    uint32_t          waiting;      /* all who wait: called and held, too */
    uint32_t          called;
    uint32_t          held;
    uint32_t          fresh;        /* first attempts that have not returned */
    uint32_t          inflight;
    uint32_t          sessions;     /* valid passes */
    uint64_t          threshold_ms; /* epoch */
    uint64_t          threshold_age_ms;     /* while queueing */
    uint64_t          wait_ms;      /* a newcomer's estimate */
    uint64_t          free_capacity_milli;  /* admissions x 1000 */
    uint64_t          flow_milli;   /* admissions a second x 1000 */
    uint32_t          show_up_milli;
    uint64_t          admitted_last_period;

    /* overrides, see ft_override.h */
    uint32_t          paused;
    uint32_t          sold_out;
    uint32_t          rate_milli;   /* in force; 0: none */
    uint32_t          rate_override_milli;  /* the operator's, 0: none */
    uint32_t          rate_upstream_milli;
    uint64_t          opens_ms;     /* epoch; 0: it is open */
    uint64_t          opened_ms;    /* epoch; 0: not by the operator */

    /* adaptation, see ft_adapt.h; 0 without */
    uint32_t          adapt_inflight;
    uint32_t          adapt_rate_milli;
    uint32_t          answer_ms;
    uint32_t          answers_milli;
    uint32_t          answer_errors_milli;
} ft_stats_t;


/* Runs a tick if one is due. */
ft_stats_t ft_stats_read(const ft_call_t *call);

/* Adds what adaptation has come to; limits: the zone's own. */
void ft_stats_adapt(const ft_state_t *state, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_stats_t *stats);

/*
 * Whether a first attempt would be admitted now: capacity is free, nobody waits,
 * and it is open.
 */
bool ft_stats_is_free(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_STATS_H_INCLUDED */
