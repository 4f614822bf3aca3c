
/*
 * The shoppers of a log: one record each, found by id.
 */

#ifndef FT_REPORT_SHOPPERS_H_INCLUDED
#define FT_REPORT_SHOPPERS_H_INCLUDED


#include "fairness.h"
#include "report_log.h"


typedef struct {
    uint64_t           id;          /* 0: free */
    ft_served_t        served;      /* admitted_us -1: not admitted */
    uint32_t           polls;
    bool               queued;
} ft_report_shopper_t;

typedef struct {
    ft_report_shopper_t  *table;    /* open addressing, a power of two */
    size_t                size;
    size_t                n;
} ft_report_shoppers_t;


/* False: no memory. */
bool ft_report_shoppers_init(ft_report_shoppers_t *shoppers);
void ft_report_shoppers_free(ft_report_shoppers_t *shoppers);

/* The shopper of an id, made if it is new.  NULL: no memory. */
ft_report_shopper_t *ft_report_shopper(ft_report_shoppers_t *shoppers,
    uint64_t id);


#endif /* FT_REPORT_SHOPPERS_H_INCLUDED */
