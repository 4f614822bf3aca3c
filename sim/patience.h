
/*
 * How long a shopper keeps trying, from its first attempt.
 *
 *   15              15 seconds for all
 *   5-25            uniform
 *   exp:600         exponential, mean 600 s
 *   0.7*exp:600,0.3*3600   a mixture; the weights add up to 1
 */

#ifndef FT_SIM_PATIENCE_H_INCLUDED
#define FT_SIM_PATIENCE_H_INCLUDED


#include <stdbool.h>
#include "random.h"


#define FT_PATIENCE_PARTS  8


typedef struct {
    bool               exponential;
    double             weight;
    double             from;        /* s; the mean if exponential */
    double             to;
} ft_patience_part_t;

typedef struct {
    ft_patience_part_t parts[FT_PATIENCE_PARTS];
    int                n;
} ft_patience_t;


/* Returns false if the text has none of the forms above. */
bool ft_patience_parse(ft_patience_t *patience, const char *text);

/* Draws the patience of one shopper, in us. */
int64_t ft_patience_draw(const ft_patience_t *patience, ft_random_t *random);


#endif /* FT_SIM_PATIENCE_H_INCLUDED */
