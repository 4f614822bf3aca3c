
/*
 * What a mean must reach: "confirmed>=1800", "idle<=0.005", or
 * "oversold=42.5+-1".
 */

#ifndef FT_SIM_REQUIRE_H_INCLUDED
#define FT_SIM_REQUIRE_H_INCLUDED


#include <stdbool.h>
#include "figures.h"


#define FT_REQUIRES_MAX  16


typedef struct {
    ft_figure_t        figure;
    double             least;
    double             most;
    const char        *text;        /* from the sign on */
} ft_require_t;

typedef struct {
    ft_require_t       list[FT_REQUIRES_MAX];
    int                n;
} ft_requires_t;


/* Adds one; keeps a pointer to text.  False: not one of the forms above. */
bool ft_require_add(ft_requires_t *requires, const char *text);

/* Whether a summary meets it; a figure that is not defined does not. */
bool ft_require_met(const ft_require_t *require, const ft_summary_t *summary);


#endif /* FT_SIM_REQUIRE_H_INCLUDED */
