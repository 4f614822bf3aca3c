
/*
 * The settings of a zone: limits, and the rules by which shoppers wait.  Both
 * live in the caller's configuration, so a reload changes them at once and
 * keeps the state in shared memory.
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

/* bounded by the expiry wheel of the census, see ft_census.h */
#define FT_POLL_MAX_LIMIT_MS    55000


typedef enum {
    FT_POLICY_FAIR = 0,         /* earliest timestamp first */
    FT_POLICY_LOTTERY,          /* any request that finds free capacity */
    FT_POLICY_PROPORTIONAL,     /* a threshold that knows nothing of the line */
    FT_POLICY_REJECT            /* no line: admission or refusal */
} ft_policy_t;


typedef struct {
    uint32_t         rate_milli;    /* admissions a second x 1000; 0: none */
    uint32_t         period_ms;     /* accounting and sampling period */
    uint32_t         burst;         /* admissions at one instant, >= 1 */
    uint32_t         inflight;      /* requests at the upstream; 0: no limit */
    uint32_t         sessions;      /* valid passes; 0: no limit */
} ft_limits_t;


typedef struct {
    ft_policy_t      policy;
    uint32_t         hold_ms;       /* 0: no request is held */
    uint32_t         max_wait_ms;   /* 0: no refusal because of the wait */
    uint32_t         poll_min_ms;
    uint32_t         poll_max_ms;   /* <= FT_POLL_MAX_LIMIT_MS */
    uint32_t         session_ms;    /* lifetime of a pass */
    uint64_t         opens_ms;      /* no admission before; 0: always open */
} ft_rules_t;


/* The default depth of the bucket: a quarter of a second's worth, at least 1. */
static inline uint32_t
ft_config_burst_default(uint32_t rate_milli)
{
    return rate_milli / 4000 > 1 ? rate_milli / 4000 : 1;
}


/* Changes the rate.  A burst that was the default becomes the new default. */
static inline void
ft_config_set_rate(ft_limits_t *limits, uint32_t rate_milli)
{
    if (limits->burst == ft_config_burst_default(limits->rate_milli)) {
        limits->burst = ft_config_burst_default(rate_milli);
    }

    limits->rate_milli = rate_milli;
}


#endif /* FT_CONFIG_H_INCLUDED */
