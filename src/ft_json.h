
/*
 * One flat JSON object (RFC 8259) of strings and booleans, strictly: what it may
 * hold is told beforehand, and anything else is refused with the place of it.
 *
 * Strings are bytes, as keys of a zone are: each byte is the character of that
 * number (U+0000 to U+00FF), as the status writes them.
 */

#ifndef FT_JSON_H_INCLUDED
#define FT_JSON_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


typedef struct {
    const char       *name;
    char             *value;        /* room for a string; NULL: a boolean */
    size_t            room;
    size_t            len;          /* of the string, no zero behind it */
    bool              yes;          /* the boolean */
    bool              given;        /* set for those that the object has */
} ft_json_field_t;


/*
 * Reads the whole text into the fields.  NULL: done; otherwise what is wrong,
 * from byte *at of it, counted from 0, and the fields are of no use.
 */
const char *ft_json_read(const char *text, size_t len, ft_json_field_t *fields,
    size_t n, size_t *at);

#pragma GCC visibility pop


#endif /* FT_JSON_H_INCLUDED */
