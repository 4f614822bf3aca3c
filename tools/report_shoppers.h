
/*
 * Hash table of the shoppers in a log, by ticket id.
 */

#ifndef REPORT_SHOPPERS_H_INCLUDED
#define REPORT_SHOPPERS_H_INCLUDED


#include "fairness.h"


typedef struct {
    uint64_t             hash;      /* of the id; 0: an unused slot */
    fairness_sample_t    times;     /* admitted_us -1: not admitted */
    uint32_t             polls;
    bool                 queued;
} report_shopper_t;

typedef struct {
    report_shopper_t    *table;     /* open addressing */
    size_t               size;      /* a power of two */
    size_t               n;
} report_shoppers_t;


/* False: no memory. */
bool report_shoppers_init(report_shoppers_t *shoppers);
void report_shoppers_free(report_shoppers_t *shoppers);

/* Finds or adds a shopper by the hash of its id.  NULL: no memory. */
report_shopper_t *report_shoppers_get(report_shoppers_t *shoppers,
    uint64_t hash);


#endif /* REPORT_SHOPPERS_H_INCLUDED */
