
/*
 * Admission: the one place where a shopper's request is decided, for the
 * module, the simulator and the tests alike.
 *
 * A call names the state (shared memory), the operator's limits and rules, the
 * time and the calling worker.  Time is epoch milliseconds that never step
 * back (ft_zone_now() makes them).  No call blocks, allocates or locks.
 */

#ifndef FT_ADMISSION_H_INCLUDED
#define FT_ADMISSION_H_INCLUDED


#include "ft_config.h"
#include "ft_line.h"
#include "ft_state.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


typedef struct {
    ft_state_t         *state;
    const ft_limits_t  *limits;
    const ft_rules_t   *rules;
    uint64_t            now_ms;
    uint32_t            worker;     /* the caller's slot, < workers */
    uint32_t            workers;    /* slots in use, <= FT_WORKERS */
    ft_limits_t         ordered;    /* ft_orders_obey()'s and ft_adapt_obey()'s */
} ft_call_t;


typedef enum {
    FT_ADMIT,       /* go on to the upstream; end with ft_admission_done() */
    FT_HOLD,        /* park it: the line has it, ft_hold_next() brings it back */
    FT_WAIT,        /* come back in retry_ms */
    FT_CLOSED,      /* it is not open yet: come back in retry_ms */
    FT_REJECT,      /* refused: no waiting room, or the wait is too long */
    FT_AGAIN,       /* admitted already with this ticket: ft_admission_again() */
    FT_ALL_SOLD     /* nobody waits for what is gone; the place is kept */
} ft_answer_t;


typedef struct {
    ft_answer_t         answer;
    uint32_t            retry_ms;   /* advised time to the next request */
    uint64_t            wait_ms;    /* estimated time to admission, and */
    uint32_t            position;   /* live shoppers before this stamp; both 0
                                       before the opening */
    bool                replay;     /* shown a moment ago: a newer one has been
                                       given for it */
    bool                same;       /* the ticket is as it was */
} ft_verdict_t;


/*
 * The limits in force where the upstream's answers move them: narrows those that
 * call->limits points to, which then points into *call, which must not be copied
 * any longer.  Before ft_orders_obey(); an ordered rate leaves nothing to adapt.
 */
void ft_adapt_obey(ft_call_t *call, const ft_adapt_rules_t *rules);

/* Adds to a snapshot what adaptation has come to; limits: the zone's own. */
void ft_adapt_figures(const ft_state_t *state, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_snapshot_t *s);

/*
 * Decides a request without a valid pass.
 *
 * ticket: as verified; or, for a first attempt, with id set to a random number
 * and kind 0: the stamp is then made here.  On return it is the ticket to sign
 * and send (FT_WAIT, FT_CLOSED, FT_ALL_SOLD), or carries the stamp (other
 * answers).  Where the rules have an opening, a ticket needs its draw.
 *
 * line, node: where a held request is parked (FT_HOLD: the node is in the line
 * on return).  A NULL line means that this request cannot be held.
 *
 * whole_seconds: the client will come back after retry_ms rounded up to whole
 * seconds (Retry-After, Refresh), so it falls due accordingly later.
 */
ft_verdict_t ft_admission_decide(const ft_call_t *call, ft_ticket_t *ticket,
    ft_line_t *line, ft_line_node_t *node, bool whole_seconds);

/*
 * Brings back the next held shopper whose turn or time has come, taken out of
 * the line: *admitted tells whether there was room, or the hold has ended (then
 * answer it with ft_hold_turn_back()).  NULL: nobody now; ask again at *wake_ms
 * (0: nobody is held).
 */
ft_line_node_t *ft_hold_next(const ft_call_t *call, ft_line_t *line,
    bool *admitted, uint64_t *wake_ms);

/*
 * A held shopper that ft_hold_next() gave back unadmitted waits on, or hears that
 * everything is sold.
 */
ft_verdict_t ft_hold_turn_back(const ft_call_t *call, ft_ticket_t *ticket,
    bool whole_seconds);

/* A held shopper has left by itself: out of the line. */
void ft_hold_leave(const ft_call_t *call, ft_line_t *line,
    ft_line_node_t *node);

/* Makes the pass of an admitted shopper. */
void ft_admission_pass(const ft_call_t *call, ft_ticket_t *ticket);

/*
 * After FT_AGAIN: the pass that the ticket was given when it was admitted, with
 * the end it had, for an answer that was lost or for another tab; to be used
 * like any pass.  False: that pass has expired or is over, the holder begins anew
 * with a first attempt.
 */
bool ft_admission_again(const ft_call_t *call, ft_ticket_t *ticket);

/*
 * A pass is over before its end: its place among the passes alive is free, and
 * its holder begins anew.  False: that was said before, and does nothing.
 */
bool ft_sessions_done(const ft_call_t *call, const ft_ticket_t *pass);

/*
 * An admission that is not at the upstream yet: a poll was told "admitted" and
 * its page will come with the pass.  Its place in flight is kept for a moment.
 */
void ft_admission_expect(const ft_call_t *call, ft_ticket_t *pass);

/* A poll with a valid pass: it is told so, and goes nowhere. */
void ft_admission_confirm(const ft_call_t *call);

/* A request with a valid pass goes to the upstream; never refused. */
void ft_admission_enter(const ft_call_t *call, const ft_ticket_t *pass);

/*
 * A request that went to the upstream (admitted, or entered) has ended.
 * epoch: the state's at that time; a state that has changed hands since is
 * left alone.
 */
void ft_admission_done(ft_state_t *state, uint32_t epoch, uint32_t worker);

/* Of these, one that the upstream answered with an error of its own (5xx). */
void ft_admission_failed(ft_state_t *state, uint32_t epoch);

/* Whether it is not open yet where this call is from. */
bool ft_opening_is_closed(const ft_call_t *call);

/*
 * What the figures are now, but for those of adaptation (ft_adapt_figures()); no
 * side effect but a due tick.
 */
ft_snapshot_t ft_admission_snapshot(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_ADMISSION_H_INCLUDED */
