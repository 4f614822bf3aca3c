
/*
 * Keys by last use: a heap against an array, and a heap whose change was
 * interrupted.
 */

#include "unit.h"
#include "ft_lru.h"


#define ITEMS  100


/* Each key is there once, and the heap is in order. */
static void
check_heap(const ft_lru_item_t *heap, uint32_t n)
{
    bool      there[ITEMS];
    uint32_t  k;

    memset(there, 0, sizeof(there));

    for (k = 0; k < n; k++) {
        assert_true(heap[k].i < n);
        assert_false(there[heap[k].i]);
        there[heap[k].i] = true;

        if (k) {
            assert_true(heap[(k - 1) / 2].at_us <= heap[k].at_us);
        }
    }
}


static uint32_t
first_of(const uint64_t *at_us, uint32_t n)
{
    uint32_t  i, first;

    for (first = 0, i = 1; i < n; i++) {
        first = at_us[i] < at_us[first] ? i : first;
    }

    return first;
}


static void
check_against_array(uint32_t n, uint64_t seed)
{
    unsigned        step;
    uint32_t        i;
    uint64_t        now, at_us[ITEMS];
    ft_lru_t        lru;
    ft_lru_item_t   heap[ITEMS];

    memset(&lru, 0, sizeof(ft_lru_t));
    now = UNIT_EPOCH_MS * 1000;

    for (i = 0; i < n; i++) {
        assert_false(ft_lru_is_of(&lru, n));

        /* in ms, and sometimes backwards */

        at_us[i] = now += unit_between(&seed, 0, 20) * 1000 - 3001;
        ft_lru_add(&lru, heap, i, at_us[i]);
        check_heap(heap, i + 1);
    }

    assert_true(ft_lru_is_of(&lru, n));
    now = lru.last_us;

    for (step = 0; step < 2000; step++) {
        now = (lru.last_us > now ? lru.last_us : now)
              + unit_between(&seed, 1, 3000);
        i = heap[0].i;

        assert_int_equal(heap[0].at_us, at_us[i]);
        assert_int_equal(heap[0].at_us, at_us[first_of(at_us, n)]);

        switch (unit_random(&seed) % 3) {

        case 0:
            ft_lru_later(&lru, heap, now);
            at_us[i] = lru.last_us;
            break;

        case 1:
            at_us[i] = now;
            ft_lru_used(&lru, heap, now);
            break;

        default:
            at_us[i] += unit_random(&seed) % (now - at_us[i] + 1);
            ft_lru_used(&lru, heap, at_us[i]);
            break;
        }

        check_heap(heap, n);
    }

    assert_true(ft_lru_is_of(&lru, n));
}


static void
test_first_is_the_least_recently_used(void **unused)
{
    (void) unused;

    check_against_array(1, 1);
    check_against_array(2, 2);
    check_against_array(3, 3);
    check_against_array(64, 4);
    check_against_array(ITEMS, 5);
}


/* A key that cannot be evicted is examined again after all others. */
static void
test_busy_keys_are_examined_in_turn(void **unused)
{
    uint32_t        i, round;
    uint64_t        now;
    ft_lru_t        lru;
    ft_lru_item_t   heap[ITEMS];

    (void) unused;

    memset(&lru, 0, sizeof(ft_lru_t));
    now = UNIT_EPOCH_MS * 1000;

    for (i = 0; i < ITEMS; i++) {
        ft_lru_add(&lru, heap, i, now + i);
    }

    now += 1000;

    for (round = 0; round < 5; round++) {
        for (i = 0; i < ITEMS; i++) {
            assert_int_equal(heap[0].i, i);
            ft_lru_later(&lru, heap, now);
        }
    }

    assert_true(heap[0].at_us < now + 1000);

    /* a clock that was set back does not change that */

    ft_lru_later(&lru, heap, now - 3600000000);
    assert_int_equal(heap[0].i, 1);

    for (i = 1; i < ITEMS; i++) {
        assert_int_equal(heap[0].i, i);
        ft_lru_later(&lru, heap, now);
    }
}


/* Killed between two stores: one item twice, another one lost. */
static void
test_an_interrupted_change(void **unused)
{
    uint32_t        i;
    ft_lru_t        lru;
    ft_lru_item_t   heap[ITEMS];

    (void) unused;

    memset(&lru, 0, sizeof(ft_lru_t));

    for (i = 0; i < ITEMS; i++) {
        ft_lru_add(&lru, heap, i, i);
    }

    heap[0] = heap[1];
    atomic_store(&lru.changing, 1);
    assert_false(ft_lru_is_of(&lru, ITEMS));

    ft_lru_make(&lru, heap, ITEMS);
    assert_true(ft_lru_is_of(&lru, ITEMS));
    check_heap(heap, ITEMS);
    assert_int_equal(heap[0].at_us, 0);

    /* killed before it was counted */

    assert_false(ft_lru_is_of(&lru, ITEMS + 1));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_first_is_the_least_recently_used),
        cmocka_unit_test(test_busy_keys_are_examined_in_turn),
        cmocka_unit_test(test_an_interrupted_change)
    };

    return unit_tests(tests);
}
