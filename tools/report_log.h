
/*
 * A line of the access log that docs/log.md describes.
 */

#ifndef FT_REPORT_LOG_H_INCLUDED
#define FT_REPORT_LOG_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


typedef enum {
    FT_LOG_NONE,
    FT_LOG_OTHER,           /* one that is not known here */
    FT_LOG_QUEUED,
    FT_LOG_ADMITTED,
    FT_LOG_REJECTED,
    FT_LOG_PASSED,
    FT_LOG_BYPASSED,
    FT_LOG_SOLD_OUT,
    FT_LOG_CLOSED,
    FT_LOG_STATUSES
} ft_log_status_t;


typedef struct {
    ft_log_status_t    status;
    bool               dry_run;
    uint64_t           id;          /* a hash of it; 0: none */
    int64_t            first_us;    /* epoch; -1: none */
    int64_t            waited_us;   /* -1: none */
} ft_log_line_t;


typedef enum {
    FT_LOG_FOREIGN,         /* no status: not of a request that the throttle saw */
    FT_LOG_WHOLE,
    FT_LOG_TORN             /* the beginning of one line, and another one */
} ft_log_kind_t;


/* Reads a line, with or without its end. */
ft_log_kind_t ft_log_read(ft_log_line_t *line, const char *text, size_t len);


#endif /* FT_REPORT_LOG_H_INCLUDED */
