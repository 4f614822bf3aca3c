
/*
 * Sends requests over kept-alive HTTP/1.1 connections as fast as they are
 * answered, or at a given rate, from one thread, and counts the answers.
 *
 * Unlike a general load tool it keeps the tickets of many shoppers: each
 * request is the next shopper's, with the cookie of that shopper's last answer,
 * as browsers poll.  One shopper without a ticket is a crowd of newcomers.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
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
#define LOAD_STALL_MS     30000     /* no answer for so long: give up */


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
    uint64_t           rate;        /* a second; 0: as fast as they go */
    uint32_t           keys;        /* the path ends in a number below this */
    uint32_t           from;        /* the first shopper */
    const char        *path;
    const char        *cookie;      /* the name of the ticket's cookie */
    const char        *method;
    const char        *body;
    const char        *in;          /* tickets, a line each */
    const char        *out;         /* and as they are at the end */
    bool               keep;        /* the tickets of answers */
    char               headers[LOAD_REQUEST_MAX / 2];
} load_options_t;


typedef struct {
    uint64_t           sent;
    uint64_t           answered;
    uint64_t           bytes;
    uint64_t           cookies;
    uint64_t           status[LOAD_STATUSES];
} load_figures_t;


static load_options_t  options = {
    .conns = 32, .requests = 1000, .path = "/", .method = "GET"
};
static load_figures_t  figures;
static char           *tickets;     /* LOAD_TICKET_LEN each, no separator */
static uint32_t        shoppers = 1;
static uint32_t        next_shopper;
static uint32_t        next_key;


static void __attribute__((noreturn))
load_die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}


static void __attribute__((noreturn))
load_refuse(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
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
        load_die(name);
    }

    shoppers = 0;
    space = 0;

    while (fgets(line, sizeof(line), f)) {

        if (strcspn(line, "\n") != LOAD_TICKET_LEN) {
            load_refuse("a ticket is 64 characters, a line each");
        }

        if (shoppers == space) {
            space = space ? space * 2 : 1024;
            tickets = realloc(tickets, (size_t) space * LOAD_TICKET_LEN);
            if (tickets == NULL) {
                load_die("realloc");
            }
        }

        memcpy(tickets + (size_t) shoppers++ * LOAD_TICKET_LEN, line,
               LOAD_TICKET_LEN);
    }

    fclose(f);

    if (shoppers == 0) {
        load_refuse("no ticket in the file");
    }
}


static void
load_write_tickets(const char *name)
{
    FILE      *f;
    uint32_t   i;

    f = fopen(name, "w");
    if (f == NULL) {
        load_die(name);
    }

    for (i = 0; i < shoppers; i++) {
        fprintf(f, "%.*s\n", LOAD_TICKET_LEN,
                tickets + (size_t) i * LOAD_TICKET_LEN);
    }

    if (fclose(f) != 0) {
        load_die(name);
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

    n = snprintf(request, sizeof(request), "%s %s%s HTTP/1.1\r\nHost: shop\r\n%s",
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
        load_refuse("the request is too long");
    }

    if (send(c->fd, request, n, MSG_NOSIGNAL) != n) {
        load_die("send");
    }

    figures.sent++;
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


/* The next Set-Cookie of our name replaces the shopper's ticket. */
static void
load_learn(load_conn_t *c, const char *end)
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

    figures.cookies++;

    if (options.keep && tickets) {
        memcpy(tickets + (size_t) c->shopper * LOAD_TICKET_LEN, p + len + 1,
               LOAD_TICKET_LEN);
    }
}


/* Reads what is there; true: a whole answer. */
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
        load_die("the server closed a connection");
    }

    c->have += n;
    c->answer[c->have] = '\0';

    end = strstr(c->answer, "\r\n\r\n");
    if (end == NULL) {
        return false;
    }

    length = load_header(c->answer, end, "Content-Length: ");
    if (length == NULL) {
        load_refuse("an answer without Content-Length");
    }

    whole = (size_t) (end + 4 - c->answer) + strtoul(length, NULL, 10);

    if (whole >= sizeof(c->answer)) {
        load_refuse("an answer is too long");
    }

    if (c->have < whole) {
        return false;
    }

    status = (unsigned) strtoul(c->answer + sizeof("HTTP/1.1 ") - 1, NULL, 10);
    figures.status[status < LOAD_STATUSES ? status : 0]++;
    figures.answered++;
    figures.bytes += whole;
    load_learn(c, end);

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
        load_die("connecting to the server");
    }
}


/* Requests that may be sent by now, all in all. */
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

        if (!conns[k % options.conns].busy && figures.sent < load_due(started))
        {
            load_send(&conns[k % options.conns]);
        }

        if (k % options.conns != options.conns - 1) {
            continue;
        }

        n = epoll_wait(ep, events, 256, options.rate ? 1 : 1000);

        if (n == -1 && errno != EINTR) {
            load_die("epoll_wait");
        }

        for (i = 0; i < n; i++) {
            load_conn_t  *c = &conns[events[i].data.u32];

            if (load_receive(c) && options.rate == 0
                && figures.sent < options.requests)
            {
                load_send(c);
            }
        }

        if (n > 0) {
            heard = load_now();
        }

        if (figures.answered == options.requests) {
            return load_now() - started;
        }

        if (load_now() - heard > LOAD_STALL_MS / 1000.0
                                 + (options.rate ? 1.0 / options.rate : 0))
        {
            load_refuse("no answer for 30 seconds");
        }
    }
}


static uint64_t
load_number(const char *s)
{
    char      *end;
    uint64_t   n;

    n = strtoull(s, &end, 10);

    if (*s < '0' || *s > '9' || *end) {
        load_refuse("an option wants a number");
    }

    return n;
}


static void
load_parse(int argc, char **argv)
{
    int     c;
    size_t  len;

    while ((c = getopt(argc, argv, "p:c:n:r:k:f:u:C:m:d:i:o:H:w")) != -1) {

        switch (c) {
        case 'p': options.port = (int) load_number(optarg); break;
        case 'c': options.conns = (uint32_t) load_number(optarg); break;
        case 'n': options.requests = load_number(optarg); break;
        case 'r': options.rate = load_number(optarg); break;
        case 'k': options.keys = (uint32_t) load_number(optarg); break;
        case 'f': options.from = (uint32_t) load_number(optarg); break;
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
                load_refuse("the headers are too long");
            }
            break;
        default:
            load_refuse("usage: load -p port [-u path] [-n requests] "
                        "[-c connections] [-r rate] [-k keys] [-H header] "
                        "[-m method] [-d body] [-C cookie -i tickets "
                        "[-f first] [-w] [-o tickets]]");
        }
    }

    if (options.port == 0 || options.conns == 0 || options.requests == 0
        || (options.in && options.cookie == NULL))
    {
        load_refuse("-p, and positive -c and -n, are needed; -C with -i");
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
        load_die("calloc");
    }

    seconds = load_run(conns);

    if (options.out) {
        load_write_tickets(options.out);
    }

    printf("requests %lu\nseconds %.6f\nbytes %lu\ncookies %lu\n",
           (unsigned long) figures.answered, seconds,
           (unsigned long) figures.bytes, (unsigned long) figures.cookies);

    for (i = 0; i < LOAD_STATUSES; i++) {
        if (figures.status[i]) {
            printf("status %u %lu\n", i, (unsigned long) figures.status[i]);
        }
    }

    return 0;
}
