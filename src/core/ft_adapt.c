
#include "ft.h"
#include "ft_adapt.h"


#define FT_PERIOD_MIN_MS    1000    /* of measuring; also at least an answer */
#define FT_PERIOD_MAX_MS    10000   /* then too few answers are dropped */
#define FT_ANSWERS          12      /* end a period, or */
#define FT_ANSWERS_FEW      3       /* these, after FT_FEW_MS */
#define FT_FEW_MS           5000
#define FT_OUTLIER          4       /* times the target or mean: the maximum */
#define FT_SETTLE_MAX_MS    5000    /* from a move to the next period */
#define FT_FLOOR_PERIODS    8       /* until a floor is tested again, */
#define FT_FLOOR_NEW        3       /* and until a new one is */
#define FT_WINDOW_FIRST     8       /* without a limit or a rate */
#define FT_WINDOW_MAX       1000000

/* shares of 1000 */
#define FT_AIM              900     /* of the target */
#define FT_STEP_DOWN        600     /* limits of a step of the window */
#define FT_STEP_UP          1500
#define FT_STEP_NEAR_DOWN   800     /* between these, half a step */
#define FT_STEP_NEAR_UP     1150
#define FT_TEST             750     /* a step down that is conclusive */
#define FT_FLOOR_SLACK      1600    /* above a floor: too slow */
#define FT_FLOOR_AIM        1250    /* aim above a floor */
#define FT_FLOOR_SAME       800     /* of a floor: still the floor */
#define FT_WORSE            1300    /* not the effect of the window */
#define FT_STORM            100     /* errors that lower the ceiling */
#define FT_STORM_LEAST      300     /* lowest share that stays admitted */
#define FT_STORM_REST       1200    /* rise of the ceiling in a second */


/* A measuring period that is over. */
typedef struct {
    uint64_t          dt_ms;
    uint64_t          answers;
    uint64_t          errors;
    uint64_t          mean_ms;
    bool              turned_away;
} ft_adapt_period_t;


/* The highest rate that is set; 0: none. */
static uint32_t
ft_adapt_most_milli(const ft_adapt_rules_t *rules, const ft_limits_t *limits)
{
    if (rules->max_milli == 0
        || (limits->rate_milli && limits->rate_milli < rules->max_milli))
    {
        return limits->rate_milli;
    }

    return rules->max_milli;
}


static uint64_t
ft_adapt_window_max(const ft_limits_t *limits)
{
    return (uint64_t) (limits->inflight ? limits->inflight : FT_WINDOW_MAX)
           * 1000;
}


/* At first the limit, or what the rate has in flight at the target time. */
static uint64_t
ft_adapt_window(const ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits)
{
    uint64_t  window;

    window = ft_load(&adapt->window_milli);

    if (window == 0) {
        window = (uint64_t) ft_adapt_most_milli(rules, limits)
                 * rules->target_ms / 1000;

        if (limits->inflight) {
            window = ft_adapt_window_max(limits);

        } else if (window == 0) {
            window = FT_WINDOW_FIRST * 1000;
        }
    }

    return ft_clamp(window, 1000, ft_adapt_window_max(limits));
}


void
ft_adapt_limits(const ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    ft_limits_t *limits)
{
    uint32_t  rate, ceiling;

    limits->inflight = (uint32_t) (ft_adapt_window(adapt, rules, limits)
                                   / 1000);

    rate = ft_adapt_most_milli(rules, limits);
    ceiling = ft_load(&adapt->ceiling_milli);

    if (ceiling && (rate == 0 || ceiling < rate)) {
        rate = ceiling;
    }

    ft_config_set_rate(limits, rate);
}


uint32_t
ft_adapt_rate_milli(const ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits)
{
    uint64_t     rate, mean;
    ft_limits_t  now;

    now = *limits;
    ft_adapt_limits(adapt, rules, &now);

    mean = ft_load(&adapt->mean_ms);
    rate = mean ? ft_adapt_window(adapt, rules, limits) * 1000 / mean
                : now.rate_milli;

    if (now.rate_milli && now.rate_milli < rate) {
        rate = now.rate_milli;
    }

    return (uint32_t) ft_clamp(rate, 0, UINT32_MAX);
}


/*
 * With many errors, only the share of good answers is the capacity.  With few
 * errors the ceiling rises, until it is far above the rate and is removed.
 */
