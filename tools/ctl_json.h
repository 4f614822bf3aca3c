
/*
 * JSON as flash_throttle writes it.  Each byte of a zone's or key's name is the
 * character of that number, U+0000 to U+00FF.
 */

#ifndef CTL_JSON_H_INCLUDED
#define CTL_JSON_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>


/* Keeps products of two values within 64 bits. */
#define CTL_JSON_INTEGER_MAX  INT64_C(9000000000000)


/* A string of these bytes; NULL: no memory. */
json_t *ctl_json_string(const char *bytes);

/* NULL: invalid JSON.  U+0000 in names is read as U+2400. */
json_t *ctl_json_load(char *text);

/* The text of a value that ctl_json_load() read; NULL: no memory. */
char *ctl_json_dump(const json_t *json);

/* A member, from 0 to CTL_JSON_INTEGER_MAX; 0 if there is none. */
int64_t ctl_json_integer(const json_t *object, const char *name);

/* Whether a member is true. */
bool ctl_json_flag(const json_t *object, const char *name);


#endif /* CTL_JSON_H_INCLUDED */
