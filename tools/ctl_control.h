
/*
 * The commands that flashctl sends to flash_throttle_control.
 */

#ifndef CTL_CONTROL_H_INCLUDED
#define CTL_CONTROL_H_INCLUDED


#include "ctl.h"


/*
 * Sends a command, with a rate or NULL, and prints the resulting state.
 * Returns an exit code.
 */
int ctl_control_run(const ctl_options_t *options, const char *command,
    const char *rate);


#endif /* CTL_CONTROL_H_INCLUDED */
