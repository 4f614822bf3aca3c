
/*
 * The statistics of the edge and of the checkout during a sale.
 */

#ifndef CROWD_STATS_H_INCLUDED
#define CROWD_STATS_H_INCLUDED


#include <stdint.h>
#include "crowd_http.h"


/* From flash_throttle_status, over all its keys. */
typedef struct {
    int64_t                 waiting;
    int64_t                 threshold_age_ms;   /* maximum */
} crowd_stats_edge_t;


typedef struct {
    int64_t                 orders;
    int64_t                 oversold;
    int64_t                 late_charges;
    int64_t                 declined;
    int64_t                 in_progress;
} crowd_stats_checkout_t;


typedef union {
    crowd_stats_edge_t      edge;
    crowd_stats_checkout_t  checkout;
} crowd_stats_values_t;


/* Parses null-terminated JSON.  False: a required member is missing. */
typedef bool (*crowd_stats_parse_pt)(const char *body,
    crowd_stats_values_t *values);

/* error: NULL, or a message that is valid during the call. */
typedef void (*crowd_stats_done_pt)(void *data, const char *error);

typedef struct {
    crowd_http_request_t    request;
    const char             *url;        /* NULL: no requests */
    crowd_stats_parse_pt    parse;
    crowd_stats_done_pt     done;
    void                   *data;
    bool                    pending;
    bool                    known;      /* values are set */
    crowd_stats_values_t    values;
} crowd_stats_t;


bool crowd_stats_parse_edge(const char *body, crowd_stats_values_t *values);
bool crowd_stats_parse_checkout(const char *body,
    crowd_stats_values_t *values);

/* False: no memory. */
bool crowd_stats_open(crowd_stats_t *stats, crowd_http_t *http,
    const char *url, crowd_stats_parse_pt parse, crowd_stats_done_pt done,
    void *data);

/* Sends a request, unless one is pending. */
void crowd_stats_fetch(crowd_stats_t *stats);

void crowd_stats_close(crowd_stats_t *stats);


#endif /* CROWD_STATS_H_INCLUDED */
