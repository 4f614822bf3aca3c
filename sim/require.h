
/*
 * Requirements on the mean of a figure: "confirmed>=1800", "idle<=0.005" or
 * "oversold=42.5+-1".
 */

#ifndef FT_SIM_REQUIRE_H_INCLUDED
#define FT_SIM_REQUIRE_H_INCLUDED


#include <stdbool.h>
#include "figures.h"


#define FT_REQUIRES_MAX  16


typedef struct {
    ft_figure_t        figure;
    double             min;
    double             max;
    const char        *text;        /* from the operator on */
} ft_require_t;

typedef struct {
    ft_require_t       list[FT_REQUIRES_MAX];
    int                n;
} ft_requires_t;


/* Keeps a pointer to text.  Returns false if malformed, or the list is full. */
bool ft_require_add(ft_requires_t *requires, const char *text);

/* A figure that is not defined meets no requirement. */
bool ft_require_met(const ft_require_t *require, const ft_summary_t *summary);


#endif /* FT_SIM_REQUIRE_H_INCLUDED */
