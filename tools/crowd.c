
/*
 * flash-crowd: sends a crowd of shoppers to a sale and reports its results.
 */

#include "crowd_arrivals.h"
#include "crowd_http.h"
#include "crowd_options.h"
#include "crowd_results.h"
#include "crowd_shopper.h"
#include "crowd_stats.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>


/* payments may continue after the last shopper has left */
#define CROWD_PAYMENTS_MAX_MS   10000
#define CROWD_PAYMENTS_POLL_MS  100


typedef enum {
    CROWD_BEFORE_SALE = 0,      /* fetching the checkout's statistics */
    CROWD_SALE,
    CROWD_AFTER_SALE            /* fetching them until no payment is active */
} crowd_phase_t;


typedef struct {
    crowd_options_t          options;
    crowd_t                  crowd;
    struct event_base       *base;
    crowd_http_t            *http;
    crowd_stats_t            edge;
    crowd_stats_t            checkout;
    crowd_stats_checkout_t   before;
    crowd_phase_t            phase;
    bool                     failed;

    int64_t                  seconds;       /* of the next live line */
    bool                     line_due;

    struct event            *arrival;
    struct event            *second;
    struct event            *payments;
    struct event            *interrupt;
    int64_t                  started_us;    /* monotonic */
    int64_t                  ended_us;
} crowd_sale_t;


static void crowd_sale_start(crowd_sale_t *sale);
static void crowd_sale_on_arrival(evutil_socket_t fd, short events,
    void *data);


