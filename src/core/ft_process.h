
/*
 * Whether a worker process still exists.  A process id may be reused, so the
 * start time of the process is compared, too, where /proc tells it (Linux).
 */

#ifndef FT_PROCESS_H_INCLUDED
#define FT_PROCESS_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* Clock ticks from boot to the start of a process; 0: unknown. */
uint64_t ft_process_started(uint32_t pid);

/* started: ft_process_started() when the process was known to live. */
bool ft_process_is_gone(uint32_t pid, uint64_t started);

#pragma GCC visibility pop


#endif /* FT_PROCESS_H_INCLUDED */
