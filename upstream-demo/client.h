/*
 * Detects a client that disconnects while its request is in progress.
 *
 * libevent does not read from a connection whose request has no answer yet,
 * and therefore does not detect that the client closed it.
 */

#ifndef CO_CLIENT_H
#define CO_CLIENT_H


#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/http.h>


typedef void (*co_client_gone_pt)(void *data);


typedef struct {
    struct evhttp_connection  *connection;
    evutil_socket_t            fd;
    struct event               event;
    co_client_gone_pt          gone;
    void                      *data;
    int                        left;
} co_client_t;


/*
 * Calls "gone" once if the client disconnects before co_client_unwatch().
 * A client that closes only its sending side counts as disconnected: it cannot
 * be distinguished from one that closed both sides.
 */
void co_client_watch(co_client_t *client, struct evhttp_request *req,
    co_client_gone_pt gone, void *data);

/* Must be called before the answer is sent. */
void co_client_unwatch(co_client_t *client);

/* Checks the socket; 1 if the client has disconnected. */
int co_client_left(co_client_t *client);


#endif /* CO_CLIENT_H */
