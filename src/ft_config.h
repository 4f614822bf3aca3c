
/*
 * What an operator sets, as the core reads it.  Limits belong to a zone,
 * rules to a place that uses it; both live in the caller's configuration and
 * are passed in with each call, so that a reload takes effect at once while
 * the state in shared memory is kept.
 */

#ifndef FT_CONFIG_H_INCLUDED
#define FT_CONFIG_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


#define FT_HOLD_DEFAULT_MS      2000
#define FT_POLL_MIN_DEFAULT_MS  300
#define FT_POLL_MAX_DEFAULT_MS  15000
#define FT_PERIOD_DEFAULT_MS    5000

/* the due wheel of the census spans this, see ft_census.h */
#define FT_POLL_MAX_LIMIT_MS    55000


typedef enum {
    FT_POLICY_FAIR = 0,     /* earliest stamp first */
    FT_POLICY_LOTTERY,      /* whoever polls at the right instant */
    FT_POLICY_REJECT        /* no waiting room: room or refusal */
} ft_policy_t;


typedef enum {
    FT_CONTROLLER_CENSUS = 0,   /* counts who waits, measures who shows up */
    FT_CONTROLLER_PROPORTIONAL  /* stateless: speed = 1 + Kp x error */
} ft_controller_t;


typedef struct {
    uint32_t         rate_milli;    /* admissions a second x 1000; 0: none */
    uint32_t         period_ms;     /* accounting period */
    uint32_t         burst;         /* admissions at one instant, >= 1 */
    uint32_t         inflight;      /* most at the upstream at once; 0: any */
    uint32_t         sessions;      /* most passes alive at once; 0: any */
} ft_limits_t;


typedef struct {
    ft_policy_t      policy;
    ft_controller_t  controller;
    uint32_t         hold_ms;       /* 0: a called shopper is never held */
    uint32_t         max_wait_ms;   /* 0: nobody is refused at the door */
    uint32_t         poll_min_ms;
    uint32_t         poll_max_ms;   /* <= FT_POLL_MAX_LIMIT_MS */
    uint32_t         session_ms;    /* the life of a pass */
    uint64_t         opens_ms;      /* epoch; before it nobody is let in; 0:
                                       always open */
} ft_rules_t;


/* The default depth of the bucket: a quarter of a second's worth, at least 1. */
static inline uint32_t
ft_burst_default(uint32_t rate_milli)
{
    return rate_milli / 4000 > 1 ? rate_milli / 4000 : 1;
}


/* Another rate: a burst that was set stays, the default is the new rate's. */
static inline void
ft_limits_set_rate(ft_limits_t *limits, uint32_t rate_milli)
{
    if (limits->burst == ft_burst_default(limits->rate_milli)) {
        limits->burst = ft_burst_default(rate_milli);
    }

    limits->rate_milli = rate_milli;
}


#endif /* FT_CONFIG_H_INCLUDED */
