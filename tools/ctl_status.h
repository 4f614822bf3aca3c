
/*
 * The status of flash_throttle: requesting it, and the command "status".
 */

#ifndef CTL_STATUS_H_INCLUDED
#define CTL_STATUS_H_INCLUDED


#include <jansson.h>
#include "ctl.h"


typedef void (*ctl_status_pt)(const char *zone, const json_t *limits,
    const char *key, const json_t *state, void *data);


/* The status; NULL: the error is printed and *code is an exit code. */
json_t *ctl_status_fetch(const ctl_options_t *options, int *code);

/*
 * Calls back for each selected key.  False: the zone or key does not exist,
 * and the error is printed.
 */
bool ctl_status_each(const ctl_options_t *options, const json_t *status,
    ctl_status_pt callback, void *data);

/* Prints the status.  Returns an exit code. */
int ctl_status_run(const ctl_options_t *options);


#endif /* CTL_STATUS_H_INCLUDED */
