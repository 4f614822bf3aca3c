
/*
 * How fair a sale was: figures over those who were admitted, from the time of
 * each one's first attempt and of its admission.
 */

#ifndef FT_FAIRNESS_H_INCLUDED
#define FT_FAIRNESS_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* Two times of one clock, us, of any epoch, 0 <= first_us <= admitted_us. */
typedef struct {
    int64_t           first_us;
    int64_t           admitted_us;
} ft_served_t;


typedef struct {
    size_t            admitted;

    /* the share admitted after someone whose first attempt came over 1 s
       later */
    double            overtaken;

    /* by how much earlier was anybody's first attempt than that of someone
       admitted before; 0 if nobody's */
    double            worst_inversion_s;

    /* p95 - p5 of the wait of those with the same second of first attempt:
       the median over all seconds with at least 5 admissions */
    double            wait_spread_s;

    /* Kendall's tau-b of first attempt and admission */
    double            kendall_tau;

    double            wait_p50_s;
    double            wait_p95_s;
} ft_fairness_t;


/*
 * Sorts `served` (n of them) by admission and fills the figures; those that
 * are not defined (nobody admitted; no second with 5 admissions; all of one
 * instant) are NAN.  False: no memory.
 */
bool ft_fairness(ft_served_t *served, size_t n, ft_fairness_t *fairness);

/* Sorts ascending. */
void ft_sort_values(double *values, size_t n);

/*
 * The q quantile, 0 to 1, of n values in ascending order, interpolated
 * linearly between neighbours.  NAN if there are none.
 */
double ft_quantile(const double *values, size_t n, double q);


#endif /* FT_FAIRNESS_H_INCLUDED */
