
/*
 * Pending events: a four-way heap, O(log n) to add and to take.  Events of the
 * same time leave it in the order in which they were added.
 */

#ifndef FT_SIM_EVENTS_H_INCLUDED
#define FT_SIM_EVENTS_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


typedef enum {
    FT_EVENT_REQUEST,       /* a shopper's next request */
    FT_EVENT_PAID,
    FT_EVENT_LEAVE,         /* a held shopper closes its connection */
    FT_EVENT_WAKE,          /* a timer of a worker, or of the ideal line */
    FT_EVENT_CHANGE         /* of the profile */
} ft_event_kind_t;


typedef struct {
    int64_t           at_us;
    uint32_t          seq;
    uint32_t          what;     /* kind << 28 | index */
} ft_event_t;

typedef struct {
    ft_event_t       *heap;
    size_t            n;
    size_t            size;
    uint32_t          seq;
} ft_events_t;


#define ft_event_kind(event)   ((ft_event_kind_t) ((event)->what >> 28))
#define ft_event_index(event)  ((event)->what & 0x0fffffff)


/* Returns false if out of memory. */
bool ft_events_init(ft_events_t *events, size_t size);
void ft_events_free(ft_events_t *events);
void ft_events_clear(ft_events_t *events);

/* Exits with a message if out of memory. */
void ft_events_add(ft_events_t *events, int64_t at_us, ft_event_kind_t kind,
    uint32_t index);

/* Removes and returns the earliest event.  The heap must not be empty. */
ft_event_t ft_events_take(ft_events_t *events);


#endif /* FT_SIM_EVENTS_H_INCLUDED */
