
/*
 * The command line of flash-crowd.
 */

#ifndef CROWD_OPTIONS_H_INCLUDED
#define CROWD_OPTIONS_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "crowd_arrivals.h"


typedef struct {
    const char        *url;
    const char        *status_url;      /* of the edge, or NULL */
    const char        *stats_url;       /* of the checkout, or NULL */
    FILE              *trace;           /* or NULL */
    crowd_arrivals_t   arrivals;
    uint64_t           shoppers;
    double             patience_min_s;
    double             patience_max_s;
    double             no_cookie;       /* shares, 0 to 1 */
    double             vanish;
    uint64_t           seed;
    bool               get;
    bool               poll;
    bool               deadline;
    bool               live;
    bool               json;
} crowd_options_t;


/* Exits after --help, and with status 2 if the command line is invalid. */
void crowd_options_parse(crowd_options_t *options, int argc, char **argv);


#endif /* CROWD_OPTIONS_H_INCLUDED */
