
/*
 * Admission: the decision on a request without a valid pass, the same code for
 * the module, the simulator and the tests.
 */

#ifndef FT_ADMISSION_H_INCLUDED
#define FT_ADMISSION_H_INCLUDED


#include "ft_call.h"
#include "ft_line.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


typedef enum {
    FT_ADMIT,       /* goes to the upstream; ends with ft_inflight_done() */
    FT_HOLD,        /* is held; ft_hold_next() ends that */
    FT_WAIT,        /* returns in retry_ms */
    FT_CLOSED,      /* before the opening; returns in retry_ms */
    FT_REJECT,      /* refused: no line, or too long a wait */
    FT_SPENT,       /* the ticket was admitted before: ft_pass_again() */
    FT_ALL_SOLD     /* sold out; the ticket keeps its timestamp */
} ft_answer_t;


typedef struct {
    ft_answer_t       answer;
    uint32_t          retry_ms;     /* advised time to the next request */
    uint64_t          wait_ms;      /* estimated time to admission */
    uint32_t          position;     /* shoppers before this one */
    uint32_t          generation;   /* of the state that decided */
    bool              replay;       /* this version of the ticket was used: a
                                       newer one exists */
    bool              same;         /* the ticket has not changed */
} ft_verdict_t;


/*
 * Decides a request without a valid pass.
 *
 * ticket: verified; or, for a first attempt, kind 0 and a random id.  On return
 * it is the ticket to sign and send (FT_WAIT, FT_CLOSED, FT_ALL_SOLD), or has
 * the timestamp of the first attempt.  Needs ticket->shuffle if the rules have an
 * opening.
 *
 * line, node: where a held request is kept; line NULL: it cannot be held.
 *
 * whole_seconds: the client rounds retry_ms up to seconds (Retry-After).
 */
ft_verdict_t ft_admission_decide(const ft_call_t *call, ft_ticket_t *ticket,
    ft_line_t *line, ft_line_node_t *node, bool whole_seconds);

/* Answers a request whose hold has ended without admission. */
ft_verdict_t ft_admission_turn_back(const ft_call_t *call,
    ft_ticket_t *ticket, bool whole_seconds);

#pragma GCC visibility pop


#endif /* FT_ADMISSION_H_INCLUDED */
