
/*
 * What admission needs of tickets and passes; the callers' side is in
 * ft_admission.h.
 */

#ifndef FT_PASS_H_INCLUDED
#define FT_PASS_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


/* A 64-bit finalizer (Stafford's variant 13 of MurmurHash3's). */
static inline uint64_t
ft_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;

    return x;
}


/*
 * Whether this very ticket was used a moment ago: ten tabs share one, and are
 * one shopper.  A table of recent prints, not of shoppers: it forgets.
 */
bool ft_admission_seen(const ft_call_t *call, const ft_ticket_t *ticket);

/* The same, in this span of 16 s or the one before, without noting this use. */
bool ft_admission_was_seen(const ft_call_t *call, const ft_ticket_t *ticket);

/* Another edge's clock may be ahead: nobody is seen before the first attempt. */
uint64_t ft_admission_seen_ms(const ft_call_t *call, const ft_ticket_t *ticket);

/* When the pass of a ticket ends that is admitted now. */
uint64_t ft_admission_end_ms(const ft_call_t *call, uint64_t first_ms);

/* Admitted polls whose pages have not come yet. */
uint32_t ft_admission_expecting(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_PASS_H_INCLUDED */
