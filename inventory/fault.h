/*
 * Faults that --fault injects: the tests show what they do to a store.
 */

#ifndef CO_FAULT_H
#define CO_FAULT_H


#include <stdint.h>


typedef enum {
    CO_FAULT_NONE = 0,
    CO_FAULT_LOSE,                               /* writes to a shadow fail */
    CO_FAULT_AFTER_LEDGER,                       /* a claim ends between the
                                                    ledger and Redis */
    CO_FAULT_AFTER_REDIS                         /* the reverse order */
} co_fault_e;


typedef struct {
    co_fault_e   kind;
    double       share;                          /* of the writes, 0 to 1 */
    int64_t      claim;                          /* number, from 1 */
} co_fault_t;


/* The accepted values of --fault, for messages. */
#define CO_FAULT_FORMS  "give lose:SHARE (of the writes to a shadow store),"   \
                        " die-after-ledger:N or die-after-redis:N (in the"     \
                        " Nth claim of a Redis store)"


/*
 * Parses the value of --fault; NULL means none.
 * Returns 0, or -1 if the value is malformed.
 */
int co_fault_read(co_fault_t *fault, const char *value);


#endif /* CO_FAULT_H */
