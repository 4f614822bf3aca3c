
/*
 * Copyright (C) flash_throttle contributors
 *
 * The figures: a line for each, from which JSON and Prometheus' text are made.
 */


#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_status.h"


static u_char *ngx_http_flash_throttle_json_field(u_char *p,
    ngx_http_flash_throttle_metric_t *m, void *from);


#define GAUGE    ngx_http_flash_throttle_gauge
#define FLAG     ngx_http_flash_throttle_flag
#define COUNTER  ngx_http_flash_throttle_counter

#define LIMIT(member)                                                         \
    ngx_http_flash_throttle_of_limits,                                        \
    sizeof(((ngx_http_flash_throttle_limits_t *) 0)->member),                 \
    offsetof(ngx_http_flash_throttle_limits_t, member)

#define NOW(member)                                                           \
    ngx_http_flash_throttle_of_now,                                           \
    sizeof(((ft_stats_t *) 0)->member), offsetof(ft_stats_t, member)

#define TOTAL(member)                                                         \
    ngx_http_flash_throttle_of_totals,                                        \
    sizeof(((ft_totals_t *) 0)->member), offsetof(ft_totals_t, member)


ngx_http_flash_throttle_metric_t  ngx_http_flash_throttle_zone_table[] = {

    { "rate_milli", "zone_rate_limit", GAUGE, 1000, LIMIT(limits.rate_milli),
      "Admissions a second that the zone allows, 0 if no rate is set." },

    { "period_ms", "zone_period_seconds", GAUGE, 1000,
      LIMIT(limits.period_ms),
      "The period that the zone's rate is accounted in." },

    { "burst", "zone_burst", GAUGE, 1, LIMIT(limits.burst),
      "Admissions that the zone allows at one instant." },

    { "inflight_max", "zone_inflight_limit", GAUGE, 1, LIMIT(limits.inflight),
      "Requests that the zone allows at the upstream, 0 if no bound is set." },

    { "sessions_max", "zone_sessions_limit", GAUGE, 1, LIMIT(limits.sessions),
      "Passes that the zone allows to be alive, 0 if no bound is set." },

    { "keys_max", "zone_keys_limit", GAUGE, 1, LIMIT(keys_max),
      "Keys that fit into the zone." }
};


const ngx_uint_t  ngx_http_flash_throttle_zone_table_n =
    sizeof(ngx_http_flash_throttle_zone_table)
    / sizeof(ngx_http_flash_throttle_zone_table[0]);


