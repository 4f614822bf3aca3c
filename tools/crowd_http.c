
#include "crowd_http.h"

#include <stdlib.h>
#include <string.h>


/* Answers are read to the end, but no more than this is kept of one. */
#define FT_HTTP_BODY_MAX         (1024 * 1024)

/* Connections that are kept for the next request to come. */
#define FT_HTTP_IDLE_MAX         256


struct ft_http_s {
    struct event_base   *base;
    CURLM               *multi;
    struct event        *timer;
};


static int ft_http_watch(CURL *easy, curl_socket_t fd, int what, void *data,
    void *socket_data);
static int ft_http_time(CURLM *multi, long timeout_ms, void *data);
static void ft_http_ready(evutil_socket_t fd, short events, void *data);
static void ft_http_timeout(evutil_socket_t fd, short events, void *data);


ft_http_t *
ft_http_create(struct event_base *base)
{
    ft_http_t  *http;

    http = calloc(1, sizeof(ft_http_t));
    if (http == NULL) {
        return NULL;
    }

    http->base = base;
    http->multi = curl_multi_init();
    http->timer = evtimer_new(base, ft_http_timeout, http);

    if (http->multi == NULL || http->timer == NULL) {
        ft_http_free(http);
        return NULL;
    }

    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, ft_http_watch);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, ft_http_time);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
                      (long) FT_HTTP_IDLE_MAX);

    return http;
}


void
ft_http_free(ft_http_t *http)
{
    if (http->multi != NULL) {
        curl_multi_cleanup(http->multi);
    }

    if (http->timer != NULL) {
        event_free(http->timer);
    }

    free(http);
}


/* Tells those who wait for an answer that it is there, or never will be. */
static void
ft_http_finish(ft_http_t *http)
{
    int            left;
    char          *type;
    CURLMsg       *message;
    curl_off_t     retry_after;
    ft_request_t  *request;

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
ft_http_ready(evutil_socket_t fd, short events, void *data)
{
    int         flags, running;
    ft_http_t  *http;

    http = data;
    flags = (events & EV_READ ? CURL_CSELECT_IN : 0)
            | (events & EV_WRITE ? CURL_CSELECT_OUT : 0);

    curl_multi_socket_action(http->multi, fd, flags, &running);
    ft_http_finish(http);
}


static void
ft_http_timeout(evutil_socket_t fd, short events, void *data)
{
    int         running;
    ft_http_t  *http;

    (void) fd;
    (void) events;

    http = data;

    curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    ft_http_finish(http);
}


/* libcurl's word on which events of a socket it waits for. */
static int
ft_http_watch(CURL *easy, curl_socket_t fd, int what, void *data,
    void *socket_data)
{
    short          events;
    ft_http_t     *http;
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

    event = event_new(http->base, fd, events, ft_http_ready, http);
    if (event == NULL || event_add(event, NULL) != 0) {
        return -1;
    }

    curl_multi_assign(http->multi, fd, event);

    return 0;
}


static int
ft_http_time(CURLM *multi, long timeout_ms, void *data)
{
    ft_http_t       *http;
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
ft_request_read(char *bytes, size_t size, size_t n, void *data)
{
    char          *body;
    size_t         len;
    ft_request_t  *request;

    (void) size;                        /* always 1 */

    request = data;
    len = n;

    if (len > FT_HTTP_BODY_MAX - request->len) {
        len = FT_HTTP_BODY_MAX - request->len;
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
ft_request_open(ft_request_t *request, ft_http_t *http, bool cookies,
    ft_request_done_pt done, void *data)
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
    curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, ft_request_read);
    curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(request->easy, CURLOPT_NOSIGNAL, 1L);

    /* a crowd on this machine is no business of a proxy's */
    curl_easy_setopt(request->easy, CURLOPT_NOPROXY,
                     "127.0.0.1,localhost,::1");

    if (cookies) {
        curl_easy_setopt(request->easy, CURLOPT_COOKIEFILE, "");
    }

    return true;
}


void
ft_request_start(ft_request_t *request, const ft_question_t *question)
{
    free(request->body);
    request->body = NULL;
    request->len = 0;

    curl_easy_setopt(request->easy, CURLOPT_URL, question->url);
    curl_easy_setopt(request->easy, CURLOPT_HTTPHEADER, question->headers);
    curl_easy_setopt(request->easy, CURLOPT_TIMEOUT_MS,
                     (long) question->timeout_ms);
    curl_easy_setopt(request->easy, CURLOPT_FRESH_CONNECT,
                     question->fresh ? 1L : 0L);

    if (question->post != NULL) {
        curl_easy_setopt(request->easy, CURLOPT_POSTFIELDS, question->post);

    } else {
        curl_easy_setopt(request->easy, CURLOPT_HTTPGET, 1L);
    }

    curl_multi_add_handle(request->http->multi, request->easy);
}


void
ft_request_close(ft_request_t *request)
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
