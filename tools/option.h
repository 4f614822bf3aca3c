
/*
 * Numbers and URLs on a command line.  A bad value ends the program through
 * argp_error().
 */

#ifndef OPTION_H_INCLUDED
#define OPTION_H_INCLUDED


#include <stdint.h>

#include <argp.h>


/* A number from min to max; name is the option without dashes. */
double option_number(struct argp_state *state, const char *name,
    const char *text, double min, double max);

/* A decimal integer from min to max. */
uint64_t option_integer(struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max);

/* An http or https URL. */
const char *option_url(struct argp_state *state, const char *name,
    const char *text);


#endif /* OPTION_H_INCLUDED */
