
/*
 * Events of a key's line for the operator's log: queueing started, continues
 * (once a minute), ended.  A line that is back within FT_QUEUELOG_QUIET_MS has
 * not ended.
 */

#ifndef FT_QUEUELOG_H_INCLUDED
#define FT_QUEUELOG_H_INCLUDED


#include <stdbool.h>
#include "ft_totals.h"

#pragma GCC visibility push(hidden)


#define FT_QUEUELOG_INTERVAL_MS  60000
#define FT_QUEUELOG_QUIET_MS     5000


typedef enum {
    FT_QUEUELOG_NONE = 0,
    FT_QUEUELOG_STARTED,
    FT_QUEUELOG_CONTINUES,
    FT_QUEUELOG_ENDED
} ft_queuelog_kind_t;


typedef struct {
    _Atomic uint32_t  pending;      /* ft_queuelog_kind_t, not taken yet */
    _Atomic uint32_t  open;         /* a line exists */
    _Atomic uint64_t  since_ms;
    _Atomic uint64_t  reported_ms;  /* the last event */
    _Atomic uint64_t  last_ms;      /* somebody waited */
    _Atomic uint32_t  max_waiting;
    _Atomic uint64_t  max_waited_ms;

    /* totals when the line began */
    _Atomic uint64_t  admitted;
    _Atomic uint64_t  rejected;
    _Atomic uint64_t  gone;
    _Atomic uint64_t  waited_ms;
} ft_queuelog_t;


/* One line, from its first waiting shopper until nobody waits. */
typedef struct {
    ft_queuelog_kind_t  kind;
    uint64_t            lasted_ms;
    uint64_t            admitted;
    uint64_t            rejected;
    uint64_t            gone;
    uint64_t            waited_ms;      /* sum over the admitted */
    uint64_t            max_waited_ms;
    uint32_t            max_waiting;    /* at the same time */
} ft_queuelog_report_t;


/* A line begins. */
void ft_queuelog_begin(ft_queuelog_t *log, const ft_totals_t *totals,
    uint64_t now_ms);

/* Once a tick. */
void ft_queuelog_record(ft_queuelog_t *log, bool queueing, uint32_t waiting,
    uint64_t now_ms);

/* A shopper was admitted after a wait. */
void ft_queuelog_waited(ft_queuelog_t *log, uint64_t waited_ms);

/* Takes the pending event: one caller gets it, others FT_QUEUELOG_NONE. */
ft_queuelog_report_t ft_queuelog_take(ft_queuelog_t *log,
    const ft_totals_t *totals);

/* Whether a line exists, or its last event has not been taken. */
bool ft_queuelog_is_open(const ft_queuelog_t *log);

#pragma GCC visibility pop


#endif /* FT_QUEUELOG_H_INCLUDED */
