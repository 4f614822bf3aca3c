/*
 * The interface of a store's backend: a table of functions for each scheme of
 * --store, and the port through which its threads return results.
 */

#ifndef CO_STORE_BACKEND_H
#define CO_STORE_BACKEND_H


#include "store.h"


typedef struct co_store_port_s  co_store_port_t;


struct co_store_backend_s {
    const char   *scheme;                        /* before the colon */
    const char   *example;                       /* a complete --store */
    int           shared;                        /* other processes change the
                                                    stock */

    /* As co_store_check() and co_store_open(); "place" follows the colon. */
    int         (*check)(const char *place, char *error);
    void       *(*open)(co_store_port_t *port, const char *place,
                        const co_store_conf_t *conf, co_store_found_t *found,
                        char *error);

    /*
     * Takes the call without blocking.  Later, from any thread and once, the
     * backend sets the result and calls co_store_answer().
     */
    void        (*submit)(void *backend, co_store_call_t *call);

    /* No result is returned after this. */
    void        (*close)(void *backend);

    /* As co_store_report(); may be NULL. */
    json_t     *(*report)(void *backend);

    /* As co_store_command(); may be NULL. */
    void        (*command)(void *backend, const co_store_command_t *command,
                           co_store_command_done_pt done, void *data);
};


extern const co_store_backend_t  co_store_mysql;
extern const co_store_backend_t  co_store_redis;
extern const co_store_backend_t  co_store_shadow;


struct event_base *co_store_port_base(co_store_port_t *port);

/* Returns finished calls, a list linked by "next", to their callers. */
void co_store_answer(co_store_port_t *port, co_store_call_t *first);

/* Returns the initial units of an item at a location: an equal share. */
int64_t co_store_share(const co_store_conf_t *conf, int location);

/* Submits a call whose arguments are set, except "done" and "data". */
void co_store_submit(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data);


#endif /* CO_STORE_BACKEND_H */
