#include "store_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


struct co_store_thread_s {
    co_store_port_t    *port;
    co_store_work_pt    work;
    void               *data;

    pthread_t           thread;
    pthread_mutex_t     mutex;
    pthread_cond_t      wanted;
    co_store_call_t    *first;
    co_store_call_t   **last;
    int                 closing;
};


static void *co_store_thread_run(void *data);


co_store_thread_t *
co_store_thread_start(co_store_port_t *port, co_store_work_pt work, void *data,
    char *error)
{
    co_store_thread_t  *thread;

    thread = calloc(1, sizeof(*thread));
    if (thread == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    thread->port = port;
    thread->work = work;
    thread->data = data;
    thread->last = &thread->first;

    pthread_mutex_init(&thread->mutex, NULL);
    pthread_cond_init(&thread->wanted, NULL);

    errno = pthread_create(&thread->thread, NULL, co_store_thread_run, thread);
    if (errno == 0) {
        return thread;
    }

    snprintf(error, CO_STORE_ERROR_LEN, "cannot start the store's thread: %s",
             strerror(errno));

    pthread_cond_destroy(&thread->wanted);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);

    return NULL;
}


void
co_store_thread_submit(co_store_thread_t *thread, co_store_call_t *call)
{
    call->next = NULL;

    pthread_mutex_lock(&thread->mutex);

    *thread->last = call;
    thread->last = &call->next;
    pthread_cond_signal(&thread->wanted);

    pthread_mutex_unlock(&thread->mutex);
}


static void *
co_store_thread_run(void *data)
{
    co_store_call_t    *first;
    co_store_thread_t  *thread = data;

    for ( ;; ) {
        pthread_mutex_lock(&thread->mutex);

        while (thread->first == NULL && !thread->closing) {
            pthread_cond_wait(&thread->wanted, &thread->mutex);
        }

        first = thread->first;
        thread->first = NULL;
        thread->last = &thread->first;

        pthread_mutex_unlock(&thread->mutex);

        if (first == NULL) {
            return NULL;
        }

        thread->work(thread->data, first);
        co_store_answer(thread->port, first);
    }
}


void
co_store_thread_stop(co_store_thread_t *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->closing = 1;
    pthread_cond_signal(&thread->wanted);
    pthread_mutex_unlock(&thread->mutex);

    pthread_join(thread->thread, NULL);

    pthread_cond_destroy(&thread->wanted);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}
