
#include "crowd_shopper.h"
#include "crowd_answer.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>


/* After a failure, for there is no advice. */
#define FT_SHOPPER_AGAIN_MS  1000

#define FT_SHOPPER_ORDER     "{\"quantity\":1}"


typedef enum {
    FT_SHOPPER_ASKS,        /* whether it is its turn */
    FT_SHOPPER_GOES         /* to the checkout, after a poll admitted it */
} ft_shopper_step_t;


struct ft_shopper_s {
    ft_crowd_t          *crowd;
    ft_request_t         request;
    ft_random_t          random;
    struct curl_slist   *poll_headers;
    struct curl_slist   *headers;
    struct event        *timer;

    ft_shopper_step_t    step;
    bool                 waits;
    bool                 stamped;       /* first_us is the edge's word */

    uint64_t             number;        /* the first who came is 1 */
    uint64_t             requests;
    int64_t              sent_us;       /* the last request */
    int64_t              arrived_us;
    int64_t              leaves_us;
    int64_t              vanishes_us;   /* INT64_MAX: never */
    int64_t              first_us;
    int64_t              admitted_us;   /* 0: not yet */

    ft_shopper_t        *next;
    ft_shopper_t        *prev;
};


static void ft_shopper_ask(ft_shopper_t *shopper);
static void ft_shopper_answered(ft_request_t *request);


