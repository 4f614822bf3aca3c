
/*
 * The upstream's Flash-Throttle header: valid dictionaries, and the members
 * that are obeyed.
 */

#include "unit.h"
#include "ft_dict.h"
#include "ft_feedback.h"


typedef struct {
    const char  *text;
    bool         valid;
} ft_case_t;


static ft_feedback_t
read_text(const char *text)
{
    bool           valid;
    char          *copy;
    size_t         len;
    ft_feedback_t  f;

    /* without a terminator, so that a sanitizer sees reads past the end */

    len = strlen(text);
    copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);

    valid = ft_feedback_read(&f, copy, len);
    unit_check(valid || (!f.sold_out && !f.resume && !f.done && !f.rate_milli),
               "\"%s\" has an effect", text);

    free(copy);

    return f;
}


static void
test_members(void **unused)
{
    ft_feedback_t  f;

    (void) unused;

    f = read_text("sold-out");
    assert_true(f.sold_out && !f.resume && !f.done && f.rate_milli == 0);
    assert_int_equal(f.fault_len, 0);

    f = read_text("resume, done");
    assert_true(f.resume && f.done && !f.sold_out);

    f = read_text("rate=30");
    assert_int_equal(f.rate_milli, 30000);

    f = read_text("  rate=2.5 ,\tdone;why=\"paid, at last\" ");
    assert_int_equal(f.rate_milli, 2500);
    assert_true(f.done);

    f = read_text("sold-out=?1, done=?0");
    assert_true(f.sold_out && !f.done);

    f = read_text("");
    assert_true(!f.sold_out && f.fault_len == 0);

    /* the last of two */

    f = read_text("rate=30, sold-out, rate=0.125, sold-out=?0");
    assert_int_equal(f.rate_milli, 125);
    assert_false(f.sold_out);
}


static void
test_unknown_members_are_ignored(void **unused)
{
    ft_feedback_t  f;

    (void) unused;

    f = read_text("sold-outs, x=(a \"b\" 1.5);q, *y=:aGk=:, opening=@1700000000, done");
    assert_true(f.done && !f.sold_out && !f.resume);
    assert_int_equal(f.fault_len, 0);
}


static void
test_wrong_types_are_ignored(void **unused)
{
    size_t         i;
    ft_feedback_t  f;

    const char  *faults[] = {
        "sold-out=1, done", "sold-out=yes, done", "sold-out=\"yes\", done",
        "resume=(1), done", "resume=@1, done", "resume=:aGk=:, done",
        "rate=\"30\", done", "rate, done", "rate=?1, done", "rate=(30), done",
        "rate=0, done", "rate=-30, done", "rate=1000000.001, done",
        "rate=999999999999999, done", "rate=5, rate=fast, done",
        "sold-out, resume, done", "resume, done, sold-out"
    };

    (void) unused;

    for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        f = read_text(faults[i]);

        unit_check(f.done && !f.sold_out && !f.resume && !f.rate_milli,
                   "\"%s\" has an effect", faults[i]);
        unit_check(f.fault_len != 0, "nothing is said of \"%s\"", faults[i]);
    }

    f = read_text("rate=1000000");
    assert_int_equal(f.rate_milli, 1000000000);
}


/* Examples of the RFC, and limits of its numbers. */
static void
test_dictionaries(void **unused)
{
    size_t         i;
    ft_feedback_t  f;

    const ft_case_t  cases[] = {
        { "en=\"Applepie\", da=:w4ZibGV0w6ZydGUK:", true },
        { "a=?0, b, c; foo=bar", true },
        { "rating=1.5, feelings=(joy sadness)", true },
        { "a=(1 2), b=3, c=4;aa=bb, d=(5 6);valid", true },
        { "a=()", true },
        { "a=(  1   2  )", true },
        { "a=(1;x=1 \"b\";y);z=*t", true },
        { "a=%\"f%c3%bc\"", true },
        { "a=@-1", true },
        { "a=-0", true },
        { "a=999999999999999", true },
        { "a=999999999999.999", true },
        { "a=\"\\\"\\\\\"", true },
        { "a=*/b:c", true },
        { "*", true },
        { "a;x;y=?1", true },
        { "a;  x", true },
        { "a \t, \tb", true },

        { "a,", false },
        { "a, ", false },
        { ",a", false },
        { "a,,b", false },
        { "a b", false },
        { "A", false },
        { "1", false },
        { "a=", false },
        { "a= 1", false },
        { "a =1", false },
        { "a=?", false },
        { "a=?2", false },
        { "a=1000000000000000", false },
        { "a=1.", false },
        { "a=.5", false },
        { "a=1.2345", false },
        { "a=1234567890123.1", false },
        { "a=-", false },
        { "a=--1", false },
        { "a=1e3", false },
        { "a=@1.5", false },
        { "a=@", false },
        { "a=\"b", false },
        { "a=\"b\\", false },
        { "a=\"b\\n\"", false },
        { "a=\"\x7f\"", false },
        { "a=\"\xc3\xbc\"", false },
        { "a=:aGk", false },
        { "a=:a-k:", false },
        { "a=%\"%C3\"", false },
        { "a=%\"%c\"", false },
        { "a=%b", false },
        { "a=(1", false },
        { "a=(1,2)", false },
        { "a=(\"b\"c)", false },
        { "a=((1))", false },
        { "a;", false },
        { "a;X", false },
        { "a;x=", false },
        { "a\n", false },
        { "\ta", false },
        { "a=b\x01", false }
    };

    (void) unused;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f = read_text(cases[i].text);

        unit_check(ft_feedback_read(&f, cases[i].text, strlen(cases[i].text))
                   == cases[i].valid,
                   "\"%s\" is %s dictionary", cases[i].text,
                   cases[i].valid ? "no" : "a");
    }
}


/* A malformed header has no effect, whatever comes before the fault. */
static void
test_a_malformed_header_is_ignored(void **unused)
{
    ft_feedback_t  f;

    (void) unused;

    f = read_text("sold-out, done, rate=3, !");
    assert_false(f.sold_out || f.done || f.rate_milli);
    assert_int_equal(f.fault_len, 1);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_unknown_members_are_ignored),
        cmocka_unit_test(test_wrong_types_are_ignored),
        cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_a_malformed_header_is_ignored)
    };

    return unit_tests(tests);
}
