
/*
 * Feedback from the upstream: the response header Flash-Throttle, a dictionary
 * (RFC 9651) of `sold-out`, `resume`, `done` and `rate=N`.  Other members are
 * ignored.
 */

#ifndef FT_FEEDBACK_H_INCLUDED
#define FT_FEEDBACK_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* The largest rate that can be set at run time, admissions a second x 1000. */
#define FT_RATE_MAX_MILLI  UINT32_C(1000000000)


typedef struct {
    bool              sold_out;
    bool              resume;       /* withdraws sold_out */
    bool              done;         /* the pass of this request is done */
    uint32_t          rate_milli;   /* admissions a second x 1000; 0: not given */

    /* the part that was ignored, of 0 bytes if none; mostly points into the text */
    const char       *fault;
    size_t            fault_len;
} ft_feedback_t;


/*
 * Reads the text of the header; several lines are joined by ", ".  False: it is
 * not a dictionary, and nothing of it counts; fault is where it goes wrong.
 *
 * A member of the wrong type is ignored, as are a rate outside 0.001 ..
 * FT_RATE_MAX_MILLI / 1000, and `sold-out` with `resume`; fault is the last one.
 */
bool ft_feedback_read(ft_feedback_t *feedback, const char *text, size_t len);

#pragma GCC visibility pop


#endif /* FT_FEEDBACK_H_INCLUDED */