static void
ft_adapt_move_ceiling(ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_adapt_period_t *period)
{
    uint64_t  share, rate, good, ceiling;

    share = period->errors * 1000 / (period->answers + period->errors);
    rate = (period->answers + period->errors) * 1000000 / period->dt_ms;
    ceiling = ft_load(&adapt->ceiling_milli);

    ft_store(&adapt->errors_milli, (uint32_t) share);
    ft_store(&adapt->answered_milli, (uint32_t) ft_clamp(rate, 0,
                                                          UINT32_MAX));

    if (share > FT_STORM) {
        good = ft_load(&adapt->good_milli);

        rate = good && good < rate ? good : rate;
        rate = ceiling && ceiling < rate ? ceiling : rate;

        ceiling = ft_clamp(rate * ft_clamp(1000 - share, FT_STORM_LEAST,
                                             1000) / 1000,
                            rules->min_milli, UINT32_MAX);

    } else if (share < FT_STORM / 2) {
        ft_store(&adapt->good_milli, (uint32_t) ft_clamp(rate, 0,
                                                          UINT32_MAX));

        if (ceiling > 2 * rate + 2000) {
            ceiling = 0;

        } else if (ceiling) {
            ceiling += (ceiling * (FT_STORM_REST - 1000) / 1000 + 1000)
                       * ft_clamp(period->dt_ms, 0, 2000) / 1000;
        }
    }

    ft_store(&adapt->ceiling_milli, (uint32_t) ft_clamp(ceiling, 0,
                                                         UINT32_MAX));
}


/*
 * Steps down that lowered the time by less than two thirds of what they should
 * have lowered a queue at the upstream: there was no queue, and the upstream
 * itself takes that long (*is_floor).  True: the steps were large enough to tell.
 * An error in this direction costs time; the other one would cost sales.
 */
static bool
ft_adapt_tested(const ft_adapt_t *adapt, uint64_t window, uint64_t mean,
    bool *is_floor)
{
    uint64_t  tried, before;

    tried = ft_load(&adapt->tried_milli);
    before = ft_load(&adapt->tried_ms);

    *is_floor = mean * 3 * tried >= before * (tried + 2 * window);

    return tried && window * 1000 <= tried * FT_TEST;
}


static void
ft_adapt_try(ft_adapt_t *adapt, uint64_t window, uint64_t mean)
{
    ft_store(&adapt->tried_milli, (uint32_t) window);
    ft_store(&adapt->tried_ms, (uint32_t) mean);
}


/*
 * The window at which answers take aim_ms, if requests wait at the upstream.  A
 * small difference may be chance: half a step.
 */
static uint64_t
ft_adapt_step(uint64_t window, uint64_t aim_ms, uint64_t mean_ms)
{
    uint64_t  step;

    step = ft_clamp(aim_ms * 1000 / mean_ms, FT_STEP_DOWN, FT_STEP_UP);

    if (step > FT_STEP_NEAR_DOWN && step < FT_STEP_NEAR_UP) {
        step = (1000 + step) / 2;
    }

    return window * step / 1000;
}


/* Answers take too long: a smaller window, as long as that helps. */
static uint64_t
ft_adapt_lower(ft_adapt_t *adapt, uint64_t window, uint64_t next,
    uint64_t mean, uint64_t *floor)
{
    bool      is_floor;
    uint64_t  tried, before;

    tried = ft_load(&adapt->tried_milli);
    before = ft_load(&adapt->tried_ms);

    if (before == 0) {

        /* the time is rising: the effect of this step is not known yet */

        ft_adapt_try(adapt, 0, mean);
        return next;
    }

    if (mean * 1000 > before * FT_WORSE) {

        /* the upstream has become slower: first measure how slow */

        ft_adapt_try(adapt, 0, mean);
        return window;
    }

    if (!ft_adapt_tested(adapt, window, mean, &is_floor)) {

        if (tried == 0) {
            ft_adapt_try(adapt, window, mean);
        }

        return next;
    }

    if (is_floor) {
        ft_adapt_try(adapt, 0, 0);
        ft_store(&adapt->floor_age, FT_FLOOR_PERIODS - FT_FLOOR_NEW);
        *floor = mean;
        return tried;
    }

    ft_adapt_try(adapt, window, mean);

    return next;
}


/* Without a request turned away, a larger window would change nothing. */
static uint64_t
ft_adapt_raise(ft_adapt_t *adapt, uint64_t window, uint64_t next,
    uint64_t mean, uint64_t *floor, const ft_adapt_period_t *period)
{
    uint64_t  tried;

    tried = ft_load(&adapt->tried_milli);

    if (*floor && tried) {

        /* tested again: the same time, or it was not a floor */

        ft_adapt_try(adapt, 0, 0);

        if (mean * 1000 >= *floor * FT_FLOOR_SAME) {
            return tried;
        }

        *floor = 0;
        return window;
    }

    if (*floor && ft_add(&adapt->floor_age, 1) >= FT_FLOOR_PERIODS) {
        ft_store(&adapt->floor_age, 0);
        ft_adapt_try(adapt, window, mean);
        return window * FT_STEP_DOWN / 1000;
    }

    if (*floor == 0) {
        ft_adapt_try(adapt, 0, 0);
    }

    if (next > window
        && (!period->turned_away || ft_load(&adapt->ceiling_milli)))
    {
        return window;
    }

    return next;
}


