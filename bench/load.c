
/*
 * A load generator: sends requests over HTTP/1.1 keepalive connections, at a
 * given rate or as fast as they are answered, from one thread.
 *
 * Unlike general load generators it polls for many shoppers in turn, each with
 * the cookie of its last answer.  Without tickets each request is a first
 * attempt.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>


#define LOAD_TICKET_LEN   64
#define LOAD_REQUEST_MAX  4096
#define LOAD_ANSWER_MAX   65536
#define LOAD_STATUSES     600
#define LOAD_STALL_MS     30000     /* time without an answer to fail */


typedef struct {
    int                fd;
    uint32_t           shopper;
    bool               busy;
    size_t             have;
    char               answer[LOAD_ANSWER_MAX];
} load_conn_t;


typedef struct {
    int                port;
    uint32_t           conns;
    uint64_t           requests;
    uint64_t           rate;        /* per second; 0: unlimited */
    uint32_t           keys;        /* appends 0 .. keys - 1 to the path */
    uint32_t           from;        /* index of the first shopper */
    const char        *path;
    const char        *cookie;      /* name of the ticket cookie */
    const char        *method;
    const char        *body;
    const char        *in;          /* file of tickets, one per line */
    const char        *out;         /* file of the last tickets */
    bool               keep;        /* tickets from answers */
    char               headers[LOAD_REQUEST_MAX / 2];
} load_options_t;


typedef struct {
    uint64_t           sent;
    uint64_t           answered;
    uint64_t           bytes;
    uint64_t           cookies;
    uint64_t           status[LOAD_STATUSES];
} load_stats_t;


static load_options_t  options = {
    .conns = 32, .requests = 1000, .path = "/", .method = "GET"
};
static load_stats_t    stats;
static char           *tickets;     /* LOAD_TICKET_LEN each, no separator */
static uint32_t        shoppers = 1;
static uint32_t        next_shopper;
static uint32_t        next_key;


static void __attribute__((noreturn))
load_fail_errno(const char *call)
{
    fprintf(stderr, "load: %s failed: %s\n", call, strerror(errno));
    exit(1);
}


