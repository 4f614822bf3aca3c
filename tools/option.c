
#include "option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>


double
option_number(struct argp_state *state, const char *name, const char *text,
    double min, double max)
{
    char    *end;
    double   n;

    n = strtod(text, &end);

    if (end == text || *end != '\0' || !(n >= min && n <= max)) {
        argp_error(state, "invalid value \"%s\" for --%s: expected a number"
                   " from %g to %g", text, name, min, max);
    }

    return n;
}


uint64_t
option_integer(struct argp_state *state, const char *name, const char *text,
    uint64_t min, uint64_t max)
{
    char      *end;
    uint64_t   n;

    errno = 0;
    n = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || errno != 0 || *end != '\0' || n < min
        || n > max)
    {
        argp_error(state, "invalid value \"%s\" for --%s: expected an integer"
                   " from %llu to %llu", text, name, (unsigned long long) min,
                   (unsigned long long) max);
    }

    return n;
}


const char *
option_url(struct argp_state *state, const char *name, const char *text)
{
    if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
    {
        argp_error(state, "invalid value \"%s\" for --%s: expected a URL that"
                   " begins with http:// or https://", text, name);
    }

    return text;
}
