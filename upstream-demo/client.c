#include "client.h"

#include <poll.h>

#include <event2/bufferevent.h>


/* The check interval for a client with a pipelined request. */
#define CO_CLIENT_POLL_US  100000


static void co_client_wait(co_client_t *client);
static void co_client_event(evutil_socket_t fd, short events, void *data);
static void co_client_closed(struct evhttp_connection *connection, void *data);


void
co_client_watch(co_client_t *client, struct evhttp_request *req,
    co_client_gone_pt gone, void *data)
{
    client->connection = evhttp_request_get_connection(req);
    client->fd = bufferevent_getfd(
                     evhttp_connection_get_bufferevent(client->connection));
    client->gone = gone;
    client->data = data;
    client->left = 0;

    evhttp_connection_set_closecb(client->connection, co_client_closed,
                                  client);
    co_client_wait(client);
}


/*
 * EV_READ is needed besides EV_CLOSED: on a reset connection libevent reports
 * only EV_READ and EV_WRITE, and the loop would spin if no event handled them.
 * With a pipelined request in the socket EV_READ would fire all the time, so a
 * timer checks the socket instead.
 */
static void
co_client_wait(co_client_t *client)
{
    struct pollfd              pfd;
    struct event_base         *base;
    static const struct timeval  poll_interval = { 0, CO_CLIENT_POLL_US };

    base = evhttp_connection_get_base(client->connection);

    pfd.fd = client->fd;
    pfd.events = POLLIN|POLLRDHUP;

    if (poll(&pfd, 1, 0) == 1 && pfd.revents == POLLIN) {
        event_assign(&client->event, base, -1, 0, co_client_event, client);
        event_add(&client->event, &poll_interval);

    } else {
        event_assign(&client->event, base, client->fd, EV_READ|EV_CLOSED,
                     co_client_event, client);
        event_add(&client->event, NULL);
    }
}


static void
co_client_event(evutil_socket_t fd, short events, void *data)
{
    co_client_t  *client = data;

    (void) fd;
    (void) events;

    if (co_client_left(client)) {
        client->gone(client->data);
        return;
    }

    co_client_wait(client);
}


/* libevent closed the connection before the answer. */
static void
co_client_closed(struct evhttp_connection *connection, void *data)
{
    co_client_t  *client = data;

    (void) connection;

    event_del(&client->event);
    client->connection = NULL;

    if (!client->left) {
        client->left = 1;
        client->gone(client->data);
    }
}


void
co_client_unwatch(co_client_t *client)
{
    if (client->connection == NULL) {
        return;
    }

    event_del(&client->event);
    evhttp_connection_set_closecb(client->connection, NULL, NULL);
    client->connection = NULL;
}


int
co_client_left(co_client_t *client)
{
    struct pollfd  pfd;

    if (client->left || client->connection == NULL) {
        return client->left;
    }

    pfd.fd = client->fd;
    pfd.events = POLLRDHUP;

    client->left = poll(&pfd, 1, 0) == 1;

    return client->left;
}
