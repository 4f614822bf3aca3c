#include "pool.h"
#include "clock.h"
#include "histogram.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <errmsg.h>
#include <mysqld_error.h>


#define CO_POOL_CONNECT_S    5
#define CO_POOL_READ_S       30

#define CO_POOL_PAUSE_US     100000

#define CO_POOL_LOCK_WAIT_S  10

#define CO_POOL_TRIES_MAX    100

#define CO_POOL_TEXT_LEN     256


typedef struct {
    uint64_t            count;
    uint64_t            again;                   /* retries after deadlocks */
    int64_t             held_us;
    co_histogram_t      hold;
    co_histogram_t      wait;
} co_pool_tag_t;


struct co_pool_s {
    const co_pool_conf_t  *conf;
    int64_t                opened_us;

    pthread_mutex_t        mutex;
    pthread_cond_t         wanted;
    co_pool_job_t         *first;
    co_pool_job_t        **last;
    int                    waiting;
    int                    busy;
    int                    closing;
    uint64_t               refused;
    uint64_t               lost;                 /* connections */
    co_pool_tag_t          tags[CO_TAGS];

    int                    threads_n;
    pthread_t             *threads;
};


static const char  *co_pool_tag_names[CO_TAGS] = {
    [CO_TAG_RESERVE] = "inventory_reserve",
    [CO_TAG_CLAIM] = "checkout_completion",
    [CO_TAG_RELEASE] = "inventory_release",
    [CO_TAG_EXPIRE] = "inventory_expire",
    [CO_TAG_REPLENISH] = "inventory_replenish",
    [CO_TAG_LOOK] = "inventory_look",
    [CO_TAG_COUNT] = "inventory_count",
    [CO_TAG_ADMIN] = "inventory_admin",
    [CO_TAG_REPORT] = "sales_report"
};


static void *co_pool_thread(void *data);
static void co_pool_work(co_pool_t *pool, co_lease_t *lease,
    co_pool_job_t *job);
static unsigned co_pool_error(co_lease_t *lease, char *text);
static int co_pool_connect(co_pool_t *pool, co_lease_t *lease);
static void co_pool_disconnect(co_lease_t *lease);
static int co_pool_lost(unsigned error);
static int co_pool_transient(unsigned error);
static json_t *co_pool_tag_report(const co_pool_tag_t *tag, const char *name,
    int64_t all_us);


const char *
co_pool_tag_name(co_tag_e tag)
{
    return co_pool_tag_names[tag];
}


co_pool_t *
co_pool_open(const co_pool_conf_t *conf, char *error)
{
    int         i;
    co_pool_t  *pool;
    co_lease_t  lease = { NULL, 0, NULL, { 0 } };

    pool = calloc(1, sizeof(*pool));
    if (pool == NULL) {
        snprintf(error, CO_POOL_ERROR_LEN, "out of memory");
        return NULL;
    }

    pool->conf = conf;
    pool->last = &pool->first;
    pool->opened_us = co_steady_us();
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wanted, NULL);

    if (mysql_library_init(0, NULL, NULL) != 0) {
        snprintf(error, CO_POOL_ERROR_LEN, "mysql_library_init() failed");
        co_pool_close(pool);
        return NULL;
    }

    if (co_pool_connect(pool, &lease) != 0) {
        snprintf(error, CO_POOL_ERROR_LEN, "connection failed: %s",
                 mysql_error(lease.mysql));
        co_pool_disconnect(&lease);
        co_sql_free(&lease.sql);
        co_pool_close(pool);
        return NULL;
    }

    co_pool_disconnect(&lease);
    co_sql_free(&lease.sql);

    pool->threads = calloc((size_t) conf->connections, sizeof(pthread_t));

    for (i = 0; pool->threads != NULL && i < conf->connections; i++) {
        if (pthread_create(&pool->threads[i], NULL, co_pool_thread, pool)
            != 0)
        {
            break;
        }

        pool->threads_n++;
    }

    if (pool->threads_n != conf->connections) {
        snprintf(error, CO_POOL_ERROR_LEN, "cannot start %d threads",
                 conf->connections);
        co_pool_close(pool);
        return NULL;
    }

    return pool;
}


void
co_pool_close(co_pool_t *pool)
{
    int  i;

    pthread_mutex_lock(&pool->mutex);
    pool->closing = 1;
    pthread_cond_broadcast(&pool->wanted);
    pthread_mutex_unlock(&pool->mutex);

    for (i = 0; i < pool->threads_n; i++) {
        pthread_join(pool->threads[i], NULL);
    }

    pthread_cond_destroy(&pool->wanted);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}


