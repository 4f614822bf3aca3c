/*
 * Faults to order (--fault), for the tests that show what they do to a store.
 */

#ifndef CO_STORE_FAULT_H
#define CO_STORE_FAULT_H


#include <stdint.h>


typedef enum {
    CO_FAULT_NONE = 0,
    CO_FAULT_LOSE,                               /* a shadow's writes */
    CO_FAULT_AFTER_LEDGER,                       /* die in a claim that the
                                                    ledger has, Redis not */
    CO_FAULT_AFTER_REDIS                         /* the other way round */
} co_fault_e;


typedef struct {
    co_fault_e   kind;
    double       share;                          /* of the writes, 0 to 1 */
    int64_t      claim;                          /* the how manieth, from 1 */
} co_fault_t;


/* What --fault takes, for people. */
#define CO_FAULT_FORMS  "give lose:SHARE (of the writes to a shadow store),"   \
                        " die-after-ledger:N or die-after-redis:N (in the"     \
                        " Nth claim of a Redis store)"


/* Reads the value of --fault; NULL is none.  0, or -1: it is none of them. */
int co_fault_read(co_fault_t *fault, const char *value);


#endif /* CO_STORE_FAULT_H */
