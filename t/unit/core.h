
/*
 * All headers of the core.
 */

#ifndef CORE_H_INCLUDED
#define CORE_H_INCLUDED


#include "ft_admission.h"
#include "ft_capacity.h"
#include "ft_control.h"
#include "ft_forecast.h"
#include "ft_hold.h"
#include "ft_inflight.h"
#include "ft_opening.h"
#include "ft_override.h"
#include "ft_pass.h"
#include "ft_period.h"
#include "ft_position.h"
#include "ft_queue.h"
#include "ft_restart.h"
#include "ft_stats.h"
#include "ft_zone.h"


#endif /* CORE_H_INCLUDED */
