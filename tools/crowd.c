
/*
 * flash-crowd: sends a crowd of shoppers to a sale and tells how it went.
 */

#include "crowd_arrivals.h"
#include "crowd_figures.h"
#include "crowd_http.h"
#include "crowd_options.h"
#include "crowd_shopper.h"
#include "crowd_watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>


/* Payments of shoppers who have left may go on for so long after the sale. */
#define FT_CROWD_REST_MS   10000
#define FT_CROWD_AGAIN_MS  100


typedef enum {
    FT_SALE_BEFORE = 0,     /* the checkout is asked what it has sold so far */
    FT_SALE_ON,
    FT_SALE_AFTER           /* and once more, when all is quiet */
} ft_sale_phase_t;


typedef struct {
    ft_crowd_options_t   options;
    ft_crowd_t           crowd;
    struct event_base   *base;
    ft_http_t           *http;
    ft_watch_t           edge;
    ft_watch_t           checkout;
    ft_checkout_word_t   before;
    ft_sale_phase_t      phase;
    bool                 failed;

    int64_t              seconds;       /* the next live line's number */
    bool                 line_due;

    struct event        *arrival;
    struct event        *second;
    struct event        *again;
    struct event        *interrupt;
    int64_t              began_us;      /* steady */
    int64_t              ended_us;
} ft_sale_t;


static void ft_sale_begin(ft_sale_t *sale);
static void ft_sale_arrive(evutil_socket_t fd, short events, void *data);
static void ft_sale_print_line(ft_sale_t *sale);
static void ft_sale_next_second(ft_sale_t *sale);