int
co_pool_submit(co_pool_t *pool, co_pool_job_t *job, int exempt)
{
    int  full;

    job->submitted_us = co_steady_us();
    job->next = NULL;

    pthread_mutex_lock(&pool->mutex);

    full = !exempt && pool->waiting >= pool->conf->queue;

    if (full) {
        pool->refused++;

    } else {
        *pool->last = job;
        pool->last = &job->next;
        pool->waiting++;
        pthread_cond_signal(&pool->wanted);
    }

    pthread_mutex_unlock(&pool->mutex);

    return full ? -1 : 0;
}


static void *
co_pool_thread(void *data)
{
    co_pool_t      *pool = data;
    co_lease_t      lease = { NULL, 0, NULL, { 0 } };
    co_pool_job_t  *job;

    mysql_thread_init();

    for ( ;; ) {
        pthread_mutex_lock(&pool->mutex);

        while (pool->first == NULL && !pool->closing) {
            pthread_cond_wait(&pool->wanted, &pool->mutex);
        }

        job = pool->first;

        if (job != NULL) {
            pool->first = job->next;
            pool->last = pool->first == NULL ? &pool->first : pool->last;
            pool->waiting--;
            pool->busy++;
        }

        pthread_mutex_unlock(&pool->mutex);

        if (job == NULL) {
            break;
        }

        co_pool_work(pool, &lease, job);
    }

    co_pool_disconnect(&lease);
    co_sql_free(&lease.sql);
    mysql_thread_end();

    return NULL;
}


/* Runs a job until it is done; rolls back before each further attempt. */
static void
co_pool_work(co_pool_t *pool, co_lease_t *lease, co_pool_job_t *job)
{
    int             tries, retry;
    char            text[CO_POOL_TEXT_LEN];
    int64_t         began, ended, until;
    uint64_t        again = 0, lost = 0;
    unsigned        error;
    co_pool_tag_t  *tag = &pool->tags[job->tag];

    lease->tag = co_pool_tag_names[job->tag];
    began = co_steady_us();
    until = began + pool->conf->patience_ms * 1000;
    text[0] = '\0';

    for (tries = 1; /* void */; tries++) {

        if (!lease->connected && co_pool_connect(pool, lease) != 0) {
            error = co_pool_error(lease, text);

        } else if (job->run(job, lease) == CO_JOB_DONE) {
            error = 0;
            break;

        } else {
            error = co_pool_error(lease, text);
        }

        if (lease->mysql == NULL) {
            break;
        }

        pthread_mutex_lock(&pool->mutex);
        retry = !pool->closing && co_steady_us() < until
                && tries < CO_POOL_TRIES_MAX;
        pthread_mutex_unlock(&pool->mutex);

        if (co_pool_lost(error)) {
            co_pool_disconnect(lease);
            lost++;

            if (!retry) {
                break;
            }

            usleep(CO_POOL_PAUSE_US);
            continue;
        }

        if (co_pool_rollback(lease) != 0) {
            co_pool_disconnect(lease);
        }

        if (!co_pool_transient(error) || !retry) {
            break;
        }

        again++;
    }

    ended = co_steady_us();

    pthread_mutex_lock(&pool->mutex);

    pool->busy--;
    pool->lost += lost;
    tag->count++;
    tag->again += again;
    tag->held_us += ended - began;
    co_histogram_add(&tag->hold, ended - began);
    co_histogram_add(&tag->wait, began - job->submitted_us);

    pthread_mutex_unlock(&pool->mutex);

    job->end(job, error, text);
}


/* Returns why a job failed, never 0: not every failure is the server's. */
static unsigned
co_pool_error(co_lease_t *lease, char *text)
{
    unsigned     error = CR_OUT_OF_MEMORY;
    const char  *why = "out of memory";

    if (lease->mysql != NULL) {
        error = mysql_errno(lease->mysql);
        why = mysql_error(lease->mysql);

        if (error == 0) {
            error = CR_UNKNOWN_ERROR;
            why = "out of memory, or too many attempts";
        }
    }

    snprintf(text, CO_POOL_TEXT_LEN, "%s", why);

    return error;
}