static int64_t
crowd_monotonic_us(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static void
crowd_add_timer(struct event *timer, int64_t us)
{
    struct timeval  tv;

    us = us > 0 ? us : 0;
    tv.tv_sec = us / 1000000;
    tv.tv_usec = us % 1000000;

    evtimer_add(timer, &tv);
}


static void
crowd_sale_fail(crowd_sale_t *sale, const char *where, const char *error)
{
    fprintf(stderr, "flash-crowd: %s: %s\n", where, error);

    sale->failed = true;
    event_base_loopbreak(sale->base);
}


static void
crowd_sale_print_line(crowd_sale_t *sale)
{
    FILE        *out;
    char         age[16];
    uint64_t     sold, waiting;
    crowd_t     *crowd;

    crowd = &sale->crowd;
    out = sale->options.json ? stderr : stdout;

    waiting = crowd->waiting;
    sold = crowd->ends[CROWD_END_CONFIRMED];
    snprintf(age, sizeof(age), "%s", "-");

    if (sale->edge.known) {
        waiting = (uint64_t) sale->edge.values.edge.waiting;
        snprintf(age, sizeof(age), "%.1f s",
                 (double) sale->edge.values.edge.threshold_age_ms / 1000);
    }

    if (sale->checkout.known) {
        sold = (uint64_t) (sale->checkout.values.checkout.orders
                           - sale->before.orders);
    }

    fprintf(out, "%4lld s   arrivals %5llu   waiting %5llu   admitted %5llu"
            "   sold %5llu   threshold age %s\n",
            (long long) sale->seconds,
            (unsigned long long) crowd->arrived, (unsigned long long) waiting,
            (unsigned long long) crowd->admitted, (unsigned long long) sold,
            age);
    fflush(out);
}


static void
crowd_sale_next_second(crowd_sale_t *sale)
{
    int64_t  us;

    us = crowd_monotonic_us() - sale->started_us;

    /* a timer may fire early, a response may take seconds */

    if (us / 1000000 > sale->seconds) {
        sale->seconds = us / 1000000;
    }

    sale->seconds++;
    crowd_add_timer(sale->second, sale->seconds * 1000000 - us);
}


/* Prints a due live line when both statistics have arrived. */
static void
crowd_sale_live(crowd_sale_t *sale)
{
    if (sale->phase == CROWD_SALE && sale->line_due && !sale->edge.pending
        && !sale->checkout.pending)
    {
        sale->line_due = false;
        crowd_sale_print_line(sale);
        crowd_sale_next_second(sale);
    }
}


static void
crowd_sale_on_second(evutil_socket_t fd, short events, void *data)
{
    crowd_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;
    sale->line_due = true;

    crowd_stats_fetch(&sale->edge);
    crowd_stats_fetch(&sale->checkout);
    crowd_sale_live(sale);
}


static void
crowd_sale_on_edge(void *data, const char *error)
{
    (void) error;

    crowd_sale_live(data);
}


static void
crowd_sale_check_payments(crowd_sale_t *sale, const char *error)
{
    bool  late;

    late = crowd_monotonic_us() - sale->ended_us > CROWD_PAYMENTS_MAX_MS * 1000;

    if (error == NULL && sale->checkout.values.checkout.in_progress == 0) {
        event_base_loopbreak(sale->base);
        return;
    }

    if (late) {
        crowd_sale_fail(sale, sale->options.stats_url,
                        error ? error : "payments still in progress 10 s after"
                        " the last shopper");
        return;
    }

    crowd_add_timer(sale->payments, CROWD_PAYMENTS_POLL_MS * 1000);
}


static void
crowd_sale_on_checkout(void *data, const char *error)
{
    crowd_sale_t  *sale;

    sale = data;

    switch (sale->phase) {

    case CROWD_BEFORE_SALE:
        if (error != NULL) {
            crowd_sale_fail(sale, sale->options.stats_url, error);
            return;
        }

        sale->before = sale->checkout.values.checkout;
        crowd_sale_start(sale);
        return;

    case CROWD_SALE:
        crowd_sale_live(sale);
        return;

    case CROWD_AFTER_SALE:
        crowd_sale_check_payments(sale, error);
        return;
    }
}


static void
crowd_sale_on_payments(evutil_socket_t fd, short events, void *data)
{
    crowd_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;
    crowd_stats_fetch(&sale->checkout);
}


static void
crowd_sale_start(crowd_sale_t *sale)
{
    sale->phase = CROWD_SALE;
    sale->started_us = crowd_monotonic_us();

    crowd_sale_on_arrival(-1, 0, sale);

    if (sale->options.live) {
        crowd_sale_next_second(sale);
    }
}


static void
crowd_sale_end(crowd_sale_t *sale)
{
    sale->phase = CROWD_AFTER_SALE;
    sale->ended_us = crowd_monotonic_us();

    evtimer_del(sale->arrival);
    evtimer_del(sale->second);

    if (sale->options.stats_url == NULL) {
        event_base_loopbreak(sale->base);
        return;
    }

    crowd_add_timer(sale->payments, 0);
}


/* Starts all shoppers that are due: a late timer does not shift the others. */
static void
crowd_sale_on_arrival(evutil_socket_t fd, short events, void *data)
{
    double         at_s;
    int64_t        due_us;
    crowd_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;

    while (sale->crowd.arrived < sale->options.shoppers) {
        at_s = crowd_arrivals_at(&sale->options.arrivals,
                                 (double) (sale->crowd.arrived + 1));
        due_us = sale->started_us + (int64_t) (at_s * 1e6)
                 - crowd_monotonic_us();

        if (due_us > 0) {
            crowd_add_timer(sale->arrival, due_us);
            return;
        }

        if (!crowd_shopper_arrive(&sale->crowd)) {
            crowd_sale_fail(sale, "new shopper", "out of memory");
            return;
        }
    }
}


static void
crowd_sale_on_shopper_end(void *data)
{
    crowd_sale_t  *sale;

    sale = data;

    if (sale->phase == CROWD_SALE
        && sale->crowd.ended == sale->options.shoppers)
    {
        crowd_sale_end(sale);
    }
}


/* SIGINT ends the sale; the results cover the shoppers that have arrived. */
static void
crowd_sale_on_interrupt(evutil_socket_t fd, short events, void *data)
{
    crowd_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;

    if (sale->phase != CROWD_SALE) {
        crowd_sale_fail(sale, "interrupted", "no results");
        return;
    }

    sale->options.shoppers = sale->crowd.arrived;
    crowd_shopper_end_all(&sale->crowd);

    if (sale->phase == CROWD_SALE) {
        crowd_sale_end(sale);           /* no shopper was active */
    }
}


/*
 * Timers start at the time of evtimer_add(): with libevent's cached time a
 * shopper would return early.
 */
static struct event_base *
crowd_event_base(void)
{
    struct event_base    *base;
    struct event_config  *config;

    config = event_config_new();
    if (config == NULL) {
        return NULL;
    }

    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME
                                  |EVENT_BASE_FLAG_PRECISE_TIMER);
    base = event_base_new_with_config(config);
    event_config_free(config);

    return base;
}


