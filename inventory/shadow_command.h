#ifndef CO_SHADOW_COMMAND_H
#define CO_SHADOW_COMMAND_H


#include "shadow.h"


/* As co_store_command(). */
void co_shadow_command(void *backend, const co_store_command_t *command,
    co_store_command_done_pt done, void *data);

/* Returns 0, or -1 if out of memory. */
int co_shadow_command_init(co_shadow_t *shadow);
void co_shadow_command_free(co_shadow_t *shadow);

/* Continues the command, or starts the audit, if no call is in progress. */
void co_shadow_command_continue(co_shadow_t *shadow);

/* Ends the current command, if there is one, with status 503. */
void co_shadow_command_abort(co_shadow_t *shadow);


#endif /* CO_SHADOW_COMMAND_H */
