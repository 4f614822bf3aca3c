
/*
 * Shoppers: their times, their ticket and their outcome.  Times are us from
 * the start of the sale.
 */

#ifndef FT_SIM_SHOPPER_H_INCLUDED
#define FT_SIM_SHOPPER_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include "ft_line.h"
#include "ft_ticket.h"


#define FT_NEVER               INT64_MIN

/* a retry without an advised time, from the playbook */
#define FT_RETRY_MIN_US        500000
#define FT_RETRY_MAX_US        1500000

/* from an answer to the arrival of the next request, without the wait */
#define FT_ROUND_TRIP_US       20000


typedef enum {
    FT_OUTCOME_NONE,
    FT_OUTCOME_CONFIRMED,
    FT_OUTCOME_DECLINED,
    FT_OUTCOME_SOLD_OUT,
    FT_OUTCOME_REFUSED,
    FT_OUTCOME_GAVE_UP,
    FT_OUTCOME_TIMED_OUT,
    FT_OUTCOMES
} ft_outcome_t;


typedef struct ft_shopper_s {
    int64_t            first_us;
    int64_t            leaves_us;       /* end of the patience */
    int64_t            asked_us;        /* start of the current request */
    int64_t            admitted_us;
    int64_t            paying_us;       /* start of the payment */
    int64_t            paid_us;
    int64_t            end_us;
    ft_ticket_t        ticket;          /* in the cookie */
    ft_ticket_t        held_ticket;     /* of the held request */
    ft_ticket_t        pass;            /* set if spent */
    ft_line_node_t     node;
    uint32_t           polls;           /* requests made */
    uint32_t           polls_max;       /* no-show after these; 0: unlimited */
    uint32_t           worker;          /* that held or admitted it */
    uint32_t           generation;      /* of the state that admitted it */
    ft_outcome_t       outcome;
    bool               held;
    bool               spent;           /* the pass ends with the answer */
} ft_shopper_t;


struct ft_world_s;


/* Schedules the next request after retry_us, or ends with GAVE_UP. */
void ft_shopper_wait(struct ft_world_s *world, ft_shopper_t *shopper,
    int64_t retry_us);

void ft_shopper_end(struct ft_world_s *world, ft_shopper_t *shopper,
    ft_outcome_t outcome);


#endif /* FT_SIM_SHOPPER_H_INCLUDED */
