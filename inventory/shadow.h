/*
 * Two stores as one: the truth decides, the shadow follows.
 *
 *   shadow.c           the backend
 *   shadow_follow.c    writes to the shadow
 *   shadow_loss.c      writes that the shadow has lost
 *   shadow_command.c   commands of the operator, and the audit
 *
 * "at" is the index of a store: 0 is the first, 1 the second.
 */

#ifndef CO_SHADOW_H
#define CO_SHADOW_H


#include <sys/queue.h>

#include "fault.h"
#include "store_backend.h"


/* Differences and losses that /stats and the admin socket list. */
#define CO_SHADOW_LISTED   20

#define CO_SHADOW_BUCKETS  1024                  /* a power of 2 */


typedef struct co_shadow_s       co_shadow_t;
typedef struct co_shadow_job_s   co_shadow_job_t;
typedef struct co_shadow_loss_s  co_shadow_loss_t;


/* A write that a store did not record. */
struct co_shadow_loss_s {
    int                              at;
    co_store_action_e                action;     /* the lost write */
    int                              there;      /* it has the hold */
    co_store_action_e                wanted;     /* APPLY: held, CLAIM: sold,
                                                    RELEASE: neither */
    int64_t                          ms;         /* wall time */
    co_order_t                       order;
    TAILQ_ENTRY(co_shadow_loss_s)    link;
    TAILQ_ENTRY(co_shadow_loss_s)    chain;
    co_hold_t                        hold;
};


/* The reason of a write. */
typedef enum {
    CO_SHADOW_FOLLOWING = 0,                     /* the truth has decided */
    CO_SHADOW_MENDING,                           /* the write was lost, or its
                                                    result is unknown */
    CO_SHADOW_RESTORING                          /* the store does not have
                                                    the hold */
} co_shadow_why_e;


/* A write to one store that follows a decision of the other. */
struct co_shadow_job_s {
    co_shadow_t                     *shadow;
    int                              at;
    co_store_action_e                action;
    co_shadow_why_e                  why;
    co_store_call_t                  call;
    co_cart_t                        cart;
    co_order_t                       order;
    co_hold_t                        hold;       /* the store may change it */
    co_hold_t                        kept;
    TAILQ_ENTRY(co_shadow_job_s)     link;
};


TAILQ_HEAD(co_shadow_ops_s, co_shadow_op_s);
TAILQ_HEAD(co_shadow_jobs_s, co_shadow_job_s);
TAILQ_HEAD(co_shadow_losses_s, co_shadow_loss_s);


typedef struct {
    uint64_t                         decisions;  /* that were compared */
    uint64_t                         agreed;
    uint64_t                         would_have_denied;
    uint64_t                         would_have_granted;
    uint64_t                         unknown;    /* missing holds */
    uint64_t                         lost;       /* writes */
    uint64_t                         mended;
    uint64_t                         by_fault;   /* lost by --fault */
    uint64_t                         switches;
    uint64_t                         orphans;    /* holds of one store only */
    uint64_t                         withdrawn;  /* late grants */
} co_shadow_counts_t;


typedef struct {
    char                             id[CO_HOLD_ID_LEN + 1];
    int                              granted;    /* by the shadow */
    int64_t                          ms;         /* wall time */
} co_shadow_difference_t;


/* The stock of the shadow minus the stock of the truth. */
typedef struct {
    int                              known;
    int64_t                          ms;         /* wall time */
    co_stock_t                       drift;      /* over all levels */
    co_stock_t                       explained;  /* by the losses */
    int64_t                          levels;     /* that differ */
} co_shadow_audit_t;


struct co_shadow_s {
    co_store_port_t                 *port;
    co_store_t                      *stores[2];
    char                            *specs[2];
    int                              truth;      /* 0 or 1 */
    co_fault_t                       fault;
    uint64_t                         random;

    int64_t                          deciding;   /* calls in progress */
    struct co_shadow_ops_s           ops;
    int64_t                          jobs;       /* queued or in progress */
    int64_t                          jobs_at[2];
    uint64_t                         started;    /* calls so far */
    struct co_shadow_jobs_s          buckets[CO_SHADOW_BUCKETS];

    int                              expiring;   /* 1 + index of a store */
    co_store_call_t                  expire;
    co_expired_t                     expired;

    /* calls that wait while a command is executed */
    int                              paused;
    co_store_call_t                 *first;
    co_store_call_t                **last;

    co_shadow_counts_t               counts;
    co_shadow_difference_t           differences[CO_SHADOW_LISTED];
    co_shadow_audit_t                audit;
    int64_t                          losses_n;
    struct co_shadow_losses_s        losses;
    struct co_shadow_losses_s        chains[CO_SHADOW_BUCKETS];

    co_store_command_t               command;    /* being executed */
    co_store_command_done_pt         command_done;
    void                            *command_data;
    int                              phase;
    int64_t                          waiting;    /* for counts */
    int                              failed;
    uint64_t                         audited;    /* value of "started" */
    int                              auditing;
    struct event                    *timer;      /* of the command */
    struct event                    *idle;       /* starts an audit */
    co_store_call_t                  counting[2];
    co_level_t                      *levels[2];
    int                              levels_n;
};


static inline unsigned
co_shadow_bucket(const char *id)
{
    unsigned  hash = 2166136261u;                /* FNV-1a */

    while (*id != '\0') {
        hash = (hash ^ (unsigned char) *id++) * 16777619u;
    }

    return (hash ^ hash >> 15) & (CO_SHADOW_BUCKETS - 1);
}


/* Submits the calls that waited for a command. */
void co_shadow_resume(co_shadow_t *shadow);


#endif /* CO_SHADOW_H */
