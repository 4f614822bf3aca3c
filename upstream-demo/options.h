/*
 * The command line of the checkout.
 */

#ifndef CO_OPTIONS_H
#define CO_OPTIONS_H


#include <stdint.h>
#include <sys/socket.h>


typedef enum {
    CO_MODE_NAIVE = 0,
    CO_MODE_RESERVE,
    CO_MODE_QUEUE,
    CO_MODE_DEADLINE,
    CO_MODE_WAITING_ROOM
} co_mode_e;


typedef struct {
    co_mode_e                mode;
    const char              *store;              /* SCHEME:PLACE */

    const char              *admin;              /* path, or NULL */
    const char              *fault;              /* see fault.h, or NULL */

    struct sockaddr_storage  address;
    int                      address_len;

    int64_t                  stock;              /* units over all locations */
    int64_t                  locations;
    int64_t                  hold_ms;            /* lifetime of a hold */
    int64_t                  slow_report_ms;     /* 0: none */
    int64_t                  seed;
    int64_t                  payment_slots;      /* 0: no limit */
    int64_t                  payment_min_ms;
    int64_t                  payment_max_ms;
    double                   decline;            /* share, 0 to 1 */
    int                      deadline;           /* checked before payments */
    int64_t                  max_in_progress;    /* 0: no limit */
    int64_t                  arrival_window_ms;
    int64_t                  client_timeout_ms;
    int                      allow_reset;
} co_options_t;


typedef enum {
    CO_OPTIONS_OK = 0,
    CO_OPTIONS_HELP,                             /* the help was printed */
    CO_OPTIONS_BAD                               /* an error was printed */
} co_options_result_e;


/*
 * Parses the command line; options that are not given get the defaults of the
 * mode.  Prints the help to stdout, or an error to stderr.
 */
co_options_result_e co_options_parse(co_options_t *options, int argc,
    char **argv);

const char *co_options_mode_name(co_mode_e mode);


#endif /* CO_OPTIONS_H */
