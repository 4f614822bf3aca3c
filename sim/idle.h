
/*
 * Capacity that was idle while shoppers waited for it.
 */

#ifndef FT_SIM_IDLE_H_INCLUDED
#define FT_SIM_IDLE_H_INCLUDED


#include "world.h"


/*
 * The share of slot time, or of the rate without slots, that was unused while
 * a shopper waited who could still be served; NAN if none waited.  Call it
 * after the sale; `scratch` holds 5 values per shopper.
 */
double ft_idle(const ft_world_t *world, int64_t *scratch);


#endif /* FT_SIM_IDLE_H_INCLUDED */
