
/*
 * Whether a client asks for JSON rather than HTML, by its Accept headers
 * (RFC 9110, section 12.5.1): the greater weight wins, then the one that is
 * named more exactly, then HTML.
 */

#ifndef FT_ACCEPT_H_INCLUDED
#define FT_ACCEPT_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* How well a type is liked; zeroed: not at all. */
typedef struct {
    uint32_t        exact;          /* 3: named, 2: its kind, 1: anything */
    uint32_t        milli;          /* its weight x 1000 */
} ft_liking_t;

/* Zeroed before the first header. */
typedef struct {
    ft_liking_t     json;
    ft_liking_t     html;
} ft_accept_t;


/* One of the ranges that a header lists. */
typedef struct {
    const char     *type;           /* without its parameters */
    size_t          len;
    uint32_t        milli;          /* its weight x 1000 */
} ft_range_t;


/* The next range of a header's text, which moves on; false: no more. */
bool ft_accept_next(const char **text, const char *end, ft_range_t *range);

/* Whether it is this type, in lower case. */
bool ft_accept_is(const ft_range_t *range, const char *type);

/* Reads the text of one Accept header, in addition to those read before. */
void ft_accept_read(ft_accept_t *accept, const char *text, size_t len);

bool ft_accept_json(const ft_accept_t *accept);

#pragma GCC visibility pop


#endif /* FT_ACCEPT_H_INCLUDED */
