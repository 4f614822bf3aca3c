
/*
 * What an answer of the edge or of the checkout means to a shopper.
 */

#ifndef FT_CROWD_ANSWER_H_INCLUDED
#define FT_CROWD_ANSWER_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include "crowd_http.h"


typedef enum {
    FT_TOLD_WAIT = 0,       /* come back in retry_ms */
    FT_TOLD_ADMITTED,       /* a poll's: go */
    FT_TOLD_SERVED,         /* the order, or the page that was asked for */
    FT_TOLD_DECLINED,
    FT_TOLD_SOLD_OUT,
    FT_TOLD_TOO_LATE,
    FT_TOLD_NOTHING         /* no answer, or none that makes sense */
} ft_told_t;


typedef struct {
    ft_told_t   told;
    int64_t     retry_ms;
    bool        coarse;                 /* whole seconds, the same for all */
    int64_t     first_attempt_ms;       /* epoch; 0: not said */
} ft_answer_word_t;


/* Reads an answer that has arrived; poll: with Flash-Throttle-Poll: 1. */
ft_answer_word_t ft_answer_read(const ft_request_t *request, bool poll);


#endif /* FT_CROWD_ANSWER_H_INCLUDED */