static int64_t
ft_now_us(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_REALTIME, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static void
ft_shopper_free(ft_shopper_t *shopper)
{
    ft_request_close(&shopper->request);
    curl_slist_free_all(shopper->poll_headers);
    curl_slist_free_all(shopper->headers);

    if (shopper->timer != NULL) {
        event_free(shopper->timer);
    }

    free(shopper);
}


static void
ft_shopper_set_waits(ft_shopper_t *shopper, bool waits)
{
    if (waits != shopper->waits) {
        shopper->waits = waits;
        shopper->crowd->waiting += waits ? 1 : -1;
    }
}


static void
ft_shopper_link(ft_shopper_t *shopper)
{
    ft_crowd_t  *crowd;

    crowd = shopper->crowd;
    shopper->next = crowd->first;

    if (crowd->first != NULL) {
        crowd->first->prev = shopper;
    }

    crowd->first = shopper;
}


static void
ft_shopper_unlink(ft_shopper_t *shopper)
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


/* Under way still: the request's end comes with the patience's. */
static const char *
ft_shopper_end_name(const ft_shopper_t *shopper, ft_end_t end)
{
    static const char  *names[FT_ENDS] = {
        [FT_END_SERVED] = "confirmed",
        [FT_END_DECLINED] = "declined",
        [FT_END_SOLD_OUT] = "sold_out",
        [FT_END_TOO_LATE] = "refused",
        [FT_END_GAVE_UP] = "gave_up",
        [FT_END_VANISHED] = "vanished",
        [FT_END_FAILED] = "failed"
    };

    return end == FT_END_GAVE_UP && shopper->request.result != CURLE_OK
           ? "timed_out" : names[end];
}


static void
ft_shopper_trace(const ft_shopper_t *shopper, ft_end_t end)
{
    fprintf(shopper->crowd->options->trace,
            "%llu\t%lld\t%lld\t%lld\t%s\t%llu\t%ld\n",
            (unsigned long long) shopper->number,
            (long long) (shopper->arrived_us / 1000),
            (long long) (shopper->sent_us / 1000),
            (long long) (ft_now_us() / 1000),
            ft_shopper_end_name(shopper, end),
            (unsigned long long) shopper->requests, shopper->request.status);
}


static void
ft_shopper_end(ft_shopper_t *shopper, ft_end_t end)
{
    ft_crowd_t   *crowd;
    ft_served_t  *served;

    crowd = shopper->crowd;

    if (crowd->options->trace != NULL) {
        ft_shopper_trace(shopper, end);
    }

    if (shopper->admitted_us != 0) {
        served = &crowd->served[crowd->nserved++];
        served->first_us = shopper->first_us;
        served->admitted_us = shopper->admitted_us;
    }

    ft_shopper_set_waits(shopper, false);
    ft_shopper_unlink(shopper);
    ft_shopper_free(shopper);

    crowd->ends[end]++;
    crowd->ended_n++;
    crowd->ended(crowd->data);
}


static void
ft_shopper_wake(evutil_socket_t fd, short events, void *data)
{
    (void) fd;
    (void) events;

    ft_shopper_ask(data);
}


/* Whoever would come back after its patience has ended does not. */
static void
ft_shopper_wait(ft_shopper_t *shopper, int64_t ms)
{
    int64_t         at_us;
    struct timeval  tv;

    at_us = ft_now_us() + ms * 1000;

    if (at_us >= shopper->vanishes_us) {
        ft_shopper_end(shopper, FT_END_VANISHED);
        return;
    }

    if (at_us >= shopper->leaves_us) {
        ft_shopper_end(shopper, FT_END_GAVE_UP);
        return;
    }

    tv.tv_sec = ms / 1000;
    tv.tv_usec = ms % 1000 * 1000;

    evtimer_add(shopper->timer, &tv);
}


/*
 * Whole seconds bring all who were sent away at one time back at one time, so
 * they are spread, by half to either side; milliseconds are followed.
 */
static int64_t
ft_shopper_retry_ms(ft_shopper_t *shopper, const ft_answer_word_t *word)
{
    double  ms;

    ms = (double) word->retry_ms;

    return word->coarse
           ? (int64_t) ft_random_between(&shopper->random, ms / 2, 1.5 * ms)
           : word->retry_ms;
}


/*
 * The stamp is made between the first request and its answer, whatever the
 * edge's clock says.
 */
static void
ft_shopper_stamp(ft_shopper_t *shopper, int64_t first_attempt_ms)
{
    int64_t  us, now_us;

    if (shopper->stamped || first_attempt_ms == 0) {
        return;
    }

    us = first_attempt_ms * 1000;
    now_us = ft_now_us();

    if (us > now_us) {
        us = now_us;
    }

    if (us > shopper->first_us) {
        shopper->first_us = us;
    }

    shopper->stamped = true;
}


static void
ft_shopper_admit(ft_shopper_t *shopper)
{
    ft_shopper_set_waits(shopper, false);
    shopper->admitted_us = ft_now_us();
    shopper->crowd->admitted++;
}


/* Told to wait; or, with a pass that is not honoured, back in the line. */
static void
ft_shopper_queue(ft_shopper_t *shopper)
{
    if (shopper->admitted_us != 0) {
        shopper->admitted_us = 0;
        shopper->crowd->admitted--;
    }

    shopper->step = FT_SHOPPER_ASKS;
    ft_shopper_set_waits(shopper, true);
}


static void
ft_shopper_question(ft_shopper_t *shopper)
{
    bool                       poll;
    ft_question_t              question;
    const ft_crowd_options_t  *options;

    options = shopper->crowd->options;
    poll = options->poll && shopper->step == FT_SHOPPER_ASKS;

    question.url = options->url;
    question.headers = poll ? shopper->poll_headers : shopper->headers;
    question.post = poll || options->get ? NULL : FT_SHOPPER_ORDER;
    question.timeout_ms = (shopper->leaves_us - shopper->sent_us) / 1000 + 1;

    /* libcurl repeats what a kept connection lost; an order must not be */
    question.fresh = question.post != NULL;

    ft_request_start(&shopper->request, &question);
}


static void
ft_shopper_ask(ft_shopper_t *shopper)
{
    if (shopper->step == FT_SHOPPER_ASKS) {
        shopper->crowd->polls++;
    }

    shopper->requests++;
    shopper->sent_us = ft_now_us();
    ft_shopper_question(shopper);
}


static void
ft_shopper_failed(ft_shopper_t *shopper)
{
    bool                       order;
    ft_crowd_t                *crowd;
    const ft_request_t        *request;
    const ft_crowd_options_t  *options;

    crowd = shopper->crowd;
    options = crowd->options;
    request = &shopper->request;

    if (crowd->trouble[0] == '\0' && request->result == CURLE_OK) {
        snprintf(crowd->trouble, sizeof(crowd->trouble), "HTTP status %ld",
                 request->status);

    } else if (crowd->trouble[0] == '\0') {
        snprintf(crowd->trouble, sizeof(crowd->trouble), "%s",
                 curl_easy_strerror(request->result));
    }

    /* an order may have been taken, unless it never got there */
    order = !options->get
            && !(options->poll && shopper->step == FT_SHOPPER_ASKS);

    if (order && request->result != CURLE_COULDNT_CONNECT) {
        ft_shopper_end(shopper, FT_END_FAILED);
        return;
    }

    ft_shopper_wait(shopper, FT_SHOPPER_AGAIN_MS);
}


static void
ft_shopper_go(ft_shopper_t *shopper)
{
    ft_shopper_admit(shopper);
    shopper->step = FT_SHOPPER_GOES;
    ft_shopper_ask(shopper);
}


static void
ft_shopper_told(ft_shopper_t *shopper, const ft_answer_word_t *word)
{
    bool  asks;

    asks = shopper->step == FT_SHOPPER_ASKS;

    switch (word->told) {

    case FT_TOLD_WAIT:
        ft_shopper_queue(shopper);
        ft_shopper_wait(shopper, ft_shopper_retry_ms(shopper, word));
        return;

    case FT_TOLD_ADMITTED:
        ft_shopper_go(shopper);
        return;

    case FT_TOLD_SOLD_OUT:
        /* the edge may say so too: this is no sign of an admission */
        ft_shopper_end(shopper, FT_END_SOLD_OUT);
        return;

    case FT_TOLD_NOTHING:
        ft_shopper_failed(shopper);
        return;

    default:
        break;
    }

    if (asks) {
        ft_shopper_admit(shopper);
    }

    ft_shopper_end(shopper, word->told == FT_TOLD_SERVED ? FT_END_SERVED
                            : word->told == FT_TOLD_DECLINED ? FT_END_DECLINED
                                                             : FT_END_TOO_LATE);
}


static void
ft_shopper_answered(ft_request_t *request)
{
    int64_t            us;
    ft_crowd_t        *crowd;
    ft_shopper_t      *shopper;
    ft_answer_word_t   word;

    shopper = request->data;
    crowd = shopper->crowd;

    us = ft_now_us() - shopper->sent_us;
    if (us > crowd->longest_us) {
        crowd->longest_us = us;
    }

    if (request->result == CURLE_OK) {
        word = ft_answer_read(request, crowd->options->poll
                                       && shopper->step == FT_SHOPPER_ASKS);
        ft_shopper_stamp(shopper, word.first_attempt_ms);
        ft_shopper_told(shopper, &word);
        return;
    }

    /* a request's time is what is left of the patience; libcurl's clock may
       be a moment ahead of ours */

    if (request->result == CURLE_OPERATION_TIMEDOUT
        || ft_now_us() >= shopper->leaves_us)
    {
        ft_shopper_end(shopper, FT_END_GAVE_UP);
        return;
    }

    crowd->unanswered++;
    ft_shopper_failed(shopper);
}


/* False: no memory. */
static bool
ft_shopper_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist  *list;

    list = curl_slist_append(*headers, line);
    if (list == NULL) {
        return false;
    }

    *headers = list;

    return true;
}


