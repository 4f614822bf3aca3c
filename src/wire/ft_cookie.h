
/*
 * Finds a cookie in the text of a Cookie header, in any position (RFC 6265,
 * section 4.2.1, read leniently: spaces, empty pairs, quotes around the value).
 * Cookie names are case-sensitive.
 */

#ifndef FT_COOKIE_H_INCLUDED
#define FT_COOKIE_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)


/* A part of a text, not terminated. */
typedef struct {
    const char  *data;
    size_t       len;
} ft_cookie_text_t;


/*
 * The value of the next cookie of this name, without quotes.  `rest` is the text
 * of the header at first, and what is left of it afterwards.  False: none.
 */
bool ft_cookie_next(ft_cookie_text_t *rest, const char *name, size_t name_len,
    ft_cookie_text_t *value);

#pragma GCC visibility pop


#endif /* FT_COOKIE_H_INCLUDED */
