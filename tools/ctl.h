
/*
 * flashctl: shows and controls the zones of an nginx with flash_throttle.
 */

#ifndef CTL_H_INCLUDED
#define CTL_H_INCLUDED


#include <stdbool.h>


/* exit codes */
#define CTL_OK           0
#define CTL_REFUSED      1      /* the server refused the request */
#define CTL_USAGE        2
#define CTL_NO_RESPONSE  3      /* none, or not from flash_throttle */


typedef struct {
    const char  *url;           /* base of "/status" and "/control" */
    const char  *socket;        /* Unix domain socket, or NULL */
    const char  *zone;          /* NULL: not given */
    const char  *key;           /* NULL: not given */
    bool         new_key;       /* the key may have no state yet */
    bool         json;
    long         count;         /* of samples in watch; 0: unlimited */
    long         interval_ms;
} ctl_options_t;


#endif /* CTL_H_INCLUDED */
