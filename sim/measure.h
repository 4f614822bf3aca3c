
/*
 * The figures of a finished run.
 */

#ifndef FT_SIM_MEASURE_H_INCLUDED
#define FT_SIM_MEASURE_H_INCLUDED


#include "run.h"


/* Returns false if out of memory. */
bool ft_measure(ft_run_t *run, ft_figures_t *figures);


#endif /* FT_SIM_MEASURE_H_INCLUDED */
