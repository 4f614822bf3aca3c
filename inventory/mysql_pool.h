/*
 * A bounded pool of connections to MySQL or MariaDB, each with a thread of
 * its own, and one line of jobs before them.
 *
 * The pool measures, by the tag of the business process, how long each job
 * waits for a connection and how long it holds one: when connections run
 * out, this tells who has them, which no latency of the victims does.
 */

#ifndef CO_MYSQL_POOL_H
#define CO_MYSQL_POOL_H


#include "mysql_sql.h"

#include <jansson.h>


#define CO_POOL_ERROR_LEN  512


/* Who may hold a connection; the names are in mysql_pool.c. */
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
    char             *defaults_file;             /* for the password; or NULL */
    unsigned          port;
    int               connections;
    int               queue;                     /* jobs that may wait */
    int64_t           patience_ms;               /* for a server that is
                                                    away, from job to job */
} co_pool_conf_t;


typedef struct co_pool_s      co_pool_t;
typedef struct co_pool_job_s  co_pool_job_t;

/* A connection, as a job sees it. */
typedef struct {
    MYSQL            *mysql;
    int               connected;
    const char       *tag;                       /* of the job */
    co_sql_t          sql;                       /* for the job's use */
} co_lease_t;


typedef enum {
    CO_JOB_DONE = 0,
    CO_JOB_AGAIN                                 /* by what the last statement
                                                    failed of */
} co_job_result_e;

/*
 * Part of whoever wants it done; "run" is called on a thread of the pool, and
 * again after a deadlock or a lost connection, so what it does must be safe
 * to do twice.  "end" comes last, on the same thread: with 0, or the error
 * that it failed of for good.
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


const char *co_tag_name(co_tag_e tag);

/*
 * Connects once, to know that it can.  NULL on failure, with what is wrong in
 * "error" (CO_POOL_ERROR_LEN bytes).  "conf" must outlive the pool.
 */
co_pool_t *co_pool_open(const co_pool_conf_t *conf, char *error);

/* Does the jobs that wait, tries none again, and closes. */
void co_pool_close(co_pool_t *pool);

/*
 * 0, or -1 where too many wait.  "must" jobs end what has begun, and are
 * taken however many wait.
 */
int co_pool_submit(co_pool_t *pool, co_pool_job_t *job, int must);

/* 0, or the error.  What was to be sent is forgotten. */
unsigned co_lease_rollback(co_lease_t *lease);

/* Runs a job on a connection of its own, before there are threads. */
unsigned co_pool_once(co_pool_t *pool, co_pool_job_t *job, char *error);

/* Who holds the connections: the table in /stats. */
json_t *co_pool_report(co_pool_t *pool);


#endif /* CO_MYSQL_POOL_H */
