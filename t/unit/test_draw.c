
/*
 * The shuffle of an opening: its definition, its uniform distribution, and that
 * a ticket does not show it.
 */

#include "core.h"
#include "unit.h"


#define SECRET    "a secret for tests, and for nothing else"
#define OPENINGS  1000
#define SHOPPERS  50

static const ft_secret_t  secrets[] = {
    { "a newer secret, that signs", 26 },
    { SECRET, sizeof(SECRET) - 1 }
};


typedef struct {
    ft_state_t           *state;
    ft_limits_t           limits;
    ft_rules_t            rules;
    ft_call_t             call;
    ft_keyring_t         *ring;
    ft_ticket_context_t   context;
} edge_t;


static void
edge_make(edge_t *e)
{
    memset(e, 0, sizeof(edge_t));

    e->state = unit_shared(sizeof(ft_state_t));
    ft_state_init(e->state, 7, UNIT_EPOCH_MS);

    e->limits.rate_milli = 10000;
    e->limits.period_ms = FT_PERIOD_DEFAULT_MS;
    e->limits.burst = 1;
    e->rules.hold_ms = FT_HOLD_DEFAULT_MS;
    e->rules.poll_min_ms = FT_POLL_MIN_DEFAULT_MS;
    e->rules.poll_max_ms = FT_POLL_MAX_DEFAULT_MS;
    e->rules.opens_ms = UNIT_EPOCH_MS + 60000;

    e->call.state = e->state;
    e->call.limits = e->limits;
    e->call.rules = &e->rules;
    e->call.now_ms = UNIT_EPOCH_MS;
    e->call.workers = 1;

    e->context = (ft_ticket_context_t) {
        .zone = "sale", .zone_len = 4, .key = "localhost", .key_len = 9
    };
    e->ring = ft_keyring_create(secrets, 2);
    assert_non_null(e->ring);
}


static void
edge_end(edge_t *e)
{
    ft_keyring_free(e->ring);
    free(e->state);
}


static void
edge_draw(edge_t *e, ft_ticket_t *ticket)
{
    ticket->shuffle = ft_ticket_shuffle(e->ring, &e->context, e->rules.opens_ms,
                                  ticket->id);
}


static void
test_the_shuffle_as_documented(void **unused)
{
    edge_t  e;

    (void) unused;

    edge_make(&e);

    /* computed with Python's hmac */

    assert_true(ft_ticket_shuffle(e.ring, &e.context, UNIT_EPOCH_MS + 60000 * 7,
                               1)
                != ft_ticket_shuffle(e.ring, &e.context, UNIT_EPOCH_MS + 60000,
                                  1));
    assert_true(ft_ticket_shuffle(e.ring, &e.context, 1767225660000, 1)
                == UINT64_C(0x69ee23013e210cb1));
    assert_true(ft_ticket_shuffle(e.ring, &e.context, 1767225660001, 1)
                == UINT64_C(0x9ecf6b10f1c6a317));

    e.context.key_len = 0;
    assert_true(ft_ticket_shuffle(e.ring, &e.context, 1767225660000,
                               UINT64_C(0xfedcba9876543210))
                == UINT64_C(0xcc01177f89f14124));

    edge_end(&e);
}


/* The last secret decides: a new first secret changes no place. */
static void
test_a_new_secret_keeps_the_shuffle(void **unused)
{
    edge_t         e;
    ft_keyring_t  *old, *other;

    (void) unused;

    edge_make(&e);

    old = ft_keyring_create(&secrets[1], 1);
    other = ft_keyring_create(&secrets[0], 1);
    assert_true(old && other);

    assert_true(ft_ticket_shuffle(e.ring, &e.context, UNIT_EPOCH_MS, 1)
                == ft_ticket_shuffle(old, &e.context, UNIT_EPOCH_MS, 1));
    assert_true(ft_ticket_shuffle(e.ring, &e.context, UNIT_EPOCH_MS, 1)
                != ft_ticket_shuffle(other, &e.context, UNIT_EPOCH_MS, 1));

    ft_keyring_free(old);
    ft_keyring_free(other);
    edge_end(&e);
}


/*
 * 1,000 openings of 50 shoppers: how often the i-th to arrive got the j-th
 * place.  With 49 degrees of freedom chi squared is above 94 once in 10,000;
 * the sum of all 50 has 49 x 49 degrees, mean 2,401 and deviation 69.
 */
