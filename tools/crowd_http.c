
#include "crowd_http.h"

#include <stdlib.h>
#include <string.h>


/* The rest of a longer body is read and discarded. */
#define CROWD_HTTP_BODY_MAX  (1024 * 1024)

/* Idle connections that are kept open. */
#define CROWD_HTTP_IDLE_MAX  256


struct crowd_http_s {
    struct event_base   *base;
    CURLM               *multi;
    struct event        *timer;
};


static int crowd_http_socket(CURL *easy, curl_socket_t fd, int what, void *data,
    void *socket_data);
static int crowd_http_timer(CURLM *multi, long timeout_ms, void *data);
static void crowd_http_on_socket(evutil_socket_t fd, short events, void *data);
static void crowd_http_on_timer(evutil_socket_t fd, short events, void *data);


crowd_http_t *
crowd_http_create(struct event_base *base)
{
    crowd_http_t  *http;

    http = calloc(1, sizeof(crowd_http_t));
    if (http == NULL) {
        return NULL;
    }

    http->base = base;
    http->multi = curl_multi_init();
    http->timer = evtimer_new(base, crowd_http_on_timer, http);

    if (http->multi == NULL || http->timer == NULL) {
        crowd_http_free(http);
        return NULL;
    }

    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, crowd_http_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, crowd_http_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
                      (long) CROWD_HTTP_IDLE_MAX);

    return http;
}


void
crowd_http_free(crowd_http_t *http)
{
    if (http->multi != NULL) {
        curl_multi_cleanup(http->multi);
    }

    if (http->timer != NULL) {
        event_free(http->timer);
    }

    free(http);
}


static void
crowd_http_finish(crowd_http_t *http)
{
    int                    left;
    char                  *type;
    CURLMsg               *message;
    curl_off_t             retry_after;
    crowd_http_request_t  *request;

    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                          (char **) &request);

        request->result = message->data.result;
        curl_multi_remove_handle(http->multi, request->easy);

        curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE,
                          &request->status);
        curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
        curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &retry_after);

        request->type = type;
        request->retry_after_s = retry_after;

        request->done(request);
    }
}


static void
crowd_http_on_socket(evutil_socket_t fd, short events, void *data)
{
    int            flags, running;
    crowd_http_t  *http;

    http = data;
    flags = (events & EV_READ ? CURL_CSELECT_IN : 0)
            | (events & EV_WRITE ? CURL_CSELECT_OUT : 0);

    curl_multi_socket_action(http->multi, fd, flags, &running);
    crowd_http_finish(http);
}


static void
crowd_http_on_timer(evutil_socket_t fd, short events, void *data)
{
    int            running;
    crowd_http_t  *http;

    (void) fd;
    (void) events;

    http = data;

    curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    crowd_http_finish(http);
}


/* CURLMOPT_SOCKETFUNCTION: the events that libcurl waits for. */
static int
crowd_http_socket(CURL *easy, curl_socket_t fd, int what, void *data,
    void *socket_data)
{
    short          events;
    crowd_http_t  *http;
    struct event  *event;

    (void) easy;

    http = data;
    event = socket_data;

    if (event != NULL) {
        event_free(event);
        curl_multi_assign(http->multi, fd, NULL);
    }

    if (what == CURL_POLL_REMOVE) {
        return 0;
    }

    events = EV_PERSIST;
    events |= what & CURL_POLL_IN ? EV_READ : 0;
    events |= what & CURL_POLL_OUT ? EV_WRITE : 0;

    event = event_new(http->base, fd, events, crowd_http_on_socket, http);
    if (event == NULL || event_add(event, NULL) != 0) {
        return -1;
    }

    curl_multi_assign(http->multi, fd, event);

    return 0;
}


static int
crowd_http_timer(CURLM *multi, long timeout_ms, void *data)
{
    crowd_http_t    *http;
    struct timeval   tv;

    (void) multi;

    http = data;

    if (timeout_ms < 0) {
        evtimer_del(http->timer);
        return 0;
    }

    tv.tv_sec = timeout_ms / 1000;
    tv.tv_usec = timeout_ms % 1000 * 1000;

    return evtimer_add(http->timer, &tv);
}


static size_t
crowd_http_write(char *bytes, size_t size, size_t n, void *data)
{
    char                  *body;
    size_t                 len;
    crowd_http_request_t  *request;

    (void) size;                        /* always 1 */

    request = data;
    len = n;

    if (len > CROWD_HTTP_BODY_MAX - request->len) {
        len = CROWD_HTTP_BODY_MAX - request->len;
    }

    body = realloc(request->body, request->len + len + 1);
    if (body == NULL) {
        return 0;
    }

    memcpy(body + request->len, bytes, len);
    request->body = body;
    request->len += len;
    body[request->len] = '\0';

    return n;
}


bool
crowd_http_open(crowd_http_request_t *request, crowd_http_t *http, bool cookies,
    crowd_http_done_pt done, void *data)
{
    memset(request, 0, sizeof(*request));

    request->http = http;
    request->done = done;
    request->data = data;
    request->easy = curl_easy_init();

    if (request->easy == NULL) {
        return false;
    }

    curl_easy_setopt(request->easy, CURLOPT_PRIVATE, request);
    curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, crowd_http_write);
    curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(request->easy, CURLOPT_NOSIGNAL, 1L);

    /* no proxy for a local server */
    curl_easy_setopt(request->easy, CURLOPT_NOPROXY,
                     "127.0.0.1,localhost,::1");

    if (cookies) {
        curl_easy_setopt(request->easy, CURLOPT_COOKIEFILE, "");
    }

    return true;
}


void
crowd_http_send(crowd_http_request_t *request,
    const crowd_http_params_t *params)
{
    free(request->body);
    request->body = NULL;
    request->len = 0;

    curl_easy_setopt(request->easy, CURLOPT_URL, params->url);
    curl_easy_setopt(request->easy, CURLOPT_HTTPHEADER, params->headers);
    curl_easy_setopt(request->easy, CURLOPT_TIMEOUT_MS,
                     (long) params->timeout_ms);
    curl_easy_setopt(request->easy, CURLOPT_FRESH_CONNECT,
                     params->fresh ? 1L : 0L);

    if (params->post != NULL) {
        curl_easy_setopt(request->easy, CURLOPT_POSTFIELDS, params->post);

    } else {
        curl_easy_setopt(request->easy, CURLOPT_HTTPGET, 1L);
    }

    curl_multi_add_handle(request->http->multi, request->easy);
}


void
crowd_http_close(crowd_http_request_t *request)
{
    if (request->easy == NULL) {
        return;
    }

    curl_multi_remove_handle(request->http->multi, request->easy);
    curl_easy_cleanup(request->easy);
    free(request->body);

    request->easy = NULL;
    request->body = NULL;
}
