
/*
 * Records of ticks: waits, the last half hour, and the log of the queue.
 */

#include "crowd.h"
#include "core.h"


static void
test_bounds_of_waits(void **unused)
{
    uint32_t    i, k;
    uint64_t    n[FT_WAITS_BUCKETS];
    ft_waits_t  waits;

    (void) unused;

    assert_int_equal(ft_waits_bound_ms(7), 100);
    assert_int_equal(ft_waits_bound_ms(95), 800);
    assert_int_equal(ft_waits_bound_ms(103), 1000);
    assert_int_equal(ft_waits_bound_ms(FT_WAITS_BOUNDS - 1), 10000000);

    for (i = 0; i < FT_WAITS_BOUNDS; i++) {
        assert_true(i == 0 || ft_waits_bound_ms(i) > ft_waits_bound_ms(i - 1));
        assert_true(i < 8 || ft_waits_bound_ms(i) * 24
                             <= ft_waits_bound_ms(i - 1) * 25 + 24);

        /* a bound belongs to its bucket */

        memset(&waits, 0, sizeof(waits));
        ft_waits_count(&waits, ft_waits_bound_ms(i));
        ft_waits_count(&waits, ft_waits_bound_ms(i) + 1);
        ft_waits_read(&waits, n);

        for (k = 0; k < FT_WAITS_BUCKETS; k++) {
            assert_int_equal(n[k], k == i || k == i + 1);
        }
    }

    memset(&waits, 0, sizeof(waits));
    ft_waits_count(&waits, 0);
    ft_waits_count(&waits, UINT64_MAX);
    ft_waits_read(&waits, n);
    assert_int_equal(n[0], 1);
    assert_int_equal(n[FT_WAITS_BOUNDS], 1);
}


/* Against a sorted list of all waits. */
static void
test_quantiles_of_waits(void **unused)
{
    size_t      i, k;
    uint64_t    seed, wait[2000], n[FT_WAITS_BUCKETS], found, exact;
    ft_waits_t  waits;

    static const uint32_t  share[] = { 1, 50, 500, 950, 1000 };

    (void) unused;

    seed = 7;
    memset(&waits, 0, sizeof(waits));
    ft_waits_read(&waits, n);
    assert_int_equal(ft_waits_quantile_ms(n, 500), 0);

    for (i = 0; i < 2000; i++) {
        wait[i] = unit_between(&seed, 10, 30) * unit_between(&seed, 1, 3000);
        ft_waits_count(&waits, wait[i]);
    }

    qsort(wait, 2000, sizeof(uint64_t), unit_by_time);
    ft_waits_read(&waits, n);

    for (k = 0; k < sizeof(share) / sizeof(share[0]); k++) {
        exact = wait[share[k] * 2 - 1];
        found = ft_waits_quantile_ms(n, share[k]);

        unit_check(found + exact / 20 + 13 >= exact
                   && found <= exact + exact / 20 + 13,
                   "%u of 1000: %u ms, sorted %u ms", share[k],
                   (unsigned) found, (unsigned) exact);
    }
}


static uint64_t
sum_of(const crowd_t *c, ft_history_column_t column)
{
    uint32_t  i, first, last, value[FT_HISTORY_COLUMNS];
    uint64_t  sum;

    sum = 0;

    if (!ft_history_range(&c->state->history, c->now_ms, FT_HISTORY_STEPS,
                          &first, &last))
    {
        return 0;
    }

    for (i = first; i <= last; i++) {
        assert_true(ft_history_read(&c->state->history, i, value));
        sum += value[column];
    }

    return sum;
}


static void
tick(const crowd_t *c)
{
    ft_call_t  call;

    call = crowd_call(c, 0);
    ft_control_tick(&call);
}


