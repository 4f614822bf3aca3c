
/*
 * flash-sim's command line.
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
    FT_QUEUE,               /* reserve, with a queue for the payment slots */
    FT_DEADLINE,            /* queue, without payments that would end late */
    FT_WAITING_ROOM,        /* 503 above --slots in progress, random retry */
    FT_EDGE_LOTTERY,        /* the edge with a bucket alone, random retry */
    FT_EDGE_PROPORTIONAL,   /* the edge with the proportional controller */
    FT_EDGE_FAIR,           /* the edge with the default controller */
    FT_IDEAL                /* a single queue that holds all requests open */
} ft_variant_t;


typedef struct {
    const char        *profile_name;
    const char        *patience_name;
    const char        *title;
    const char        *trace;
    ft_profile_t       profile;
    ft_patience_t      patience;
    ft_patience_t      polls;       /* between polls; empty: as advised */
    ft_requires_t      requires;
    ft_variant_t       variant;
    bool               deadline;
    bool               json;
    uint32_t           runs;
    uint64_t           seed;
    double             scale;
    double             no_show;     /* share of the shoppers */
    uint32_t           opens_ms;    /* 0: the sale is open */
    uint32_t           slots;       /* 0: payments never wait */
    int64_t            stock;       /* -1: unlimited */
    uint32_t           rate_milli;
    uint32_t           burst;
    uint32_t           inflight;
    uint32_t           sessions;    /* 0: unlimited */
    uint32_t           session_ms;
    double             spent_share; /* of the passes, when answered */
    uint32_t           adapt_ms;    /* target; 0: no adaptation */
    bool               aimd;        /* adapt by AIMD */
    uint32_t           poll_min_ms;
    uint32_t           poll_max_ms;
    uint32_t           hold_ms;
    uint32_t           workers;
    uint32_t           clock_skew_ms;   /* between the first and last worker */
} ft_options_t;


/* Reads the command line; exits with status 2 and a message on an error. */
void ft_options_read(ft_options_t *options, int argc, char **argv);

void ft_options_free(ft_options_t *options);

const char *ft_options_variant_name(ft_variant_t variant);

static inline bool
ft_options_is_edge(const ft_options_t *options)
{
    return options->variant == FT_EDGE_LOTTERY
           || options->variant == FT_EDGE_PROPORTIONAL
           || options->variant == FT_EDGE_FAIR;
}


/* The earliest time at which checkout can serve the shopper. */
static inline int64_t
ft_options_opened_us(const ft_options_t *options, int64_t first_us)
{
    int64_t  opens_us;

    opens_us = (int64_t) options->opens_ms * 1000;

    return first_us > opens_us ? first_us : opens_us;
}


/* A value of the profile, multiplied by --scale. */
static inline double
ft_options_scaled(const ft_options_t *options, double value)
{
    return value * options->scale;
}


#endif /* FT_SIM_OPTIONS_H_INCLUDED */
