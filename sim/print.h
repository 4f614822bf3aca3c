
/*
 * The output of flash-sim.
 */

#ifndef FT_SIM_PRINT_H_INCLUDED
#define FT_SIM_PRINT_H_INCLUDED


#include "figures.h"
#include "options.h"


void ft_print_table(const ft_options_t *options, const ft_summary_t *summary);
void ft_print_json(const ft_options_t *options, const ft_summary_t *summary);

/* Prints the required figures; returns false if a requirement is not met. */
bool ft_print_requires(const ft_options_t *options,
    const ft_summary_t *summary);


#endif /* FT_SIM_PRINT_H_INCLUDED */
