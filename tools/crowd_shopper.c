
#include "crowd_shopper.h"
#include "crowd_response.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>


/* after a failed request */
#define CROWD_SHOPPER_RETRY_MS  1000

#define CROWD_SHOPPER_ORDER     "{\"quantity\":1}"


struct crowd_shopper_s {
    crowd_t               *crowd;
    crowd_http_request_t   request;
    ft_random_t            random;
    struct curl_slist     *poll_headers;
    struct curl_slist     *headers;
    struct event          *timer;

    bool                   ordering;        /* a poll has been admitted */
    bool                   waiting;
    bool                   has_timestamp;   /* first_us is from the edge */

    uint64_t               number;          /* from 1 */
    uint64_t               requests;
    int64_t                sent_us;         /* the last request */
    int64_t                arrived_us;
    int64_t                leaves_us;
    int64_t                vanishes_us;     /* INT64_MAX: never */
    int64_t                first_us;
    int64_t                admitted_us;     /* 0: not admitted */

    crowd_shopper_t       *next;
    crowd_shopper_t       *prev;
};


static void crowd_shopper_request(crowd_shopper_t *shopper);
static void crowd_shopper_done(crowd_http_request_t *request);


/* Unix time */
static int64_t
crowd_shopper_now_us(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_REALTIME, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static void
crowd_shopper_free(crowd_shopper_t *shopper)
{
    crowd_http_close(&shopper->request);
    curl_slist_free_all(shopper->poll_headers);
    curl_slist_free_all(shopper->headers);

    if (shopper->timer != NULL) {
        event_free(shopper->timer);
    }

    free(shopper);
}


static void
crowd_shopper_set_waiting(crowd_shopper_t *shopper, bool waiting)
{
    if (waiting != shopper->waiting) {
        shopper->waiting = waiting;
        shopper->crowd->waiting += waiting ? 1 : -1;
    }
}


static bool
crowd_shopper_is_polling(const crowd_shopper_t *shopper)
{
    return shopper->crowd->options->poll && !shopper->ordering;
}


static void
crowd_shopper_link(crowd_shopper_t *shopper)
{
    crowd_t  *crowd;

    crowd = shopper->crowd;
    shopper->next = crowd->first;

    if (crowd->first != NULL) {
        crowd->first->prev = shopper;
    }

    crowd->first = shopper;
}


static void
crowd_shopper_unlink(crowd_shopper_t *shopper)
{
    if (shopper->next != NULL) {
        shopper->next->prev = shopper->prev;
    }

    if (shopper->prev != NULL) {
        shopper->prev->next = shopper->next;

    } else {
        shopper->crowd->first = shopper->next;
    }
}


static const char *
crowd_shopper_end_name(const crowd_shopper_t *shopper, crowd_end_t end)
{
    static const char  *names[CROWD_ENDS] = {
        [CROWD_END_CONFIRMED] = "confirmed",
        [CROWD_END_DECLINED] = "declined",
        [CROWD_END_SOLD_OUT] = "sold_out",
        [CROWD_END_TOO_LATE] = "refused",
        [CROWD_END_GAVE_UP] = "gave_up",
        [CROWD_END_VANISHED] = "vanished",
        [CROWD_END_FAILED] = "failed"
    };

    /* the timeout of a request is the end of the patience */

    return end == CROWD_END_GAVE_UP && shopper->request.result != CURLE_OK
           ? "timed_out" : names[end];
}


static void
crowd_shopper_trace(const crowd_shopper_t *shopper, crowd_end_t end)
{
    fprintf(shopper->crowd->options->trace,
            "%llu\t%lld\t%lld\t%lld\t%s\t%llu\t%ld\n",
            (unsigned long long) shopper->number,
            (long long) (shopper->arrived_us / 1000),
            (long long) (shopper->sent_us / 1000),
            (long long) (crowd_shopper_now_us() / 1000),
            crowd_shopper_end_name(shopper, end),
            (unsigned long long) shopper->requests, shopper->request.status);
}


static void
crowd_shopper_end(crowd_shopper_t *shopper, crowd_end_t end)
{
    crowd_t            *crowd;
    fairness_sample_t  *sample;

    crowd = shopper->crowd;

    if (crowd->options->trace != NULL) {
        crowd_shopper_trace(shopper, end);
    }

    if (shopper->admitted_us != 0) {
        sample = &crowd->samples[crowd->nsamples++];
        sample->first_us = shopper->first_us;
        sample->admitted_us = shopper->admitted_us;
    }

    crowd_shopper_set_waiting(shopper, false);
    crowd_shopper_unlink(shopper);
    crowd_shopper_free(shopper);

    crowd->ends[end]++;
    crowd->ended++;
    crowd->on_end(crowd->data);
}


static void
crowd_shopper_wake(evutil_socket_t fd, short events, void *data)
{
    (void) fd;
    (void) events;

    crowd_shopper_request(data);
}


static void
crowd_shopper_wait(crowd_shopper_t *shopper, int64_t ms)
{
    int64_t         at_us;
    struct timeval  tv;

    at_us = crowd_shopper_now_us() + ms * 1000;

    if (at_us >= shopper->vanishes_us) {
        crowd_shopper_end(shopper, CROWD_END_VANISHED);
        return;
    }

    if (at_us >= shopper->leaves_us) {
        crowd_shopper_end(shopper, CROWD_END_GAVE_UP);
        return;
    }

    tv.tv_sec = ms / 1000;
    tv.tv_usec = ms % 1000 * 1000;

    evtimer_add(shopper->timer, &tv);
}


/* Retry-After is the same for many shoppers: spread by half to either side. */
static int64_t
crowd_shopper_retry_ms(crowd_shopper_t *shopper,
    const crowd_response_t *response)
{
    double  ms;

    ms = (double) response->retry_ms;

    return response->whole_seconds
           ? (int64_t) ft_random_between(&shopper->random, ms / 2, 1.5 * ms)
           : response->retry_ms;
}


/* Clamped to the time of the first request, whatever the edge's clock. */
static void
crowd_shopper_set_timestamp(crowd_shopper_t *shopper, int64_t first_attempt_ms)
{
    int64_t  us, now_us;

    if (shopper->has_timestamp || first_attempt_ms == 0) {
        return;
    }

    us = first_attempt_ms * 1000;
    now_us = crowd_shopper_now_us();

    if (us > now_us) {
        us = now_us;
    }

    if (us > shopper->first_us) {
        shopper->first_us = us;
    }

    shopper->has_timestamp = true;
}


static void
crowd_shopper_admit(crowd_shopper_t *shopper)
{
    crowd_shopper_set_waiting(shopper, false);
    shopper->admitted_us = crowd_shopper_now_us();
    shopper->crowd->admitted++;
}


/* Also after an admission, if the pass was refused. */
static void
crowd_shopper_queue(crowd_shopper_t *shopper)
{
    if (shopper->admitted_us != 0) {
        shopper->admitted_us = 0;
        shopper->crowd->admitted--;
    }

    shopper->ordering = false;
    crowd_shopper_set_waiting(shopper, true);
}


static void
crowd_shopper_request(crowd_shopper_t *shopper)
{
    bool                    poll;
    crowd_http_params_t     params;
    const crowd_options_t  *options;

    options = shopper->crowd->options;
    poll = crowd_shopper_is_polling(shopper);

    if (!shopper->ordering) {
        shopper->crowd->polls++;
    }

    shopper->requests++;
    shopper->sent_us = crowd_shopper_now_us();

    params.url = options->url;
    params.headers = poll ? shopper->poll_headers : shopper->headers;
    params.post = poll || options->get ? NULL : CROWD_SHOPPER_ORDER;
    params.timeout_ms = (shopper->leaves_us - shopper->sent_us) / 1000 + 1;

    /* libcurl repeats a request if a reused connection fails */
    params.fresh = params.post != NULL;

    crowd_http_send(&shopper->request, &params);
}


static void
crowd_shopper_set_error(crowd_t *crowd, const crowd_http_request_t *request)
{
    if (crowd->error[0] != '\0') {
        return;
    }

    if (request->result == CURLE_OK) {
        snprintf(crowd->error, sizeof(crowd->error), "HTTP status %ld",
                 request->status);

    } else {
        snprintf(crowd->error, sizeof(crowd->error), "%s",
                 curl_easy_strerror(request->result));
    }
}


static void
crowd_shopper_fail(crowd_shopper_t *shopper)
{
    bool  order;

    crowd_shopper_set_error(shopper->crowd, &shopper->request);

    order = !shopper->crowd->options->get && !crowd_shopper_is_polling(shopper);

    /* the checkout may have taken an order that it received */

    if (order && shopper->request.result != CURLE_COULDNT_CONNECT) {
        crowd_shopper_end(shopper, CROWD_END_FAILED);
        return;
    }

    crowd_shopper_wait(shopper, CROWD_SHOPPER_RETRY_MS);
}


static void
crowd_shopper_finish(crowd_shopper_t *shopper, crowd_end_t end)
{
    if (!shopper->ordering) {
        crowd_shopper_admit(shopper);
    }

    crowd_shopper_end(shopper, end);
}


static void
crowd_shopper_handle(crowd_shopper_t *shopper, const crowd_response_t *response)
{
    switch (response->kind) {

    case CROWD_RESPONSE_WAIT:
        crowd_shopper_queue(shopper);
        crowd_shopper_wait(shopper, crowd_shopper_retry_ms(shopper, response));
        return;

    case CROWD_RESPONSE_ADMITTED:
        crowd_shopper_admit(shopper);
        shopper->ordering = true;
        crowd_shopper_request(shopper);
        return;

    case CROWD_RESPONSE_CONFIRMED:
        crowd_shopper_finish(shopper, CROWD_END_CONFIRMED);
        return;

    case CROWD_RESPONSE_DECLINED:
        crowd_shopper_finish(shopper, CROWD_END_DECLINED);
        return;

    case CROWD_RESPONSE_TOO_LATE:
        crowd_shopper_finish(shopper, CROWD_END_TOO_LATE);
        return;

    case CROWD_RESPONSE_SOLD_OUT:
        /* possibly from the edge: not an admission */
        crowd_shopper_end(shopper, CROWD_END_SOLD_OUT);
        return;

    case CROWD_RESPONSE_UNKNOWN:
        crowd_shopper_fail(shopper);
        return;
    }
}


static void
crowd_shopper_done(crowd_http_request_t *request)
{
    int64_t            us;
    crowd_t           *crowd;
    crowd_shopper_t   *shopper;
    crowd_response_t   response;

    shopper = request->data;
    crowd = shopper->crowd;

    us = crowd_shopper_now_us() - shopper->sent_us;
    if (us > crowd->longest_us) {
        crowd->longest_us = us;
    }

    if (request->result == CURLE_OK) {
        response = crowd_response_parse(request,
                                        crowd_shopper_is_polling(shopper));
        crowd_shopper_set_timestamp(shopper, response.first_attempt_ms);
        crowd_shopper_handle(shopper, &response);
        return;
    }

    if (request->result == CURLE_OPERATION_TIMEDOUT
        || crowd_shopper_now_us() >= shopper->leaves_us)
    {
        crowd_shopper_end(shopper, CROWD_END_GAVE_UP);
        return;
    }

    crowd->unanswered++;
    crowd_shopper_fail(shopper);
}


static bool
crowd_shopper_add_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist  *list;

    list = curl_slist_append(*headers, line);
    if (list == NULL) {
        return false;
    }

    *headers = list;

    return true;
}


