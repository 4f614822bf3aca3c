
#include "patience.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


#define FT_PATIENCE_MAX_S  864000.0


static const char *
ft_patience_part(ft_patience_part_t *part, const char *text, bool mixed)
{
    int  n;

    part->weight = 1;

    if (mixed) {
        n = 0;
        if (sscanf(text, "%lf*%n", &part->weight, &n) != 1 || n == 0) {
            return NULL;
        }

        text += n;
    }

    n = 0;
    part->exponential = (strncmp(text, "exp:", 4) == 0);

    if (part->exponential) {
        if (sscanf(text, "exp:%lf%n", &part->from, &n) != 1) {
            return NULL;
        }

        part->to = part->from;

    } else if (sscanf(text, "%lf-%lf%n", &part->from, &part->to, &n) != 2) {

        if (sscanf(text, "%lf%n", &part->from, &n) != 1) {
            return NULL;
        }

        part->to = part->from;
    }

    if (!(part->from > 0) || !(part->to >= part->from)
        || part->to > FT_PATIENCE_MAX_S
        || !(part->weight > 0) || part->weight > 1)
    {
        return NULL;
    }

    return text + n;
}


bool
ft_patience_parse(ft_patience_t *patience, const char *text)
{
    bool    mixed;
    double  sum;

    mixed = (strchr(text, '*') != NULL);
    sum = 0;

    for (patience->n = 0; patience->n < FT_PATIENCE_PARTS; text++) {
        text = ft_patience_part(&patience->parts[patience->n], text, mixed);
        if (text == NULL) {
            return false;
        }

        sum += patience->parts[patience->n++].weight;

        if (*text == '\0') {
            return fabs(sum - 1) < 1e-6;
        }

        if (*text != ',' || !mixed) {
            return false;
        }
    }

    return false;
}


int64_t
ft_patience_draw(const ft_patience_t *patience, ft_random_t *random)
{
    int                        i;
    double                     seconds, unit;
    const ft_patience_part_t  *part;

    /* two draws in every form keep the random sequence the same */

    unit = ft_random_unit(random);

    for (i = 0; i < patience->n - 1; i++) {
        if (unit < patience->parts[i].weight) {
            break;
        }

        unit -= patience->parts[i].weight;
    }

    part = &patience->parts[i];
    unit = ft_random_unit(random);

    if (part->exponential) {
        seconds = -log(1 - unit) * part->from;
    } else {
        seconds = part->from + (part->to - part->from) * unit;
    }

    return llround(seconds * 1e6);
}
