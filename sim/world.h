
/*
 * One simulated sale: shoppers, the checkout behind, and what stands before it.
 * Time is us from the start of the sale.
 */

#ifndef FT_SIM_WORLD_H_INCLUDED
#define FT_SIM_WORLD_H_INCLUDED


#include "edge.h"
#include "events.h"
#include "ft_line.h"
#include "ft_ticket.h"
#include "options.h"
#include "random.h"


#define FT_NEVER               INT64_MIN

/* the checkout of the playbook */
#define FT_PAYMENT_MIN_US      100000
#define FT_PAYMENT_MAX_US      400000
#define FT_DECLINED_SHARE      0.05

/* shoppers who are told to wait without an advice: the playbook's */
#define FT_RETRY_MIN_US        500000
#define FT_RETRY_MAX_US        1500000

/* from an answer to the arrival of the next request, besides the wait */
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
    int64_t            leaves_us;       /* its patience ends */
    int64_t            asked_us;        /* its request under way began */
    int64_t            admitted_us;
    int64_t            paying_us;       /* its payment began */
    int64_t            paid_us;
    int64_t            end_us;
    ft_ticket_t        ticket;          /* in its cookie */
    ft_ticket_t        parked;          /* of its held request */
    ft_ticket_t        pass;            /* if it will be over early */
    ft_line_node_t     node;
    uint32_t           polls;           /* requests made */
    uint32_t           polls_most;      /* vanishes after so many; 0: does not */
    uint32_t           worker;          /* that held it, or let it through */
    uint32_t           generation;           /* of the state that let it through */
    ft_outcome_t       outcome;
    bool               held;
    bool               over;            /* its pass, when it is answered */
} ft_shopper_t;


typedef struct {
    uint32_t           slots;           /* 0: payments never wait */
    uint32_t           busy;
    uint32_t           in_progress;
    uint32_t           in_progress_max;
    double             factor;          /* of the time that payments take */
    int64_t            stock;
    uint32_t          *queue;           /* shoppers: a ring of n */
    uint32_t           head;
    uint32_t           queued;
    uint32_t           orders;
    uint32_t           late;
} ft_checkout_t;


typedef struct ft_world_s  ft_world_t;

struct ft_world_s {
    const ft_options_t  *options;
    ft_shopper_t        *shoppers;
    uint32_t             n;
    int64_t              now_us;
    ft_events_t          events;
    ft_checkout_t        checkout;
    ft_edge_t           *edge;
    ft_bucket_t          gate;          /* the ideal line's, without slots */
    bool                 gate_waits;
    uint32_t             rate_milli;    /* now */
    uint32_t             inflight;
    ft_random_t          payments;
    ft_random_t          retries;
    ft_random_t          crowd;
};


/* A shopper's request arrives at whatever the variant puts first. */
void ft_playbook_request(ft_world_t *world, ft_shopper_t *shopper);
void ft_edge_request(ft_world_t *world, ft_shopper_t *shopper);

/* The request reaches checkout. */
void ft_checkout_begin(ft_world_t *world, ft_shopper_t *shopper);

/* A shopper's payment ends. */
void ft_checkout_paid(ft_world_t *world, ft_shopper_t *shopper);

/* There is room for payments: the next in the queue begin theirs. */
void ft_checkout_next(ft_world_t *world);

/* "Wait": the shopper comes back after so long, or gives up at once. */
void ft_shopper_wait(ft_world_t *world, ft_shopper_t *shopper,
    int64_t retry_us);

/* The shopper's story ends here. */
void ft_shopper_end(ft_world_t *world, ft_shopper_t *shopper,
    ft_outcome_t outcome);


#endif /* FT_SIM_WORLD_H_INCLUDED */
