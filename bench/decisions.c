
/*
 * Decisions of the core without nginx: reads a ticket, decides, signs what is
 * given, as the module does for a request.
 *
 * usage: decisions NAME     once through, for callgrind, which collects what
 *                           decisions_measured() does
 *        decisions          prints "NAME nanoseconds", the median of rounds in
 *                           which all take turns
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core.h"


#define DECISIONS_SHOPPERS  1000
#define DECISIONS_TICKS     50
#define DECISIONS_ROUNDS    201
#define DECISIONS_MILLION   1000000
#define DECISIONS_BEGIN_MS  UINT64_C(1800000000000)
#define DECISIONS_SECRET    "0123456789abcdef0123456789abcdef"


typedef enum {
    DECISIONS_FIRST,
    DECISIONS_EARLY,
    DECISIONS_IN_TIME,
    DECISIONS_CALLED,
    DECISIONS_PASS,
    DECISIONS_TICK
} decisions_what_t;


typedef struct {
    const char        *name;
    decisions_what_t   what;
    uint32_t           waiting;
} decisions_case_t;


typedef struct {
    ft_zone_t         *zone;
    uint64_t           now_ms;
    ft_call_t          call;
    char               text[DECISIONS_SHOPPERS][FT_TICKET_LEN];
} decisions_edge_t;


static const decisions_case_t  cases[] = {
    { "first_attempt",             DECISIONS_FIRST,  10 },
    { "poll_early",                DECISIONS_EARLY,  10 },
    { "poll_in_time",              DECISIONS_IN_TIME, 10 },
    { "poll_in_time_of_a_million", DECISIONS_IN_TIME, DECISIONS_MILLION },
    { "poll_called",               DECISIONS_CALLED, 10 },
    { "pass",                      DECISIONS_PASS,   10 },
    { "tick",                      DECISIONS_TICK,   10 },
    { "tick_at_a_million",         DECISIONS_TICK,   DECISIONS_MILLION }
};

#define DECISIONS_CASES  (sizeof(cases) / sizeof(cases[0]))

static const ft_rules_t   rules = {
    .policy = FT_POLICY_FAIR, .hold_ms = 2000,
    .poll_min_ms = 300, .poll_max_ms = 15000, .session_ms = 600000
};

/* told less than that by nobody, so that whoever comes does in time */
static const ft_rules_t   in_time = {
    .policy = FT_POLICY_FAIR, .hold_ms = 2000,
    .poll_min_ms = 15000, .poll_max_ms = 15000, .session_ms = 600000
};
static const ft_limits_t  closed = {
    .rate_milli = 1000, .period_ms = 5000, .burst = 1
};
static const ft_limits_t  open = {
    .rate_milli = 1000000000, .period_ms = 5000, .burst = 1000000
};

static ft_keyring_t        *ring;
static ft_ticket_context_t  context = {
    .zone = "sale", .zone_len = 4,
    .key = "shop.example.com", .key_len = 16
};


static void __attribute__((noreturn))
decisions_die(const char *what)
{
    fprintf(stderr, "decisions: %s\n", what);
    exit(1);
}


/* What a request costs before it is decided, and after. */
static ft_verdict_t
decisions_request(decisions_edge_t *edge, uint32_t i)
{
    ft_call_t      call;
    ft_ticket_t    ticket;
    ft_verdict_t   verdict = { .answer = FT_ADMIT };

    memset(&ticket, 0, sizeof(ticket));

    call = edge->call;
    call.now_ms = ft_zone_now(edge->zone, edge->now_ms, edge->now_ms);
    call.state = ft_zone_find(edge->zone, context.key, context.key_len,
                              call.now_ms);

    if (!ft_ticket_possible(ring, edge->text[i], FT_TICKET_LEN)
        || !ft_ticket_verify(ring, &context, edge->text[i], FT_TICKET_LEN,
                             &ticket)
        || !ft_ticket_usable(&ticket, call.now_ms))
    {
        ticket.kind = 0;
        ticket.id = ft_mix(i + 1);
    }

    if (ticket.kind == FT_TICKET_PASS) {
        ft_inflight_enter(&call, &ticket);
        ft_inflight_done(call.state, ticket.generation, call.worker);
        return verdict;
    }

    verdict = ft_admission_decide(&call, &ticket, NULL, NULL, false);

    if (verdict.answer == FT_ADMIT) {
        ft_pass_make(&call, &ticket);
        ft_inflight_done(call.state, ticket.generation, call.worker);
    }

    if (!verdict.same) {
        ft_ticket_sign(ring, &context, &ticket, edge->text[i]);
    }

    return verdict;
}