static bool
crowd_shopper_set_headers(crowd_shopper_t *shopper)
{
    char  deadline[64];

    snprintf(deadline, sizeof(deadline), "Flash-Deadline-Ms: %lld",
             (long long) (shopper->leaves_us / 1000));

    return crowd_shopper_add_header(&shopper->poll_headers,
                                    "Accept: application/json")
           && crowd_shopper_add_header(&shopper->poll_headers,
                                       "Flash-Throttle-Poll: 1")
           && crowd_shopper_add_header(&shopper->headers,
                                       "Accept: application/json")
           && crowd_shopper_add_header(&shopper->headers,
                                       "Content-Type: application/json")
           && (!shopper->crowd->options->deadline
               || crowd_shopper_add_header(&shopper->headers, deadline));
}


/* Depends on the seed and the shopper's number only. */
static void
crowd_shopper_init(crowd_shopper_t *shopper, bool *cookies)
{
    double                  patience_s;
    ft_random_t            *random;
    const crowd_options_t  *options;

    options = shopper->crowd->options;
    random = &shopper->random;
    ft_random_seed(random, options->seed, shopper->number, 0);

    patience_s = ft_random_between(random, options->patience_min_s,
                                   options->patience_max_s);

    shopper->arrived_us = crowd_shopper_now_us();
    shopper->first_us = shopper->arrived_us;
    shopper->leaves_us = shopper->arrived_us + (int64_t) (patience_s * 1e6);
    shopper->vanishes_us = INT64_MAX;

    *cookies = ft_random_unit(random) >= options->no_cookie;

    if (ft_random_unit(random) < options->vanish) {
        shopper->vanishes_us = shopper->arrived_us
            + (int64_t) (ft_random_unit(random) * patience_s * 1e6);
    }
}


bool
crowd_shopper_arrive(crowd_t *crowd)
{
    bool              cookies;
    crowd_shopper_t  *shopper;

    shopper = calloc(1, sizeof(crowd_shopper_t));
    if (shopper == NULL) {
        return false;
    }

    shopper->crowd = crowd;
    shopper->number = crowd->arrived + 1;
    crowd_shopper_init(shopper, &cookies);
    shopper->timer = evtimer_new(crowd->base, crowd_shopper_wake, shopper);

    if (shopper->timer == NULL
        || !crowd_http_open(&shopper->request, crowd->http, cookies,
                            crowd_shopper_done, shopper)
        || !crowd_shopper_set_headers(shopper))
    {
        crowd_shopper_free(shopper);
        return false;
    }

    crowd->arrived++;
    crowd_shopper_link(shopper);
    crowd_shopper_request(shopper);

    return true;
}


void
crowd_shopper_end_all(crowd_t *crowd)
{
    while (crowd->first != NULL) {
        crowd_shopper_end(crowd->first, CROWD_END_GAVE_UP);
    }
}
