#include "admin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>

#include <jansson.h>


#define CO_ADMIN_BACKLOG   16
#define CO_ADMIN_BODY_MAX  1024

#define CO_ADMIN_USAGE                                                        \
    "give one of truth=first, truth=second (force=1: even if the stores"      \
    " differ), kill=1, mend=1, check=1"


typedef struct co_admin_order_s  co_admin_order_t;

struct co_admin_order_s {
    co_admin_t                    *admin;        /* NULL: destroyed, as the
                                                    request */
    struct evhttp_request         *req;
    LIST_ENTRY(co_admin_order_s)   link;
};


struct co_admin_s {
    co_store_t                            *store;
    char                                  *path;
    struct evhttp                         *evhttp;
    LIST_HEAD(, co_admin_order_s)          orders;
};


static void co_admin_handle(struct evhttp_request *req, void *data);
static void co_admin_post(co_admin_t *admin, struct evhttp_request *req);
static void co_admin_done(void *data, int status, const char *why);
static void co_admin_reply(co_admin_t *admin, struct evhttp_request *req,
    int status, const char *why);


/* Removes a stale socket: one that nobody listens on. */
static int
co_admin_listen(const char *path)
{
    int                 fd, error;
    mode_t              mask;
    struct sockaddr_un  un;

    memset(&un, 0, sizeof(un));
    un.sun_family = AF_UNIX;

    if (strlen(path) >= sizeof(un.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }

    strcpy(un.sun_path, path);

    fd = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0);
    if (fd == -1) {
        return -1;
    }

    if (connect(fd, (struct sockaddr *) &un, sizeof(un)) == -1
        && errno == ECONNREFUSED)
    {
        unlink(path);
    }

    close(fd);

    fd = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0);
    if (fd == -1) {
        return -1;
    }

    mask = umask(077);
    error = bind(fd, (struct sockaddr *) &un, sizeof(un)) == -1 ? errno : 0;
    umask(mask);

    if (error != 0 || listen(fd, CO_ADMIN_BACKLOG) == -1) {
        error = error != 0 ? error : errno;
        close(fd);
        errno = error;
        return -1;
    }

    return fd;
}


co_admin_t *
co_admin_create(struct event_base *base, const char *path, co_store_t *store)
{
    int          fd;
    co_admin_t  *admin;

    fd = co_admin_listen(path);

    if (fd == -1) {
        fprintf(stderr, "checkout: --admin=unix:%s: %s; give a path that is"
                " free, in a directory that exists\n", path, strerror(errno));
        return NULL;
    }

    admin = calloc(1, sizeof(*admin));

    if (admin != NULL) {
        admin->store = store;
        admin->path = strdup(path);
        admin->evhttp = evhttp_new(base);
    }

    if (admin == NULL || admin->path == NULL || admin->evhttp == NULL
        || evhttp_accept_socket(admin->evhttp, fd) != 0)
    {
        fprintf(stderr, "checkout: out of memory\n");
        close(fd);

        if (admin != NULL) {
            co_admin_destroy(admin);
        }

        return NULL;
    }

    evhttp_set_max_body_size(admin->evhttp, CO_ADMIN_BODY_MAX);
    evhttp_set_allowed_methods(admin->evhttp,
                               EVHTTP_REQ_GET|EVHTTP_REQ_HEAD|EVHTTP_REQ_POST);
    evhttp_set_gencb(admin->evhttp, co_admin_handle, admin);

    return admin;
}


void
co_admin_destroy(co_admin_t *admin)
{
    co_admin_order_t  *waiting;

    /* the store calls co_admin_done() for them later */
    while ((waiting = LIST_FIRST(&admin->orders)) != NULL) {
        LIST_REMOVE(waiting, link);
        waiting->admin = NULL;
    }

    if (admin->evhttp != NULL) {
        evhttp_free(admin->evhttp);
    }

    if (admin->path != NULL) {
        unlink(admin->path);
        free(admin->path);
    }

    free(admin);
}


