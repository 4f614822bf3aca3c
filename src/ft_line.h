
/*
 * Shoppers held at this edge by this worker, earliest stamp first: a pairing
 * heap (Fredman et al., 1986) of nodes that the caller embeds in whatever it
 * parks, so that nothing is allocated here; threaded in order of arrival too,
 * for the holds end in that order.  Not shared between processes.
 */

#ifndef FT_LINE_H_INCLUDED
#define FT_LINE_H_INCLUDED


#include <stdint.h>
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


typedef struct ft_line_node_s  ft_line_node_t;

struct ft_line_node_s {
    uint64_t          stamp_us;     /* its place in line */
    uint64_t          first_ms;     /* of its ticket */
    uint64_t          id;
    uint64_t          until_ms;     /* turned back then */
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

/* The earliest stamp, or NULL. */
static inline ft_line_node_t *
ft_line_first(const ft_line_t *line)
{
    return line->root;
}


/* The one held longest, or NULL. */
static inline ft_line_node_t *
ft_line_oldest(const ft_line_t *line)
{
    return line->oldest;
}

#pragma GCC visibility pop


#endif /* FT_LINE_H_INCLUDED */