static void
test_every_place_is_equally_likely(void **unused)
{
    edge_t        e;
    double        chi, sum, d;
    uint64_t      seed, timestamp[SHOPPERS];
    unsigned      n, i, j, place;
    ft_ticket_t   ticket;

    static unsigned  count[SHOPPERS][SHOPPERS];

    (void) unused;

    edge_make(&e);
    memset(count, 0, sizeof(count));
    seed = 5;

    for (n = 0; n < OPENINGS; n++) {
        e.rules.opens_ms = UNIT_EPOCH_MS + 60000 + n * 86400000ull;

        for (i = 0; i < SHOPPERS; i++) {
            ticket = (ft_ticket_t) {
                .id = unit_random(&seed),
                .first_ms = e.rules.opens_ms - 50000 + i * 1000
            };
            edge_draw(&e, &ticket);
            timestamp[i] = ft_opening_timestamp_us(&e.call, &ticket);

            assert_true(timestamp[i] < e.rules.opens_ms * 1000);
            assert_true(timestamp[i] >= (e.rules.opens_ms - FT_OPENING_SPAN_MS)
                                    * 1000);
        }

        for (i = 0; i < SHOPPERS; i++) {
            for (j = 0, place = 0; j < SHOPPERS; j++) {
                place += (timestamp[j] < timestamp[i]);
            }

            count[i][place]++;
        }
    }

    sum = 0;

    for (i = 0; i < SHOPPERS; i++) {
        chi = 0;

        for (j = 0; j < SHOPPERS; j++) {
            d = count[i][j] - (double) OPENINGS / SHOPPERS;
            chi += d * d * SHOPPERS / OPENINGS;
        }

        unit_check(chi < 94, "the %u. to come: chi squared %.1f", i, chi);
        sum += chi;
    }

    unit_check(sum > 2401 - 4 * 69 && sum < 2401 + 4 * 69,
               "all: chi squared %.1f", sum);

    edge_end(&e);
}


/* A reload keeps the place; later shoppers are behind it. */
static void
test_a_place_stays_before_later_shoppers(void **unused)
{
    edge_t       e;
    unsigned     i;
    uint64_t     timestamp, seed;
    ft_ticket_t  ticket, later;

    (void) unused;

    edge_make(&e);
    seed = 3;
    ticket = (ft_ticket_t) { .id = unit_random(&seed) };
    edge_draw(&e, &ticket);
    assert_int_equal(ft_admission_decide(&e.call, &ticket, NULL, NULL, false)
                     .answer, FT_CLOSED);
    assert_int_equal(ticket.first_ms, UNIT_EPOCH_MS);

    timestamp = ft_opening_timestamp_us(&e.call, &ticket);

    for (i = 0; i < 20; i++) {
        e.call.now_ms += 7000;
        edge_draw(&e, &ticket);
        (void) ft_admission_decide(&e.call, &ticket, NULL, NULL, false);

        assert_true(ft_opening_timestamp_us(&e.call, &ticket) == timestamp);
        assert_int_equal(ticket.first_ms, UNIT_EPOCH_MS);
    }

    later = (ft_ticket_t) { .id = 0, .first_ms = e.rules.opens_ms };
    assert_true(ft_opening_timestamp_us(&e.call, &later)
                >= e.rules.opens_ms * 1000);

    edge_end(&e);
}


/*
 * A ticket, its advice and its answer are alike for places at the front and at
 * the back.
 */
static void
test_the_shuffle_is_hidden_before_the_opening(void **unused)
{
    edge_t        e;
    double        x, y, sx, sy, sxx, syy, sxy, r, chi, d;
    uint64_t      seed;
    unsigned      i, k, n, lanes[2][8];
    ft_ticket_t   ticket;
    ft_verdict_t  verdict;

    (void) unused;

    edge_make(&e);
    e.rules.opens_ms = UNIT_EPOCH_MS + 20000;
    e.call.now_ms = UNIT_EPOCH_MS + 2000;
    seed = 11;
    n = 4000;
    sx = sy = sxx = syy = sxy = 0;
    memset(lanes, 0, sizeof(lanes));

    for (i = 0; i < n; i++) {
        ticket = (ft_ticket_t) { .id = unit_random(&seed) };
        edge_draw(&e, &ticket);
        (void) ft_admission_decide(&e.call, &ticket, NULL, NULL, false);

        e.call.now_ms += 4000;
        verdict = ft_admission_decide(&e.call, &ticket, NULL, NULL, false);
        e.call.now_ms -= 4000;

        assert_int_equal(verdict.answer, FT_CLOSED);
        assert_int_equal(verdict.position, 0);
        assert_int_equal(verdict.wait_ms, 0);

        x = (double) ticket.shuffle;
        y = verdict.retry_ms;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;

        lanes[ticket.shuffle >> 63][ticket.place & 7]++;
    }

    /* 4 deviations */

    r = (n * sxy - sx * sy);
    r = r * r / ((n * sxx - sx * sx) * (n * syy - sy * sy));
    unit_check(r < 16.0 / n, "advice and shuffle: r squared %f", r);

    /* uniform in each half: chi squared of 7 degrees, once in 10,000 */

    for (k = 0; k < 2; k++) {
        for (i = 0, chi = 0, x = 0; i < 8; i++) {
            x += lanes[k][i];
        }

        for (i = 0; i < 8; i++) {
            d = lanes[k][i] - x / 8;
            chi += d * d * 8 / x;
        }

        unit_check(chi < 29.9, "places in half %u: chi squared %.1f", k, chi);
    }

    edge_end(&e);
}