static void
co_admin_handle(struct evhttp_request *req, void *data)
{
    co_admin_t  *admin = data;
    const char  *path;

    path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));

    if (strcmp(path, "/admin/store") != 0) {
        co_admin_reply(admin, req, 404, "not found; the path is /admin/store");

    } else if (evhttp_request_get_command(req) == EVHTTP_REQ_POST) {
        co_admin_post(admin, req);

    } else {
        co_admin_reply(admin, req, 200, "");
    }
}


/* Returns -1 if the body is not exactly one command. */
static int
co_admin_read(struct evhttp_request *req, co_store_command_t *order)
{
    int                n = 0, length;
    char               body[CO_ADMIN_BODY_MAX + 1];
    const char        *truth;
    struct evkeyval   *pair;
    struct evkeyvalq   query;
    struct evbuffer   *in = evhttp_request_get_input_buffer(req);

    memset(order, 0, sizeof(*order));

    length = evbuffer_remove(in, body, CO_ADMIN_BODY_MAX);
    body[length > 0 ? length : 0] = '\0';

    if (evhttp_parse_query_str(body, &query) != 0) {
        return -1;
    }

    for (pair = query.tqh_first; pair != NULL; pair = pair->next.tqe_next) {
        truth = strcmp(pair->key, "truth") == 0 ? pair->value : "";

        if (strcmp(truth, "first") == 0 || strcmp(truth, "second") == 0) {
            order->kind = CO_STORE_COMMAND_SWITCH;
            order->truth = *truth == 's';
            n++;

        } else if (strcmp(pair->value, "1") != 0) {
            n += 2;

        } else if (strcmp(pair->key, "kill") == 0) {
            order->kind = CO_STORE_COMMAND_KILL;
            n++;

        } else if (strcmp(pair->key, "mend") == 0) {
            order->kind = CO_STORE_COMMAND_MEND;
            n++;

        } else if (strcmp(pair->key, "check") == 0) {
            order->kind = CO_STORE_COMMAND_CHECK;
            n++;

        } else if (strcmp(pair->key, "force") == 0) {
            order->force = 1;

        } else {
            n += 2;
        }
    }

    evhttp_clear_headers(&query);

    return n == 1 && (!order->force || order->kind == CO_STORE_COMMAND_SWITCH)
           ? 0 : -1;
}


static void
co_admin_post(co_admin_t *admin, struct evhttp_request *req)
{
    co_admin_order_t    *waiting;
    co_store_command_t   order;

    if (co_admin_read(req, &order) != 0) {
        co_admin_reply(admin, req, 400, CO_ADMIN_USAGE);
        return;
    }

    waiting = malloc(sizeof(*waiting));

    if (waiting == NULL) {
        co_admin_reply(admin, req, 500, "out of memory");
        return;
    }

    waiting->admin = admin;
    waiting->req = req;
    LIST_INSERT_HEAD(&admin->orders, waiting, link);

    if (co_store_command(admin->store, &order, co_admin_done, waiting) != 0) {
        co_admin_reply(admin, req, 404, "not a --store=shadow:... store");
        LIST_REMOVE(waiting, link);
        free(waiting);
    }
}


static void
co_admin_done(void *data, int status, const char *why)
{
    co_admin_order_t  *waiting = data;

    if (waiting->admin != NULL) {
        LIST_REMOVE(waiting, link);
        co_admin_reply(waiting->admin, waiting->req, status, why);
    }

    free(waiting);
}


/* The report of the store, with "status" and "why". */
static void
co_admin_reply(co_admin_t *admin, struct evhttp_request *req, int status,
    const char *why)
{
    char             *line = NULL;
    json_t           *root;
    struct evbuffer  *out = evhttp_request_get_output_buffer(req);

    root = co_store_report(admin->store);

    if (root == NULL) {
        root = json_object();
    }

    if (root != NULL) {
        json_object_set_new(root, "status",
                            json_string(status == 200 ? "ok" : "refused"));
        json_object_set_new(root, "why", json_string(why));
        line = json_dumps(root, JSON_INDENT(1));
        json_decref(root);
    }

    evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
                      "application/json");
    evbuffer_add_printf(out, "%s\n", line != NULL ? line : "{}");
    free(line);

    evhttp_send_reply(req, status, NULL, NULL);
}
