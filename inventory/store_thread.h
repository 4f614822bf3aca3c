/*
 * One thread that does calls in the order in which they came, as many at a
 * time as have gathered while it worked.
 */

#ifndef CO_STORE_THREAD_H
#define CO_STORE_THREAD_H


#include "store_backend.h"


typedef struct co_store_thread_s  co_store_thread_t;

/* Does a list of calls, linked by "next", and leaves their results in them. */
typedef void (*co_store_work_pt)(void *data, co_store_call_t *first);


/* NULL on failure, with what is wrong in "error" (CO_STORE_ERROR_LEN). */
co_store_thread_t *co_store_thread_start(co_store_port_t *port,
    co_store_work_pt work, void *data, char *error);

void co_store_thread_submit(co_store_thread_t *thread, co_store_call_t *call);

/* Does what was submitted, and ends. */
void co_store_thread_stop(co_store_thread_t *thread);


#endif /* CO_STORE_THREAD_H */
