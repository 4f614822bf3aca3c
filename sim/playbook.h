
/*
 * The shop without the edge, as in the playbook's experiments.
 */

#ifndef FT_SIM_PLAYBOOK_H_INCLUDED
#define FT_SIM_PLAYBOOK_H_INCLUDED


#include "shopper.h"


/* Handles a shopper's request in the variants without the edge. */
void ft_playbook_request(struct ft_world_s *world, ft_shopper_t *shopper);


#endif /* FT_SIM_PLAYBOOK_H_INCLUDED */
