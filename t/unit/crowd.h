
/*
 * A crowd of shoppers before an edge of several workers, in virtual time: they
 * come, wait as they are told, are held, go to the upstream and leave it.
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
    CROWD_INSIDE,       /* at the upstream */
    CROWD_SERVED,
    CROWD_REJECTED,
    CROWD_SOLD_OUT,     /* has heard it */
    CROWD_GONE          /* never comes back */
} crowd_where_t;


typedef struct {
    ft_line_node_t    node;         /* first: a node is its shopper */
    ft_ticket_t       ticket;
    crowd_where_t     where;
    uint64_t          next_ms;      /* comes (back), or leaves the upstream */
    uint64_t          patience_ms;  /* from the first attempt; 0: endless */
    uint64_t          admitted_ms;
    uint32_t          worker;       /* that it was at last */
    uint32_t          polls;
} crowd_shopper_t;


typedef struct {
    ft_state_t       *state;
    ft_limits_t       limits;
    ft_rules_t        rules;
    uint64_t          now_ms;
    uint64_t          seed;
    ft_keyring_t     *ring;         /* draws the lots, where there is one */
    uint64_t          service_ms;   /* time at the upstream */
    bool              hurry;        /* polls every 0.3 to 1 s whatever it is
                                       told, by page or by script */
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

/* One shopper's request to a worker, with all that follows from it. */
ft_verdict_t crowd_request(crowd_t *c, unsigned i, uint32_t worker);

/* Lets a worker bring back whom it holds, as far as they may go. */
void crowd_pump(crowd_t *c, uint32_t worker);

/* The shopper's first attempt is at that time. */
void crowd_comes(crowd_t *c, unsigned i, uint64_t at_ms);

/* Everybody does what is due, until a time. */
void crowd_run(crowd_t *c, uint64_t until_ms);

/* A worker's process is gone: its requests break, its shoppers come again. */
void crowd_kill(crowd_t *c, uint32_t worker);

/* A process has taken the dead worker's slot. */
void crowd_replace(crowd_t *c, uint32_t worker);

unsigned crowd_count(const crowd_t *c, crowd_where_t where);

/* Admissions before which a later stamp, by over a second, was admitted. */
unsigned crowd_overtaken(const crowd_t *c);


#endif /* CROWD_H_INCLUDED */
