
/*
 * Workers that do random operations on one state in shared memory, as fast as
 * they can.  They run as processes that are killed, and as threads under a race
 * detector.
 */

#ifndef STRESS_H_INCLUDED
#define STRESS_H_INCLUDED


#include "unit.h"
#include "core.h"


#define STRESS_WORKERS   4
#define STRESS_SHOPPERS  400
#define STRESS_LOG       400000


/* A shopper's cookie; owned by the worker that uses it. */
typedef struct {
    _Atomic uint32_t  owner;        /* worker + 1; 0: free */
    ft_ticket_t       ticket;       /* kind 0: none yet */
} stress_shopper_t;


typedef struct {
    ft_limits_t        limits;
    ft_rules_t         rules;

    /* virtual time: 16 operations are a millisecond */
    _Atomic uint64_t   ops;
    _Atomic uint64_t   until;       /* operations, about, at which workers
                                       pause */
    _Atomic uint32_t   stop;

    /* when each worker read the clock; 0: it does not run */
    _Atomic uint64_t   looked_ms[STRESS_WORKERS];

    /* admitted and not ended, counted by the workers */
    _Atomic uint32_t   inside[STRESS_WORKERS];

    /* times of admission, unordered */
    _Atomic uint32_t   logged;
    uint64_t           log_ms[STRESS_LOG];

    /* times that `inside` exceeded the limit */
    _Atomic uint32_t   too_many_inside;

    stress_shopper_t   shopper[STRESS_SHOPPERS];
} stress_t;


/* Sets the limits and rules; the rest is zeroed. */
void stress_init(stress_t *stress);

uint64_t stress_now(const stress_t *stress);

/*
 * Runs a worker until `stop`, or for `most` operations (0: any number), then
 * ends its requests.
 */
void stress_work(stress_t *stress, ft_state_t *state, uint32_t worker,
    uint64_t seed, uint64_t most);

/* Clears what a killed worker owned. */
void stress_forget(stress_t *stress, uint32_t worker);

/* Checks the limits. */
void stress_check(stress_t *stress);

/* Checks that nothing is left a minute later. */
void stress_check_rest(stress_t *stress, ft_state_t *state, uint32_t worker);


#endif /* STRESS_H_INCLUDED */