ngx_http_flash_throttle_metric_t  ngx_http_flash_throttle_key_table[] = {

    { "waiting", "waiting", GAUGE, 1, NOW(waiting),
      "Shoppers who wait now, those called and held among them." },

    { "called", "called", GAUGE, 1, NOW(called),
      "Shoppers who are called and not back yet." },

    { "held", "held", GAUGE, 1, NOW(held),
      "Requests that are parked at the edge for room." },

    { "fresh", "fresh", GAUGE, 1, NOW(fresh),
      "First attempts that have not come back yet and take no place." },

    { "inflight", "inflight", GAUGE, 1, NOW(inflight),
      "Requests that are at the upstream now." },

    { "sessions", "sessions", GAUGE, 1, NOW(sessions),
      "Passes that are alive now." },

    { "queueing", "queueing", FLAG, 1, NOW(queueing),
      "Whether newcomers have to wait." },

    { "threshold_ms", "threshold_timestamp_seconds", GAUGE, 1000,
      NOW(threshold_ms),
      "The first attempt up to which shoppers are being served." },

    { "threshold_age_ms", "threshold_age_seconds", GAUGE, 1000,
      NOW(threshold_age_ms),
      "How long ago that first attempt was." },

    { "wait_ms", "wait_estimate_seconds", GAUGE, 1000, NOW(wait_ms),
      "What a newcomer would wait, estimated." },

    { "free_capacity_milli", "free_capacity", GAUGE, 1000, NOW(free_capacity_milli),
      "Admissions that there is room for at this instant." },

    { "flow_milli", "flow", GAUGE, 1000, NOW(flow_milli),
      "Admissions a second that the upstream takes." },

    { "show_up_milli", "show_up_ratio", GAUGE, 1000, NOW(show_up_milli),
      "Of the shoppers called, the share that comes." },

    { "paused", "paused", FLAG, 1, NOW(paused),
      "Whether the operator lets nobody in." },

    { "sold_out", "all_sold", FLAG, 1, NOW(sold_out),
      "Whether everybody is told that everything is sold." },

    { "rate_now_milli", "rate", GAUGE, 1000, NOW(rate_milli),
      "Admissions a second that are in force, 0 if there is no rate." },

    { "rate_override_milli", "rate_override", GAUGE, 1000,
      NOW(rate_override_milli),
      "The operator's rate in place of the zone's, 0 if there is none." },

    { "rate_upstream_milli", "rate_upstream", GAUGE, 1000,
      NOW(rate_upstream_milli),
      "The upstream's rate in place of the zone's, 0 if there is none." },

    { "opens_ms", "opens_timestamp_seconds", GAUGE, 1000, NOW(opens_ms),
      "When the sale opens, 0 if it is open." },

    { "opened_ms", "opened_timestamp_seconds", GAUGE, 1000, NOW(opened_ms),
      "When the operator opened the sale, 0 if that was not so." },

    { "adapt_inflight", "adapt_inflight_limit", GAUGE, 1, NOW(adapt_inflight),
      "Requests that adaptation allows at the upstream, 0 without it." },

    { "adapt_rate_milli", "adapt_rate", GAUGE, 1000, NOW(adapt_rate_milli),
      "Admissions a second that this comes to." },

    { "answer_ms", "adapt_answer_seconds", GAUGE, 1000, NOW(answer_ms),
      "The time of the upstream's answers that adaptation has measured." },

    { "answers_milli", "adapt_answers", GAUGE, 1000, NOW(answers_milli),
      "Answers a second that it has measured." },

    { "answer_errors_milli", "adapt_errors_ratio", GAUGE, 1000,
      NOW(answer_errors_milli),
      "Of these answers, the share of errors." },

    { "first_attempts", "first_attempts_total", COUNTER, 1,
      TOTAL(first_attempts),
      "Requests without a ticket." },

    { "polls", "polls_total", COUNTER, 1, TOTAL(polls),
      "Requests with a ticket." },

    { "admitted", "admitted_total", COUNTER, 1, TOTAL(admitted),
      "Requests that were let in." },

    { "queued", "queued_total", COUNTER, 1, TOTAL(queued),
      "Requests that were told to wait." },

    { "held_total", "holds_total", COUNTER, 1, TOTAL(held),
      "Requests that were parked at the edge." },

    { "turned_back", "turned_back_total", COUNTER, 1, TOTAL(turned_back),
      "Requests of the called for which there was neither room nor a hold." },

    { "rejected", "rejected_total", COUNTER, 1, TOTAL(rejected),
      "Requests that were refused." },

    { "sold_out_total", "sold_out_total", COUNTER, 1, TOTAL(sold_out),
      "Requests that were told that everything is sold." },

    { "closed_total", "closed_total", COUNTER, 1, TOTAL(closed),
      "Requests that came before the opening." },

    { "passed", "passed_total", COUNTER, 1, TOTAL(passed),
      "Requests with a valid pass." },

    { "done", "done_total", COUNTER, 1, TOTAL(done),
      "Requests that ended at the upstream." },

    { "errors", "errors_total", COUNTER, 1, TOTAL(errors),
      "Requests that the upstream answered with an error of its own (5xx)." },

    { "left", "left_total", COUNTER, 1, TOTAL(left),
      "Requests that went away while they were held." },

    { "no_shows", "no_shows_total", COUNTER, 1, TOTAL(no_shows),
      "Shoppers who did not come when they were called." },

    { "expired", "expired_total", COUNTER, 1, TOTAL(expired),
      "Shoppers who fell out before they were called." },

    { "spent", "spent_total", COUNTER, 1, TOTAL(spent),
      "Passes that were over before their end." },

    { "waited_ms", "waited_seconds_total", COUNTER, 1000, TOTAL(waited_ms),
      "The waits of the admitted, summed." }
};

