
/*
 * HTTP requests of flashctl, by libcurl.
 */

#ifndef CTL_HTTP_H_INCLUDED
#define CTL_HTTP_H_INCLUDED


#include <stddef.h>
#include "ctl.h"


typedef struct {
    long         status;        /* 0: no response, text is the error */
    char        *text;
    size_t       len;
} ctl_http_response_t;


/*
 * Requests the location `name` below the base URL: POST with a body, GET
 * without.  False: no memory.
 */
bool ctl_http_request(const ctl_options_t *options, const char *name,
    const char *body, ctl_http_response_t *response);

void ctl_http_free(ctl_http_response_t *response);

/* Prints why a response is not the expected one.  Returns an exit code. */
int ctl_http_error(const ctl_options_t *options, const char *name,
    const ctl_http_response_t *response);


#endif /* CTL_HTTP_H_INCLUDED */
