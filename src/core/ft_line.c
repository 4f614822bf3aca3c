
#include "ft_line.h"


/* Merges two heaps: the later root becomes the first child of the earlier. */
static ft_line_node_t *
ft_line_meld(ft_line_node_t *a, ft_line_node_t *b)
{
    ft_line_node_t  *t;

    if (a == NULL) {
        return b;
    }

    if (b == NULL) {
        return a;
    }

    if (b->timestamp_us < a->timestamp_us) {
        t = a;
        a = b;
        b = t;
    }

    b->prev = a;
    b->next = a->child;

    if (a->child) {
        a->child->prev = b;
    }

    a->child = b;

    return a;
}


/* The two passes of a pairing heap: pairs, then all pairs. */
static ft_line_node_t *
ft_line_meld_children(ft_line_node_t *node)
{
    ft_line_node_t  *a, *b, *rest, *pairs, *root;

    pairs = NULL;

    while (node) {
        a = node;
        b = a->next;
        rest = b ? b->next : NULL;

        a->next = NULL;

        if (b) {
            b->next = NULL;
        }

        a = ft_line_meld(a, b);
        a->next = pairs;
        pairs = a;
        node = rest;
    }

    root = NULL;

    while (pairs) {
        rest = pairs->next;
        pairs->next = NULL;
        root = ft_line_meld(root, pairs);
        pairs = rest;
    }

    if (root) {
        root->next = NULL;
        root->prev = NULL;
    }

    return root;
}


void
ft_line_insert(ft_line_t *line, ft_line_node_t *node)
{
    node->child = NULL;
    node->next = NULL;
    node->prev = NULL;

    line->root = ft_line_meld(line->root, node);

    node->newer = NULL;
    node->older = line->newest;

    if (line->newest) {
        line->newest->newer = node;

    } else {
        line->oldest = node;
    }

    line->newest = node;
    line->len++;
}


void
ft_line_remove(ft_line_t *line, ft_line_node_t *node)
{
    ft_line_node_t  *children;

    children = ft_line_meld_children(node->child);

    if (node == line->root) {
        line->root = children;

    } else {

        if (node->prev->child == node) {
            node->prev->child = node->next;

        } else {
            node->prev->next = node->next;
        }

        if (node->next) {
            node->next->prev = node->prev;
        }

        line->root = ft_line_meld(line->root, children);
    }

    if (node->older) {
        node->older->newer = node->newer;

    } else {
        line->oldest = node->newer;
    }

    if (node->newer) {
        node->newer->older = node->older;

    } else {
        line->newest = node->older;
    }

    line->len--;
}