/* Requests without a ticket have no place; a ticket has one. */
static void
test_many_requests_are_no_advantage(void **unused)
{
    edge_t         e;
    unsigned       i;
    ft_ticket_t    ticket;
    ft_stats_t  s;

    (void) unused;

    edge_make(&e);
    e.call.now_ms += 30000;

    for (i = 0; i < 1000; i++) {
        ticket = (ft_ticket_t) { .id = i * 77 };
        edge_draw(&e, &ticket);
        (void) ft_admission_decide(&e.call, &ticket, NULL, NULL, false);
    }

    /* the last one returns ten times with one ticket */

    for (i = 0; i < 10; i++) {
        ft_ticket_t  tab = ticket;

        e.call.now_ms += 100;
        (void) ft_admission_decide(&e.call, &tab, NULL, NULL, false);
    }

    e.call.now_ms += 200;
    s = ft_stats_read(&e.call);
    assert_int_equal(s.waiting, 1);

    edge_end(&e);
}


/* A ticket that has waited for days is usable at the opening. */
static void
test_a_ticket_lasts_a_day_from_the_opening(void **unused)
{
    uint64_t     day, opens;
    ft_ticket_t  ticket = {
        .kind = FT_TICKET_WAIT, .first_ms = UNIT_EPOCH_MS
    };

    (void) unused;

    day = FT_TICKET_AGE_MAX_MS;
    opens = UNIT_EPOCH_MS + 3 * day;

    assert_true(ft_ticket_awaits(&ticket, opens, UNIT_EPOCH_MS + 2 * day));
    assert_true(ft_ticket_awaits(&ticket, opens, opens + day - 1));
    assert_false(ft_ticket_awaits(&ticket, opens, opens + day));
    assert_false(ft_ticket_awaits(&ticket, 0, UNIT_EPOCH_MS + 2 * day));
    assert_false(ft_ticket_awaits(&ticket, UNIT_EPOCH_MS, UNIT_EPOCH_MS + 1));

    /* no longer than its times can express */

    opens = UNIT_EPOCH_MS + 100 * day;
    assert_true(ft_ticket_awaits(&ticket, opens, UNIT_EPOCH_MS + 24 * day));
    assert_false(ft_ticket_awaits(&ticket, opens, UNIT_EPOCH_MS + 25 * day));

    ticket.kind = FT_TICKET_PASS;
    assert_false(ft_ticket_awaits(&ticket, opens, UNIT_EPOCH_MS + 2 * day));
}


/* max_wait does not count the time to the opening. */
static void
test_nobody_is_refused_before_the_opening(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  ticket;

    (void) unused;

    edge_make(&e);
    e.rules.max_wait_ms = 1;

    for (i = 0; i < 200; i++) {
        ticket = (ft_ticket_t) { .id = i * 77 };
        edge_draw(&e, &ticket);
        assert_int_equal(ft_admission_decide(&e.call, &ticket, NULL, NULL,
                                             false).answer, FT_CLOSED);
        e.call.now_ms += 10;
    }

    edge_end(&e);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_the_shuffle_as_documented),
        cmocka_unit_test(test_a_new_secret_keeps_the_shuffle),
        cmocka_unit_test(test_every_place_is_equally_likely),
        cmocka_unit_test(test_a_place_stays_before_later_shoppers),
        cmocka_unit_test(test_the_shuffle_is_hidden_before_the_opening),
        cmocka_unit_test(test_many_requests_are_no_advantage),
        cmocka_unit_test(test_a_ticket_lasts_a_day_from_the_opening),
        cmocka_unit_test(test_nobody_is_refused_before_the_opening)
    };

    return unit_tests(tests);
}
