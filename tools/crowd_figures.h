
/*
 * How a sale went, as a table for people or as JSON.
 */

#ifndef FT_CROWD_FIGURES_H_INCLUDED
#define FT_CROWD_FIGURES_H_INCLUDED


#include "crowd_shopper.h"
#include "crowd_watch.h"


/*
 * checkout: what was sold to this crowd, in the checkout's word; NULL if it
 * was not asked, and then the shoppers' own word counts.
 */
typedef struct {
    const ft_crowd_t          *crowd;
    const ft_checkout_word_t  *checkout;
    ft_fairness_t              fairness;
} ft_crowd_figures_t;


/* False: no memory. */
bool ft_crowd_figures(ft_crowd_figures_t *figures, ft_crowd_t *crowd,
    const ft_checkout_word_t *checkout);

void ft_crowd_print_table(const ft_crowd_figures_t *figures);
void ft_crowd_print_json(const ft_crowd_figures_t *figures);

/* Something was ordered, nothing oversold and nobody charged late. */
bool ft_crowd_sold_right(const ft_crowd_figures_t *figures);


#endif /* FT_CROWD_FIGURES_H_INCLUDED */
