
/*
 * The state of one key, in shared memory: plain words without pointers, each
 * accessed atomically.  There is no lock.  A worker that is killed between two
 * stores leaves at most one count off by one until it expires.
 */

#ifndef FT_STATE_H_INCLUDED
#define FT_STATE_H_INCLUDED


#include "ft_adapt.h"
#include "ft_bucket.h"
#include "ft_census.h"
#include "ft_history.h"
#include "ft_queuelog.h"
#include "ft_sessions.h"
#include "ft_spent.h"
#include "ft_totals.h"
#include "ft_waits.h"

#pragma GCC visibility push(hidden)


#define FT_WORKERS  256         /* slots for worker processes */
#define FT_AHEAD    160         /* times ahead, see ft_forecast.c */


/* The counts of one worker; cleared when its process is gone. */
typedef struct {
    _Atomic uint64_t  head_us;          /* earliest timestamp held */
    _Atomic uint64_t  heartbeat_ms;     /* head_us is valid for a moment after */
    _Atomic uint32_t  held;
    _Atomic uint32_t  inflight;
} ft_worker_t;


/* The controller's words, written once a tick by the worker that wins it. */
typedef struct {
    _Atomic uint64_t  ticked_ms;
    _Atomic uint64_t  listening_ms; /* a restarted edge listens until then */
    _Atomic uint64_t  boost_milli;
    _Atomic uint32_t  turned_back;  /* since the last tick, as are: */
    _Atomic uint32_t  returned;     /* called shoppers who came back */
    _Atomic uint32_t  left;         /* requests closed while held */
    _Atomic uint32_t  ended;        /* passes declared done */
    _Atomic uint64_t  returned_milli;       /* a second x 1000, averaged */
    _Atomic uint64_t  no_shows_milli;
    _Atomic uint64_t  stayed_milli; /* held and admitted */
    _Atomic uint64_t  left_milli;
    _Atomic uint64_t  ended_milli;
    _Atomic uint64_t  flow_milli;   /* admissions a second while queueing */
    _Atomic uint64_t  drain_milli;  /* shoppers called a second */
    _Atomic uint64_t  pace_milli;   /* its maximum, decaying over a minute */
    _Atomic uint64_t  speed_ppm;    /* of the threshold, us per second */
    _Atomic uint64_t  admitted;     /* totals.admitted at the last tick */
    _Atomic uint64_t  ending_milli; /* passes that end a second, in the hold */
    _Atomic uint32_t  ending[FT_AHEAD];     /* passes ended by these times */
} ft_control_t;


/* Accounting by periods, see ft_period.h. */
typedef struct {
    _Atomic uint64_t  began_ms;
    _Atomic uint64_t  base;         /* totals.admitted at the beginning */
    _Atomic uint64_t  admitted;     /* in the last complete period */
    _Atomic uint64_t  budget;       /* period number << 32 | admissions in it */
    _Atomic uint64_t  sampled_ms;   /* by policy=proportional */
    _Atomic uint32_t  passed_on;    /* called requests since that sample */
} ft_period_t;


/* The opening that the line was laid out for, see ft_opening.h. */
typedef struct {
    _Atomic uint64_t  opens_ms;     /* epoch; 0: none */
    _Atomic uint64_t  opened_ms;    /* by the operator, before that; 0: no */
    _Atomic uint64_t  gathered_ms;  /* all have returned after it */
    _Atomic uint64_t  open_heartbeat_ms;    /* last request with access, */
    _Atomic uint64_t  closed_heartbeat_ms;  /* and of the pre-queue */
    _Atomic uint32_t  turn;         /* how often the line was laid out */
} ft_opening_t;


/* Settings changed at run time, see ft_override.h; 0: none. */
typedef struct {
    _Atomic uint32_t  flags;        /* FT_OVERRIDE_... */
    _Atomic uint32_t  rate_milli;   /* the operator's */
    _Atomic uint32_t  rate_upstream_milli;
    _Atomic uint64_t  opens_ms;     /* the operator opened the sale then */
} ft_overrides_t;


typedef struct {
    _Atomic uint32_t  generation;   /* random: identifies this state */
    _Atomic uint32_t  queueing;     /* somebody waits */
    _Atomic uint64_t  born_ms;
    _Atomic uint64_t  used_ms;
    ft_bucket_t       bucket;
    ft_overrides_t    overrides;
    ft_control_t      control;
    ft_period_t       period;
    ft_opening_t      opening;
    ft_totals_t       totals;
    _Atomic uint32_t  expected[FT_DUES];    /* see ft_inflight.h */
    _Atomic uint32_t  arrived;      /* of them, so far */
    ft_sessions_t     sessions;
    ft_spent_t        spent;
    ft_adapt_t        adapt;
    ft_worker_t       worker[FT_WORKERS];
    _Atomic uint64_t  taking[FT_WORKERS / 64];  /* see ft_capacity_take() */
    ft_census_t       census;
    ft_waits_t        waits;        /* of the admitted */
    ft_queuelog_t     queuelog;
    ft_history_t      history;
} ft_state_t;


/* Initializes a zeroed or used state.  generation: random, not 0. */
void ft_state_init(ft_state_t *state, uint32_t generation, uint64_t now_ms);

/* Clears what a worker that is gone has held. */
void ft_state_forget(ft_state_t *state, uint32_t worker);

/* Sums over the workers; workers: slots in use. */
uint32_t ft_state_held(const ft_state_t *state, uint32_t workers);
uint32_t ft_state_inflight(const ft_state_t *state, uint32_t workers);

#pragma GCC visibility pop


#endif /* FT_STATE_H_INCLUDED */
