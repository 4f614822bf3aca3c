
/*
 * What is simulated: flash-sim's command line.
 */

#ifndef FT_SIM_OPTIONS_H_INCLUDED
#define FT_SIM_OPTIONS_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include "patience.h"
#include "profile.h"
#include "require.h"


#define FT_SIM_WORKERS_MAX  64


typedef enum {
    FT_NAIVE,               /* check the stock, pay, then write */
    FT_RESERVE,             /* reserve the unit, pay, keep or release it */
    FT_QUEUE,               /* the same, waiting for a payment slot */
    FT_DEADLINE,            /* the same; no payment that cannot end in time */
    FT_WAITING_ROOM,        /* 503 beyond 8 in progress, random retry */
    FT_EDGE_LOTTERY,        /* the edge's bucket, random retry */
    FT_EDGE_PROPORTIONAL,   /* the edge's stateless controller */
    FT_EDGE_FAIR,           /* the edge as it ships */
    FT_IDEAL                /* one line, all requests held open */
} ft_variant_t;


typedef struct {
    const char        *profile_name;
    const char        *patience_name;
    const char        *title;
    const char        *trace;
    ft_profile_t       profile;
    ft_patience_t      patience;
    ft_patience_t      polls;       /* between two; none: as told */
    ft_requires_t      requires;
    ft_variant_t       variant;
    bool               deadline;
    bool               json;
    uint32_t           runs;
    uint64_t           seed;
    double             scale;
    double             no_show;     /* share of the shoppers */
    uint32_t           opens_ms;    /* who is there before is shuffled; 0: none */
    uint32_t           slots;       /* 0: payments never wait */
    int64_t            stock;       /* -1: unlimited */
    uint32_t           rate_milli;
    uint32_t           burst;
    uint32_t           inflight;
    uint32_t           sessions;    /* most passes alive; 0: any */
    uint32_t           session_ms;
    double             over;        /* share of passes over when sold */
    uint32_t           adapt_ms;    /* target; 0: nothing adapts */
    bool               aimd;        /* the textbook's way */
    uint32_t           poll_min_ms;
    uint32_t           poll_max_ms;
    uint32_t           hold_ms;
    uint32_t           workers;
    uint32_t           clock_skew_ms;   /* between the first and last worker */
} ft_options_t;


/* Reads the command line; ends the program with a message if it is wrong. */
void ft_options_read(ft_options_t *options, int argc, char **argv);

void ft_options_free(ft_options_t *options);

const char *ft_variant_name(ft_variant_t variant);

static inline bool
ft_variant_edge(ft_variant_t variant)
{
    return variant == FT_EDGE_LOTTERY || variant == FT_EDGE_PROPORTIONAL
           || variant == FT_EDGE_FAIR;
}


/* From when on it could be served. */
static inline int64_t
ft_opened_us(const ft_options_t *options, int64_t first_us)
{
    int64_t  opens_us;

    opens_us = (int64_t) options->opens_ms * 1000;

    return first_us > opens_us ? first_us : opens_us;
}


/* A profile's slots or rate, as large as the sale is. */
static inline double
ft_scaled(const ft_options_t *options, double value)
{
    return value * options->scale;
}


#endif /* FT_SIM_OPTIONS_H_INCLUDED */
