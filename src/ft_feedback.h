
/*
 * The upstream's word: the response header Flash-Throttle, a dictionary (RFC
 * 9651) of `sold-out`, `open`, `done` and `rate=N`.  Other members are ignored,
 * so that there may be more one day.
 */

#ifndef FT_FEEDBACK_H_INCLUDED
#define FT_FEEDBACK_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


typedef struct {
    bool              sold_out;     /* nobody need wait */
    bool              open;         /* takes it back */
    bool              done;         /* the pass of this request is over */
    uint32_t          rate_milli;   /* admissions a second x 1000; 0: not said */

    /* what was ignored, 0 bytes: nothing; mostly points into the text */
    const char       *fault;
    size_t            fault_len;
} ft_feedback_t;


/*
 * Reads the header's text, several lines of it joined by ", ".  False: it is no
 * dictionary, and says nothing; fault is then where it goes wrong.
 *
 * A member of the wrong kind is ignored, as is a rate that is not from 0.001 to
 * FT_ORDER_RATE_MAX / 1000, and so are `sold-out` and `open` together; fault is
 * the last of these.
 */
bool ft_feedback_read(ft_feedback_t *feedback, const char *text, size_t len);

#pragma GCC visibility pop


#endif /* FT_FEEDBACK_H_INCLUDED */
