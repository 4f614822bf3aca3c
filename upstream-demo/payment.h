/*
 * The stand-in for a payment provider: a payment takes a while, is sometimes
 * declined, and only so many run at once; the others wait in line.
 *
 * What payment number n does follows from the seed and n alone, so a run can
 * be repeated.
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
 * A slot is free: start?  After 0 the payment is out of the line, and "done"
 * will not be called.
 */
typedef int (*co_payment_ready_pt)(void *data);

typedef void (*co_payment_done_pt)(void *data, int paid);

/* Part of the one who pays, who keeps it until the end. */
struct co_payment_s {
    co_payments_t       *payments;
    co_payment_ready_pt  ready;
    co_payment_done_pt   done;
    void                *data;

    int64_t              duration_us;            /* known once it started */
    int                  declined;
    struct event         timer;
    TAILQ_ENTRY(co_payment_s)  link;
};


/* NULL: out of memory. */
co_payments_t *co_payments_create(struct event_base *base,
    const co_payments_conf_t *conf);

/* Not with payments in line or under way. */
void co_payments_destroy(co_payments_t *payments);

/* Payments that start from now on take so long. */
void co_payments_pace(co_payments_t *payments, int64_t min_ms,
    int64_t max_ms);

/* The longest that one which starts now can take. */
int64_t co_payments_max_ms(const co_payments_t *payments);

/* Payment number 0 is next. */
void co_payments_rewind(co_payments_t *payments);

/*
 * Gets in line; "ready" may be called before this returns, and "done" is
 * called once, later, if "ready" agreed.
 */
void co_payment_submit(co_payments_t *payments, co_payment_t *payment,
    co_payment_ready_pt ready, co_payment_done_pt done, void *data);

/* Leaves the line; not for a payment that has started. */
void co_payment_withdraw(co_payment_t *payment);

/* Payments in line, and under way. */
int64_t co_payments_waiting(const co_payments_t *payments);
int64_t co_payments_running(const co_payments_t *payments);


#endif /* CO_PAYMENT_H */
