
#include "crowd_watch.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>


#define FT_WATCH_TIMEOUT_MS  5000


/* jansson's getters and loops take NULL for an object without that member */
static int64_t
ft_watch_integer(json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}


bool
ft_watch_edge(const char *body, void *word)
{
    int64_t          age_ms;
    json_t          *json, *zones, *zone, *states, *state;
    const char      *name, *key;
    ft_edge_word_t  *edge;

    json = json_loads(body, 0, NULL);
    zones = json_object_get(json, "zones");

    if (!json_is_object(zones)) {
        json_decref(json);
        return false;
    }

    edge = word;
    edge->waiting = 0;
    edge->threshold_age_ms = 0;

    json_object_foreach(zones, name, zone) {
        states = json_object_get(zone, "keys");

        json_object_foreach(states, key, state) {
            edge->waiting += ft_watch_integer(state, "waiting");

            age_ms = ft_watch_integer(state, "threshold_age_ms");
            if (age_ms > edge->threshold_age_ms) {
                edge->threshold_age_ms = age_ms;
            }
        }
    }

    json_decref(json);

    return true;
}


bool
ft_watch_checkout(const char *body, void *word)
{
    json_t              *json;
    ft_checkout_word_t  *checkout;

    json = json_loads(body, 0, NULL);

    if (json_object_get(json, "orders") == NULL) {
        json_decref(json);
        return false;
    }

    checkout = word;
    checkout->orders = ft_watch_integer(json, "orders");
    checkout->oversold = ft_watch_integer(json, "oversold");
    checkout->late_charges = ft_watch_integer(json, "late_charges");
    checkout->declined = ft_watch_integer(json, "declined");
    checkout->in_progress = ft_watch_integer(json, "in_progress");

    json_decref(json);

    return true;
}


static void
ft_watch_answered(ft_request_t *request)
{
    char         text[64];
    ft_watch_t  *watch;
    const char  *error;

    watch = request->data;
    watch->asking = false;
    error = NULL;

    if (request->result != CURLE_OK) {
        error = curl_easy_strerror(request->result);

    } else if (request->status != 200) {
        snprintf(text, sizeof(text), "HTTP status %ld", request->status);
        error = text;

    } else if (request->body == NULL
               || !watch->read(request->body, &watch->word))
    {
        error = "the answer is not the JSON it should be";

    } else {
        watch->known = true;
    }

    watch->told(watch->data, error);
}


bool
ft_watch_open(ft_watch_t *watch, ft_http_t *http, const char *url,
    ft_watch_read_pt read, ft_watch_told_pt told, void *data)
{
    memset(watch, 0, sizeof(*watch));

    watch->url = url;
    watch->read = read;
    watch->told = told;
    watch->data = data;

    return url == NULL
           || ft_request_open(&watch->request, http, false, ft_watch_answered,
                              watch);
}


void
ft_watch_ask(ft_watch_t *watch)
{
    ft_question_t  question;

    if (watch->url == NULL || watch->asking) {
        return;
    }

    memset(&question, 0, sizeof(question));
    question.url = watch->url;
    question.timeout_ms = FT_WATCH_TIMEOUT_MS;

    watch->asking = true;
    ft_request_start(&watch->request, &question);
}


void
ft_watch_close(ft_watch_t *watch)
{
    ft_request_close(&watch->request);
}
