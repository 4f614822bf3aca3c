/*
 * The store in MySQL (8 or newer) or MariaDB (10.6 or newer): its options, and
 * calls as jobs of a pool of connections.
 */

#include "mysql_store.h"
#include "mysql_call.h"
#include "mysql_reserve.h"
#include "mysql_schema.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define CO_MYSQL_SYNTAX                                                       \
    "give mysql:NAME=VALUE;... with socket or host, port, user, database,"    \
    " defaults (an option file with the password), shop, connections, queue," \
    " pool, low, patience_ms, work_us"


typedef struct {
    const char  *name;
    int          number;                         /* 0: text */
    size_t       offset;
    int64_t      initial;
    int64_t      min;
    int64_t      max;
} co_mysql_option_t;


typedef struct {
    char        *host;
    char        *socket;
    char        *user;
    char        *database;
    char        *defaults_file;
    int64_t      port;
    int64_t      shop;
    int64_t      connections;
    int64_t      queue;
    int64_t      pool_units;
    int64_t      low_units;
    int64_t      patience_ms;
    int64_t      work_us;
} co_mysql_conf_t;


static const co_mysql_option_t  co_mysql_options[] = {
    { "host", 0, offsetof(co_mysql_conf_t, host), 0, 0, 0 },
    { "socket", 0, offsetof(co_mysql_conf_t, socket), 0, 0, 0 },
    { "user", 0, offsetof(co_mysql_conf_t, user), 0, 0, 0 },
    { "database", 0, offsetof(co_mysql_conf_t, database), 0, 0, 0 },
    { "defaults", 0, offsetof(co_mysql_conf_t, defaults_file), 0, 0, 0 },
    { "port", 1, offsetof(co_mysql_conf_t, port), 0, 1, 65535 },
    { "shop", 1, offsetof(co_mysql_conf_t, shop), 1, 1, 1000000000 },
    { "connections", 1, offsetof(co_mysql_conf_t, connections), 16, 1, 1000 },
    { "queue", 1, offsetof(co_mysql_conf_t, queue), 2000, 0, 1000000 },
    { "pool", 1, offsetof(co_mysql_conf_t, pool_units), 1000, 1, 10000 },
    { "low", 1, offsetof(co_mysql_conf_t, low_units), 500, 0, 10000 },
    { "patience_ms", 1, offsetof(co_mysql_conf_t, patience_ms), 30000, 0,
      600000 },
    { "work_us", 1, offsetof(co_mysql_conf_t, work_us), 0, 0, 1000000 },
};

#define CO_MYSQL_OPTIONS_N                                                    \
    (sizeof(co_mysql_options) / sizeof(co_mysql_options[0]))


static int co_mysql_check(const char *place, char *error);
static void *co_mysql_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error);
static void co_mysql_submit(void *backend, co_store_call_t *call);
static void co_mysql_close(void *backend);
static json_t *co_mysql_report(void *backend);
static int co_mysql_conf_parse(co_mysql_conf_t *parsed, const char *place,
    char *error);
static int co_mysql_conf_set(co_mysql_conf_t *parsed, const char *name,
    const char *value, char *error);
static void co_mysql_conf_free(co_mysql_conf_t *parsed);
static void co_mysql_end(co_pool_job_t *job, unsigned error,
    const char *text);
static void co_mysql_slow_report(co_mysql_t *mysql);


const co_store_backend_t  co_store_mysql = {
    .scheme = "mysql",
    .example = "mysql:socket=PATH;user=NAME;database=NAME",
    .shared = 1,
    .check = co_mysql_check,
    .open = co_mysql_open,
    .submit = co_mysql_submit,
    .close = co_mysql_close,
    .report = co_mysql_report
};


typedef struct {
    co_tag_e          tag;
    int               exempt;                    /* from the queue limit */
    co_job_result_e (*run)(co_pool_job_t *job, co_lease_t *lease);
    const char       *name;
} co_mysql_action_t;

static const co_mysql_action_t  co_mysql_actions[CO_STORE_ACTIONS] = {
    [CO_STORE_RESERVE] = { CO_TAG_RESERVE, 0, co_mysql_reserve, "reserve" },
    [CO_STORE_APPLY] = { CO_TAG_RESERVE, 1, co_mysql_call_apply, "apply" },
    [CO_STORE_CLAIM] = { CO_TAG_CLAIM, 1, co_mysql_call_claim, "claim" },
    [CO_STORE_RELEASE] = { CO_TAG_RELEASE, 1, co_mysql_call_release,
                           "release" },
    [CO_STORE_EXPIRE] = { CO_TAG_EXPIRE, 1, co_mysql_call_expire, "expire" },
    [CO_STORE_LOOK] = { CO_TAG_LOOK, 0, co_mysql_call_look, "look" },
    [CO_STORE_SELL] = { CO_TAG_CLAIM, 1, co_mysql_call_sell, "sell" },
    [CO_STORE_RESET] = { CO_TAG_ADMIN, 1, co_mysql_call_reset, "reset" },
    [CO_STORE_COUNT] = { CO_TAG_COUNT, 1, co_mysql_call_count, "count" }
};


