
#include "ft.h"
#include "ft_history.h"


const char *const  ft_history_names[FT_HISTORY_COLUMNS] = {
    [FT_HISTORY_FIRST_ATTEMPTS] = "first_attempts",
    [FT_HISTORY_POLLS] = "polls",
    [FT_HISTORY_ADMITTED] = "admitted",
    [FT_HISTORY_QUEUED] = "queued",
    [FT_HISTORY_REJECTED] = "rejected",
    [FT_HISTORY_SOLD_OUT] = "sold_out",
    [FT_HISTORY_PASSED] = "passed",
    [FT_HISTORY_DONE] = "done",
    [FT_HISTORY_ERRORS] = "errors",
    [FT_HISTORY_GONE] = "gone",
    [FT_HISTORY_WAITING] = "waiting",
    [FT_HISTORY_HELD] = "held",
    [FT_HISTORY_INFLIGHT] = "inflight",
    [FT_HISTORY_THRESHOLD_AGE_MS] = "threshold_age_ms",
    [FT_HISTORY_UNUSED_CAPACITY_MILLI] = "unused_capacity_milli",
    [FT_HISTORY_WAIT_P50_MS] = "wait_p50_ms",
    [FT_HISTORY_WAIT_P95_MS] = "wait_p95_ms"
};


static uint32_t
ft_history_u32(uint64_t n)
{
    return (uint32_t) ft_min(n, UINT32_MAX);
}


/* Columns have 32 bits; differences of them are exact. */
static void
ft_history_totals(const ft_totals_t *totals, uint32_t n[FT_HISTORY_COUNTS])
{
    n[FT_HISTORY_FIRST_ATTEMPTS] = (uint32_t) ft_load(&totals->first_attempts);
    n[FT_HISTORY_POLLS] = (uint32_t) ft_load(&totals->polls);
    n[FT_HISTORY_ADMITTED] = (uint32_t) ft_load(&totals->admitted);
    n[FT_HISTORY_QUEUED] = (uint32_t) ft_load(&totals->queued);
    n[FT_HISTORY_REJECTED] = (uint32_t) ft_load(&totals->rejected);
    n[FT_HISTORY_SOLD_OUT] = (uint32_t) ft_load(&totals->sold_out);
    n[FT_HISTORY_PASSED] = (uint32_t) ft_load(&totals->passed);
    n[FT_HISTORY_DONE] = (uint32_t) ft_load(&totals->done);
    n[FT_HISTORY_ERRORS] = (uint32_t) ft_load(&totals->errors);
    n[FT_HISTORY_GONE] = (uint32_t) ft_totals_gone(totals);
}


static ft_history_step_t *
ft_history_step(ft_history_t *history, uint32_t number)
{
    return &history->step[number % FT_HISTORY_STEPS];
}


/* A step whose values change has no number. */
static ft_history_step_t *
ft_history_open(ft_history_t *history, uint32_t number)
{
    uint32_t            i;
    ft_history_step_t  *step;

    step = ft_history_step(history, number);

    ft_store(&step->number, 0);
    atomic_thread_fence(memory_order_release);

    for (i = 0; i < FT_HISTORY_COLUMNS; i++) {
        ft_store(&step->value[i], 0);
    }

    atomic_store_explicit(&step->number, number, memory_order_release);

    return step;
}


/* Every decision ticks first, so all counts so far belong to the last step. */
static void
ft_history_close(ft_history_t *history, const ft_history_tick_t *tick,
    ft_history_step_t *step)
{
    uint32_t  i, delta, n[FT_HISTORY_COUNTS];

    ft_history_totals(tick->totals, n);

    for (i = 0; i < FT_HISTORY_COUNTS; i++) {
        delta = n[i] - ft_load(&history->seen[i]);

        if (delta) {
            ft_store(&history->seen[i], n[i]);
            ft_store(&step->value[i], ft_load(&step->value[i]) + delta);
        }
    }

    if (tick->queueing) {
        ft_store(&history->unused, ft_load(&history->unused)
                                   + tick->free_milli * tick->dt_ms);
        ft_store(&step->value[FT_HISTORY_UNUSED_CAPACITY_MILLI],
                 ft_history_u32(ft_load(&history->unused)
                                / FT_HISTORY_STEP_MS));
    }
}


