/*
 * The stats that name the process which holds the connections.
 */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define CONNECTIONS  64


typedef struct {
    struct event_base  *base;
    co_store_t         *store;
    int64_t             until_us;
    int                 busy;
    int64_t             reserved;
    co_histogram_t      latency;
} co_holders_run_t;


typedef struct {
    co_holders_run_t   *run;
    co_store_call_t     call;
    co_hold_t           hold;
    co_order_t          order;
    int64_t             began_us;
} co_holders_shopper_t;


static void co_holders_reserved(void *data, co_store_result_e result);
static void co_holders_claimed(void *data, co_store_result_e result);


static void
co_holders_next(co_holders_shopper_t *shopper)
{
    co_holders_run_t  *run = shopper->run;

    shopper->began_us = co_steady_us();

    if (shopper->began_us >= run->until_us) {
        if (--run->busy == 0) {
            event_base_loopexit(run->base, NULL);
        }

        return;
    }

    co_hold_new(&shopper->hold, 600000);
    co_store_reserve(run->store, &shopper->call, &shopper->hold,
                     &co_bench_one_unit, co_holders_reserved, shopper);
}


static void
co_holders_reserved(void *data, co_store_result_e result)
{
    co_holders_shopper_t  *shopper = data;

    if (result != CO_STORE_OK) {
        co_holders_next(shopper);
        return;
    }

    shopper->run->reserved++;
    co_histogram_add(&shopper->run->latency,
                     co_steady_us() - shopper->began_us);

    snprintf(shopper->order.id, sizeof(shopper->order.id), "FT-%.16s",
             shopper->hold.id + 10);
    co_store_claim(shopper->run->store, &shopper->call, &shopper->hold,
                   &shopper->order, co_holders_claimed, shopper);
}


static void
co_holders_claimed(void *data, co_store_result_e result)
{
    (void) result;
    co_holders_next(data);
}


static void
co_holders_print(const json_t *connections)
{
    size_t   index;
    json_t  *holder, *list;

    list = json_object_get(connections, "holders");

    printf("%-22s %8s %10s %7s %8s %8s %9s %9s\n", "conn_tag", "count",
           "held ms", "share", "p50 ms", "p99 ms", "wait p50", "wait p99");

    json_array_foreach(list, index, holder) {
        printf("%-22s %8lld %10.0f %6.1f%% %8.2f %8.2f %9.2f %9.2f\n",
               json_string_value(json_object_get(holder, "conn_tag")),
               (long long) json_integer_value(json_object_get(holder,
                                                              "count")),
               json_real_value(json_object_get(holder, "total_ms")),
               json_real_value(json_object_get(holder, "share")) * 100,
               json_real_value(json_object_get(holder, "p50_ms")),
               json_real_value(json_object_get(holder, "p99_ms")),
               json_real_value(json_object_get(holder, "wait_p50_ms")),
               json_real_value(json_object_get(holder, "wait_p99_ms")));
    }
}


static double
co_holders_report_ms(const json_t *connections)
{
    size_t   index;
    json_t  *holder, *list;

    list = json_object_get(connections, "holders");

    json_array_foreach(list, index, holder) {
        if (strcmp(json_string_value(json_object_get(holder, "conn_tag")),
                   co_pool_tag_name(CO_TAG_REPORT))
            == 0)
        {
            return json_real_value(json_object_get(holder, "p50_ms"));
        }
    }

    return 0;
}


typedef struct {
    char    first[64];                           /* the largest holder */
    double  rate;                                /* reservations a second */
    double  p99_ms;
    double  report_ms;
} co_holders_result_t;


static void
co_holders_sale(co_bench_t *bench, int64_t report_ms,
    co_holders_result_t *result)
{
    int                    i;
    char                   spec[600], error[CO_STORE_ERROR_LEN];
    json_t                *report, *connections;
    co_holders_run_t      *run;
    co_store_conf_t        conf = { .stock = CO_BENCH_STOCK, .items = 1,
                                    .locations = 2,
                                    .slow_report_ms = report_ms };
    co_store_found_t       found;
    co_holders_shopper_t  *shoppers;

    memcpy(spec, "mysql:", 6);
    co_bench_place(bench, spec + 6, sizeof(spec) - 6, "flash_throttle",
                   "connections=8");
    conf.spec = spec;

    run = calloc(1, sizeof(*run));
    shoppers = calloc(CONNECTIONS, sizeof(*shoppers));
    run->base = event_base_new();
    run->store = co_store_open(run->base, &conf, &found, error);

    if (run->store == NULL) {
        fprintf(stderr, "inventory: %s\n", error);
        exit(1);
    }

    run->busy = CONNECTIONS;
    run->until_us = co_steady_us() + (int64_t) (bench->seconds * 1e6);

    for (i = 0; i < CONNECTIONS; i++) {
        shoppers[i].run = run;
        co_holders_next(&shoppers[i]);
    }

    event_base_dispatch(run->base);

    report = co_store_report(run->store);
    connections = json_object_get(report, "connections");
    result->rate = (double) run->reserved / bench->seconds;
    result->report_ms = co_holders_report_ms(connections);
    result->p99_ms = (double) co_histogram_percentile(&run->latency, 99)
                      / 1000;

    co_holders_print(connections);
    snprintf(result->first, sizeof(result->first), "%s",
             json_string_value(json_object_get(json_array_get(
                 json_object_get(connections, "holders"), 0), "conn_tag")));
    printf("%.0f reservations a second, p50 %.1f ms, p99 %.1f ms; connections"
           " busy %.0f %%\n\n", result->rate,
           (double) co_histogram_percentile(&run->latency, 50) / 1000,
           result->p99_ms,
           json_real_value(json_object_get(connections, "busy_share")) * 100);

    json_decref(report);
    co_store_close(run->store);
    event_base_free(run->base);
    free(shoppers);
    free(run);
}


int
co_bench_holders(co_bench_t *bench)
{
    int                  failed = 0;
    co_holders_result_t  slow, mended;

    printf("== holders of 8 connections, %d shoppers; after each order a"
           " report keeps\n   its connection for 25 ms after its query\n\n",
           CONNECTIONS);
    co_holders_sale(bench, 25, &slow);

    printf("the report returns its connection after the query:\n\n");
    co_holders_sale(bench, CO_REPORT_MENDED, &mended);

    failed |= co_bench_must(slow.report_ms >= 25, "the slow report holds a"
                            " connection for %.1f ms", slow.report_ms);
    failed |= co_bench_figure(bench, strcmp(slow.first, "sales_report") == 0,
                              "the slow report is the largest holder");
    failed |= co_bench_figure(bench, mended.rate > 2 * slow.rate,
                              "without the fault: %.1f times the reservations,"
                              " p99 %.1f ms instead of %.1f ms",
                              mended.rate / slow.rate, mended.p99_ms,
                              slow.p99_ms);

    return failed;
}