static void
decisions_expect(decisions_edge_t *edge, uint32_t i, ft_answer_t answer)
{
    if (decisions_request(edge, i).answer != answer) {
        decisions_die("not the decision that was to be measured");
    }
}


static decisions_edge_t *
decisions_open(void)
{
    bool               evicted;
    decisions_edge_t  *edge;

    edge = calloc(1, sizeof(decisions_edge_t));
    if (edge == NULL) {
        decisions_die("no memory");
    }

    edge->now_ms = DECISIONS_BEGIN_MS;
    edge->zone = aligned_alloc(64, (ft_zone_size(1) + 63) / 64 * 64);
    if (edge->zone == NULL) {
        decisions_die("no memory");
    }

    memset(edge->zone, 0, ft_zone_size(1));
    ft_zone_init(edge->zone, 1, 42, edge->now_ms, edge->now_ms);

    edge->call.worker = ft_zone_join(edge->zone, 1);
    edge->call.workers = ft_zone_workers(edge->zone);
    edge->call.rules = &rules;
    edge->call.limits = closed;
    edge->call.state = ft_zone_add(edge->zone, context.key, context.key_len,
                                   edge->now_ms, &evicted);

    return edge;
}


/* A line of so many, an hour long, due over the next minute. */
static void
decisions_fill(decisions_edge_t *edge, uint32_t waiting)
{
    uint32_t  i;
    uint64_t  stamp_us;

    edge->call.now_ms = edge->now_ms;
    ft_queue_begin(&edge->call, (edge->now_ms - 3600000) * 1000);

    for (i = 0; i < waiting; i++) {
        stamp_us = (edge->now_ms - 3600000) * 1000
                   + UINT64_C(3600000000) * i / waiting;

        ft_census_increment(&edge->call.state->census, stamp_us,
                        edge->now_ms + 5000 + ft_mix(i) % 55000, edge->now_ms,
                        false);
    }
}


/* Takes the one place that a closed bucket has. */
static void
decisions_close(decisions_edge_t *edge)
{
    edge->call.now_ms = edge->now_ms;

    while (ft_capacity_take(&edge->call, edge->now_ms)) {
        /* void */
    }
}


/* Newcomers, come back once, so that they are counted in the line. */
static void
decisions_queue(decisions_edge_t *edge)
{
    uint32_t  i, turn;

    for (turn = 0; turn < 2; turn++) {

        for (i = 0; i < DECISIONS_SHOPPERS; i++) {
            decisions_expect(edge, i, FT_WAIT);
        }

        edge->now_ms += 250;
    }
}


static void
decisions_prepare(decisions_edge_t *edge, const decisions_case_t *c)
{
    uint32_t  i;

    decisions_close(edge);
    decisions_fill(edge, c->waiting);

    switch (c->what) {

    case DECISIONS_FIRST:
    case DECISIONS_TICK:
        break;

    case DECISIONS_EARLY:
        decisions_queue(edge);
        break;

    case DECISIONS_IN_TIME:
        edge->call.rules = &in_time;
        decisions_queue(edge);
        break;

    case DECISIONS_CALLED:
    case DECISIONS_PASS:
        decisions_queue(edge);

        edge->call.limits = open;
        ft_census_advance(&edge->call.state->census, edge->now_ms * 1000);

        if (c->what == DECISIONS_PASS) {
            for (i = 0; i < DECISIONS_SHOPPERS; i++) {
                decisions_expect(edge, i, FT_ADMIT);
            }
        }
    }

    /* a tick that is due is not the next request's */

    edge->call.now_ms = edge->now_ms;
    ft_control_tick(&edge->call);
}


