
/*
 * The controller: once a tick, whichever request comes first, it moves the
 * threshold so that the shoppers it calls match the room there will be.  The
 * law and why it is stable: docs/engine.md.
 */

#ifndef FT_CONTROL_H_INCLUDED
#define FT_CONTROL_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


#define FT_YOUNG_MS    60000    /* a state this young may be a restart's */
#define FT_REBUILD_MS  1000     /* a cold start listens this long */

#ifndef FT_TICK_MS
#define FT_TICK_MS  100
#endif


/* Opens a line whose first stamp is this; the threshold begins before it. */
void ft_control_begin(const ft_call_t *call, uint64_t stamp_us);

/* Forgets who waits: there is no line until the next one begins. */
void ft_control_clear(const ft_call_t *call);

/*
 * A state that is new while its shoppers are not (the edge was restarted)
 * listens for a moment, to hear who waits, before anybody is let in; the line
 * begins before the earliest of them.  Told of each ticket that is older than
 * the state, and how long its holder was last advised to stay away; true: it
 * listens.
 */
bool ft_control_rebuild(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t advice_ms);

/* Whether a cold start listens now. */
bool ft_control_listening(const ft_call_t *call);

/* Whether it listens to this ticket, or would begin to with it. */
bool ft_control_hears(const ft_call_t *call, const ft_ticket_t *ticket);

/* Does a tick if one is due and nobody else does it. */
void ft_control_tick(const ft_call_t *call);

/*
 * Admissions a second x 1000, at least 1: what the upstream takes, and what of
 * that the passes that end make room for.
 */
uint64_t ft_control_open_milli(const ft_call_t *call);
uint64_t ft_control_flow_milli(const ft_call_t *call);

/* Room now, in admissions x 1000. */
uint64_t ft_control_room_milli(const ft_call_t *call);

/*
 * Estimated ms until passes have ended for so many shoppers and one more; 0
 * where passes are not bounded.
 */
uint64_t ft_control_sessions_ms(const ft_call_t *call, uint32_t position);

/* Most that may be held at once: what the flow clears within a hold. */
uint32_t ft_control_held_max(const ft_call_t *call);

/* Places between the threshold and a stamp; 0 for the called. */
uint32_t ft_control_ahead(const ft_call_t *call, uint64_t stamp_us);

/*
 * Estimated ms until a stamp beyond the threshold, with so many places ahead of
 * it, is called: as things are now, or, for advice, if a line that has slowed
 * down becomes fast again.
 */
uint64_t ft_control_call_ms(const ft_call_t *call, uint64_t stamp_us,
    uint32_t ahead, bool advice);

#pragma GCC visibility pop


#endif /* FT_CONTROL_H_INCLUDED */