/* Read late, the history has the whole sale, exactly. */
static void
test_history_of_a_sale(void **unused)
{
    unsigned      i;
    crowd_t      *c;
    uint32_t      first, last, most, value[FT_HISTORY_COLUMNS];
    uint64_t      begin, at, p50, p95;
    ft_totals_t  *totals;

    (void) unused;

    c = crowd_create(2000, 4);
    begin = c->now_ms;

    for (i = 0; i < 2000; i++) {
        crowd_arrive(c, i, begin + i * 20);
    }

    crowd_run(c, begin + 200000);
    tick(c);

    totals = &c->state->totals;

    assert_int_equal(totals->first_attempts, 2000);
    assert_int_equal(sum_of(c, FT_HISTORY_FIRST_ATTEMPTS), 2000);
    assert_int_equal(sum_of(c, FT_HISTORY_ADMITTED), totals->admitted);
    assert_int_equal(sum_of(c, FT_HISTORY_POLLS), totals->polls);
    assert_int_equal(sum_of(c, FT_HISTORY_QUEUED), totals->queued);
    assert_int_equal(sum_of(c, FT_HISTORY_DONE), totals->done);

    assert_true(ft_history_range(&c->state->history, c->now_ms,
                                 FT_HISTORY_STEPS, &first, &last));
    assert_int_equal(first, begin / FT_HISTORY_STEP_MS);
    assert_int_equal(last, c->now_ms / FT_HISTORY_STEP_MS);

    most = 0;
    at = p50 = p95 = 0;

    for (i = first; i <= last; i++) {
        assert_true(ft_history_read(&c->state->history, i, value));

        if (value[FT_HISTORY_WAITING] > most) {
            most = value[FT_HISTORY_WAITING];
            p50 = value[FT_HISTORY_WAIT_P50_MS];
            p95 = value[FT_HISTORY_WAIT_P95_MS];
            at = ((uint64_t) i + 1) * FT_HISTORY_STEP_MS - begin;
        }

        /* 20 a second are admitted while 50 arrive */

        if (i > first + 1 && i < first + 8) {
            unit_check(value[FT_HISTORY_ADMITTED] >= 90
                       && value[FT_HISTORY_ADMITTED] <= 110,
                       "%u admitted", value[FT_HISTORY_ADMITTED]);
            unit_check(value[FT_HISTORY_FIRST_ATTEMPTS] >= 245
                       && value[FT_HISTORY_FIRST_ATTEMPTS] <= 255, "%u came",
                       value[FT_HISTORY_FIRST_ATTEMPTS]);
            assert_true(value[FT_HISTORY_UNUSED_CAPACITY_MILLI] < 5000);
            assert_true(value[FT_HISTORY_THRESHOLD_AGE_MS] > 0);
        }
    }

    /* except first attempts that have not returned */

    unit_check(most > 850 && most <= 1200, "%u waited", most);
    /* 50 arrive and 20 are admitted a second: the waits are 0.6 of the time */

    unit_check(p50 > at / 2 && p50 < at * 7 / 10 && p95 >= p50
               && p95 < at * 8 / 10, "%u and %u ms after %u",
               (unsigned) p50, (unsigned) p95, (unsigned) at);

    assert_true(ft_history_read(&c->state->history, last, value));
    assert_int_equal(value[FT_HISTORY_WAITING], 0);
    assert_int_equal(value[FT_HISTORY_THRESHOLD_AGE_MS], 0);

    crowd_free(c);
}


/* Steps without a request are recorded; those older than half an hour are
   not. */
static void
test_history_has_no_gaps(void **unused)
{
    crowd_t   *c;
    uint32_t   first, last, value[FT_HISTORY_COLUMNS];
    uint64_t   begin;

    (void) unused;

    c = crowd_create(2, 1);
    begin = c->now_ms;

    assert_false(ft_history_range(&c->state->history, c->now_ms,
                                  FT_HISTORY_STEPS, &first, &last));

    tick(c);
    (void) crowd_request(c, 0, 0);

    c->now_ms += 60000;
    tick(c);

    assert_true(ft_history_range(&c->state->history, c->now_ms,
                                 FT_HISTORY_STEPS, &first, &last));
    assert_int_equal(first, begin / FT_HISTORY_STEP_MS);
    assert_int_equal(last - first, 12);

    /* admitted at the time of the request, not of the read */

    assert_true(ft_history_read(&c->state->history, first, value));
    assert_int_equal(value[FT_HISTORY_ADMITTED], 1);
    assert_true(ft_history_read(&c->state->history, last, value));
    assert_int_equal(value[FT_HISTORY_ADMITTED], 0);

    assert_true(ft_history_range(&c->state->history, c->now_ms, 3, &first,
                                 &last));
    assert_int_equal(last - first, 2);

    c->now_ms += 3600000;
    tick(c);

    assert_true(ft_history_range(&c->state->history, c->now_ms,
                                 FT_HISTORY_STEPS, &first, &last));
    assert_int_equal(last, c->now_ms / FT_HISTORY_STEP_MS);
    assert_int_equal(last - first + 1, FT_HISTORY_STEPS);
    assert_false(ft_history_read(&c->state->history, first - 1, value));

    /* a clock that was set back begins a new history */

    c->now_ms = begin + 1000000;
    tick(c);
    c->now_ms += 10000;
    tick(c);

    assert_true(ft_history_range(&c->state->history, c->now_ms,
                                 FT_HISTORY_STEPS, &first, &last));
    assert_int_equal(last, c->now_ms / FT_HISTORY_STEP_MS);

    crowd_free(c);
}