static uint32_t
decisions_count(const decisions_case_t *c)
{
    return c->what == DECISIONS_TICK ? DECISIONS_TICKS : DECISIONS_SHOPPERS;
}


static void __attribute__((noinline))
decisions_measured(decisions_edge_t *edge, const decisions_case_t *c)
{
    uint32_t     i;
    ft_answer_t  answer;

    if (c->what == DECISIONS_TICK) {

        for (i = 0; i < DECISIONS_TICKS; i++) {
            edge->call.now_ms += FT_TICK_MS;
            ft_control_tick(&edge->call);
        }

        return;
    }

    answer = c->what == DECISIONS_CALLED || c->what == DECISIONS_PASS
             ? FT_ADMIT : FT_WAIT;

    for (i = 0; i < DECISIONS_SHOPPERS; i++) {
        decisions_expect(edge, i, answer);
    }
}


static double
decisions_time(const decisions_case_t *c, decisions_edge_t *edge)
{
    struct timespec  from, to;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    decisions_measured(edge, c);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);

    return ((double) (to.tv_sec - from.tv_sec) * 1e9
            + (double) (to.tv_nsec - from.tv_nsec)) / decisions_count(c);
}


static int
decisions_compare(const void *a, const void *b)
{
    double  x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}


/* Each round begins from the same state: it is copied, and its zone with it. */
static void
decisions_time_all(void)
{
    size_t             k, size;
    uint32_t           round;
    ft_zone_t         *zone;
    decisions_edge_t  *edges[DECISIONS_CASES], *edge;
    static double      ns[DECISIONS_CASES][DECISIONS_ROUNDS];

    for (k = 0; k < DECISIONS_CASES; k++) {
        edges[k] = decisions_open();
        decisions_prepare(edges[k], &cases[k]);
    }

    edge = decisions_open();
    zone = edge->zone;
    size = ft_zone_size(1);

    for (round = 0; round < DECISIONS_ROUNDS; round++) {

        for (k = 0; k < DECISIONS_CASES; k++) {
            *edge = *edges[k];
            edge->zone = zone;
            memcpy(zone, edges[k]->zone, size);
            edge->call.state = ft_zone_find(zone, context.key, context.key_len,
                                            edge->now_ms);

            ns[k][round] = decisions_time(&cases[k], edge);
        }
    }

    for (k = 0; k < DECISIONS_CASES; k++) {
        qsort(ns[k], DECISIONS_ROUNDS, sizeof(double), decisions_compare);
        printf("%s %.0f\n", cases[k].name, ns[k][DECISIONS_ROUNDS / 2]);
    }

    printf("bytes_of_a_key %zu\n", ft_zone_size(2) - ft_zone_size(1));
}


int
main(int argc, char **argv)
{
    size_t             k;
    ft_secret_t        secret = { DECISIONS_SECRET,
                                  sizeof(DECISIONS_SECRET) - 1 };
    decisions_edge_t  *edge;

    ring = ft_keyring_create(&secret, 1);
    if (ring == NULL) {
        decisions_die("no memory");
    }

    if (argc == 1) {
        decisions_time_all();
        return 0;
    }

    for (k = 0; k < DECISIONS_CASES; k++) {

        if (strcmp(argv[1], cases[k].name) == 0) {
            edge = decisions_open();
            decisions_prepare(edge, &cases[k]);
            decisions_measured(edge, &cases[k]);

            printf("%s %u\n", cases[k].name, decisions_count(&cases[k]));
            return 0;
        }
    }

    decisions_die("there is no such case");
}
