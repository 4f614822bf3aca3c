
/*
 * What a run is judged by, and the same over many runs.
 */

#ifndef FT_SIM_FIGURES_H_INCLUDED
#define FT_SIM_FIGURES_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


typedef enum {
    FT_SHOPPERS,
    FT_ADMITTED,            /* went to checkout, or began to pay in a queue */
    FT_EXPECTED,            /* orders to expect of them: less the declined */
    FT_CONFIRMED,
    FT_DECLINED,
    FT_SOLD_OUT,
    FT_REFUSED,             /* at the deadline */
    FT_GAVE_UP,             /* while told to wait */
    FT_TIMED_OUT,           /* during a request at checkout */
    FT_ORDERS,
    FT_LATE_CHARGES,
    FT_OVERSOLD,
    FT_PURCHASE_P50,
    FT_PURCHASE_P95,
    FT_CHECKOUT_P95,
    FT_IN_PROGRESS_MAX,
    FT_HELD_MAX,
    FT_OVER_ADMITTED,       /* beyond rate x period + burst, worst period */
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


/* One run's; NAN where a figure is not defined. */
typedef struct {
    double             value[FT_FIGURES];
} ft_figures_t;

typedef struct {
    double             mean;
    double             p5;
    double             p95;
} ft_range_t;

/* Over the runs for which a figure is defined; all NAN if there are none. */
typedef struct {
    ft_range_t         range[FT_FIGURES];
} ft_summary_t;


/* False: no memory. */
bool ft_figures_sum_up(ft_summary_t *summary, const ft_figures_t *runs,
    size_t n);

/* A figure's name in JSON, and in a table. */
const char *ft_figure_name(ft_figure_t figure);
const char *ft_figure_label(ft_figure_t figure);

/* FT_FIGURES: no figure is called so.  `len` bytes of name. */
ft_figure_t ft_figure_find(const char *name, size_t len);


#endif /* FT_SIM_FIGURES_H_INCLUDED */