static void
ft_adapt_move_window(ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, const ft_adapt_period_t *period)
{
    uint64_t  window, next, mean, floor, aim, target, least;

    mean = period->mean_ms ? period->mean_ms : 1;
    window = ft_adapt_window(adapt, rules, limits);
    floor = ft_load(&adapt->floor_ms);

    if (mean <= rules->target_ms) {
        floor = 0;

    } else if (floor > mean) {
        floor = (3 * floor + mean) / 4;
    }

    target = floor * FT_FLOOR_SLACK / 1000;
    aim = floor * FT_FLOOR_AIM / 1000;

    if (target < rules->target_ms) {
        target = rules->target_ms;
    }

    if (aim < (uint64_t) rules->target_ms * FT_AIM / 1000) {
        aim = (uint64_t) rules->target_ms * FT_AIM / 1000;
    }

    next = ft_adapt_step(window, aim, mean);

    next = mean > target
           ? ft_adapt_lower(adapt, window, next, mean, &floor)
           : ft_adapt_raise(adapt, window, next, mean, &floor, period);

    /* in flight at the lowest rate, by Little's law */

    least = (uint64_t) rules->min_milli * mean / 1000;

    if (next < least) {
        next = least;
    }

    next = ft_clamp(next, 1000, ft_adapt_window_max(limits));

    ft_store(&adapt->floor_ms, (uint32_t) floor);
    ft_store(&adapt->window_milli, (uint32_t) next);

    /* answers to requests before the move do not show its effect */

    if (next != window) {
        ft_add(&adapt->began_ms, ft_clamp(mean, 0, FT_SETTLE_MAX_MS));
    }
}


/* Between a move and the next period. */
static bool
ft_adapt_settles(const ft_adapt_t *adapt, uint64_t now_ms)
{
    uint64_t  began;

    began = ft_load(&adapt->began_ms);

    return now_ms < began && began <= now_ms + FT_SETTLE_MAX_MS;
}


/* One worker ends a period that is over. */
static bool
ft_adapt_ends(ft_adapt_t *adapt, uint64_t now_ms, ft_adapt_period_t *period)
{
    uint64_t  began, n, least;

    began = ft_load(&adapt->began_ms);

    if (began == 0 || began > now_ms + FT_SETTLE_MAX_MS) {

        /* the first answer, or a clock that was set back */

        (void) atomic_compare_exchange_strong(&adapt->began_ms, &began, now_ms);
        return false;
    }

    period->dt_ms = now_ms - began;

    least = ft_load(&adapt->mean_ms);
    least = ft_clamp(least, FT_PERIOD_MIN_MS, FT_FEW_MS);

    if (period->dt_ms < least) {
        return false;
    }

    n = ft_load(&adapt->answers) + ft_load(&adapt->errors);

    if (n < FT_ANSWERS && period->dt_ms < FT_FEW_MS) {
        return false;
    }

    if (n < FT_ANSWERS_FEW && period->dt_ms < FT_PERIOD_MAX_MS) {
        return false;
    }

    return atomic_compare_exchange_strong(&adapt->began_ms, &began, now_ms);
}


static void
ft_adapt_move(ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_adapt_period_t *period)
{
    uint64_t  took;

    took = ft_exchange_zero(&adapt->took_ms);
    period->answers = ft_exchange_zero(&adapt->answers);
    period->errors = ft_exchange_zero(&adapt->errors);
    period->turned_away = ft_exchange_zero(&adapt->turned_away) != 0;

    if (period->answers + period->errors < FT_ANSWERS_FEW
        || period->dt_ms > 2 * FT_PERIOD_MAX_MS)
    {
        /* too few, or too old */

        return;
    }

    ft_adapt_move_ceiling(adapt, rules, period);

    if (period->answers < FT_ANSWERS_FEW) {
        return;
    }

    period->mean_ms = took / period->answers;
    ft_store(&adapt->mean_ms, (uint32_t) (period->mean_ms ? period->mean_ms
                                                          : 1));
    ft_adapt_move_window(adapt, rules, limits, period);
}


void
ft_adapt_answer(ft_adapt_t *adapt, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_answer_kind_t kind, uint32_t took_ms,
    uint64_t now_ms)
{
    uint64_t     most;
    ft_adapt_period_t  period;

    if (kind == FT_ANSWER_REFUSAL
        || (kind == FT_ANSWER_LOST && took_ms < rules->target_ms)
        || ft_adapt_settles(adapt, now_ms))
    {
        return;
    }

    if (kind == FT_ANSWER_ERROR) {
        ft_add(&adapt->errors, 1);

    } else {
        most = ft_load(&adapt->mean_ms);
        most = FT_OUTLIER * (most > rules->target_ms ? most
                                                     : rules->target_ms);

        ft_add(&adapt->took_ms, took_ms < most ? took_ms : most);
        ft_add(&adapt->answers, 1);
    }

    if (ft_adapt_ends(adapt, now_ms, &period)) {
        ft_adapt_move(adapt, rules, limits, &period);
    }
}