static void __attribute__((noreturn, format(printf, 1, 2)))
load_fail(const char *format, ...)
{
    va_list  args;

    fprintf(stderr, "load: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}


static double
load_now(void)
{
    struct timespec  t;

    clock_gettime(CLOCK_MONOTONIC, &t);

    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}


static void
load_read_tickets(const char *name)
{
    FILE      *f;
    char       line[LOAD_TICKET_LEN + 2];
    uint32_t   space;

    f = fopen(name, "r");
    if (f == NULL) {
        load_fail("open() \"%s\" failed: %s", name, strerror(errno));
    }

    shoppers = 0;
    space = 0;

    while (fgets(line, sizeof(line), f)) {

        if (strcspn(line, "\n") != LOAD_TICKET_LEN) {
            load_fail("invalid ticket in %s:%u, it must have %d characters",
                      name, shoppers + 1, LOAD_TICKET_LEN);
        }

        if (shoppers == space) {
            space = space ? space * 2 : 1024;
            tickets = realloc(tickets, (size_t) space * LOAD_TICKET_LEN);
            if (tickets == NULL) {
                load_fail_errno("realloc()");
            }
        }

        memcpy(tickets + (size_t) shoppers++ * LOAD_TICKET_LEN, line,
               LOAD_TICKET_LEN);
    }

    fclose(f);

    if (shoppers == 0) {
        load_fail("no tickets in \"%s\"", name);
    }
}


static void
load_write_tickets(const char *name)
{
    FILE      *f;
    uint32_t   i;

    f = fopen(name, "w");
    if (f == NULL) {
        load_fail("open() \"%s\" failed: %s", name, strerror(errno));
    }

    for (i = 0; i < shoppers; i++) {
        fprintf(f, "%.*s\n", LOAD_TICKET_LEN,
                tickets + (size_t) i * LOAD_TICKET_LEN);
    }

    if (fclose(f) != 0) {
        load_fail("write() \"%s\" failed: %s", name, strerror(errno));
    }
}


static void
load_send(load_conn_t *c)
{
    int   n;
    char  request[LOAD_REQUEST_MAX], key[16] = "";

    if (options.keys) {
        snprintf(key, sizeof(key), "%u", next_key++ % options.keys);
    }

    c->shopper = next_shopper++ % shoppers;
    c->busy = true;
    c->have = 0;

    n = snprintf(request, sizeof(request),
                 "%s %s%s HTTP/1.1\r\nHost: shop\r\n%s",
                 options.method, options.path, key, options.headers);

    if (tickets) {
        n += snprintf(request + n, sizeof(request) - n, "Cookie: %s=%.*s\r\n",
                      options.cookie, LOAD_TICKET_LEN,
                      tickets + (size_t) c->shopper * LOAD_TICKET_LEN);
    }

    if (options.body) {
        n += snprintf(request + n, sizeof(request) - n,
                      "Content-Length: %zu\r\n\r\n%s", strlen(options.body),
                      options.body);
    } else {
        n += snprintf(request + n, sizeof(request) - n, "\r\n");
    }

    if ((size_t) n >= sizeof(request)) {
        load_fail("request exceeds %d bytes", LOAD_REQUEST_MAX);
    }

    if (send(c->fd, request, n, MSG_NOSIGNAL) != n) {
        load_fail_errno("send()");
    }

    stats.sent++;
}


static const char *
load_header(const char *head, const char *end, const char *name)
{
    size_t       len;
    const char  *p;

    len = strlen(name);

    for (p = head; p && p < end; p = memchr(p, '\n', end - p)) {
        p += (*p == '\n');

        if ((size_t) (end - p) > len && strncasecmp(p, name, len) == 0) {
            return p + len;
        }
    }

    return NULL;
}


/* Replaces the shopper's ticket by that of the first Set-Cookie header. */
static void
load_keep_ticket(load_conn_t *c, const char *end)
{
    size_t       len;
    const char  *p;

    if (options.cookie == NULL) {
        return;
    }

    len = strlen(options.cookie);
    p = load_header(c->answer, end, "Set-Cookie: ");

    if (p == NULL || strncmp(p, options.cookie, len) != 0 || p[len] != '='
        || end - p < (ptrdiff_t) len + 1 + LOAD_TICKET_LEN)
    {
        return;
    }

    stats.cookies++;

    if (options.keep && tickets) {
        memcpy(tickets + (size_t) c->shopper * LOAD_TICKET_LEN, p + len + 1,
               LOAD_TICKET_LEN);
    }
}


/* Returns true if the answer is complete. */
static bool
load_receive(load_conn_t *c)
{
    size_t       whole;
    ssize_t      n;
    const char  *end, *length;
    unsigned     status;

    n = recv(c->fd, c->answer + c->have, sizeof(c->answer) - 1 - c->have, 0);

    if (n == -1 && errno == EAGAIN) {
        return false;
    }

    if (n <= 0) {
        load_fail("recv() failed: %s",
                  n == 0 ? "connection closed" : strerror(errno));
    }

    c->have += n;
    c->answer[c->have] = '\0';

    end = strstr(c->answer, "\r\n\r\n");
    if (end == NULL) {
        return false;
    }

    length = load_header(c->answer, end, "Content-Length: ");
    if (length == NULL) {
        load_fail("answer without Content-Length");
    }

    whole = (size_t) (end + 4 - c->answer) + strtoul(length, NULL, 10);

    if (whole >= sizeof(c->answer)) {
        load_fail("answer exceeds %d bytes", LOAD_ANSWER_MAX);
    }

    if (c->have < whole) {
        return false;
    }

    status = (unsigned) strtoul(c->answer + sizeof("HTTP/1.1 ") - 1, NULL, 10);
    stats.status[status < LOAD_STATUSES ? status : 0]++;
    stats.answered++;
    stats.bytes += whole;
    load_keep_ticket(c, end);

    c->busy = false;

    return true;
}


static void
load_connect(load_conn_t *c, int ep, uint32_t i)
{
    int                 one = 1;
    struct epoll_event  event = { .events = EPOLLIN, .data.u32 = i };
    struct sockaddr_in  address = { .sin_family = AF_INET };

    address.sin_port = htons((uint16_t) options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    c->fd = socket(AF_INET, SOCK_STREAM, 0);

    if (c->fd == -1
        || connect(c->fd, (struct sockaddr *) &address, sizeof(address)) == -1
        || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == -1
        || fcntl(c->fd, F_SETFL, O_NONBLOCK) == -1
        || epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &event) == -1)
    {
        load_fail("connect() to 127.0.0.1:%d failed: %s", options.port,
                  strerror(errno));
    }
}


/* Total of requests that the rate allows until now. */
static uint64_t
load_due(double started)
{
    uint64_t  due;

    if (options.rate == 0) {
        return options.requests;
    }

    due = (uint64_t) ((load_now() - started) * (double) options.rate) + 1;

    return due < options.requests ? due : options.requests;
}


static double
load_run(load_conn_t *conns)
{
    int                 i, n, ep;
    double              started, heard;
    uint32_t            k;
    struct epoll_event  events[256];

    ep = epoll_create1(0);
    heard = load_now();

    for (k = 0; k < options.conns; k++) {
        load_connect(&conns[k], ep, k);
    }

    started = load_now();

    for (k = 0; ; k++) {

        if (!conns[k % options.conns].busy && stats.sent < load_due(started))
        {
            load_send(&conns[k % options.conns]);
        }

        if (k % options.conns != options.conns - 1) {
            continue;
        }

        n = epoll_wait(ep, events, 256, options.rate ? 1 : 1000);

        if (n == -1 && errno != EINTR) {
            load_fail_errno("epoll_wait()");
        }

        for (i = 0; i < n; i++) {
            load_conn_t  *c = &conns[events[i].data.u32];

            if (load_receive(c) && options.rate == 0
                && stats.sent < options.requests)
            {
                load_send(c);
            }
        }

        if (n > 0) {
            heard = load_now();
        }

        if (stats.answered == options.requests) {
            return load_now() - started;
        }

        if (load_now() - heard > LOAD_STALL_MS / 1000.0
                                 + (options.rate ? 1.0 / options.rate : 0))
        {
            load_fail("no answer within %d ms", LOAD_STALL_MS);
        }
    }
}


static uint64_t
load_number(int option, const char *s)
{
    char      *end;
    uint64_t   n;

    n = strtoull(s, &end, 10);

    if (*s < '0' || *s > '9' || *end) {
        load_fail("invalid -%c \"%s\", it must be a number", option, s);
    }

    return n;
}


static void __attribute__((noreturn))
load_usage(void)
{
    fprintf(stderr,
            "usage: load -p port [options]\n"
            "  -u path         (default /)\n"
            "  -n requests     (default 1000)\n"
            "  -c connections  (default 32)\n"
            "  -r rate         requests per second (default unlimited)\n"
            "  -k keys         append 0 .. keys - 1 to the path\n"
            "  -H header       add a header; repeatable\n"
            "  -m method       (default GET)\n"
            "  -d body\n"
            "  -C cookie       name of the ticket cookie\n"
            "  -i file         read tickets, requires -C\n"
            "  -f index        first ticket\n"
            "  -w              replace tickets by those of the answers\n"
            "  -o file         write the last tickets\n");
    exit(1);
}


static void
load_parse(int argc, char **argv)
{
    int     c;
    size_t  len;

    while ((c = getopt(argc, argv, "p:c:n:r:k:f:u:C:m:d:i:o:H:w")) != -1) {

        switch (c) {
        case 'p': options.port = (int) load_number(c, optarg); break;
        case 'c': options.conns = (uint32_t) load_number(c, optarg); break;
        case 'n': options.requests = load_number(c, optarg); break;
        case 'r': options.rate = load_number(c, optarg); break;
        case 'k': options.keys = (uint32_t) load_number(c, optarg); break;
        case 'f': options.from = (uint32_t) load_number(c, optarg); break;
        case 'u': options.path = optarg; break;
        case 'C': options.cookie = optarg; break;
        case 'm': options.method = optarg; break;
        case 'd': options.body = optarg; break;
        case 'i': options.in = optarg; break;
        case 'o': options.out = optarg; break;
        case 'w': options.keep = true; break;
        case 'H':
            len = strlen(options.headers);
            if (snprintf(options.headers + len, sizeof(options.headers) - len,
                         "%s\r\n", optarg)
                >= (int) (sizeof(options.headers) - len))
            {
                load_fail("headers exceed %zu bytes", sizeof(options.headers));
            }
            break;
        default:
            load_usage();
        }
    }

    if (options.port == 0 || options.conns == 0 || options.requests == 0
        || (options.in && options.cookie == NULL))
    {
        load_usage();
    }
}


int
main(int argc, char **argv)
{
    double        seconds;
    unsigned      i;
    load_conn_t  *conns;

    load_parse(argc, argv);

    if (options.in) {
        load_read_tickets(options.in);
    }

    next_shopper = options.from;
    next_key = options.from;

    conns = calloc(options.conns, sizeof(load_conn_t));
    if (conns == NULL) {
        load_fail_errno("calloc()");
    }

    seconds = load_run(conns);

    if (options.out) {
        load_write_tickets(options.out);
    }

    printf("requests %lu\nseconds %.6f\nbytes %lu\ncookies %lu\n",
           (unsigned long) stats.answered, seconds,
           (unsigned long) stats.bytes, (unsigned long) stats.cookies);

    for (i = 0; i < LOAD_STATUSES; i++) {
        if (stats.status[i]) {
            printf("status %u %lu\n", i, (unsigned long) stats.status[i]);
        }
    }

    return 0;
}
