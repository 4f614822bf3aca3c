
/*
 * A sale's profile: the arrival rate, and the changes of capacity.
 *
 * A file has one statement per line; `#` begins a comment:
 *
 *   SECONDS FROM TO             a stage: the rate goes from FROM/s to TO/s
 *   at SECONDS slots N          payment slots
 *   at SECONDS rate R           admissions per second
 *   at SECONDS inflight N       maximum of admitted requests at checkout
 *   at SECONDS payment-factor F payments take F times as long
 *   at SECONDS restart          the edge loses its state, but not the tickets
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
 * Reads drop, low, peak or a file.  The i-th shopper arrives when the integral
 * of the rate, times scale, reaches i, as in k6.  On failure returns false and
 * sets *error to an allocated message, or to NULL if out of memory.
 */
bool ft_profile_read(ft_profile_t *profile, const char *name, double scale,
    char **error);

void ft_profile_free(ft_profile_t *profile);


#endif /* FT_SIM_PROFILE_H_INCLUDED */
