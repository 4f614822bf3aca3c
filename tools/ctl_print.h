
/*
 * The state of a key as text, within 80 columns.
 */

#ifndef CTL_PRINT_H_INCLUDED
#define CTL_PRINT_H_INCLUDED


#include <stdint.h>
#include <stdio.h>

#include <jansson.h>


/* Per second x 1000, over the last sampling interval. */
typedef struct {
    int64_t      first_attempts_milli;
    int64_t      admitted_milli;
} ctl_print_rates_t;


/* Prints a key.  rates may be NULL; eol ends each line. */
void ctl_print_key(FILE *out, const char *zone, const json_t *limits,
    const char *key, const json_t *state, const ctl_print_rates_t *rates,
    const char *eol);

/* Before the opening: prints ", opens " and the local time. */
void ctl_print_opens(FILE *out, const json_t *state);

/* Prints untrusted text; "?" replaces all bytes except printable ASCII. */
void ctl_print_text(FILE *out, const char *text);


#endif /* CTL_PRINT_H_INCLUDED */
