
#include "ft.h"
#include "ft_sessions.h"


/*
 * A row is one word: in the upper half the time that it stands for, in widths of
 * the wheel, in the lower half the number of passes.
 */

#define FT_SESSION_SLACK_MS  10000  /* clocks of workers and edges differ */


/* A row is 2^shift ms wide; the wheels turn in 2 min, 17 min, 2 h and 37 h. */
static const uint32_t  ft_session_shift[FT_SESSION_WHEELS] = { 8, 11, 14, 18 };


/* The finest wheel whose turn is longer than the session. */
static uint32_t
ft_session_wheel(uint32_t session_ms)
{
    uint32_t  i;

    for (i = 0; i < FT_SESSION_WHEELS - 1; i++) {

        if ((uint64_t) session_ms + FT_SESSION_SLACK_MS
            < (uint64_t) (FT_SESSION_ROWS - 1) << ft_session_shift[i])
        {
            break;
        }
    }

    return i;
}


void
ft_sessions_add(ft_sessions_t *sessions, uint64_t end_ms, uint32_t session_ms)
{
    uint32_t           i;
    uint64_t           time, word, latest;
    _Atomic uint64_t  *row;

    i = ft_session_wheel(session_ms);
    time = end_ms >> ft_session_shift[i];
    row = &sessions->row[i][time % FT_SESSION_ROWS];

    /* before the row: a sum stops at this time */

    latest = ft_load(&sessions->until_ms[i]);

    while (latest < end_ms
           && !atomic_compare_exchange_weak(&sessions->until_ms[i], &latest,
                                            end_ms))
    {
        /* void */
    }

    word = ft_load(row);

    while (!atomic_compare_exchange_weak(row, &word,
                                         (word >> 32 == (uint32_t) time
                                          ? word : time << 32) + 1))
    {
        /* void */
    }
}


bool
ft_sessions_remove(ft_sessions_t *sessions, uint64_t end_ms,
    uint32_t session_ms, uint64_t now_ms)
{
    uint32_t           i;
    uint64_t           time, word;
    _Atomic uint64_t  *row;

    i = ft_session_wheel(session_ms);
    time = end_ms >> ft_session_shift[i];

    if (time < now_ms >> ft_session_shift[i]) {
        return false;
    }

    row = &sessions->row[i][time % FT_SESSION_ROWS];
    word = ft_load(row);

    while (word >> 32 == (uint32_t) time && (uint32_t) word) {
        if (atomic_compare_exchange_weak(row, &word, word - 1)) {
            return true;
        }
    }

    return false;
}


/* The passes of a wheel's rows from .. to, in widths of the wheel. */
static uint32_t
ft_sessions_sum(const ft_sessions_t *sessions, uint32_t i, uint64_t from,
    uint64_t to)
{
    uint32_t  n;
    uint64_t  time, word, latest;

    n = 0;
    latest = atomic_load(&sessions->until_ms[i]) >> ft_session_shift[i];

    if (to > latest) {
        to = latest;
    }

    /* at most one turn, whatever the clock does */

    if (to >= from + FT_SESSION_ROWS) {
        to = from + FT_SESSION_ROWS - 1;
    }

    for (time = from; time <= to; time++) {
        word = atomic_load(&sessions->row[i][time % FT_SESSION_ROWS]);

        if (word >> 32 == (uint32_t) time) {
            n += (uint32_t) word;
        }
    }

    return n;
}


uint32_t
ft_sessions_alive(const ft_sessions_t *sessions, uint64_t now_ms)
{
    uint32_t  i, n;

    n = 0;

    for (i = 0; i < FT_SESSION_WHEELS; i++) {
        n += ft_sessions_sum(sessions, i, now_ms >> ft_session_shift[i],
                             UINT64_MAX);
    }

    return n;
}


uint32_t
ft_sessions_ending(const ft_sessions_t *sessions, uint64_t from_ms,
    uint64_t until_ms)
{
    uint32_t  i, n;
    uint64_t  until;

    n = 0;

    for (i = 0; i < FT_SESSION_WHEELS; i++) {

        /* a row ends when the next one begins */

        until = until_ms >> ft_session_shift[i];

        if (until > from_ms >> ft_session_shift[i]) {
            n += ft_sessions_sum(sessions, i, from_ms >> ft_session_shift[i],
                                 until - 1);
        }
    }

    return n;
}
