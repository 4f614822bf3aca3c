
/*
 * Capacity that lay idle although somebody waited for it.
 */

#ifndef FT_SIM_IDLE_H_INCLUDED
#define FT_SIM_IDLE_H_INCLUDED


#include "world.h"


/*
 * The share of slot time, or without slots of the rate, that went unused while
 * anybody waited who could still have been served; NAN if nobody waited.
 * Call it after the sale; `scratch` holds 5 values a shopper.
 */
double ft_idle(const ft_world_t *world, int64_t *scratch);


#endif /* FT_SIM_IDLE_H_INCLUDED */
