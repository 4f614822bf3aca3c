
/*
 * What the edge and the checkout say of a sale while it goes on.
 */

#ifndef FT_CROWD_WATCH_H_INCLUDED
#define FT_CROWD_WATCH_H_INCLUDED


#include <stdint.h>
#include "crowd_http.h"


/* Of flash_throttle_status, over all of its keys. */
typedef struct {
    int64_t    waiting;
    int64_t    threshold_age_ms;        /* the highest */
} ft_edge_word_t;


typedef struct {
    int64_t    orders;
    int64_t    oversold;
    int64_t    late_charges;
    int64_t    declined;
    int64_t    in_progress;
} ft_checkout_word_t;


typedef struct ft_watch_s  ft_watch_t;

/* Reads an answer's JSON, from a body that ends with a zero byte. */
typedef bool (*ft_watch_read_pt)(const char *body, void *word);

/* error: NULL, or why there is no new word; good until the next question. */
typedef void (*ft_watch_told_pt)(void *data, const char *error);

struct ft_watch_s {
    ft_request_t        request;
    const char         *url;
    ft_watch_read_pt    read;
    ft_watch_told_pt    told;
    void               *data;
    bool                asking;
    bool                known;          /* word has been filled */
    union {
        ft_edge_word_t      edge;
        ft_checkout_word_t  checkout;
    } word;
};


bool ft_watch_edge(const char *body, void *word);
bool ft_watch_checkout(const char *body, void *word);

/* False: no memory. */
bool ft_watch_open(ft_watch_t *watch, ft_http_t *http, const char *url,
    ft_watch_read_pt read, ft_watch_told_pt told, void *data);

/* Asks once more, unless a question is open. */
void ft_watch_ask(ft_watch_t *watch);

void ft_watch_close(ft_watch_t *watch);


#endif /* FT_CROWD_WATCH_H_INCLUDED */