static int64_t
ft_steady_us(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static void
ft_timer_add(struct event *timer, int64_t us)
{
    struct timeval  tv;

    us = us > 0 ? us : 0;
    tv.tv_sec = us / 1000000;
    tv.tv_usec = us % 1000000;

    evtimer_add(timer, &tv);
}


static void
ft_sale_fail(ft_sale_t *sale, const char *what, const char *why)
{
    fprintf(stderr, "flash-crowd: %s: %s\n", what, why);

    sale->failed = true;
    event_base_loopbreak(sale->base);
}


/* A live line shows what the edge and the checkout say, once both did. */
static void
ft_sale_line(ft_sale_t *sale)
{
    if (sale->phase == FT_SALE_ON && sale->line_due && !sale->edge.asking
        && !sale->checkout.asking)
    {
        sale->line_due = false;
        ft_sale_print_line(sale);
        ft_sale_next_second(sale);
    }
}


static void
ft_sale_edge_told(void *data, const char *error)
{
    (void) error;

    ft_sale_line(data);
}


static void
ft_sale_after(ft_sale_t *sale, const char *error)
{
    bool  late;

    late = ft_steady_us() - sale->ended_us > FT_CROWD_REST_MS * 1000;

    if (error == NULL && sale->checkout.word.checkout.in_progress == 0) {
        event_base_loopbreak(sale->base);
        return;
    }

    if (late) {
        ft_sale_fail(sale, sale->options.stats_url,
                     error ? error : "payments are still under way, 10 s after"
                     " the last shopper; their outcome is not known");
        return;
    }

    ft_timer_add(sale->again, FT_CROWD_AGAIN_MS * 1000);
}


static void
ft_sale_checkout_told(void *data, const char *error)
{
    ft_sale_t  *sale;

    sale = data;

    switch (sale->phase) {

    case FT_SALE_BEFORE:
        if (error != NULL) {
            ft_sale_fail(sale, sale->options.stats_url, error);
            return;
        }

        sale->before = sale->checkout.word.checkout;
        ft_sale_begin(sale);
        return;

    case FT_SALE_ON:
        ft_sale_line(sale);
        return;

    case FT_SALE_AFTER:
        ft_sale_after(sale, error);
        return;
    }
}


static void
ft_sale_again(evutil_socket_t fd, short events, void *data)
{
    ft_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;
    ft_watch_ask(&sale->checkout);
}


static void
ft_sale_begin(ft_sale_t *sale)
{
    sale->phase = FT_SALE_ON;
    sale->began_us = ft_steady_us();

    ft_sale_arrive(-1, 0, sale);

    if (sale->options.live) {
        ft_sale_next_second(sale);
    }
}


static void
ft_sale_end(ft_sale_t *sale)
{
    sale->phase = FT_SALE_AFTER;
    sale->ended_us = ft_steady_us();

    evtimer_del(sale->arrival);
    evtimer_del(sale->second);

    if (sale->options.stats_url == NULL) {
        event_base_loopbreak(sale->base);
        return;
    }

    ft_timer_add(sale->again, 0);
}


/* All who are due come at once: a late timer delays nobody after it. */
static void
ft_sale_arrive(evutil_socket_t fd, short events, void *data)
{
    double      at_s;
    int64_t     due_us;
    ft_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;

    while (sale->crowd.arrived < sale->options.shoppers) {
        at_s = ft_arrivals_at(&sale->options.arrivals,
                              (double) (sale->crowd.arrived + 1));
        due_us = sale->began_us + (int64_t) (at_s * 1e6) - ft_steady_us();

        if (due_us > 0) {
            ft_timer_add(sale->arrival, due_us);
            return;
        }

        if (!ft_shopper_arrive(&sale->crowd)) {
            ft_sale_fail(sale, "a shopper could not come", "no memory");
            return;
        }
    }
}


static void
ft_sale_shopper_ended(void *data)
{
    ft_sale_t  *sale;

    sale = data;

    if (sale->phase == FT_SALE_ON
        && sale->crowd.ended_n == sale->options.shoppers)
    {
        ft_sale_end(sale);
    }
}


static void
ft_sale_print_line(ft_sale_t *sale)
{
    FILE        *out;
    char         age[16];
    uint64_t     sold, waiting;
    ft_crowd_t  *crowd;

    crowd = &sale->crowd;
    out = sale->options.json ? stderr : stdout;

    waiting = crowd->waiting;
    sold = crowd->ends[FT_END_SERVED];
    snprintf(age, sizeof(age), "%s", "-");

    if (sale->edge.known) {
        waiting = (uint64_t) sale->edge.word.edge.waiting;
        snprintf(age, sizeof(age), "%.1f s",
                 (double) sale->edge.word.edge.threshold_age_ms / 1000);
    }

    if (sale->checkout.known) {
        sold = (uint64_t) (sale->checkout.word.checkout.orders
                           - sale->before.orders);
    }

    fprintf(out, "%4lld s   arrivals %5llu   waiting %5llu   admitted %5llu"
            "   sold %5llu   threshold's age %s\n",
            (long long) sale->seconds,
            (unsigned long long) crowd->arrived, (unsigned long long) waiting,
            (unsigned long long) crowd->admitted, (unsigned long long) sold,
            age);
    fflush(out);
}


static void
ft_sale_next_second(ft_sale_t *sale)
{
    int64_t  us;

    us = ft_steady_us() - sale->began_us;

    /* a timer may ring a moment early, a late answer may take seconds */
    if (us / 1000000 > sale->seconds) {
        sale->seconds = us / 1000000;
    }

    sale->seconds++;
    ft_timer_add(sale->second, sale->seconds * 1000000 - us);
}


static void
ft_sale_second(evutil_socket_t fd, short events, void *data)
{
    ft_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;
    sale->line_due = true;

    ft_watch_ask(&sale->edge);
    ft_watch_ask(&sale->checkout);
    ft_sale_line(sale);
}


/* Ctrl-C ends the sale early; the figures are of those who have come. */
static void
ft_sale_interrupted(evutil_socket_t fd, short events, void *data)
{
    ft_sale_t  *sale;

    (void) fd;
    (void) events;

    sale = data;

    if (sale->phase != FT_SALE_ON) {
        ft_sale_fail(sale, "interrupted", "there are no figures");
        return;
    }

    sale->options.shoppers = sale->crowd.arrived;
    ft_shoppers_leave(&sale->crowd);

    if (sale->phase == FT_SALE_ON) {
        ft_sale_end(sale);              /* nobody was here at this moment */
    }
}


/*
 * Timers count from the instant they are set: libevent would count from the
 * beginning of its loop's turn, and a shopper would be back before its time.
 */
static struct event_base *
ft_sale_event_base(void)
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
ft_sale_open(ft_sale_t *sale)
{
    ft_crowd_t  *crowd;

    sale->base = ft_sale_event_base();
    if (sale->base == NULL) {
        return false;
    }

    sale->http = ft_http_create(sale->base);
    if (sale->http == NULL) {
        return false;
    }

    sale->arrival = evtimer_new(sale->base, ft_sale_arrive, sale);
    sale->second = evtimer_new(sale->base, ft_sale_second, sale);
    sale->again = evtimer_new(sale->base, ft_sale_again, sale);
    sale->interrupt = evsignal_new(sale->base, SIGINT, ft_sale_interrupted,
                                   sale);

    if (sale->arrival == NULL || sale->second == NULL || sale->again == NULL
        || sale->interrupt == NULL || evsignal_add(sale->interrupt, NULL) != 0)
    {
        return false;
    }

    crowd = &sale->crowd;
    crowd->options = &sale->options;
    crowd->base = sale->base;
    crowd->http = sale->http;
    crowd->ended = ft_sale_shopper_ended;
    crowd->data = sale;
    crowd->served = calloc(sale->options.shoppers, sizeof(ft_served_t));

    return crowd->served != NULL
           && ft_watch_open(&sale->edge, sale->http, sale->options.status_url,
                            ft_watch_edge, ft_sale_edge_told, sale)
           && ft_watch_open(&sale->checkout, sale->http,
                            sale->options.stats_url, ft_watch_checkout,
                            ft_sale_checkout_told, sale);
}


static void
ft_sale_close(ft_sale_t *sale)
{
    size_t        i;
    struct event  *events[] = {
        sale->arrival, sale->second, sale->again, sale->interrupt
    };

    sale->phase = FT_SALE_AFTER;
    ft_shoppers_leave(&sale->crowd);
    free(sale->crowd.served);

    ft_watch_close(&sale->edge);
    ft_watch_close(&sale->checkout);

    for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i] != NULL) {
            event_free(events[i]);
        }
    }

    if (sale->http != NULL) {
        ft_http_free(sale->http);
    }

    if (sale->base != NULL) {
        event_base_free(sale->base);
    }
}


