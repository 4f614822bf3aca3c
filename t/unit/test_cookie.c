
/*
 * The cookie of a zone among the cookies of a client.
 */

#include "unit.h"
#include "ft_cookie.h"


/* The values found, in order, each followed by "|". */
static void
assert_found(const char *header, const char *name, const char *expected)
{
    char        all[256];
    size_t      n;
    ft_cookie_text_t   rest, value;

    n = 0;
    rest.data = header;
    rest.len = strlen(header);

    while (ft_cookie_next(&rest, name, strlen(name), &value)) {
        assert_true(n + value.len + 1 < sizeof(all));
        memcpy(all + n, value.data, value.len);
        n += value.len;
        all[n++] = '|';
    }

    all[n] = '\0';
    assert_string_equal(all, expected);
}


static void
test_any_position(void **unused)
{
    (void) unused;

    assert_found("ft=1", "ft", "1|");
    assert_found("ft=1; a=2; b=3", "ft", "1|");
    assert_found("a=2; ft=1; b=3", "ft", "1|");
    assert_found("a=2; b=3; ft=1", "ft", "1|");
    assert_found("ft=1; a=2; ft=3", "ft", "1|3|");
}


static void
test_absent(void **unused)
{
    (void) unused;

    assert_found("", "ft", "");
    assert_found(";", "ft", "");
    assert_found("a=b", "ft", "");
    assert_found("ft", "ft", "");
    assert_found("=ft", "ft", "");
    assert_found("f", "ft", "");
}


/* Names that contain the name, and values that contain the cookie. */
static void
test_the_exact_name(void **unused)
{
    (void) unused;

    assert_found("ft2=1; aft=2; FT=3; Ft=4; ft=5", "ft", "5|");
    assert_found("a=ft=1; b=\"ft=2\"", "ft", "");
    assert_found("a=\"; ft=3; \"", "ft", "3|");
}


static void
test_spaces(void **unused)
{
    (void) unused;

    assert_found("a=1;ft=2;b=3", "ft", "2|");
    assert_found(" a = 1 ;\t ft\t=  2 \t; b=3", "ft", "2|");
    assert_found("  ;; ;ft=2", "ft", "2|");
}


static void
test_values(void **unused)
{
    (void) unused;

    assert_found("ft=", "ft", "|");
    assert_found("ft=\"a b\"", "ft", "a b|");
    assert_found("ft=\"\"", "ft", "|");
    assert_found("ft=\"", "ft", "\"|");
    assert_found("ft=\"open", "ft", "\"open|");
    assert_found("ft=a=b==", "ft", "a=b==|");
    assert_found("ft==", "ft", "=|");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_any_position),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_the_exact_name),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_values)
    };

    return unit_tests(tests);
}
