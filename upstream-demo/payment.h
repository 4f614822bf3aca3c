/*
 * A stand-in for a payment provider.  A payment takes a random time and may be
 * declined; at most "slots" payments run at once, the others wait in a queue.
 *
 * The seed and the number of a payment determine its duration and result, so
 * that a run can be repeated.
 */

#ifndef CO_PAYMENT_H
#define CO_PAYMENT_H


#include <stdint.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>


typedef struct co_payments_s  co_payments_t;
typedef struct co_payment_s   co_payment_t;


typedef struct {
    int64_t              slots;                  /* 0: no limit */
    int64_t              min_ms;
    int64_t              max_ms;
    double               decline;                /* share, 0 to 1 */
    int64_t              seed;
} co_payments_conf_t;


/*
 * Called when a slot is free.  Returns 1 to start the payment, 0 to drop it:
 * "done" is then not called.
 */
typedef int (*co_payment_ready_pt)(void *data);

typedef void (*co_payment_done_pt)(void *data, int paid);

/* Owned by the caller, valid until "done". */
struct co_payment_s {
    co_payments_t       *payments;
    co_payment_ready_pt  ready;
    co_payment_done_pt   done;
    void                *data;

    int64_t              duration_us;            /* set at the start */
    int                  declined;
    struct event         timer;
    TAILQ_ENTRY(co_payment_s)  link;
};


/* Returns NULL if out of memory. */
co_payments_t *co_payments_create(struct event_base *base,
    const co_payments_conf_t *conf);

/* No payment may be waiting or running. */
void co_payments_destroy(co_payments_t *payments);

/* Sets the duration of payments that start from now on. */
void co_payments_pace(co_payments_t *payments, int64_t min_ms,
    int64_t max_ms);

/* The maximum duration of a payment that starts now. */
int64_t co_payments_max_ms(const co_payments_t *payments);

/* Restarts the numbering at 0. */
void co_payments_rewind(co_payments_t *payments);

/*
 * Adds a payment to the queue.  "ready" may be called before this returns;
 * "done" is called once, later, if "ready" returned 1.
 */
void co_payment_submit(co_payments_t *payments, co_payment_t *payment,
    co_payment_ready_pt ready, co_payment_done_pt done, void *data);

/* Removes a payment that has not started from the queue. */
void co_payment_withdraw(co_payment_t *payment);
int64_t co_payments_waiting(const co_payments_t *payments);
int64_t co_payments_running(const co_payments_t *payments);


#endif /* CO_PAYMENT_H */
