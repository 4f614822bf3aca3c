
/*
 * The tickets and the QUEUED responses in an access log.
 */

#ifndef VERIFY_LOG_H_INCLUDED
#define VERIFY_LOG_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


/* One ticket.  Unix times in us; -1: none. */
typedef struct {
    uint64_t               id;
    int64_t                first_us;
    int64_t                admitted_us;
    uint64_t               place_us;    /* in line; set by the caller */
} verify_log_shopper_t;

typedef struct {
    int64_t                at_us;
    uint64_t               id;
} verify_log_queued_t;

typedef struct {
    verify_log_shopper_t  *shoppers;    /* sorted by id */
    size_t                 nshoppers;
    verify_log_queued_t   *queued;
    size_t                 nqueued;
    uint64_t               lines;       /* QUEUED, ADMITTED or CLOSED */
    uint64_t               incomplete;  /* of these, without a needed value */
} verify_log_t;


/*
 * Reads a log in any order.  only: "name=value" that selects lines, or NULL.
 * False: no memory, or a read error (errno).
 */
bool verify_log_read(verify_log_t *log, FILE *file, const char *only);

void verify_log_free(verify_log_t *log);

/* NULL: not found. */
verify_log_shopper_t *verify_log_find(const verify_log_t *log, uint64_t id);


#endif /* VERIFY_LOG_H_INCLUDED */
