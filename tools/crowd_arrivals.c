
#include "crowd_arrivals.h"

#include <math.h>
#include <stdlib.h>


#define CROWD_ARRIVALS_SECONDS_MAX  86400.0
#define CROWD_ARRIVALS_RATE_MAX     100000.0

/* Keeps the last shopper, whose integral may be rounded down. */
#define CROWD_ARRIVALS_EPSILON      1e-6


static bool
crowd_arrivals_parse_number(const char **text, double max, double *value)
{
    char  *end;

    *value = strtod(*text, &end);

    if (end == *text || !(*value >= 0 && *value <= max)) {
        return false;
    }

    *text = end;

    return true;
}


static bool
crowd_arrivals_parse_stage(const char **text, crowd_arrivals_stage_t *stage)
{
    return crowd_arrivals_parse_number(text, CROWD_ARRIVALS_SECONDS_MAX,
                                       &stage->seconds)
           && *(*text)++ == ':'
           && crowd_arrivals_parse_number(text, CROWD_ARRIVALS_RATE_MAX,
                                          &stage->from)
           && *(*text)++ == '-'
           && crowd_arrivals_parse_number(text, CROWD_ARRIVALS_RATE_MAX,
                                          &stage->to)
           && (**text == ',' || **text == '\0');
}


const char *
crowd_arrivals_parse(crowd_arrivals_t *arrivals, const char *text)
{
    arrivals->n = 0;

    do {
        if (arrivals->n == CROWD_ARRIVALS_STAGES) {
            return "more than 32 stages";
        }

        if (!crowd_arrivals_parse_stage(&text,
                                        &arrivals->stages[arrivals->n++]))
        {
            return "expected SECONDS:FROM-TO,...";
        }

    } while (*text++ == ',');

    if (crowd_arrivals_total(arrivals) < 1) {
        return "no shoppers in these stages";
    }

    return NULL;
}


static double
crowd_arrivals_stage_total(const crowd_arrivals_stage_t *stage)
{
    return stage->seconds * (stage->from + stage->to) / 2;
}


double
crowd_arrivals_total(const crowd_arrivals_t *arrivals)
{
    size_t  k;
    double  total;

    total = 0;

    for (k = 0; k < arrivals->n; k++) {
        total += crowd_arrivals_stage_total(&arrivals->stages[k]);
    }

    return total;
}


void
crowd_arrivals_scale(crowd_arrivals_t *arrivals, double total)
{
    size_t  k;
    double  factor;

    factor = total / crowd_arrivals_total(arrivals);

    for (k = 0; k < arrivals->n; k++) {
        arrivals->stages[k].from *= factor;
        arrivals->stages[k].to *= factor;
    }
}


/* The root in [0, seconds] of: from t + slope t^2 / 2 = left. */
static double
crowd_arrivals_stage_at(const crowd_arrivals_stage_t *stage, double left)
{
    double  root, slope;

    slope = (stage->to - stage->from) / stage->seconds;
    root = stage->from * stage->from + 2 * slope * left;

    return 2 * left / (stage->from + sqrt(root > 0 ? root : 0));
}


double
crowd_arrivals_at(const crowd_arrivals_t *arrivals, double i)
{
    size_t  k;
    double  at, here;

    at = 0;

    for (k = 0; k < arrivals->n; k++) {
        here = crowd_arrivals_stage_total(&arrivals->stages[k]);

        if (i <= here + CROWD_ARRIVALS_EPSILON) {
            return at + crowd_arrivals_stage_at(&arrivals->stages[k],
                                                i < here ? i : here);
        }

        i -= here;
        at += arrivals->stages[k].seconds;
    }

    return -1;
}
