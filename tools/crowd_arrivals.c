
#include "crowd_arrivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


#define FT_CROWD_SECONDS_MAX  86400.0
#define FT_CROWD_RATE_MAX     100000.0

/* The last shopper comes at the end, and rounding must not lose it. */
#define FT_CROWD_ROUNDING     1e-6


/* Reads a number of at least 0 that ends at `stop`; NULL if it does not. */
static const char *
ft_arrivals_number(const char *text, char stop, double max, double *value)
{
    char  *end;

    *value = strtod(text, &end);

    if (end == text || *end != stop || !(*value >= 0 && *value <= max)) {
        return NULL;
    }

    return stop == '\0' ? end : end + 1;
}


static bool
ft_arrivals_stage(ft_crowd_stage_t *stage, const char *text)
{
    text = ft_arrivals_number(text, ':', FT_CROWD_SECONDS_MAX,
                              &stage->seconds);
    if (text == NULL) {
        return false;
    }

    text = ft_arrivals_number(text, '-', FT_CROWD_RATE_MAX, &stage->from);
    if (text == NULL) {
        return false;
    }

    return ft_arrivals_number(text, '\0', FT_CROWD_RATE_MAX, &stage->to)
           != NULL;
}


const char *
ft_arrivals_parse(ft_arrivals_t *arrivals, const char *text)
{
    bool   good;
    char  *copy, *rest, *word;

    copy = strdup(text);
    if (copy == NULL) {
        return "no memory";
    }

    good = true;
    rest = copy;
    arrivals->n = 0;

    while (good && (word = strsep(&rest, ",")) != NULL) {
        good = arrivals->n < FT_CROWD_STAGES
               && ft_arrivals_stage(&arrivals->stages[arrivals->n++], word);
    }

    free(copy);

    if (!good) {
        return "give up to 32 stages as SECONDS:FROM-TO, separated by commas,"
               " rates in shoppers a second: 2:0-40,6:40-40,2:40-0";
    }

    if (ft_arrivals_total(arrivals) < 1) {
        return "not one shopper comes in these stages; make them longer or"
               " their rates higher";
    }

    return NULL;
}


static double
ft_arrivals_of(const ft_crowd_stage_t *stage)
{
    return stage->seconds * (stage->from + stage->to) / 2;
}


double
ft_arrivals_total(const ft_arrivals_t *arrivals)
{
    size_t  k;
    double  total;

    total = 0;

    for (k = 0; k < arrivals->n; k++) {
        total += ft_arrivals_of(&arrivals->stages[k]);
    }

    return total;
}


void
ft_arrivals_scale(ft_arrivals_t *arrivals, double total)
{
    size_t  k;
    double  factor;

    factor = total / ft_arrivals_total(arrivals);

    for (k = 0; k < arrivals->n; k++) {
        arrivals->stages[k].from *= factor;
        arrivals->stages[k].to *= factor;
    }
}


/* The root in [0, seconds] of  from t + slope t^2 / 2 = left. */
static double
ft_arrivals_within(const ft_crowd_stage_t *stage, double left)
{
    double  root, slope;

    slope = (stage->to - stage->from) / stage->seconds;
    root = stage->from * stage->from + 2 * slope * left;

    return 2 * left / (stage->from + sqrt(root > 0 ? root : 0));
}


double
ft_arrivals_at(const ft_arrivals_t *arrivals, double i)
{
    size_t  k;
    double  at, here;

    at = 0;

    for (k = 0; k < arrivals->n; k++) {
        here = ft_arrivals_of(&arrivals->stages[k]);

        if (i <= here + FT_CROWD_ROUNDING) {
            return at + ft_arrivals_within(&arrivals->stages[k],
                                           i < here ? i : here);
        }

        i -= here;
        at += arrivals->stages[k].seconds;
    }

    return -1;
}
