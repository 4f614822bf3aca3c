
/*
 * The command line of flash-crowd.
 */

#ifndef FT_CROWD_OPTIONS_H_INCLUDED
#define FT_CROWD_OPTIONS_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "crowd_arrivals.h"


typedef struct {
    const char        *url;
    const char        *status_url;      /* NULL: not asked */
    const char        *stats_url;       /* NULL: not asked */
    FILE              *trace;           /* NULL: none */
    ft_arrivals_t      arrivals;
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
} ft_crowd_options_t;


typedef enum {
    FT_OPTIONS_OK,
    FT_OPTIONS_HELP,                    /* shown, nothing else to do */
    FT_OPTIONS_BAD                      /* said why on stderr */
} ft_options_result_t;


ft_options_result_t ft_crowd_options(ft_crowd_options_t *options, int argc,
    char **argv);


#endif /* FT_CROWD_OPTIONS_H_INCLUDED */
