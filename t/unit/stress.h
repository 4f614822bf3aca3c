
/*
 * Workers that do whatever workers do, at random, on one state in shared
 * memory, as fast as they can.  Run as processes that are killed, and as
 * threads under a race detector.
 */

#ifndef STRESS_H_INCLUDED
#define STRESS_H_INCLUDED


#include "unit.h"
#include "core.h"


#define STRESS_WORKERS   4
#define STRESS_SHOPPERS  400
#define STRESS_LOG       400000


/* A shopper's cookie; its owner's while it is taken. */
typedef struct {
    _Atomic uint32_t  owner;        /* worker + 1; 0: free */
    ft_ticket_t       ticket;       /* kind 0: none yet */
} stress_shopper_t;


typedef struct {
    ft_limits_t        limits;
    ft_rules_t         rules;

    /* virtual time: so many operations are a millisecond */
    _Atomic uint64_t   ops;
    _Atomic uint64_t   until;       /* they rest there, about */
    _Atomic uint32_t   stop;

    /* when each looked at the time; 0: it is not at work */
    _Atomic uint64_t   looked_ms[STRESS_WORKERS];

    /* admitted and not ended, as the workers themselves count them */
    _Atomic uint32_t   inside[STRESS_WORKERS];

    /* times of admission, in no order */
    _Atomic uint32_t   logged;
    uint64_t           log_ms[STRESS_LOG];

    /* more than the bound were seen inside: must stay 0 */
    _Atomic uint32_t   too_many_inside;

    stress_shopper_t   shopper[STRESS_SHOPPERS];
} stress_t;


/* Sets the limits and rules of a run; the rest is zero already. */
void stress_init(stress_t *stress);

uint64_t stress_now(const stress_t *stress);

/*
 * What a worker does until it is told to stop, and then brings to an end.
 * most: at the most so many operations; 0: any number.
 */
void stress_work(stress_t *stress, ft_state_t *state, uint32_t worker,
    uint64_t seed, uint64_t most);

/* A worker was killed: its shoppers are free again, its requests gone. */
void stress_forget(stress_t *stress, uint32_t worker);

/* Fails the test if anything happened that must not. */
void stress_check(stress_t *stress);

/* Long after: nothing is left of it. */
void stress_check_rest(stress_t *stress, ft_state_t *state, uint32_t worker);


#endif /* STRESS_H_INCLUDED */