static bool
crowd_sale_open(crowd_sale_t *sale)
{
    crowd_t  *crowd;

    sale->base = crowd_event_base();
    if (sale->base == NULL) {
        return false;
    }

    sale->http = crowd_http_create(sale->base);
    if (sale->http == NULL) {
        return false;
    }

    sale->arrival = evtimer_new(sale->base, crowd_sale_on_arrival, sale);
    sale->second = evtimer_new(sale->base, crowd_sale_on_second, sale);
    sale->payments = evtimer_new(sale->base, crowd_sale_on_payments, sale);
    sale->interrupt = evsignal_new(sale->base, SIGINT, crowd_sale_on_interrupt,
                                   sale);

    if (sale->arrival == NULL || sale->second == NULL || sale->payments == NULL
        || sale->interrupt == NULL || evsignal_add(sale->interrupt, NULL) != 0)
    {
        return false;
    }

    crowd = &sale->crowd;
    crowd->options = &sale->options;
    crowd->base = sale->base;
    crowd->http = sale->http;
    crowd->on_end = crowd_sale_on_shopper_end;
    crowd->data = sale;
    crowd->samples = calloc(sale->options.shoppers, sizeof(fairness_sample_t));

    return crowd->samples != NULL
           && crowd_stats_open(&sale->edge, sale->http,
                               sale->options.status_url,
                               crowd_stats_parse_edge, crowd_sale_on_edge, sale)
           && crowd_stats_open(&sale->checkout, sale->http,
                               sale->options.stats_url,
                               crowd_stats_parse_checkout,
                               crowd_sale_on_checkout, sale);
}


static void
crowd_sale_close(crowd_sale_t *sale)
{
    size_t         i;
    struct event  *events[] = {
        sale->arrival, sale->second, sale->payments, sale->interrupt
    };

    sale->phase = CROWD_AFTER_SALE;
    crowd_shopper_end_all(&sale->crowd);
    free(sale->crowd.samples);

    crowd_stats_close(&sale->edge);
    crowd_stats_close(&sale->checkout);

    for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i] != NULL) {
            event_free(events[i]);
        }
    }

    if (sale->http != NULL) {
        crowd_http_free(sale->http);
    }

    if (sale->base != NULL) {
        event_base_free(sale->base);
    }
}


static void
crowd_sale_run(crowd_sale_t *sale)
{
    if (sale->options.stats_url != NULL) {
        crowd_stats_fetch(&sale->checkout);

    } else {
        crowd_sale_start(sale);
    }

    if (!sale->failed) {
        event_base_dispatch(sale->base);
    }
}


static int
crowd_sale_report(crowd_sale_t *sale)
{
    crowd_results_t          results;
    crowd_stats_checkout_t  *checkout;

    checkout = NULL;

    if (sale->options.stats_url != NULL) {
        checkout = &sale->checkout.values.checkout;
        checkout->orders -= sale->before.orders;
        checkout->oversold -= sale->before.oversold;
        checkout->late_charges -= sale->before.late_charges;
        checkout->declined -= sale->before.declined;
    }

    if (!crowd_results_compute(&results, &sale->crowd, checkout)) {
        fprintf(stderr, "flash-crowd: out of memory\n");
        return 2;
    }

    crowd_results_print(&results, sale->options.json);

    if (sale->crowd.error[0] != '\0') {
        fprintf(stderr, "flash-crowd: requests failed, the first one: %s\n",
                sale->crowd.error);
    }

    return crowd_results_ok(&results) ? 0 : 1;
}


/* Each shopper with a request has a connection. */
static void
crowd_raise_file_limit(void)
{
    struct rlimit  limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
}


int
main(int argc, char **argv)
{
    int           status;
    crowd_sale_t  sale;

    memset(&sale, 0, sizeof(sale));
    crowd_options_parse(&sale.options, argc, argv);

    signal(SIGPIPE, SIG_IGN);
    crowd_raise_file_limit();
    curl_global_init(CURL_GLOBAL_DEFAULT);

    if (crowd_sale_open(&sale)) {
        crowd_sale_run(&sale);
        status = sale.failed ? 2 : crowd_sale_report(&sale);

    } else {
        fprintf(stderr, "flash-crowd: out of memory\n");
        status = 2;
    }

    crowd_sale_close(&sale);
    curl_global_cleanup();

    return status;
}