static int
co_mysql_check(const char *place, char *error)
{
    int              rc;
    co_mysql_conf_t  parsed;

    rc = co_mysql_conf_parse(&parsed, place, error);
    co_mysql_conf_free(&parsed);

    return rc;
}


/* Returns 0, or -1 with the error; "parsed" must be freed in both cases. */
static int
co_mysql_conf_parse(co_mysql_conf_t *parsed, const char *place, char *error)
{
    int     rc = 0;
    char   *copy, *name, *value, *rest;
    size_t  i;

    memset(parsed, 0, sizeof(*parsed));

    for (i = 0; i < CO_MYSQL_OPTIONS_N; i++) {
        if (co_mysql_options[i].number) {
            *(int64_t *) ((char *) parsed + co_mysql_options[i].offset)
                = co_mysql_options[i].initial;
        }
    }

    copy = strdup(place);
    if (copy == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return -1;
    }

    for (name = strtok_r(copy, ";", &rest); name != NULL && rc == 0;
         name = strtok_r(NULL, ";", &rest))
    {
        value = strchr(name, '=');

        if (value == NULL) {
            snprintf(error, CO_STORE_ERROR_LEN, "\"%s\" has no value; "
                     CO_MYSQL_SYNTAX, name);
            rc = -1;

        } else {
            *value++ = '\0';
            rc = co_mysql_conf_set(parsed, name, value, error);
        }
    }

    free(copy);

    if (rc == 0 && parsed->socket == NULL && parsed->host == NULL
        && parsed->defaults_file == NULL)
    {
        snprintf(error, CO_STORE_ERROR_LEN, "socket, host or defaults is"
                 " missing; " CO_MYSQL_SYNTAX);
        rc = -1;
    }

    if (rc == 0 && parsed->low_units > parsed->pool_units) {
        snprintf(error, CO_STORE_ERROR_LEN, "low=%lld is more than pool=%lld",
                 (long long) parsed->low_units,
                 (long long) parsed->pool_units);
        rc = -1;
    }

    return rc;
}


static int
co_mysql_conf_set(co_mysql_conf_t *parsed, const char *name,
    const char *value, char *error)
{
    char                     *end, **text;
    size_t                    i;
    int64_t                   number;
    const co_mysql_option_t  *option;

    for (i = 0; i < CO_MYSQL_OPTIONS_N; i++) {
        if (strcmp(name, co_mysql_options[i].name) == 0) {
            break;
        }
    }

    if (i == CO_MYSQL_OPTIONS_N || *value == '\0') {
        snprintf(error, CO_STORE_ERROR_LEN, "\"%s\" is unknown or empty; "
                 CO_MYSQL_SYNTAX, name);
        return -1;
    }

    option = &co_mysql_options[i];

    if (!option->number) {
        text = (char **) ((char *) parsed + option->offset);
        free(*text);
        *text = strdup(value);
        return 0;
    }

    errno = 0;
    number = strtoll(value, &end, 10);

    if (*end != '\0' || errno != 0 || number < option->min
        || number > option->max)
    {
        snprintf(error, CO_STORE_ERROR_LEN, "%s=%s: give a whole number from"
                 " %lld to %lld", name, value, (long long) option->min,
                 (long long) option->max);
        return -1;
    }

    *(int64_t *) ((char *) parsed + option->offset) = number;

    return 0;
}


static void
co_mysql_conf_free(co_mysql_conf_t *parsed)
{
    free(parsed->host);
    free(parsed->socket);
    free(parsed->user);
    free(parsed->database);
    free(parsed->defaults_file);
}


