
/*
 * The command "watch": the status, repeatedly.
 */

#ifndef CTL_WATCH_H_INCLUDED
#define CTL_WATCH_H_INCLUDED


#include "ctl.h"


/*
 * Redraws a terminal with ANSI sequences; otherwise prints a line per key and
 * sample.  Returns an exit code.
 */
int ctl_watch_run(const ctl_options_t *options);


#endif /* CTL_WATCH_H_INCLUDED */