const ngx_uint_t  ngx_http_flash_throttle_key_table_n =
    sizeof(ngx_http_flash_throttle_key_table)
    / sizeof(ngx_http_flash_throttle_key_table[0]);


uint64_t
ngx_http_flash_throttle_value(ngx_http_flash_throttle_metric_t *m, void *from)
{
    u_char  *p;

    p = (u_char *) from + m->offset;

    return m->size == sizeof(uint32_t) ? *(uint32_t *) p : *(uint64_t *) p;
}


static u_char *
ngx_http_flash_throttle_json_field(u_char *p,
    ngx_http_flash_throttle_metric_t *m, void *from)
{
    uint64_t  value;

    value = ngx_http_flash_throttle_value(m, from);

    if (m->kind == FLAG) {
        return ngx_sprintf(p, "\"%s\":%s,", m->field, value ? "true" : "false");
    }

    return ngx_sprintf(p, "\"%s\":%uL,", m->field, value);
}


ngx_int_t
ngx_http_flash_throttle_zone_json(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_limits_t *limits)
{
    ngx_buf_t   *b;
    ngx_uint_t   i, n;

    n = ngx_http_flash_throttle_zone_table_n;

    b = ngx_http_flash_throttle_more(parts, n * NGX_HTTP_FLASH_THROTTLE_FIELD);
    if (b == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        b->last = ngx_http_flash_throttle_json_field(b->last,
                                   &ngx_http_flash_throttle_zone_table[i],
                                   limits);
    }

    b->last--;

    return NGX_OK;
}


void *
ngx_http_flash_throttle_from(ngx_http_flash_throttle_metric_t *m,
    ngx_http_flash_throttle_figures_t *f)
{
    return m->source == ngx_http_flash_throttle_of_now
           ? (void *) &f->now : (void *) &f->totals;
}


ngx_int_t
ngx_http_flash_throttle_key_json(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_figures_t *f)
{
    ngx_buf_t                         *b;
    ngx_uint_t                         i, n;
    ngx_http_flash_throttle_metric_t  *m;

    m = ngx_http_flash_throttle_key_table;
    n = ngx_http_flash_throttle_key_table_n;

    b = ngx_http_flash_throttle_more(parts, n * NGX_HTTP_FLASH_THROTTLE_FIELD);
    if (b == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        b->last = ngx_http_flash_throttle_json_field(b->last, &m[i],
                                     ngx_http_flash_throttle_from(&m[i], f));
    }

    b->last--;

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_get_figures(ngx_http_flash_throttle_zone_t *zone,
    uint32_t i, ngx_http_flash_throttle_figures_t *f)
{
    uint64_t          *to;
    ft_call_t          call;
    _Atomic uint64_t  *from;

    f->zone = zone;
    f->state = ft_zone_state(zone->sh, i);

    /* no location uses the zone: nobody was ever in it */

    if (f->state == NULL || zone->rules == NULL) {
        return NGX_DECLINED;
    }

    f->time_ms = ngx_http_flash_throttle_now(zone);
    f->key_len = ft_zone_key(zone->sh, i, (char *) f->key);

    ngx_http_flash_throttle_call(zone, f->state, zone->rules, f->time_ms,
                                 &call);

    f->now = ft_stats_read(&call);

    if (zone->adapt) {
        ft_stats_adapt(f->state, zone->adapt, &zone->limits, &f->now);
    }

    /* word by word, as they are written */

    to = (uint64_t *) &f->totals;
    from = (_Atomic uint64_t *) &f->state->totals;

    for (i = 0; i < sizeof(ft_totals_t) / sizeof(uint64_t); i++) {
        to[i] = atomic_load(&from[i]);
    }

    return NGX_OK;
}


void
ngx_http_flash_throttle_get_limits(ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_limits_t *limits)
{
    limits->limits = zone->limits;
    limits->keys_max = ft_zone_keys(zone->sh);
}