static void *
co_mysql_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error)
{
    co_mysql_t      *mysql;
    co_pool_conf_t  *pool;
    co_mysql_conf_t  parsed;

    if (co_mysql_conf_parse(&parsed, place, error) != 0) {
        co_mysql_conf_free(&parsed);
        return NULL;
    }

    mysql = calloc(1, sizeof(*mysql));
    if (mysql == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_mysql_conf_free(&parsed);
        return NULL;
    }

    pool = &mysql->pool_conf;
    pool->host = parsed.host;
    pool->socket = parsed.socket;
    pool->user = parsed.user;
    pool->database = parsed.database;
    pool->defaults_file = parsed.defaults_file;
    pool->port = (unsigned) parsed.port;
    pool->connections = (int) parsed.connections;
    pool->queue = (int) parsed.queue;
    pool->patience_ms = parsed.patience_ms;

    mysql->port = port;
    mysql->shop = (int) parsed.shop;
    mysql->items = conf->items;
    mysql->locations = conf->locations;
    mysql->pool_units = parsed.pool_units;
    mysql->low_units = parsed.low_units;
    mysql->work_us = parsed.work_us;
    mysql->report_ms = conf->slow_report_ms;

    mysql->levels = calloc((size_t) conf->items * (size_t) conf->locations,
                           sizeof(co_mysql_level_t));
    if (mysql->levels == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_mysql_close(mysql);
        return NULL;
    }

    mysql->pool = co_pool_open(pool, error);

    if (mysql->pool == NULL
        || co_mysql_schema_open(mysql, conf, found, error) != 0)
    {
        co_mysql_close(mysql);
        return NULL;
    }

    return mysql;
}


static void
co_mysql_close(void *backend)
{
    co_mysql_t      *mysql = backend;
    co_pool_conf_t  *conf = &mysql->pool_conf;

    if (mysql->pool != NULL) {
        co_pool_close(mysql->pool);
    }

    free(conf->host);
    free(conf->socket);
    free(conf->user);
    free(conf->database);
    free(conf->defaults_file);
    free(mysql->levels);
    free(mysql);
}


static void
co_mysql_submit(void *backend, co_store_call_t *call)
{
    co_mysql_t               *mysql = backend;
    co_mysql_job_t           *job;
    const co_mysql_action_t  *action;

    action = &co_mysql_actions[call->action];

    job = malloc(sizeof(*job));
    if (job == NULL) {
        co_store_answer(mysql->port, call);
        return;
    }

    job->job.tag = action->tag;
    job->job.run = action->run;
    job->job.end = co_mysql_end;
    job->mysql = mysql;
    job->call = call;

    if (co_hold_new(&job->hold, 0) != 0) {
        free(job);
        co_store_answer(mysql->port, call);
        return;
    }

    if (co_pool_submit(mysql->pool, &job->job, action->exempt) != 0) {
        free(job);
        call->result = CO_STORE_BUSY;
        co_store_answer(mysql->port, call);
    }
}


static void
co_mysql_end(co_pool_job_t *job, unsigned error, const char *text)
{
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    if (error != 0) {
        fprintf(stderr, "checkout: store: %s: %s (%u)\n",
                co_mysql_actions[call->action].name, text, error);
        call->result = CO_STORE_FAILED;
        call->stock_known = 0;
    }

    if (call->action == CO_STORE_CLAIM && call->result == CO_STORE_OK
        && mysql->report_ms != 0)
    {
        co_mysql_slow_report(mysql);
    }

    free(job);
    co_store_answer(mysql->port, call);
}


static co_job_result_e
co_mysql_report_run(co_pool_job_t *job, co_lease_t *lease)
{
    co_sql_t    *sql = &lease->sql;
    co_mysql_t  *mysql = job->data;

    co_sql_begin(sql, lease->tag);
    co_sql_statement(sql, "SELECT COUNT(*), SUM(quantity) FROM orders"
                     " WHERE shop = %d", mysql->shop);

    if (co_sql_run(sql, lease->mysql, NULL, NULL) != 0) {
        return CO_JOB_AGAIN;
    }

    if (mysql->report_ms != CO_REPORT_MENDED) {

        /* the fault: the connection is idle and not returned */
        usleep((useconds_t) mysql->report_ms * 1000);
    }

    return CO_JOB_DONE;
}


static void
co_mysql_report_end(co_pool_job_t *job, unsigned error, const char *text)
{
    (void) error;
    (void) text;

    free(job);
}


/*
 * --slow-report: after an order, a report that keeps its connection too long,
 * as an example for the stats of the pool.  Skipped if the queue is full.
 */
static void
co_mysql_slow_report(co_mysql_t *mysql)
{
    co_pool_job_t  *job;

    job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return;
    }

    job->tag = CO_TAG_REPORT;
    job->run = co_mysql_report_run;
    job->end = co_mysql_report_end;
    job->data = mysql;

    if (co_pool_submit(mysql->pool, job, 0) != 0) {
        free(job);
    }
}


static json_t *
co_mysql_report(void *backend)
{
    co_mysql_t  *mysql = backend;

    return json_pack("{s:I, s:o}",
        "pool_fills", (json_int_t) mysql->fills_ended,
        "connections", co_pool_report(mysql->pool));
}
