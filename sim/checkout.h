
/*
 * The checkout: stock, and a payment provider with slots.
 */

#ifndef FT_SIM_CHECKOUT_H_INCLUDED
#define FT_SIM_CHECKOUT_H_INCLUDED


#include <stdint.h>
#include "shopper.h"


/* from the playbook */
#define FT_PAYMENT_MIN_US      100000
#define FT_PAYMENT_MAX_US      400000
#define FT_DECLINED_SHARE      0.05


typedef struct {
    uint32_t           slots;           /* 0: payments never wait */
    uint32_t           busy;
    uint32_t           in_progress;
    uint32_t           in_progress_max;
    double             factor;          /* multiplies the payment time */
    int64_t            stock;
    uint32_t          *queue;           /* ring of world->n shopper indices */
    uint32_t           head;
    uint32_t           queued;
    uint32_t           orders;
    uint32_t           late;            /* charged after the shopper left */
} ft_checkout_t;


/* Handles a request that reaches checkout. */
void ft_checkout_begin(struct ft_world_s *world, ft_shopper_t *shopper);

/* A payment ends. */
void ft_checkout_paid(struct ft_world_s *world, ft_shopper_t *shopper);

/* Starts queued payments while slots are free. */
void ft_checkout_next(struct ft_world_s *world);


#endif /* FT_SIM_CHECKOUT_H_INCLUDED */