/* The waits of a step that is over. */
static void
ft_history_waits(ft_history_t *history, const ft_waits_t *waits,
    ft_history_step_t *step)
{
    uint32_t  i, before;
    uint64_t  now[FT_WAITS_BUCKETS];

    ft_waits_read(waits, now);

    for (i = 0; i < FT_WAITS_BUCKETS; i++) {
        before = ft_load(&history->waits[i]);

        ft_store(&history->waits[i], (uint32_t) now[i]);
        now[i] = (uint32_t) now[i] - before;
    }

    ft_store(&step->value[FT_HISTORY_WAIT_P50_MS],
             ft_history_u32(ft_waits_quantile_ms(now, 500)));
    ft_store(&step->value[FT_HISTORY_WAIT_P95_MS],
             ft_history_u32(ft_waits_quantile_ms(now, 950)));
}


/* Opens a new step, and those before it in which no tick happened. */
static ft_history_step_t *
ft_history_turn(ft_history_t *history, const ft_waits_t *waits,
    ft_history_step_t *step, uint32_t last, uint32_t number)
{
    uint32_t  i, from;

    ft_history_waits(history, waits, step);
    ft_store(&history->unused, 0);

    if (number > last) {
        from = number - last < FT_HISTORY_STEPS ? last + 1
                                                : number - FT_HISTORY_STEPS + 1;

        for ( /* void */ ; from < number; from++) {
            (void) ft_history_open(history, from);

            if (ft_load(&step->number) != last) {
                continue;
            }

            for (i = FT_HISTORY_WAITING; i <= FT_HISTORY_THRESHOLD_AGE_MS; i++)
            {
                ft_store(&ft_history_step(history, from)->value[i],
                         ft_load(&step->value[i]));
            }
        }
    }

    return ft_history_open(history, number);
}


void
ft_history_record(ft_history_t *history, const ft_history_tick_t *tick)
{
    uint32_t            last, number;
    ft_history_step_t  *step;

    number = (uint32_t) (tick->now_ms / FT_HISTORY_STEP_MS);
    last = ft_load(&history->number);

    step = last ? ft_history_step(history, last)
                : ft_history_open(history, number);

    ft_history_close(history, tick, step);

    if (last && number != last) {
        step = ft_history_turn(history, tick->waits, step, last, number);
    }

    ft_store(&history->number, number);

    ft_store(&step->value[FT_HISTORY_WAITING], tick->waiting);
    ft_store(&step->value[FT_HISTORY_HELD], tick->held);
    ft_store(&step->value[FT_HISTORY_INFLIGHT], tick->inflight);
    ft_store(&step->value[FT_HISTORY_THRESHOLD_AGE_MS],
             ft_history_u32(tick->threshold_age_ms));
}


bool
ft_history_read(const ft_history_t *history, uint32_t number,
    uint32_t value[FT_HISTORY_COLUMNS])
{
    uint32_t                  i;
    const ft_history_step_t  *step;

    step = &history->step[number % FT_HISTORY_STEPS];

    if (atomic_load_explicit(&step->number, memory_order_acquire) != number) {
        return false;
    }

    for (i = 0; i < FT_HISTORY_COLUMNS; i++) {
        value[i] = ft_load(&step->value[i]);
    }

    atomic_thread_fence(memory_order_acquire);

    return ft_load(&step->number) == number;
}


bool
ft_history_range(const ft_history_t *history, uint64_t now_ms, uint32_t most,
    uint32_t *first, uint32_t *last)
{
    uint32_t  n;

    n = (uint32_t) (now_ms / FT_HISTORY_STEP_MS);

    /* the first tick of this step may not have come yet */

    if (ft_load(&history->step[n % FT_HISTORY_STEPS].number) != n) {
        n--;
    }

    *last = n;

    while (most && ft_load(&history->step[n % FT_HISTORY_STEPS].number) == n) {
        *first = n--;
        most--;
    }

    return n != *last;
}