static void
ft_sale_run(ft_sale_t *sale)
{
    if (sale->options.stats_url != NULL) {
        ft_watch_ask(&sale->checkout);

    } else {
        ft_sale_begin(sale);
    }

    if (!sale->failed) {
        event_base_dispatch(sale->base);
    }
}


/* What this crowd did, apart from what was sold before. */
static void
ft_sale_subtract(ft_checkout_word_t *word, const ft_checkout_word_t *before)
{
    word->orders -= before->orders;
    word->oversold -= before->oversold;
    word->late_charges -= before->late_charges;
    word->declined -= before->declined;
}


/* The exit status. */
static int
ft_sale_tell(ft_sale_t *sale)
{
    ft_checkout_word_t  *checkout;
    ft_crowd_figures_t   figures;

    checkout = NULL;

    if (sale->options.stats_url != NULL) {
        checkout = &sale->checkout.word.checkout;
        ft_sale_subtract(checkout, &sale->before);
    }

    if (!ft_crowd_figures(&figures, &sale->crowd, checkout)) {
        fprintf(stderr, "flash-crowd: no memory for the figures\n");
        return 2;
    }

    if (sale->options.json) {
        ft_crowd_print_json(&figures);

    } else {
        ft_crowd_print_table(&figures);
    }

    if (sale->crowd.trouble[0] != '\0') {
        fprintf(stderr, "flash-crowd: not all requests were answered; the"
                " first that was not: %s\n", sale->crowd.trouble);
    }

    return ft_crowd_sold_right(&figures) ? 0 : 1;
}


/* Every shopper who waits for an answer has a connection. */
static void
ft_crowd_raise_limit(void)
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
    int        status;
    ft_sale_t  sale;

    memset(&sale, 0, sizeof(sale));

    switch (ft_crowd_options(&sale.options, argc, argv)) {

    case FT_OPTIONS_HELP:
        return 0;

    case FT_OPTIONS_BAD:
        return 2;

    case FT_OPTIONS_OK:
        break;
    }

    signal(SIGPIPE, SIG_IGN);
    ft_crowd_raise_limit();
    curl_global_init(CURL_GLOBAL_DEFAULT);

    if (ft_sale_open(&sale)) {
        ft_sale_run(&sale);
        status = sale.failed ? 2 : ft_sale_tell(&sale);

    } else {
        fprintf(stderr, "flash-crowd: no memory\n");
        status = 2;
    }

    ft_sale_close(&sale);
    curl_global_cleanup();

    return status;
}
