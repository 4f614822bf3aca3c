/*
 * Two stores as one: what they share among the files of the shadow mode.
 */

#ifndef CO_STORE_SHADOW_H
#define CO_STORE_SHADOW_H


#include <sys/queue.h>

#include "store_backend.h"
#include "store_fault.h"


/* Writes to the shadow that may wait or be under way; more are lost. */
#define CO_SHADOW_JOBS_MAX     20000

/* Losses that are remembered, and could be mended; more are only counted. */
#define CO_SHADOW_LOSSES_MAX   100000

/*
 * A hold that the shadow still has so long after its end is one of which the
 * truth knows nothing: a reservation that was done after all when nobody
 * waited for it any more.
 */
#define CO_SHADOW_GRACE_MS     5000

/* For how long the end of the checkout waits for the shadow to catch up. */
#define CO_SHADOW_END_MS       5000

/* How many of them, and of differences, /stats and the admin socket list. */
#define CO_SHADOW_LISTED       20

#define CO_SHADOW_BUCKETS      1024            /* a power of 2 */


typedef struct co_shadow_s       co_shadow_t;
typedef struct co_shadow_job_s   co_shadow_job_t;
typedef struct co_shadow_loss_s  co_shadow_loss_t;


/* A write that the shadow did not take: what it would take to mend it. */
struct co_shadow_loss_s {
    int                              at;         /* which of the two */
    co_store_action_e                action;     /* the write that was lost */
    int                              there;      /* it has the hold still */
    co_store_action_e                wanted;     /* APPLY: held, CLAIM: sold,
                                                    RELEASE: neither */
    int64_t                          ms;         /* wall time */
    co_order_t                       order;
    TAILQ_ENTRY(co_shadow_loss_s)    link;
    TAILQ_ENTRY(co_shadow_loss_s)    chain;
    co_hold_t                        hold;
};


/* Why a store is written to. */
typedef enum {
    CO_SHADOW_FOLLOWING = 0,                     /* the other has decided */
    CO_SHADOW_MENDING,                           /* it was lost before, or
                                                    done without an answer */
    CO_SHADOW_ANEW                               /* it was lost, for certain */
} co_shadow_why_e;


/* A write to one store that follows what the other has decided. */
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
    uint64_t                         decisions;  /* that could be compared */
    uint64_t                         agreed;
    uint64_t                         would_have_denied;
    uint64_t                         would_have_granted;
    uint64_t                         unknown;    /* to the shadow: a hold that
                                                    it should have had */
    uint64_t                         lost;       /* writes, ever */
    uint64_t                         mended;
    uint64_t                         ordered;    /* lost by --fault */
    uint64_t                         switches;
    uint64_t                         orphans;    /* holds of a store that the
                                                    other never had */
    uint64_t                         withdrawn;  /* grants that came after the
                                                    kill switch */
} co_shadow_counts_t;


/* A decision that the shadow would have made otherwise. */
typedef struct {
    char                             id[CO_HOLD_ID_LEN + 1];
    int                              granted;    /* it would have, else denied */
    int64_t                          ms;         /* wall time */
} co_shadow_difference_t;


/* What one store has more than the truth. */
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

    int64_t                          deciding;   /* calls under way */
    struct co_shadow_ops_s           ops;        /* these calls */
    int64_t                          jobs;       /* waiting and under way */
    int64_t                          jobs_at[2];
    uint64_t                         started;    /* calls, ever */
    struct co_shadow_jobs_s          buckets[CO_SHADOW_BUCKETS];

    int                              expiring;   /* the store that ends holds
                                                    by itself, from 1 */
    co_store_call_t                  expire;
    co_expired_t                     expired;

    /* while an operator's order is carried out, calls wait here */
    int                              paused;
    co_store_call_t                 *first;
    co_store_call_t                **last;

    co_shadow_counts_t               counts;
    co_shadow_difference_t           differences[CO_SHADOW_LISTED];
    co_shadow_audit_t                audit;
    int64_t                          losses_n;
    struct co_shadow_losses_s        losses;
    struct co_shadow_losses_s        chains[CO_SHADOW_BUCKETS];

    /* the order that is carried out */
    co_store_order_t                 order;
    co_store_ordered_pt              ordered;
    void                            *ordered_data;
    int                              phase;
    int64_t                          waiting;    /* for answers */
    int                              failed;
    uint64_t                         audited;    /* "started" when counted */
    int                              auditing;
    struct event                    *timer;      /* ends the wait for rest */
    struct event                    *idle;       /* audits when at rest */
    co_store_call_t                  counting[2];
    co_level_t                      *levels[2];
    int                              levels_n;
};


static inline unsigned
co_shadow_bucket(const char *id)
{
    unsigned  hash = 2166136261u;

    while (*id != '\0') {
        hash = (hash ^ (unsigned char) *id++) * 16777619u;
    }

    return (hash ^ hash >> 15) & (CO_SHADOW_BUCKETS - 1);
}


/* store_shadow_follow.c: the shadow does what the truth decided */

/*
 * Has store "at" do the same: "hold", and "order" for a claim, are copied.
 * Writes of one hold are done one after another.
 */
void co_shadow_follow(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold, const co_order_t *order, co_shadow_why_e why);

/* Asks the shadow whether it would have granted what the truth denied. */
void co_shadow_compare(co_shadow_t *shadow, int at, const co_hold_t *hold,
    const co_cart_t *cart);

json_t *co_shadow_differences_json(const co_shadow_t *shadow);

/* Has the shadow give up holds that should have ended before "now_ms". */
void co_shadow_expire(co_shadow_t *shadow, int at, int64_t now_ms);

/* Waits until the shadow has caught up, but not for one that hangs. */
void co_shadow_jobs_end(co_shadow_t *shadow);

void co_shadow_jobs_free(co_shadow_t *shadow);


/* store_shadow_loss.c: what was lost */

/* The write "action" of the hold was lost at store "at". */
void co_shadow_lost(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold, const co_order_t *order);

/* A hold of which store "at" knows nothing has been sold. */
void co_shadow_missing(co_shadow_t *shadow, int at, const co_hold_t *hold,
    const co_order_t *order);

/* Store "at" has ended the hold by itself. */
void co_shadow_orphan(co_shadow_t *shadow, int at, const char *id);

/* Nothing is missing any more at store "at", if it was. */
void co_shadow_found(co_shadow_t *shadow, int at, const char *id);

/* NULL: nothing of this hold was lost at store "at". */
co_shadow_loss_t *co_shadow_loss_of(co_shadow_t *shadow, int at,
    const char *id);

/* Does again all that was lost. */
void co_shadow_mend(co_shadow_t *shadow);

/* How far "at" is off by what was lost there. */
void co_shadow_explain(co_shadow_t *shadow, int at, co_stock_t *off);

json_t *co_shadow_losses_json(co_shadow_t *shadow);
void co_shadow_losses_free(co_shadow_t *shadow);


/* store_shadow_order.c: what operators order */

/* Carries on with an order when all is at rest, or audits. */
void co_shadow_rest(co_shadow_t *shadow);

void co_shadow_order(void *backend, const co_store_order_t *order,
    co_store_ordered_pt done, void *data);

int co_shadow_orders_init(co_shadow_t *shadow);

/* Answers the order that is being carried out, if there is one. */
void co_shadow_orders_end(co_shadow_t *shadow);

void co_shadow_orders_free(co_shadow_t *shadow);


/* store_shadow.c */

/* Lets the calls go on that have waited. */
void co_shadow_resume(co_shadow_t *shadow);

json_t *co_shadow_report(void *backend);


#endif /* CO_STORE_SHADOW_H */
