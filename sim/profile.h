
/*
 * A sale's profile: how many shoppers a second come, and when capacity changes.
 *
 * A file has one statement a line, `#` begins a comment:
 *
 *   SECONDS FROM TO             a stage: the rate goes from FROM/s to TO/s
 *   at SECONDS slots N          payment slots from then on
 *   at SECONDS rate R           admissions a second from then on
 *   at SECONDS inflight N       admitted requests at checkout from then on
 *   at SECONDS payment-factor F payments take F times as long from then on
 *   at SECONDS restart          the edge loses its state, tickets live on
 */

#ifndef FT_SIM_PROFILE_H_INCLUDED
#define FT_SIM_PROFILE_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


typedef enum {
    FT_CHANGE_SLOTS,
    FT_CHANGE_RATE,
    FT_CHANGE_INFLIGHT,
    FT_CHANGE_PAYMENT,
    FT_CHANGE_RESTART
} ft_change_kind_t;


typedef struct {
    double             seconds;
    double             from;
    double             to;
} ft_stage_t;

typedef struct {
    int64_t            at_us;
    ft_change_kind_t   kind;
    double             value;
} ft_change_t;

typedef struct {
    ft_stage_t        *stages;
    size_t             nstages;
    ft_change_t       *changes;
    size_t             nchanges;
    int64_t            stock;           /* -1: unlimited */
    int64_t           *arrivals_us;     /* ascending */
    size_t             narrivals;
} ft_profile_t;


/*
 * Reads drop, low, peak or a file, and makes the arrivals: the i-th comes when
 * the integral of the rate, times scale, reaches i, as k6 schedules them.
 * False: *error (free it) says what is wrong and where.
 */
bool ft_profile_read(ft_profile_t *profile, const char *name, double scale,
    char **error);

void ft_profile_free(ft_profile_t *profile);


#endif /* FT_SIM_PROFILE_H_INCLUDED */
