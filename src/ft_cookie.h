
/*
 * Finds a cookie in the text of a Cookie header, wherever it stands (RFC 6265,
 * section 4.2.1, read leniently: any spaces, empty pairs, quotes around the
 * value).  Names are compared exactly: cookie names are case-sensitive.
 */

#ifndef FT_COOKIE_H_INCLUDED
#define FT_COOKIE_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)


/* A part of somebody else's text, not terminated. */
typedef struct {
    const char  *data;
    size_t       len;
} ft_text_t;


/*
 * The next cookie of that name, its value without the quotes.  `rest` is the
 * header's text at first, and what is left to search afterwards.  False: there
 * is none.
 */
bool ft_cookie_next(ft_text_t *rest, const char *name, size_t name_len,
    ft_text_t *value);

#pragma GCC visibility pop


#endif /* FT_COOKIE_H_INCLUDED */
