
/*
 * The shuffle of an opening: its definition, its uniform distribution, and that
 * a ticket does not show it.
 */

#include "edge.h"


#define SECRET    "a secret for tests, and for nothing else"
#define OPENINGS  1000
#define SHOPPERS  50

static const ft_secret_t  secrets[] = {
    { "a newer secret, that signs", 26 },
    { SECRET, sizeof(SECRET) - 1 }
};


typedef struct {
    edge_t                edge;
    ft_keyring_t         *ring;
    ft_ticket_context_t   context;
} sale_t;


/* Opens a minute after the state was made. */
static void
sale_open(sale_t *s)
{
    edge_open(&s->edge);

    s->edge.call.limits.rate_milli = 10000;
    s->edge.call.now_ms = UNIT_EPOCH_MS;
    s->edge.rules.session_ms = 0;
    s->edge.rules.opens_ms = UNIT_EPOCH_MS + 60000;

    s->context = (ft_ticket_context_t) {
        .zone = "sale", .zone_len = 4, .key = "localhost", .key_len = 9
    };
    s->ring = ft_keyring_create(secrets, 2);
    assert_non_null(s->ring);
}


static void
sale_close(sale_t *s)
{
    ft_keyring_free(s->ring);
    edge_close(&s->edge);
}


static void
sale_shuffle(sale_t *s, ft_ticket_t *ticket)
{
    ticket->shuffle = ft_ticket_shuffle(s->ring, &s->context,
                                        s->edge.rules.opens_ms, ticket->id);
}


static void
test_the_shuffle_as_documented(void **unused)
{
    sale_t  s;

    (void) unused;

    sale_open(&s);

    /* computed with Python's hmac */

    assert_true(ft_ticket_shuffle(s.ring, &s.context, UNIT_EPOCH_MS + 60000 * 7,
                               1)
                != ft_ticket_shuffle(s.ring, &s.context, UNIT_EPOCH_MS + 60000,
                                  1));
    assert_true(ft_ticket_shuffle(s.ring, &s.context, 1767225660000, 1)
                == UINT64_C(0x69ee23013e210cb1));
    assert_true(ft_ticket_shuffle(s.ring, &s.context, 1767225660001, 1)
                == UINT64_C(0x9ecf6b10f1c6a317));

    s.context.key_len = 0;
    assert_true(ft_ticket_shuffle(s.ring, &s.context, 1767225660000,
                               UINT64_C(0xfedcba9876543210))
                == UINT64_C(0xcc01177f89f14124));

    sale_close(&s);
}


/* The last secret decides: a new first secret changes no place. */
static void
test_a_new_secret_keeps_the_shuffle(void **unused)
{
    sale_t         s;
    ft_keyring_t  *old, *other;

    (void) unused;

    sale_open(&s);

    old = ft_keyring_create(&secrets[1], 1);
    other = ft_keyring_create(&secrets[0], 1);
    assert_true(old && other);

    assert_true(ft_ticket_shuffle(s.ring, &s.context, UNIT_EPOCH_MS, 1)
                == ft_ticket_shuffle(old, &s.context, UNIT_EPOCH_MS, 1));
    assert_true(ft_ticket_shuffle(s.ring, &s.context, UNIT_EPOCH_MS, 1)
                != ft_ticket_shuffle(other, &s.context, UNIT_EPOCH_MS, 1));

    ft_keyring_free(old);
    ft_keyring_free(other);
    sale_close(&s);
}


/*
 * 1,000 openings of 50 shoppers: how often the i-th to arrive got the j-th
 * place.  With 49 degrees of freedom chi squared is above 94 once in 10,000;
 * the sum of all 50 has 49 x 49 degrees, mean 2,401 and deviation 69.
 */
