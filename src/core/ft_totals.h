
/*
 * Counters of a key since its state was made.
 */

#ifndef FT_TOTALS_H_INCLUDED
#define FT_TOTALS_H_INCLUDED


#include "ft.h"


typedef struct {
    _Atomic uint64_t  first_attempts;
    _Atomic uint64_t  polls;        /* requests with a ticket */
    _Atomic uint64_t  admitted;
    _Atomic uint64_t  queued;
    _Atomic uint64_t  closed;       /* before the opening */
    _Atomic uint64_t  held;
    _Atomic uint64_t  turned_back;  /* called: neither capacity nor a hold */
    _Atomic uint64_t  rejected;
    _Atomic uint64_t  sold_out;     /* responses "sold out" */
    _Atomic uint64_t  passed;       /* requests with a valid pass */
    _Atomic uint64_t  done;         /* completed at the upstream */
    _Atomic uint64_t  errors;       /* of these, with a 5xx response */
    _Atomic uint64_t  left;         /* closed while held */
    _Atomic uint64_t  no_shows;     /* called, and did not return */
    _Atomic uint64_t  expired;      /* expired before they were called */
    _Atomic uint64_t  spent;        /* passes declared done */
    _Atomic uint64_t  waited_ms;    /* sum over the admitted */
} ft_totals_t;


/* All shoppers who left the line without being admitted. */
static inline uint64_t
ft_totals_gone(const ft_totals_t *totals)
{
    return ft_load(&totals->left) + ft_load(&totals->no_shows)
           + ft_load(&totals->expired);
}


#endif /* FT_TOTALS_H_INCLUDED */
