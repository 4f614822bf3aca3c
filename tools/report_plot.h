
/*
 * A picture of a sale: when each shopper came and was let in, and how long they
 * waited.
 */

#ifndef FT_REPORT_PLOT_H_INCLUDED
#define FT_REPORT_PLOT_H_INCLUDED


#include <stdio.h>
#include "fairness.h"


/*
 * Writes an SVG of n who were admitted, in any order.  Its size is bounded:
 * what falls into one cell is one mark, the darker the more.  False: no memory.
 */
bool ft_report_plot(FILE *out, const ft_served_t *served, size_t n,
    const ft_fairness_t *fairness);


#endif /* FT_REPORT_PLOT_H_INCLUDED */
