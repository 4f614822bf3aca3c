
/*
 * Overrides: changes by the operator, or the upstream, at run time for one key.  They are part of the state, so they are in force at once in all workers
 * and over reloads, until they are withdrawn.
 *
 * The operator's overrides take precedence: `resume` from the upstream does not
 * withdraw the operator's "sold out", nor its rate the operator's rate.
 */

#ifndef FT_OVERRIDE_H_INCLUDED
#define FT_OVERRIDE_H_INCLUDED


#include "ft_config.h"
#include "ft_state.h"

#pragma GCC visibility push(hidden)


/* Bits of ft_overrides_t.flags. */
#define FT_OVERRIDE_PAUSED             1    /* no admissions */
#define FT_OVERRIDE_SOLD_OUT           2    /* by the operator */
#define FT_OVERRIDE_SOLD_OUT_UPSTREAM  4


typedef enum {
    FT_OVERRIDE_OPERATOR,
    FT_OVERRIDE_UPSTREAM
} ft_override_source_t;


/* Replaces the zone's rate, admissions a second x 1000; 0 withdraws. */
void ft_override_rate(ft_state_t *state, ft_override_source_t source,
    uint32_t rate_milli);

/* Stops admissions: all requests without a pass wait. */
void ft_override_pause(ft_state_t *state);

/* All requests without a pass get "sold out".  False: that was so before. */
bool ft_override_sold_out(ft_state_t *state, ft_override_source_t source);

/*
 * Withdraws pause and sold out; the upstream withdraws only its own sold out.
 * Waiting shoppers have kept their timestamps: when the last "sold out" goes,
 * the key listens to who returns, as after a restart.  False: nothing changed.
 */
bool ft_override_resume(ft_state_t *state, ft_override_source_t source,
    uint64_t now_ms);

/* Resumes, and opens a sale before its configured opening. */
void ft_override_open(ft_state_t *state, uint64_t now_ms);

/* Withdraws all overrides of both sources. */
void ft_override_reset(ft_state_t *state, uint64_t now_ms);

/* Whether an override of the operator is in force. */
bool ft_override_is_set(const ft_state_t *state);

/*
 * Turns the limits of the zone into those in force: adaptation first (adapt
 * NULL: off), then a rate override, which leaves nothing to adapt.
 */
void ft_override_limits(const ft_state_t *state,
    const ft_adapt_rules_t *adapt, ft_limits_t *limits);

bool ft_override_is_sold_out(const ft_state_t *state);
bool ft_override_is_paused(const ft_state_t *state);

/* Paused or sold out. */
bool ft_override_is_stopped(const ft_state_t *state);

#pragma GCC visibility pop


#endif /* FT_OVERRIDE_H_INCLUDED */
