
/*
 * Runs of a simulated sale.
 */

#ifndef FT_SIM_RUN_H_INCLUDED
#define FT_SIM_RUN_H_INCLUDED


#include <stdio.h>
#include "fairness.h"
#include "figures.h"
#include "world.h"


/* All that the runs of one set of options need, allocated once. */
typedef struct {
    ft_world_t         world;
    fairness_sample_t *served;
    double            *purchases;
    double            *requests;
    int64_t           *scratch;
} ft_run_t;


/* False: no memory.  The options must outlive the run. */
bool ft_run_init(ft_run_t *run, const ft_options_t *options);
void ft_run_free(ft_run_t *run);

/* Simulates run number `number` of the seed.  False: no memory. */
bool ft_run(ft_run_t *run, uint32_t number, ft_figures_t *figures);

/* One shopper a line, of the run just made. */
void ft_run_trace(const ft_run_t *run, uint32_t number, FILE *file);
void ft_run_trace_head(FILE *file);


#endif /* FT_SIM_RUN_H_INCLUDED */
