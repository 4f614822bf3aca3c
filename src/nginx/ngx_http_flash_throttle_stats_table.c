
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_stats_table.h"


#define GAUGE    ngx_http_flash_throttle_stats_gauge
#define FLAG     ngx_http_flash_throttle_stats_flag
#define COUNTER  ngx_http_flash_throttle_stats_counter

#define MEMBER(type, member)                                                  \
    sizeof(((type *) 0)->member), offsetof(type, member)

#define ZONE(member)                                                          \
    MEMBER(ngx_http_flash_throttle_stats_zone_t, member)

#define NOW(member)                                                           \
    MEMBER(ngx_http_flash_throttle_stats_key_t, now.member)

#define TOTAL(member)                                                         \
    MEMBER(ngx_http_flash_throttle_stats_key_t, totals.member)


ngx_http_flash_throttle_stats_metric_t
    ngx_http_flash_throttle_stats_table_zone[] =
{

    { "rate_milli", "zone_rate_limit", GAUGE, 1000, ZONE(limits.rate_milli),
      "Configured admissions per second, 0: none." },

    { "period_ms", "zone_period_seconds", GAUGE, 1000,
      ZONE(limits.period_ms),
      "Accounting period of the zone." },

    { "burst", "zone_burst", GAUGE, 1, ZONE(limits.burst),
      "Admissions that the zone allows at one instant." },

    { "inflight_max", "zone_inflight_limit", GAUGE, 1, ZONE(limits.inflight),
      "Limit of requests at the upstream, 0: none." },

    { "sessions_max", "zone_sessions_limit", GAUGE, 1, ZONE(limits.sessions),
      "Limit of valid passes, 0: none." },

    { "keys_max", "zone_keys_limit", GAUGE, 1, ZONE(keys_max),
      "Keys that fit into the zone." },

    { NULL, NULL, GAUGE, 0, 0, 0, NULL }
};


