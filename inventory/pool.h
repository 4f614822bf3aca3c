/*
 * A bounded pool of connections to MySQL or MariaDB, each with its own thread,
 * and one queue of jobs.
 *
 * The pool measures, for each business process (tag), how long jobs wait for a
 * connection and how long they hold one.  When connections run out, these
 * stats name the process that holds them.
 */

#ifndef CO_POOL_H
#define CO_POOL_H


#include "sql.h"

#include <jansson.h>


#define CO_POOL_ERROR_LEN  512


/* Business processes that hold connections; the names are in pool.c. */
typedef enum {
    CO_TAG_RESERVE = 0,
    CO_TAG_CLAIM,
    CO_TAG_RELEASE,
    CO_TAG_EXPIRE,
    CO_TAG_REPLENISH,
    CO_TAG_LOOK,
    CO_TAG_COUNT,
    CO_TAG_ADMIN,
    CO_TAG_REPORT,
    CO_TAGS
} co_tag_e;


typedef struct {
    char             *host;                      /* NULL: the socket */
    char             *socket;
    char             *user;
    char             *database;
    char             *defaults_file;             /* password; or NULL */
    unsigned          port;
    int               connections;
    int               queue;                     /* jobs that may wait */
    int64_t           patience_ms;               /* of retries */
} co_pool_conf_t;


typedef struct co_pool_s      co_pool_t;
typedef struct co_pool_job_s  co_pool_job_t;

/* A connection while a job uses it. */
typedef struct {
    MYSQL            *mysql;
    int               connected;
    const char       *tag;                       /* of the job */
    co_sql_t          sql;
} co_lease_t;


typedef enum {
    CO_JOB_DONE = 0,
    CO_JOB_AGAIN                                 /* the last statement failed:
                                                    retry if transient */
} co_job_result_e;

/*
 * Part of the caller's struct.  "run" is called on a thread of the pool, and
 * again after a deadlock or a lost connection: it must be safe to repeat.
 * "end" is called last, on the same thread, with 0 or the final error.
 */
struct co_pool_job_s {
    co_tag_e          tag;
    co_job_result_e (*run)(co_pool_job_t *job, co_lease_t *lease);
    void            (*end)(co_pool_job_t *job, unsigned error,
                           const char *text);
    void             *data;

    int64_t           submitted_us;
    co_pool_job_t    *next;
};


const char *co_pool_tag_name(co_tag_e tag);

/*
 * Connects once as a check, then starts the threads.  Returns NULL on failure,
 * with the reason in "error" (CO_POOL_ERROR_LEN bytes).  "conf" must outlive
 * the pool.
 */
co_pool_t *co_pool_open(const co_pool_conf_t *conf, char *error);

/* Executes the queued jobs without retries, then closes the pool. */
void co_pool_close(co_pool_t *pool);

/*
 * Queues a job.  Returns 0, or -1 if the queue is full.  An "exempt" job is
 * always queued: it finishes a purchase that has begun.
 */
int co_pool_submit(co_pool_t *pool, co_pool_job_t *job, int exempt);

/* Runs a job on a new connection in the calling thread, before others do. */
unsigned co_pool_once(co_pool_t *pool, co_pool_job_t *job, char *error);

/* Begins the text of a transaction. */
void co_pool_begin(co_lease_t *lease);

/* Appends COMMIT and sends the statements. */
co_job_result_e co_pool_commit(co_lease_t *lease);

/* Discards the text and rolls back.  Returns 0, or the error. */
unsigned co_pool_rollback(co_lease_t *lease);

/* Returns the stats of the pool for /stats, with "holders" by tag. */
json_t *co_pool_report(co_pool_t *pool);


#endif /* CO_POOL_H */