static void
test_every_place_is_equally_likely(void **unused)
{
    sale_t        s;
    double        chi, sum, d;
    uint64_t      seed, timestamp[SHOPPERS];
    unsigned      n, i, j, place;
    ft_ticket_t   ticket;

    static unsigned  count[SHOPPERS][SHOPPERS];

    (void) unused;

    sale_open(&s);
    memset(count, 0, sizeof(count));
    seed = 5;

    for (n = 0; n < OPENINGS; n++) {
        s.edge.rules.opens_ms = UNIT_EPOCH_MS + 60000 + n * 86400000ull;

        for (i = 0; i < SHOPPERS; i++) {
            ticket = (ft_ticket_t) {
                .id = unit_random(&seed),
                .first_ms = s.edge.rules.opens_ms - 50000 + i * 1000
            };
            sale_shuffle(&s, &ticket);
            timestamp[i] = ft_opening_timestamp_us(&s.edge.call, &ticket);

            assert_true(timestamp[i] < s.edge.rules.opens_ms * 1000);
            assert_true(timestamp[i] >= (s.edge.rules.opens_ms - FT_OPENING_SPAN_MS)
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

    sale_close(&s);
}


/* A reload keeps the place; later shoppers are behind it. */
static void
test_a_place_stays_before_later_shoppers(void **unused)
{
    sale_t       s;
    unsigned     i;
    uint64_t     timestamp, seed;
    ft_ticket_t  ticket, later;

    (void) unused;

    sale_open(&s);
    seed = 3;
    ticket = (ft_ticket_t) { .id = unit_random(&seed) };
    sale_shuffle(&s, &ticket);
    assert_int_equal(ft_admission_decide(&s.edge.call, &ticket, NULL, NULL,
                                         false)
                     .answer, FT_CLOSED);
    assert_int_equal(ticket.first_ms, UNIT_EPOCH_MS);

    timestamp = ft_opening_timestamp_us(&s.edge.call, &ticket);

    for (i = 0; i < 20; i++) {
        s.edge.call.now_ms += 7000;
        sale_shuffle(&s, &ticket);
        (void) ft_admission_decide(&s.edge.call, &ticket, NULL, NULL, false);

        assert_true(ft_opening_timestamp_us(&s.edge.call,
                                            &ticket) == timestamp);
        assert_int_equal(ticket.first_ms, UNIT_EPOCH_MS);
    }

    later = (ft_ticket_t) { .id = 0, .first_ms = s.edge.rules.opens_ms };
    assert_true(ft_opening_timestamp_us(&s.edge.call, &later)
                >= s.edge.rules.opens_ms * 1000);

    sale_close(&s);
}


/*
 * A ticket, its advice and its answer are alike for places at the front and at
 * the back.
 */
static void
test_the_shuffle_is_hidden_before_the_opening(void **unused)
{
    sale_t        s;
    double        x, y, sx, sy, sxx, syy, sxy, r, chi, d;
    uint64_t      seed;
    unsigned      i, k, n, lanes[2][8];
    ft_ticket_t   ticket;
    ft_verdict_t  verdict;

    (void) unused;

    sale_open(&s);
    s.edge.rules.opens_ms = UNIT_EPOCH_MS + 20000;
    s.edge.call.now_ms = UNIT_EPOCH_MS + 2000;
    seed = 11;
    n = 4000;
    sx = sy = sxx = syy = sxy = 0;
    memset(lanes, 0, sizeof(lanes));

    for (i = 0; i < n; i++) {
        ticket = (ft_ticket_t) { .id = unit_random(&seed) };
        sale_shuffle(&s, &ticket);
        (void) ft_admission_decide(&s.edge.call, &ticket, NULL, NULL, false);

        s.edge.call.now_ms += 4000;
        verdict = ft_admission_decide(&s.edge.call, &ticket, NULL, NULL, false);
        s.edge.call.now_ms -= 4000;

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

    sale_close(&s);
}


/* Requests without a ticket have no place; a ticket has one. */
static void
test_many_requests_are_no_advantage(void **unused)
{
    sale_t         s;
    unsigned       i;
    ft_ticket_t    ticket;
    ft_stats_t  stats;

    (void) unused;

    sale_open(&s);
    s.edge.call.now_ms += 30000;

    for (i = 0; i < 1000; i++) {
        ticket = (ft_ticket_t) { .id = i * 77 };
        sale_shuffle(&s, &ticket);
        (void) ft_admission_decide(&s.edge.call, &ticket, NULL, NULL, false);
    }

    /* the last one returns ten times with one ticket */

    for (i = 0; i < 10; i++) {
        ft_ticket_t  tab = ticket;

        s.edge.call.now_ms += 100;
        (void) ft_admission_decide(&s.edge.call, &tab, NULL, NULL, false);
    }

    s.edge.call.now_ms += 200;
    stats = ft_stats_read(&s.edge.call);
    assert_int_equal(stats.waiting, 1);

    sale_close(&s);
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
    sale_t       s;
    unsigned     i;
    ft_ticket_t  ticket;

    (void) unused;

    sale_open(&s);
    s.edge.rules.max_wait_ms = 1;

    for (i = 0; i < 200; i++) {
        ticket = (ft_ticket_t) { .id = i * 77 };
        sale_shuffle(&s, &ticket);
        assert_int_equal(ft_admission_decide(&s.edge.call, &ticket, NULL, NULL,
                                             false).answer, FT_CLOSED);
        s.edge.call.now_ms += 10;
    }

    sale_close(&s);
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
