
/*
 * All that is known of one key: plain words in shared memory, no pointer, each
 * touched atomically only.  A worker that dies between two of them leaves at
 * most a count that is off by one until it falls due.
 */

#ifndef FT_STATE_H_INCLUDED
#define FT_STATE_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>
#include "ft_adapt.h"
#include "ft_bucket.h"
#include "ft_census.h"
#include "ft_history.h"
#include "ft_mark.h"
#include "ft_news.h"
#include "ft_sessions.h"

#pragma GCC visibility push(hidden)


#define FT_WORKERS  256         /* slots for worker processes */
#define FT_SEEN     2048        /* recently used tickets, a power of two */
#define FT_AHEAD    160         /* times ahead, see ft_foresee.c */


/* What one worker has in hand; cleared when its process is gone. */
typedef struct {
    _Atomic uint64_t  head_us;      /* earliest stamp it holds */
    _Atomic uint64_t  beat_ms;      /* head_us holds good for a moment after */
    _Atomic uint32_t  held;
    _Atomic uint32_t  inflight;
} ft_hand_t;


/* Totals since the state was made. */
typedef struct {
    _Atomic uint64_t  first_attempts;
    _Atomic uint64_t  polls;        /* requests that brought a ticket */
    _Atomic uint64_t  admitted;
    _Atomic uint64_t  queued;       /* answered "wait" */
    _Atomic uint64_t  closed;       /* answered before the opening */
    _Atomic uint64_t  held;
    _Atomic uint64_t  turned_back;  /* called, but neither room nor hold */
    _Atomic uint64_t  rejected;
    _Atomic uint64_t  sold_out;     /* told that everything is sold */
    _Atomic uint64_t  passed;       /* came with a valid pass */
    _Atomic uint64_t  done;         /* ended at the upstream */
    _Atomic uint64_t  errors;       /* of these, answered 5xx by it */
    _Atomic uint64_t  left;         /* gone while held */
    _Atomic uint64_t  missed;       /* called and did not come */
    _Atomic uint64_t  vanished;     /* fell out before they were called */
    _Atomic uint64_t  over;         /* passes over before their end */
    _Atomic uint64_t  waited_ms;    /* sum over the admitted */
} ft_totals_t;


/* The controller's own words, written once a tick by whoever wins it. */
typedef struct {
    _Atomic uint64_t  ticked_ms;
    _Atomic uint64_t  rebuilt_ms;   /* a cold start listens until then */
    _Atomic uint64_t  boost_milli;
    _Atomic uint32_t  turned_back;  /* since the last tick */
    _Atomic uint32_t  came;         /* called and came, since the last tick */
    _Atomic uint32_t  left;         /* gone while held, since the last tick */
    _Atomic uint64_t  came_milli;   /* these a second, averaged */
    _Atomic uint64_t  missed_milli;
    _Atomic uint64_t  stayed_milli; /* held and admitted */
    _Atomic uint64_t  left_milli;
    _Atomic uint64_t  flow_milli;   /* admissions a second while they queue */
    _Atomic uint64_t  drain_milli;  /* places a second by which the line moves */
    _Atomic uint64_t  pace_milli;   /* the most of that in the last minute */
    _Atomic uint64_t  admitted;     /* totals.admitted at the last tick */
    _Atomic uint64_t  speed_ppm;    /* of the threshold, stamp us a second */
    _Atomic uint32_t  ended;        /* passes over, since the last tick */
    _Atomic uint64_t  ended_milli;  /* these a second, averaged */
    _Atomic uint64_t  ending_milli; /* passes that end a second, in the hold */
    _Atomic uint32_t  ending[FT_AHEAD];     /* and in these times ahead */
    _Atomic uint32_t  passed;       /* proportional controller: this period */
    _Atomic uint64_t  period_ms;    /* when that period began */
} ft_control_t;


