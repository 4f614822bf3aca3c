
/*
 * Measures of fairness over the admitted shoppers of a sale.
 */

#ifndef FAIRNESS_H_INCLUDED
#define FAIRNESS_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* Times of one clock, us, 0 <= first_us <= admitted_us. */
typedef struct {
    int64_t           first_us;     /* first attempt */
    int64_t           admitted_us;
} fairness_sample_t;


typedef struct {
    size_t            admitted;

    /* share of shoppers admitted after a shopper whose first attempt came more
       than 1 s later */
    double            overtaken;

    /* the largest difference of first attempts admitted in the wrong order; 0
       if there is none */
    double            worst_inversion_s;

    /* p95 - p5 of the wait of shoppers with the same second of first attempt:
       the median over all seconds with at least 5 admissions */
    double            wait_spread_s;

    /* Kendall's tau-b of first attempt and admission */
    double            kendall_tau;

    double            wait_p50_s;
    double            wait_p95_s;
} fairness_t;


/*
 * Computes the measures over n samples, which are sorted by admission.  An
 * undefined measure is NAN: no samples, no second with 5 admissions, all times
 * equal.  False: no memory.
 */
bool fairness_compute(fairness_sample_t *samples, size_t n,
    fairness_t *fairness);

/* Sorts values in ascending order. */
void fairness_sort(double *values, size_t n);

/*
 * The q quantile, 0 to 1, of n values in ascending order, interpolated linearly
 * between neighbours; NAN if n is 0.
 */
double fairness_quantile(const double *values, size_t n, double q);


#endif /* FAIRNESS_H_INCLUDED */