ngx_http_flash_throttle_stats_metric_t
    ngx_http_flash_throttle_stats_table_key[] =
{

    { "waiting", "waiting", GAUGE, 1, NOW(waiting),
      "Waiting shoppers, including called and held." },

    { "called", "called", GAUGE, 1, NOW(called),
      "Called shoppers who are not back yet." },

    { "held", "held", GAUGE, 1, NOW(held),
      "Requests held at the edge now." },

    { "fresh", "fresh", GAUGE, 1, NOW(fresh),
      "First attempts whose ticket is not back yet." },

    { "inflight", "inflight", GAUGE, 1, NOW(inflight),
      "Requests at the upstream now." },

    { "sessions", "sessions", GAUGE, 1, NOW(sessions),
      "Passes that are valid now." },

    { "queueing", "queueing", FLAG, 1, NOW(queueing),
      "1 while new shoppers have to wait." },

    { "threshold_ms", "threshold_timestamp_seconds", GAUGE, 1000,
      NOW(threshold_ms),
      "Threshold, as a UNIX timestamp." },

    { "threshold_age_ms", "threshold_age_seconds", GAUGE, 1000,
      NOW(threshold_age_ms),
      "Age of the threshold." },

    { "wait_ms", "wait_estimate_seconds", GAUGE, 1000, NOW(wait_ms),
      "Estimated wait of a new shopper." },

    { "free_capacity_milli", "free_capacity", GAUGE, 1000,
      NOW(free_capacity_milli),
      "Admissions that all limits allow now." },

    { "flow_milli", "flow", GAUGE, 1000, NOW(flow_milli),
      "Admissions per second that the upstream takes." },

    { "show_up_milli", "show_up_ratio", GAUGE, 1000, NOW(show_up_milli),
      "Share of called shoppers who come." },

    { "admitted_last_period", "admitted_last_period", GAUGE, 1,
      NOW(admitted_last_period),
      "Admissions in the last complete period." },

    { "paused", "paused", FLAG, 1, NOW(paused),
      "1 while the operator has paused admissions." },

    { "sold_out", "all_sold", FLAG, 1, NOW(sold_out),
      "1 while the key is sold out." },

    { "rate_now_milli", "rate", GAUGE, 1000, NOW(rate_milli),
      "Rate in force, admissions per second, 0: none." },

    { "rate_override_milli", "rate_override", GAUGE, 1000,
      NOW(rate_override_milli),
      "Rate set by the operator, 0: none." },

    { "rate_upstream_milli", "rate_upstream", GAUGE, 1000,
      NOW(rate_upstream_milli),
      "Rate set by the upstream, 0: none." },

    { "opens_ms", "opens_timestamp_seconds", GAUGE, 1000, NOW(opens_ms),
      "When the sale opens, 0: it is open." },

    { "opened_ms", "opened_timestamp_seconds", GAUGE, 1000, NOW(opened_ms),
      "When the operator opened, 0: not." },

    { "adapt_inflight", "adapt_inflight_limit", GAUGE, 1, NOW(adapt_inflight),
      "In-flight limit of adaptation, 0: off." },

    { "adapt_rate_milli", "adapt_rate", GAUGE, 1000, NOW(adapt_rate_milli),
      "Admissions per second under adaptation, 0: off." },

    { "answer_ms", "adapt_answer_seconds", GAUGE, 1000, NOW(answer_ms),
      "Mean response time measured by adaptation." },

    { "answers_milli", "adapt_answers", GAUGE, 1000, NOW(answers_milli),
      "Responses per second measured by adaptation." },

    { "answer_errors_milli", "adapt_errors_ratio", GAUGE, 1000,
      NOW(answer_errors_milli),
      "Share of errors measured by adaptation." },

    { "first_attempts", "first_attempts_total", COUNTER, 1,
      TOTAL(first_attempts),
      "Requests without a valid ticket or pass." },

    { "polls", "polls_total", COUNTER, 1, TOTAL(polls),
      "Requests with a valid ticket." },

    { "admitted", "admitted_total", COUNTER, 1, TOTAL(admitted),
      "Admitted requests." },

    { "queued", "queued_total", COUNTER, 1, TOTAL(queued),
      "Requests that had to wait." },

    { "held_total", "holds_total", COUNTER, 1, TOTAL(held),
      "Requests held at the edge." },

    { "turned_back", "turned_back_total", COUNTER, 1, TOTAL(turned_back),
      "Called requests without capacity or hold." },

    { "rejected", "rejected_total", COUNTER, 1, TOTAL(rejected),
      "Refused requests." },

    { "sold_out_total", "sold_out_total", COUNTER, 1, TOTAL(sold_out),
      "Requests answered with sold out." },

    { "closed_total", "closed_total", COUNTER, 1, TOTAL(closed),
      "Requests before the opening." },

    { "passed", "passed_total", COUNTER, 1, TOTAL(passed),
      "Requests with a valid pass." },

    { "done", "done_total", COUNTER, 1, TOTAL(done),
      "Requests completed at the upstream." },

    { "errors", "errors_total", COUNTER, 1, TOTAL(errors),
      "Requests that failed at the upstream." },

    { "left", "left_total", COUNTER, 1, TOTAL(left),
      "Held requests whose client left." },

    { "no_shows", "no_shows_total", COUNTER, 1, TOTAL(no_shows),
      "Called shoppers who did not come." },

    { "expired", "expired_total", COUNTER, 1, TOTAL(expired),
      "Shoppers who left before they were called." },

    { "spent", "spent_total", COUNTER, 1, TOTAL(spent),
      "Passes declared done before they expired." },

    { "waited_ms", "waited_seconds_total", COUNTER, 1000, TOTAL(waited_ms),
      "Sum of the waits of admitted shoppers." },

    { NULL, NULL, GAUGE, 0, 0, 0, NULL }
};


ngx_int_t
ngx_http_flash_throttle_stats_table_read_key(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, uint64_t now_ms,
    ngx_http_flash_throttle_stats_key_t *key)
{
    uint64_t          *to;
    ft_call_t          call;
    _Atomic uint64_t  *from;

    key->state = ft_zone_state(zone->sh, i);

    if (key->state == NULL || !zone->used) {
        return NGX_DECLINED;
    }

    key->time_ms = now_ms;
    key->key_len = ft_zone_key(zone->sh, i, (char *) key->key);

    ngx_http_flash_throttle_call(zone, key->state, &zone->rules, now_ms, &call);

    key->now = ft_stats_read(&call);

    if (zone->adapt) {
        ft_stats_adapt(key->state, zone->adapt, &zone->limits, &key->now);
    }

    /* ft_totals_t has no other members than counters of 64 bits */

    to = (uint64_t *) &key->totals;
    from = (_Atomic uint64_t *) &key->state->totals;

    for (i = 0; i < sizeof(ft_totals_t) / sizeof(uint64_t); i++) {
        to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
    }

    return NGX_OK;
}


void
ngx_http_flash_throttle_stats_table_read_zone(
    ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_stats_zone_t *stats)
{
    stats->limits = zone->limits;
    stats->keys_max = ft_zone_keys(zone->sh);
}


uint64_t
ngx_http_flash_throttle_stats_table_value(
    ngx_http_flash_throttle_stats_metric_t *m, void *stats)
{
    u_char  *p;

    p = (u_char *) stats + m->offset;

    return m->size == sizeof(uint32_t) ? *(uint32_t *) p : *(uint64_t *) p;
}