/* The opening that the line was laid out for, see ft_opening.h. */
typedef struct {
    _Atomic uint64_t  opens_ms;     /* epoch; 0: none */
    _Atomic uint64_t  opened_ms;    /* by hand, at that time; 0: it was not */
    _Atomic uint64_t  gathered_ms;  /* all are back after it */
    _Atomic uint64_t  open_beat_ms;     /* last asked where it is open, */
    _Atomic uint64_t  closed_beat_ms;   /* and where the line waits for it */
    _Atomic uint32_t  turn;         /* how often it was laid out */
} ft_opening_t;


/* What an operator or the upstream has ordered, see ft_orders.h; 0: nothing. */
typedef struct {
    _Atomic uint32_t  door;         /* FT_ORDER_... */
    _Atomic uint32_t  rate_milli;   /* in place of the zone's */
    _Atomic uint32_t  rate_said_milli;      /* the upstream's */
    _Atomic uint64_t  opens_ms;     /* opened then, epoch */
} ft_orders_t;


typedef struct {
    _Atomic uint32_t  epoch;        /* random: names this life of the state */
    _Atomic uint32_t  queueing;     /* somebody waits */
    _Atomic uint64_t  born_ms;
    _Atomic uint64_t  used_ms;
    ft_bucket_t       bucket;
    ft_orders_t       orders;
    ft_control_t      control;
    ft_opening_t      opening;
    ft_totals_t       totals;
    _Atomic uint32_t  expected[FT_DUES];    /* admitted polls under way */
    _Atomic uint32_t  arrived;      /* of them, so far */
    _Atomic uint32_t  seen[FT_SEEN];
    ft_marks_t        marks;
    ft_sessions_t     sessions;
    ft_adapt_t        adapt;
    ft_hand_t         hand[FT_WORKERS];
    ft_census_t       census;
    ft_waits_t        waits;        /* of the admitted */
    ft_news_t         news;
    ft_history_t      history;
} ft_state_t;


/* A moment's figures, for people and monitors. */
typedef struct {
    uint32_t          queueing;
    uint32_t          waiting;      /* all who wait: beyond, called, held */
    uint32_t          called;
    uint32_t          held;
    uint32_t          fresh;        /* first attempts not back yet */
    uint32_t          inflight;
    uint32_t          sessions;     /* passes alive */
    uint64_t          threshold_ms; /* epoch */
    uint64_t          threshold_age_ms;     /* now - threshold while queueing */
    uint64_t          wait_ms;      /* a newcomer's estimate */
    uint64_t          room_milli;
    uint64_t          flow_milli;
    uint32_t          show_up_milli;
    uint32_t          hold;         /* orders, see ft_orders.h */
    uint32_t          sold_out;
    uint32_t          rate_milli;   /* in force; 0: none */
    uint32_t          rate_ordered_milli;   /* the operator's, 0: none */
    uint32_t          rate_said_milli;      /* the upstream's */
    uint64_t          opens_ms;     /* epoch; 0: it is open */
    uint64_t          opened_ms;    /* epoch; 0: not by order */

    /* where what is let in adapts, see ft_adapt.h; 0 elsewhere */
    uint32_t          adapt_inflight;
    uint32_t          adapt_rate_milli;
    uint32_t          answer_ms;
    uint32_t          answers_milli;
    uint32_t          answer_errors_milli;
} ft_snapshot_t;


/* Makes a zeroed or used state new.  epoch: random, not 0. */
void ft_state_init(ft_state_t *state, uint32_t epoch, uint64_t now_ms);

/* Forgets what a worker that is gone had in hand. */
void ft_state_forget(ft_state_t *state, uint32_t worker);

/* Sums over the workers' hands; workers: slots in use. */
uint32_t ft_state_held(const ft_state_t *state, uint32_t workers);
uint32_t ft_state_inflight(const ft_state_t *state, uint32_t workers);

#pragma GCC visibility pop


#endif /* FT_STATE_H_INCLUDED */