static int
co_pool_connect(co_pool_t *pool, co_lease_t *lease)
{
    unsigned               connect_s = CO_POOL_CONNECT_S;
    unsigned               read_s = CO_POOL_READ_S;
    const co_pool_conf_t  *conf = pool->conf;

    co_pool_disconnect(lease);

    lease->mysql = mysql_init(NULL);
    if (lease->mysql == NULL) {
        return -1;
    }

    mysql_options(lease->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_options(lease->mysql, MYSQL_OPT_READ_TIMEOUT, &read_s);
    mysql_options(lease->mysql, MYSQL_OPT_WRITE_TIMEOUT, &read_s);
    mysql_options(lease->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");

    if (conf->defaults_file != NULL) {
        mysql_options(lease->mysql, MYSQL_READ_DEFAULT_FILE,
                      conf->defaults_file);
    }

    if (mysql_real_connect(lease->mysql, conf->host, conf->user, NULL,
                           conf->database, conf->port, conf->socket,
                           CLIENT_MULTI_STATEMENTS)
        == NULL)
    {
        return -1;
    }

    co_sql_begin(&lease->sql, co_pool_tag_names[CO_TAG_ADMIN]);
    co_sql_statement(&lease->sql, "SET SESSION TRANSACTION ISOLATION LEVEL"
                     " READ COMMITTED");
    co_sql_statement(&lease->sql, "SET SESSION innodb_lock_wait_timeout = %d",
                     CO_POOL_LOCK_WAIT_S);

    lease->connected = co_sql_run(&lease->sql, lease->mysql, NULL, NULL) == 0;

    return lease->connected ? 0 : -1;
}


static void
co_pool_disconnect(co_lease_t *lease)
{
    if (lease->mysql != NULL) {
        mysql_close(lease->mysql);
        lease->mysql = NULL;
    }

    lease->connected = 0;
}


static int
co_pool_lost(unsigned error)
{
    switch (error) {

    case CR_CONNECTION_ERROR:
    case CR_UNKNOWN_HOST:
    case CR_CONN_HOST_ERROR:
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_CONNECTION_KILLED:
        return 1;

    default:
        return 0;
    }
}


static int
co_pool_transient(unsigned error)
{
    return error == ER_LOCK_DEADLOCK || error == ER_LOCK_WAIT_TIMEOUT
           || error == ER_QUERY_INTERRUPTED;
}


void
co_pool_begin(co_lease_t *lease)
{
    co_sql_begin(&lease->sql, lease->tag);
    co_sql_statement(&lease->sql, "START TRANSACTION");
}


co_job_result_e
co_pool_commit(co_lease_t *lease)
{
    co_sql_statement(&lease->sql, "COMMIT");

    return co_sql_run(&lease->sql, lease->mysql, NULL, NULL) == 0
           ? CO_JOB_DONE : CO_JOB_AGAIN;
}


unsigned
co_pool_rollback(co_lease_t *lease)
{
    co_sql_begin(&lease->sql, lease->tag);
    co_sql_statement(&lease->sql, "ROLLBACK");

    return co_sql_run(&lease->sql, lease->mysql, NULL, NULL);
}


unsigned
co_pool_once(co_pool_t *pool, co_pool_job_t *job, char *error)
{
    unsigned    rc;
    co_lease_t  lease = { NULL, 0, NULL, { 0 } };

    rc = 0;
    lease.tag = co_pool_tag_names[job->tag];

    if (co_pool_connect(pool, &lease) != 0
        || job->run(job, &lease) != CO_JOB_DONE)
    {
        rc = co_pool_error(&lease, error);
    }

    co_pool_disconnect(&lease);
    co_sql_free(&lease.sql);

    return rc;
}


json_t *
co_pool_report(co_pool_t *pool)
{
    int      i, j, order[CO_TAGS];
    int64_t  all_us = 0;
    json_t  *tags, *report;

    tags = json_array();

    pthread_mutex_lock(&pool->mutex);

    for (i = 0; i < CO_TAGS; i++) {
        all_us += pool->tags[i].held_us;

        for (j = i; j > 0 && pool->tags[order[j - 1]].held_us
                             < pool->tags[i].held_us; j--)
        {
            order[j] = order[j - 1];
        }

        order[j] = i;
    }

    for (i = 0; i < CO_TAGS; i++) {
        if (pool->tags[order[i]].count != 0) {
            json_array_append_new(tags,
                co_pool_tag_report(&pool->tags[order[i]],
                                   co_pool_tag_names[order[i]], all_us));
        }
    }

    report = json_pack("{s:i, s:i, s:i, s:i, s:I, s:I, s:f, s:o}",
        "size", pool->conf->connections,
        "busy", pool->busy,
        "waiting", pool->waiting,
        "queue", pool->conf->queue,
        "refused", (json_int_t) pool->refused,
        "lost", (json_int_t) pool->lost,
        "busy_share", (double) all_us
                      / ((double) (co_steady_us() - pool->opened_us)
                         * pool->conf->connections),
        "holders", tags);

    pthread_mutex_unlock(&pool->mutex);

    return report;
}


static json_t *
co_pool_tag_report(const co_pool_tag_t *tag, const char *name, int64_t all_us)
{
    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
        "conn_tag", name,
        "count", (json_int_t) tag->count,
        "again", (json_int_t) tag->again,
        "total_ms", (double) tag->held_us / 1000,
        "share", all_us != 0 ? (double) tag->held_us / (double) all_us : 0.0,
        "p50_ms", (double) co_histogram_percentile(&tag->hold, 50) / 1000,
        "p99_ms", (double) co_histogram_percentile(&tag->hold, 99) / 1000,
        "max_ms", (double) tag->hold.max / 1000,
        "wait_p50_ms", (double) co_histogram_percentile(&tag->wait, 50) / 1000,
        "wait_p99_ms", (double) co_histogram_percentile(&tag->wait, 99)
                       / 1000);
}
