
/*
 * The 64-bit clock of nginx builds whose clock has 32 bits: it goes on over the
 * wrap, for all processes alike.
 */

#include "unit.h"
#include "../../src/nginx/ngx_http_flash_throttle_clock.h"


#define extend  ngx_http_flash_throttle_clock_extend
#define LAG     NGX_HTTP_FLASH_THROTTLE_CLOCK_LAG


static void
test_wraps(void **state)
{
    uint32_t          msec;
    uint64_t          now, before;
    _Atomic uint64_t  latest = 0;

    (void) state;

    before = 0;

    /* steps of 20 days for five years */

    for (now = 0; now < UINT64_C(5) * 365 * 86400000; now += 20 * 86400000) {
        msec = now;
        assert_int_equal(extend(&latest, msec), now);
        assert_true(now == 0 || now > before);
        before = now;
    }
}


static void
test_behind(void **state)
{
    uint64_t          now = (UINT64_C(1) << 32) + 10;
    _Atomic uint64_t  latest = now;

    (void) state;

    /* before the wrap, and the shared time stays */

    assert_int_equal(extend(&latest, (uint32_t) (now - 20)), now - 20);
    assert_int_equal(extend(&latest, (uint32_t) (now - LAG)), now - LAG);
    assert_int_equal(latest, now);
    assert_int_equal(extend(&latest, (uint32_t) now), now);
    assert_int_equal(extend(&latest, (uint32_t) (now + 1)), now + 1);
}


static void
test_idle(void **state)
{
    uint64_t          idle = UINT32_MAX - LAG;
    _Atomic uint64_t  latest = 1000;

    (void) state;

    assert_int_equal(extend(&latest, (uint32_t) (1000 + idle)), 1000 + idle);
    assert_int_equal(extend(&latest, 500 + (uint32_t) idle), 500 + idle);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_idle)
    };

    return unit_tests(tests);
}
