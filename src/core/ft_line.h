
/*
 * The requests that one worker holds for a key, earliest timestamp first: a
 * pairing heap (Fredman et al., 1986) of nodes embedded in the caller's objects.
 * A list in order of arrival runs through the same nodes, because holds end in
 * that order.
 *
 * Insertion is O(1), removal O(log n) amortized.  Memory of one process.
 */

#ifndef FT_LINE_H_INCLUDED
#define FT_LINE_H_INCLUDED


#include <stdint.h>
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


typedef struct ft_line_node_s  ft_line_node_t;

struct ft_line_node_s {
    uint64_t          timestamp_us; /* place in line */
    uint64_t          first_ms;     /* first attempt */
    uint64_t          id;           /* of the ticket */
    uint64_t          until_ms;     /* end of the hold */
    ft_line_node_t   *child;
    ft_line_node_t   *next;         /* sibling */
    ft_line_node_t   *prev;         /* sibling, or parent of a first child */
    ft_line_node_t   *older;
    ft_line_node_t   *newer;
};

typedef struct {
    ft_line_node_t   *root;
    ft_line_node_t   *oldest;
    ft_line_node_t   *newest;
    uint32_t          len;
} ft_line_t;


void ft_line_insert(ft_line_t *line, ft_line_node_t *node);
void ft_line_remove(ft_line_t *line, ft_line_node_t *node);

/* The earliest timestamp, or NULL. */
static inline ft_line_node_t *
ft_line_first(const ft_line_t *line)
{
    return line->root;
}


/* The node that was inserted first, or NULL. */
static inline ft_line_node_t *
ft_line_oldest(const ft_line_t *line)
{
    return line->oldest;
}

#pragma GCC visibility pop


#endif /* FT_LINE_H_INCLUDED */
