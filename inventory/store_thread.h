/*
 * One thread that executes calls in order, all that are queued at a time.
 */

#ifndef CO_STORE_THREAD_H
#define CO_STORE_THREAD_H


#include "store_backend.h"


typedef struct co_store_thread_s  co_store_thread_t;

/* Executes a list of calls, linked by "next", and sets their results. */
typedef void (*co_store_work_pt)(void *data, co_store_call_t *first);


/* Returns NULL on failure, with the reason in "error" (CO_STORE_ERROR_LEN). */
co_store_thread_t *co_store_thread_start(co_store_port_t *port,
    co_store_work_pt work, void *data, char *error);

void co_store_thread_submit(co_store_thread_t *thread, co_store_call_t *call);

/* Executes all submitted calls, then ends the thread. */
void co_store_thread_stop(co_store_thread_t *thread);


#endif /* CO_STORE_THREAD_H */
