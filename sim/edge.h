
/*
 * The edge: the core as it ships, with simulated worker processes.
 */

#ifndef FT_SIM_EDGE_H_INCLUDED
#define FT_SIM_EDGE_H_INCLUDED


#include <stdint.h>
#include "aimd.h"
#include "ft_admission.h"
#include "options.h"


typedef struct {
    ft_line_t          line;
    int64_t            wake_us;         /* its timer; FT_NEVER: none */
    uint32_t           clock_ms;        /* its clock is ahead by */
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


struct ft_world_s;
struct ft_shopper_s;


/* NULL: no memory. */
ft_edge_t *ft_edge_create(const ft_options_t *options);
void ft_edge_free(ft_edge_t *edge);

/* A new sale on a new state. */
void ft_edge_reset(struct ft_world_s *world);

/* The edge loses its state and its connections; the cookies live on. */
void ft_edge_restart(struct ft_world_s *world);

/* Where a shopper stands in line: its first attempt, or by lot before it opens. */
int64_t ft_edge_place_us(const struct ft_world_s *world,
    const struct ft_shopper_s *shopper);

/* A worker's timer: what can be done for the shoppers it holds. */
void ft_edge_wake(struct ft_world_s *world, uint32_t worker);

/* A held shopper closes its connection. */
void ft_edge_leave(struct ft_world_s *world, uint32_t shopper);

/* A request that the edge let through has ended at checkout, or was refused. */
void ft_edge_done(struct ft_world_s *world, uint32_t shopper, bool refused);


#endif /* FT_SIM_EDGE_H_INCLUDED */
