/*
 * Notices that a client leaves while its request is held.
 *
 * The HTTP library stops reading a connection whose request waits for an
 * answer, and so does not see it close.
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
 * Calls "gone" once if the client of this request leaves before
 * co_client_unwatch().  A client that closes only its sending side has left:
 * no browser and no proxy does that, and it cannot be told from one that
 * closed both.
 */
void co_client_watch(co_client_t *client, struct evhttp_request *req,
    co_client_gone_pt gone, void *data);

/* To be called before the answer is sent. */
void co_client_unwatch(co_client_t *client);

/* Looks at the socket now, and remembers: 1 if the client has left. */
int co_client_left(co_client_t *client);


#endif /* CO_CLIENT_H */
