/*
 * What a store is made of, behind store.h: a table of functions for each
 * scheme of --store, and the port through which its threads answer.
 */

#ifndef CO_STORE_BACKEND_H
#define CO_STORE_BACKEND_H


#include "store.h"


typedef struct co_store_port_s  co_store_port_t;


struct co_store_backend_s {
    const char   *scheme;                        /* what is before the colon */
    const char   *example;                       /* of a whole --store */
    int           shared;                        /* others may change the
                                                    stock, so it is counted
                                                    now and then */

    /* As co_store_check() and co_store_open(), "place" behind the colon. */
    int         (*check)(const char *place, char *error);
    void       *(*open)(co_store_port_t *port, const char *place,
                        const co_store_conf_t *conf, co_store_found_t *found,
                        char *error);

    /*
     * Takes the call, without blocking, and gives it to co_store_answer()
     * later, with its result: once, from any thread.
     */
    void        (*submit)(void *backend, co_store_call_t *call);

    /* When it returns, nothing is answered any more. */
    void        (*close)(void *backend);

    /* May be NULL; as co_store_report(). */
    json_t     *(*report)(void *backend);

    /* May be NULL; as co_store_order(). */
    void        (*order)(void *backend, const co_store_order_t *order,
                         co_store_ordered_pt done, void *data);
};


extern const co_store_backend_t  co_store_mysql;
extern const co_store_backend_t  co_store_redis;
extern const co_store_backend_t  co_store_shadow;


/* The event loop that the store belongs to. */
struct event_base *co_store_port_base(co_store_port_t *port);

/* A list of calls, linked by "next", goes back to those who made them. */
void co_store_answer(co_store_port_t *port, co_store_call_t *first);

/* Whether the call is of a cart, or of parts, that can be: see store_sound.c. */
int co_store_is_sound(const co_store_call_t *call, int items, int locations);

/* Sorts the parts of a hold by item and location. */
void co_hold_sort(co_hold_t *hold);

/* How many units of an item begin at a location: as even as can be. */
int64_t co_store_share(const co_store_conf_t *conf, int location);

/* Calls the store with a call that is filled in but for done and data. */
void co_store_submit(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data);


#endif /* CO_STORE_BACKEND_H */
