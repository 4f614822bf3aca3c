
/*
 * What flash-verify takes of an access log: who was let in, and who was told to
 * wait, each at what time.
 */

#ifndef FT_VERIFY_LOG_H_INCLUDED
#define FT_VERIFY_LOG_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>


/* One ticket.  Times are epoch us, -1: none. */
typedef struct {
    uint64_t             id;
    int64_t              first_us;
    int64_t              admitted_us;
    uint64_t             place;         /* in line, us; the caller's */
} ft_verify_shopper_t;

/* An answer "wait". */
typedef struct {
    int64_t              at_us;
    uint64_t             id;
} ft_verify_wait_t;

typedef struct {
    ft_verify_shopper_t  *shoppers;     /* by id, when read */
    size_t                n;
    ft_verify_wait_t     *waits;
    size_t                nwaits;
    uint64_t              lines;        /* read, as selected */
    uint64_t              broken;       /* a status that needs what is not there */
} ft_verify_log_t;


/*
 * Reads a log of any order.  only: "name=value", or NULL: lines without this pair
 * are passed over.  False: no memory, or it cannot be read (errno).
 */
bool ft_verify_read(ft_verify_log_t *log, FILE *file, const char *only);

void ft_verify_free(ft_verify_log_t *log);

/* A ticket by its id; NULL: it is not there. */
ft_verify_shopper_t *ft_verify_find(const ft_verify_log_t *log, uint64_t id);


#endif /* FT_VERIFY_LOG_H_INCLUDED */
