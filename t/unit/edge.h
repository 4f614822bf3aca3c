
/*
 * An edge for tests: a state of its own, and one worker.
 */

#ifndef EDGE_H_INCLUDED
#define EDGE_H_INCLUDED


#include "unit.h"
#include "core.h"


#define EDGE_GENERATION  7


typedef struct {
    ft_state_t       *state;
    ft_rules_t        rules;
    ft_line_t         line;
    ft_call_t         call;
    uint64_t          seed;
} edge_t;


/* Burst 1, no other limit; two minutes after the state was made. */
static inline void
edge_open(edge_t *e)
{
    memset(e, 0, sizeof(edge_t));

    e->state = unit_shared(sizeof(ft_state_t));
    ft_state_init(e->state, EDGE_GENERATION, UNIT_EPOCH_MS);

    e->rules.hold_ms = FT_HOLD_DEFAULT_MS;
    e->rules.poll_min_ms = FT_POLL_MIN_DEFAULT_MS;
    e->rules.poll_max_ms = FT_POLL_MAX_DEFAULT_MS;
    e->rules.session_ms = 600000;

    e->call.state = e->state;
    e->call.limits.period_ms = FT_PERIOD_DEFAULT_MS;
    e->call.limits.burst = 1;
    e->call.rules = &e->rules;
    e->call.now_ms = UNIT_EPOCH_MS + 120000;
    e->call.workers = 1;
    e->seed = 6;
}


static inline void
edge_close(edge_t *e)
{
    free(e->state);
}


/* A request; it can be held if it has a node. */
static inline ft_verdict_t
edge_request(edge_t *e, ft_ticket_t *ticket, ft_line_node_t *node)
{
    return ft_admission_decide(&e->call, ticket, node ? &e->line : NULL, node,
                               false);
}


/* A first attempt with a random id. */
static inline ft_verdict_t
edge_first(edge_t *e, ft_ticket_t *ticket)
{
    memset(ticket, 0, sizeof(ft_ticket_t));
    ticket->id = unit_random(&e->seed);

    return edge_request(e, ticket, NULL);
}


#endif /* EDGE_H_INCLUDED */