static ft_queuelog_report_t
news(const crowd_t *c)
{
    tick(c);

    return ft_queuelog_take(&c->state->queuelog, &c->state->totals);
}


static void
test_log_of_a_queue(void **unused)
{
    unsigned      i, lasts;
    crowd_t      *c;
    uint64_t      begin, end;
    ft_queuelog_report_t   report;

    (void) unused;

    c = crowd_create(4000, 4);
    begin = c->now_ms;
    lasts = 0;

    assert_int_equal(news(c).kind, FT_QUEUELOG_NONE);

    for (i = 0; i < 4000; i++) {
        crowd_arrive(c, i, begin + i * 20);
    }

    crowd_run(c, begin + 2000);

    report = news(c);
    assert_int_equal(report.kind, FT_QUEUELOG_STARTED);
    assert_int_equal(news(c).kind, FT_QUEUELOG_NONE);

    for (end = 0; end == 0; /* void */) {
        crowd_run(c, c->now_ms + 100);
        report = news(c);

        switch (report.kind) {

        case FT_QUEUELOG_CONTINUES:
            lasts++;
            assert_int_equal(report.lasted_ms / 1000, 60 * lasts);
            unit_check(report.admitted > 1100 * lasts, "%u admitted",
                       (unsigned) report.admitted);
            break;

        case FT_QUEUELOG_ENDED:
            end = c->now_ms;
            break;

        default:
            assert_int_equal(report.kind, FT_QUEUELOG_NONE);
            break;
        }

        assert_true(c->now_ms < begin + 1000000);
    }

    /* 4,000 at 20 a second: 200 s */

    assert_int_equal(lasts, 3);
    assert_true(report.lasted_ms > 190000 && report.lasted_ms < 210000);
    assert_true(end - begin >= report.lasted_ms + FT_QUEUELOG_QUIET_MS);

    unit_check(report.admitted > 3900 && report.admitted <= 4000, "%u admitted",
               (unsigned) report.admitted);
    unit_check(report.max_waiting > 2000 && report.max_waiting < 2600,
               "%u waited", report.max_waiting);
    unit_check(report.max_waited_ms > 100000 && report.max_waited_ms < 130000,
               "%u ms", (unsigned) report.max_waited_ms);
    assert_true(report.waited_ms / report.admitted < report.max_waited_ms);

    assert_false(ft_queuelog_is_open(&c->state->queuelog));

    crowd_free(c);
}


/* A queue that returns within a moment has not ended. */
static void
test_log_does_not_flap(void **unused)
{
    unsigned   i, logged;
    crowd_t   *c;
    ft_call_t  call;

    (void) unused;

    c = crowd_create(1, 1);
    logged = 0;

    for (i = 0; i < 600; i++) {
        call = crowd_call(c, 0);

        atomic_store(&c->state->queueing, i % 20 == 0);

        if (i % 20 == 0) {
            ft_queuelog_begin(&c->state->queuelog, &c->state->totals,
                              call.now_ms);
        }

        ft_queuelog_record(&c->state->queuelog, i % 20 == 0, i % 20 == 0,
                           call.now_ms);
        logged += (ft_queuelog_take(&c->state->queuelog,
                                    &c->state->totals).kind != FT_QUEUELOG_NONE);

        c->now_ms += 100;
    }

    assert_int_equal(logged, 1);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_bounds_of_waits),
        cmocka_unit_test(test_quantiles_of_waits),
        cmocka_unit_test(test_history_of_a_sale),
        cmocka_unit_test(test_history_has_no_gaps),
        cmocka_unit_test(test_log_of_a_queue),
        cmocka_unit_test(test_log_does_not_flap)
    };

    return unit_tests(tests);
}
