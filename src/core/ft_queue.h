
/*
 * The line of a key begins when a shopper has to wait, and ends when nobody
 * waits.
 */

#ifndef FT_QUEUE_H_INCLUDED
#define FT_QUEUE_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


/* Begins a line whose first timestamp is this one, unless there is a line. */
void ft_queue_begin(const ft_call_t *call, uint64_t timestamp_us);

/* Removes all who wait; there is no line until the next one begins. */
void ft_queue_clear(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_QUEUE_H_INCLUDED */
