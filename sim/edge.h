
/*
 * The edge: the throttle's core with simulated worker processes.
 */

#ifndef FT_SIM_EDGE_H_INCLUDED
#define FT_SIM_EDGE_H_INCLUDED


#include <stdint.h>
#include "aimd.h"
#include "ft_admission.h"
#include "options.h"
#include "shopper.h"


typedef struct {
    ft_line_t          line;
    int64_t            wake_us;         /* FT_NEVER: no timer */
    uint32_t           clock_ms;        /* offset of its clock */
} ft_edge_worker_t;


typedef struct {
    ft_state_t        *state;
    ft_limits_t        limits;
    ft_adapt_rules_t   adapt;
    ft_aimd_t          aimd;
    ft_rules_t         rules;
    ft_edge_worker_t   workers[FT_SIM_WORKERS_MAX];
    uint32_t           nworkers;
    uint32_t           held;
    uint32_t           held_max;
} ft_edge_t;


/* Returns NULL if out of memory. */
ft_edge_t *ft_edge_create(const ft_options_t *options);
void ft_edge_free(ft_edge_t *edge);

/* Starts a sale with an empty state. */
void ft_edge_reset(struct ft_world_s *world);

/* Drops the state and all connections; shoppers keep their cookies. */
void ft_edge_restart(struct ft_world_s *world);

/* A shopper's position: its first attempt, or its shuffled pre-queue time. */
int64_t ft_edge_place_us(const struct ft_world_s *world,
    const ft_shopper_t *shopper);

void ft_edge_request(struct ft_world_s *world, ft_shopper_t *shopper);

/* A worker's timer fires: admits or releases the requests it holds. */
void ft_edge_wake(struct ft_world_s *world, uint32_t worker);

/* A held shopper closes its connection. */
void ft_edge_leave(struct ft_world_s *world, uint32_t shopper);

/* An admitted request has ended at checkout, or checkout refused it. */
void ft_edge_done(struct ft_world_s *world, uint32_t shopper, bool refused);


#endif /* FT_SIM_EDGE_H_INCLUDED */
