
/*
 * The line of held requests against an array: the earliest timestamp first, the
 * longest held known, removal of any.
 */

#include "unit.h"
#include "ft_line.h"


#define NODES  600


typedef struct {
    ft_line_t        line;
    ft_line_node_t   node[NODES];
    ft_line_node_t  *in[NODES];     /* in order of arrival */
    unsigned         n;
    uint64_t         seed;
} model_t;


static void
model_check(const model_t *m)
{
    unsigned               i;
    const ft_line_node_t  *first;

    assert_int_equal(m->line.len, m->n);

    if (m->n == 0) {
        assert_null(ft_line_first(&m->line));
        assert_null(ft_line_oldest(&m->line));
        return;
    }

    assert_ptr_equal(ft_line_oldest(&m->line), m->in[0]);
    assert_ptr_equal(m->line.newest, m->in[m->n - 1]);

    first = ft_line_first(&m->line);
    assert_non_null(first);

    for (i = 0; i < m->n; i++) {
        assert_true(first->timestamp_us <= m->in[i]->timestamp_us);
    }
}


static void
model_insert(model_t *m, ft_line_node_t *node, uint64_t timestamp_us)
{
    node->timestamp_us = timestamp_us;
    ft_line_insert(&m->line, node);
    m->in[m->n++] = node;
}


static void
model_remove(model_t *m, unsigned i)
{
    ft_line_remove(&m->line, m->in[i]);
    m->n--;
    memmove(&m->in[i], &m->in[i + 1], (m->n - i) * sizeof(m->in[0]));
}


static unsigned
model_index(const model_t *m, const ft_line_node_t *node)
{
    unsigned  i;

    for (i = 0; i < m->n && m->in[i] != node; i++) {
        /* void */
    }

    unit_check(i < m->n, "a node that was never put in");

    return i;
}


/* Timestamps: ascending, descending, random, few different. */
static uint64_t
timestamp_of(model_t *m, unsigned kind, unsigned i)
{
    switch (kind) {

    case 0:
        return i;

    case 1:
        return 1000000 - i;

    case 2:
        return unit_random(&m->seed);

    default:
        return unit_random(&m->seed) % 5;
    }
}


static void
test_removed_in_order(void **unused)
{
    model_t   *m;
    unsigned   kind, i;
    uint64_t   last;

    (void) unused;

    for (kind = 0; kind < 4; kind++) {
        m = calloc(1, sizeof(model_t));
        assert_non_null(m);

        for (i = 0; i < NODES; i++) {
            model_insert(m, &m->node[i], timestamp_of(m, kind, i));
            model_check(m);
        }

        last = 0;

        while (m->n) {
            assert_true(ft_line_first(&m->line)->timestamp_us >= last);
            last = ft_line_first(&m->line)->timestamp_us;
            model_remove(m, model_index(m, ft_line_first(&m->line)));
            model_check(m);
        }

        free(m);
    }
}


/* A random node is removed and used again. */
static void
check_random(unsigned kind, uint64_t seed)
{
    model_t         *m;
    unsigned         i, step, size;
    ft_line_node_t  *free_node[NODES];

    m = calloc(1, sizeof(model_t));
    assert_non_null(m);
    m->seed = seed;

    for (i = 0; i < NODES; i++) {
        free_node[i] = &m->node[i];
    }

    for (step = 0; step < 6000; step++) {

        size = step / 1000 % 2 ? 20 : NODES - 1;

        if (m->n == 0 || (m->n < NODES && unit_random(&m->seed) % NODES < size))
        {
            model_insert(m, free_node[NODES - 1 - m->n],
                         timestamp_of(m, kind, step));

        } else {

            switch (unit_random(&m->seed) % 3) {

            case 0:
                i = model_index(m, ft_line_first(&m->line));
                break;

            case 1:
                i = 0;
                break;

            default:
                i = (unsigned) (unit_random(&m->seed) % m->n);
                break;
            }

            free_node[NODES - m->n] = m->in[i];
            model_remove(m, i);
        }

        model_check(m);
    }

    free(m);
}


static void
test_random_inserts_and_removals(void **unused)
{
    unsigned  kind;
    uint64_t  seed;

    (void) unused;

    for (kind = 0; kind < 4; kind++) {
        for (seed = 1; seed <= 4; seed++) {
            check_random(kind, seed);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_removed_in_order),
        cmocka_unit_test(test_random_inserts_and_removals)
    };

    return unit_tests(tests);
}
