
/*
 * What flash-sim prints.
 */

#ifndef FT_SIM_PRINT_H_INCLUDED
#define FT_SIM_PRINT_H_INCLUDED


#include "figures.h"
#include "options.h"


void ft_print_table(const ft_options_t *options, const ft_summary_t *summary);
void ft_print_json(const ft_options_t *options, const ft_summary_t *summary);

/* What was required, reached, and whether that is enough.  False: it is not. */
bool ft_print_requires(const ft_options_t *options,
    const ft_summary_t *summary);


#endif /* FT_SIM_PRINT_H_INCLUDED */
