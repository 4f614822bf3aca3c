
/*
 * Shoppers at an edge of several workers, in virtual time: they arrive, wait as
 * advised, are held, go to the upstream and leave it.
 */

#ifndef CROWD_H_INCLUDED
#define CROWD_H_INCLUDED


#include "unit.h"
#include "core.h"


#define CROWD_WORKERS  4


typedef enum {
    CROWD_AWAY = 0,     /* before its first attempt */
    CROWD_WAITING,
    CROWD_HELD,
    CROWD_INSIDE,
    CROWD_SERVED,
    CROWD_REJECTED,
    CROWD_SOLD_OUT,     /* got that answer */
    CROWD_GONE          /* never returns */
} crowd_where_t;


typedef struct {
    ft_line_node_t    node;         /* first: a node is its shopper */
    ft_ticket_t       ticket;
    crowd_where_t     where;
    uint64_t          next_ms;      /* next request, or end at the upstream */
    uint64_t          patience_ms;  /* from the first attempt; 0: endless */
    uint64_t          admitted_ms;
    uint32_t          worker;       /* of the last request */
    uint32_t          polls;
} crowd_shopper_t;


typedef struct {
    ft_state_t       *state;
    ft_limits_t       limits;
    ft_rules_t        rules;
    uint64_t          now_ms;
    uint64_t          seed;
    ft_keyring_t     *ring;         /* for the shuffle, or NULL */
    uint64_t          service_ms;   /* time at the upstream */
    bool              hurry;        /* polls every 0.3 to 1 s, by page or by
                                       script, whatever the advice */
    uint32_t          workers;
    ft_line_t         line[CROWD_WORKERS];
    uint64_t          wake_ms[CROWD_WORKERS];
    bool              dead[CROWD_WORKERS];
    crowd_shopper_t  *shopper;
    unsigned          n;
    unsigned          inside;
    unsigned          inside_max;
    unsigned          admissions;   /* order[0 .. admissions - 1] */
    unsigned         *order;
} crowd_t;


/* n shoppers, all away; 20 r/s, burst 5, fair, hold 2 s. */
crowd_t *crowd_create(unsigned n, uint32_t workers);
void crowd_free(crowd_t *c);

ft_call_t crowd_call(const crowd_t *c, uint32_t worker);

/* The stats under the overrides. */
ft_stats_t crowd_stats(const crowd_t *c);

/* Sends a shopper's request to a worker. */
ft_verdict_t crowd_request(crowd_t *c, unsigned i, uint32_t worker);

/* Ends the holds of a worker that can end. */
void crowd_pump(crowd_t *c, uint32_t worker);

/* Sets the time of a shopper's first attempt. */
void crowd_arrive(crowd_t *c, unsigned i, uint64_t at_ms);

/* Runs all requests that are due before a time. */
void crowd_run(crowd_t *c, uint64_t until_ms);

/* Kills a worker: its requests fail, and its shoppers return. */
void crowd_kill(crowd_t *c, uint32_t worker);

/* Starts a process in the slot of a dead worker. */
void crowd_replace(crowd_t *c, uint32_t worker);

unsigned crowd_count(const crowd_t *c, crowd_where_t where);

/* Admissions after that of a shopper whose timestamp is later by over a
   second. */
unsigned crowd_overtaken(const crowd_t *c);


#endif /* CROWD_H_INCLUDED */
