
/*
 * The figures of a run, and their summary over many runs.
 */

#ifndef FT_SIM_FIGURES_H_INCLUDED
#define FT_SIM_FIGURES_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


typedef enum {
    FT_SHOPPERS,
    FT_ADMITTED,            /* reached checkout, or started to pay */
    FT_EXPECTED,            /* admitted, less the declined share */
    FT_CONFIRMED,
    FT_DECLINED,
    FT_SOLD_OUT,
    FT_REFUSED,             /* at the deadline */
    FT_GAVE_UP,             /* while waiting */
    FT_TIMED_OUT,           /* during a request at checkout */
    FT_ORDERS,
    FT_LATE_CHARGES,
    FT_OVERSOLD,
    FT_PURCHASE_P50,
    FT_PURCHASE_P95,
    FT_CHECKOUT_P95,
    FT_IN_PROGRESS_MAX,
    FT_HELD_MAX,
    FT_OVER_ADMITTED,       /* above rate x period + burst, worst period */
    FT_POLLS,
    FT_IDLE,
    FT_WAIT_P50,
    FT_WAIT_P95,
    FT_WAIT_SPREAD,
    FT_OVERTAKEN,
    FT_KENDALL_TAU,
    FT_WORST_INVERSION,
    FT_FIGURES
} ft_figure_t;


/* NAN: not defined for the run. */
typedef struct {
    double             value[FT_FIGURES];
} ft_figures_t;

typedef struct {
    double             mean;
    double             p5;
    double             p95;
} ft_range_t;

/* Over the runs for which a figure is defined; NAN without such a run. */
typedef struct {
    ft_range_t         range[FT_FIGURES];
} ft_summary_t;


/* Returns false if out of memory. */
bool ft_figures_summarize(ft_summary_t *summary, const ft_figures_t *runs,
    size_t n);

/* A figure's name in JSON, and its label in a table. */
const char *ft_figures_name(ft_figure_t figure);
const char *ft_figures_label(ft_figure_t figure);

/* Returns FT_FIGURES if no figure has the name. */
ft_figure_t ft_figures_find(const char *name, size_t len);


#endif /* FT_SIM_FIGURES_H_INCLUDED */
