
#include "crowd_stats.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>


#define CROWD_STATS_TIMEOUT_MS  5000


/* jansson's getters and loops accept NULL */
static int64_t
crowd_stats_integer(json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}


bool
crowd_stats_parse_edge(const char *body, crowd_stats_values_t *values)
{
    int64_t              age_ms;
    json_t              *json, *zones, *zone, *states, *state;
    const char          *name, *key;
    crowd_stats_edge_t  *edge;

    json = json_loads(body, 0, NULL);
    zones = json_object_get(json, "zones");

    if (!json_is_object(zones)) {
        json_decref(json);
        return false;
    }

    edge = &values->edge;
    edge->waiting = 0;
    edge->threshold_age_ms = 0;

    json_object_foreach(zones, name, zone) {
        states = json_object_get(zone, "keys");

        json_object_foreach(states, key, state) {
            edge->waiting += crowd_stats_integer(state, "waiting");

            age_ms = crowd_stats_integer(state, "threshold_age_ms");
            if (age_ms > edge->threshold_age_ms) {
                edge->threshold_age_ms = age_ms;
            }
        }
    }

    json_decref(json);

    return true;
}


bool
crowd_stats_parse_checkout(const char *body, crowd_stats_values_t *values)
{
    json_t  *json;

    json = json_loads(body, 0, NULL);

    if (json_object_get(json, "orders") == NULL) {
        json_decref(json);
        return false;
    }

    values->checkout = (crowd_stats_checkout_t) {
        .orders = crowd_stats_integer(json, "orders"),
        .oversold = crowd_stats_integer(json, "oversold"),
        .late_charges = crowd_stats_integer(json, "late_charges"),
        .declined = crowd_stats_integer(json, "declined"),
        .in_progress = crowd_stats_integer(json, "in_progress")
    };

    json_decref(json);

    return true;
}


static void
crowd_stats_request_done(crowd_http_request_t *request)
{
    char            text[64];
    const char     *error;
    crowd_stats_t  *stats;

    stats = request->data;
    stats->pending = false;
    error = NULL;

    if (request->result != CURLE_OK) {
        error = curl_easy_strerror(request->result);

    } else if (request->status != 200) {
        snprintf(text, sizeof(text), "HTTP status %ld", request->status);
        error = text;

    } else if (request->body == NULL
               || !stats->parse(request->body, &stats->values))
    {
        error = "unexpected response body";

    } else {
        stats->known = true;
    }

    stats->done(stats->data, error);
}


bool
crowd_stats_open(crowd_stats_t *stats, crowd_http_t *http, const char *url,
    crowd_stats_parse_pt parse, crowd_stats_done_pt done, void *data)
{
    memset(stats, 0, sizeof(*stats));

    stats->url = url;
    stats->parse = parse;
    stats->done = done;
    stats->data = data;

    return url == NULL
           || crowd_http_open(&stats->request, http, false,
                              crowd_stats_request_done, stats);
}


void
crowd_stats_fetch(crowd_stats_t *stats)
{
    crowd_http_params_t  params;

    if (stats->url == NULL || stats->pending) {
        return;
    }

    memset(&params, 0, sizeof(params));
    params.url = stats->url;
    params.timeout_ms = CROWD_STATS_TIMEOUT_MS;

    stats->pending = true;
    crowd_http_send(&stats->request, &params);
}


void
crowd_stats_close(crowd_stats_t *stats)
{
    crowd_http_close(&stats->request);
}
