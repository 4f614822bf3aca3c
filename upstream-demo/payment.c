#include "payment.h"

#include <stdlib.h>


#define CO_GOLDEN_GAMMA  0x9e3779b97f4a7c15u


TAILQ_HEAD(co_payment_queue_s, co_payment_s);


struct co_payments_s {
    struct event_base          *base;
    co_payments_conf_t          conf;
    uint64_t                    started;         /* number of the next one */
    int64_t                     waiting;
    int64_t                     running;
    struct co_payment_queue_s   queue;
};


static void co_payments_next(co_payments_t *payments);
static void co_payment_start(co_payment_t *payment);
static void co_payment_end(evutil_socket_t fd, short events, void *data);


/* The finaliser of splitmix64. */
static uint64_t
co_payment_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;

    return x ^ (x >> 31);
}


/* Random number "n" of the seed, in [0, 1). */
static double
co_payment_random(uint64_t seed, uint64_t n)
{
    uint64_t  x;

    x = co_payment_mix(co_payment_mix(seed + CO_GOLDEN_GAMMA)
                       + n * CO_GOLDEN_GAMMA);

    return (double) (x >> 11) * 0x1p-53;
}


co_payments_t *
co_payments_create(struct event_base *base, const co_payments_conf_t *conf)
{
    co_payments_t  *payments;

    payments = calloc(1, sizeof(*payments));
    if (payments == NULL) {
        return NULL;
    }

    payments->base = base;
    payments->conf = *conf;
    TAILQ_INIT(&payments->queue);

    return payments;
}


void
co_payments_destroy(co_payments_t *payments)
{
    free(payments);
}


void
co_payments_pace(co_payments_t *payments, int64_t min_ms, int64_t max_ms)
{
    payments->conf.min_ms = min_ms;
    payments->conf.max_ms = max_ms;
}


int64_t
co_payments_max_ms(const co_payments_t *payments)
{
    return payments->conf.max_ms;
}


void
co_payments_rewind(co_payments_t *payments)
{
    payments->started = 0;
}


void
co_payment_submit(co_payments_t *payments, co_payment_t *payment,
    co_payment_ready_pt ready, co_payment_done_pt done, void *data)
{
    payment->payments = payments;
    payment->ready = ready;
    payment->done = done;
    payment->data = data;

    TAILQ_INSERT_TAIL(&payments->queue, payment, link);
    payments->waiting++;

    co_payments_next(payments);
}


void
co_payment_withdraw(co_payment_t *payment)
{
    TAILQ_REMOVE(&payment->payments->queue, payment, link);
    payment->payments->waiting--;
}


static void
co_payments_next(co_payments_t *payments)
{
    co_payment_t  *payment;

    while (payments->conf.slots == 0
           || payments->running < payments->conf.slots)
    {
        payment = TAILQ_FIRST(&payments->queue);
        if (payment == NULL) {
            return;
        }

        co_payment_withdraw(payment);

        if (payment->ready(payment->data)) {
            co_payment_start(payment);
        }
    }
}


static void
co_payment_start(co_payment_t *payment)
{
    double           span;
    uint64_t         n;
    struct timeval   tv;
    co_payments_t   *payments = payment->payments;

    n = payments->started++;
    span = (double) (payments->conf.max_ms - payments->conf.min_ms) * 1000;

    payment->duration_us = payments->conf.min_ms * 1000
        + (int64_t) (span * co_payment_random(payments->conf.seed, 2 * n));
    payment->declined = co_payment_random(payments->conf.seed, 2 * n + 1)
                        < payments->conf.decline;

    tv.tv_sec = payment->duration_us / 1000000;
    tv.tv_usec = payment->duration_us % 1000000;

    payments->running++;

    evtimer_assign(&payment->timer, payments->base, co_payment_end, payment);
    evtimer_add(&payment->timer, &tv);
}


static void
co_payment_end(evutil_socket_t fd, short events, void *data)
{
    co_payment_t   *payment = data;
    co_payments_t  *payments = payment->payments;

    (void) fd;
    (void) events;

    payments->running--;

    payment->done(payment->data, !payment->declined);

    co_payments_next(payments);
}


int64_t
co_payments_waiting(const co_payments_t *payments)
{
    return payments->waiting;
}


int64_t
co_payments_running(const co_payments_t *payments)
{
    return payments->running;
}
