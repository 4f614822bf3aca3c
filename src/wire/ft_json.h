
/*
 * One flat JSON object (RFC 8259) of strings and booleans.  Schema-driven; errors
 * report the byte offset.
 *
 * Strings are bytes, as the keys of a zone are: byte N is the character U+00NN,
 * as the stats write it.
 */

#ifndef FT_JSON_H_INCLUDED
#define FT_JSON_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


typedef struct {
    const char       *name;
    char             *value;        /* a buffer for a string; NULL: a boolean */
    size_t            size;         /* of the buffer */
    size_t            len;          /* of the string, not terminated */
    bool              yes;          /* the boolean */
    bool              given;        /* the object has this field */
} ft_json_field_t;


/* NULL: the fields are filled in; otherwise the error, and *at is its offset. */
const char *ft_json_read(const char *text, size_t len, ft_json_field_t *fields,
    size_t n, size_t *at);

#pragma GCC visibility pop


#endif /* FT_JSON_H_INCLUDED */
