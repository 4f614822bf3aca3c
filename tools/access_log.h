
/*
 * Parser of the access log's key=value pairs, as docs/log.md describes them.
 */

#ifndef ACCESS_LOG_H_INCLUDED
#define ACCESS_LOG_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


typedef enum {
    ACCESS_LOG_NONE,
    ACCESS_LOG_OTHER,           /* an unknown status */
    ACCESS_LOG_QUEUED,
    ACCESS_LOG_ADMITTED,
    ACCESS_LOG_REJECTED,
    ACCESS_LOG_PASSED,
    ACCESS_LOG_BYPASSED,
    ACCESS_LOG_SOLD_OUT,
    ACCESS_LOG_CLOSED,
    ACCESS_LOG_STATUSES
} access_log_status_t;


typedef struct {
    const char            *data;
    size_t                 len;
} access_log_text_t;


typedef struct {
    access_log_status_t    status;
    bool                   dry_run;
    access_log_text_t      id;          /* len 0: none */
    uint64_t               id_hash;     /* 0: none */
    access_log_text_t      time;        /* len 0: none */
    int64_t                first_us;    /* Unix time; -1: none */
    int64_t                waited_us;   /* -1: none */
} access_log_line_t;


typedef enum {
    ACCESS_LOG_UNRELATED,       /* no status */
    ACCESS_LOG_COMPLETE,
    ACCESS_LOG_TORN             /* a truncated line and another after it */
} access_log_result_t;


/* Parses a line, with or without its line end.  line points into text. */
access_log_result_t access_log_parse(access_log_line_t *line, const char *text,
    size_t len);

/* Seconds with a fraction, as $msec, in us; -1: invalid. */
int64_t access_log_time_us(access_log_text_t value);


#endif /* ACCESS_LOG_H_INCLUDED */