/* False: no memory. */
static bool
ft_shopper_headers(ft_shopper_t *shopper)
{
    char  deadline[64];

    snprintf(deadline, sizeof(deadline), "Flash-Deadline-Ms: %lld",
             (long long) (shopper->leaves_us / 1000));

    return ft_shopper_header(&shopper->poll_headers, "Accept: application/json")
           && ft_shopper_header(&shopper->poll_headers,
                                "Flash-Throttle-Poll: 1")
           && ft_shopper_header(&shopper->headers, "Accept: application/json")
           && ft_shopper_header(&shopper->headers,
                                "Content-Type: application/json")
           && (!shopper->crowd->options->deadline
               || ft_shopper_header(&shopper->headers, deadline));
}


/*
 * What a shopper is like follows from the seed and its number alone, and not
 * from how the sale goes.
 */
static void
ft_shopper_draw(ft_shopper_t *shopper, bool *cookies)
{
    double                     patience_s;
    ft_random_t               *random;
    const ft_crowd_options_t  *options;

    options = shopper->crowd->options;
    random = &shopper->random;
    ft_random_seed(random, options->seed, shopper->number, 0);

    patience_s = ft_random_between(random, options->patience_min_s,
                                   options->patience_max_s);

    shopper->arrived_us = ft_now_us();
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
ft_shopper_arrive(ft_crowd_t *crowd)
{
    bool           cookies;
    ft_shopper_t  *shopper;

    shopper = calloc(1, sizeof(ft_shopper_t));
    if (shopper == NULL) {
        return false;
    }

    shopper->crowd = crowd;
    shopper->step = FT_SHOPPER_ASKS;
    shopper->number = crowd->arrived + 1;
    ft_shopper_draw(shopper, &cookies);
    shopper->timer = evtimer_new(crowd->base, ft_shopper_wake, shopper);

    if (shopper->timer == NULL
        || !ft_request_open(&shopper->request, crowd->http, cookies,
                            ft_shopper_answered, shopper)
        || !ft_shopper_headers(shopper))
    {
        ft_shopper_free(shopper);
        return false;
    }

    crowd->arrived++;
    ft_shopper_link(shopper);
    ft_shopper_ask(shopper);

    return true;
}


void
ft_shoppers_leave(ft_crowd_t *crowd)
{
    while (crowd->first != NULL) {
        ft_shopper_end(crowd->first, FT_END_GAVE_UP);
    }
}
