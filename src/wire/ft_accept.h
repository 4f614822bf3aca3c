
/*
 * Whether a client prefers JSON to HTML, by its Accept headers (RFC 9110, section
 * 12.5.1): the greater weight wins, then the more specific range, then HTML.
 */

#ifndef FT_ACCEPT_H_INCLUDED
#define FT_ACCEPT_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* The preference for a type; 0: not accepted. */
typedef struct {
    uint32_t        exact;          /* 3: the type, 2: a type of any subtype, 1: any */
    uint32_t        milli;          /* weight x 1000 */
} ft_accept_weight_t;

/* Zeroed before the first header. */
typedef struct {
    ft_accept_weight_t     json;
    ft_accept_weight_t     html;
} ft_accept_t;


/* A media range of a header. */
typedef struct {
    const char     *type;           /* without its parameters */
    size_t          len;
    uint32_t        milli;          /* weight x 1000 */
} ft_accept_range_t;


/* The next range; *text advances.  False: there are no more. */
bool ft_accept_next(const char **text, const char *end, ft_accept_range_t *range);

/* Whether the range is this type; type in lower case. */
bool ft_accept_is(const ft_accept_range_t *range, const char *type);

/* Reads one Accept header, in addition to those before. */
void ft_accept_read(ft_accept_t *accept, const char *text, size_t len);

/* Whether JSON is preferred. */
bool ft_accept_json(const ft_accept_t *accept);

#pragma GCC visibility pop


#endif /* FT_ACCEPT_H_INCLUDED */
