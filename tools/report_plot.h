
/*
 * SVG plot of admissions against first attempts, with a histogram of the waits.
 */

#ifndef REPORT_PLOT_H_INCLUDED
#define REPORT_PLOT_H_INCLUDED


#include <stdio.h>
#include "fairness.h"


/*
 * Writes the plot of n samples, in any order.  The output size is bounded: one
 * mark per grid cell, its opacity by the number of shoppers.  False: no memory.
 */
bool report_plot_write(FILE *out, const fairness_sample_t *samples, size_t n,
    const fairness_t *fairness);


#endif /* REPORT_PLOT_H_INCLUDED */
