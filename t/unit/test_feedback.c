
/*
 * The upstream's word: what is a dictionary, and what of it is believed.
 */

#include "unit.h"
#include "ft_dict.h"
#include "ft_feedback.h"


typedef struct {
    const char  *text;
    bool         valid;
} ft_case_t;


static ft_feedback_t
hear(const char *text)
{
    bool           valid;
    char          *copy;
    size_t         len;
    ft_feedback_t  f;

    /* without a terminating zero, so that reading on is noticed */

    len = strlen(text);
    copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);

    valid = ft_feedback_read(&f, copy, len);
    unit_check(valid || (!f.sold_out && !f.resume && !f.done && !f.rate_milli),
               "something of \"%s\" is believed", text);

    free(copy);

    return f;
}


static void
test_words(void **unused)
{
    ft_feedback_t  f;

    (void) unused;

    f = hear("sold-out");
    assert_true(f.sold_out && !f.resume && !f.done && f.rate_milli == 0);
    assert_int_equal(f.fault_len, 0);

    f = hear("resume, done");
    assert_true(f.resume && f.done && !f.sold_out);

    f = hear("rate=30");
    assert_int_equal(f.rate_milli, 30000);

    f = hear("  rate=2.5 ,\tdone;why=\"paid, at last\" ");
    assert_int_equal(f.rate_milli, 2500);
    assert_true(f.done);

    f = hear("sold-out=?1, done=?0");
    assert_true(f.sold_out && !f.done);

    f = hear("");
    assert_true(!f.sold_out && f.fault_len == 0);

    /* of two the later one */

    f = hear("rate=30, sold-out, rate=0.125, sold-out=?0");
    assert_int_equal(f.rate_milli, 125);
    assert_false(f.sold_out);
}


static void
test_what_is_not_known_is_ignored(void **unused)
{
    ft_feedback_t  f;

    (void) unused;

    f = hear("sold-outs, x=(a \"b\" 1.5);q, *y=:aGk=:, resumeing=@1700000000, done");
    assert_true(f.done && !f.sold_out && !f.resume);
    assert_int_equal(f.fault_len, 0);
}


static void
test_wrong_kinds_are_ignored(void **unused)
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
        f = hear(faults[i]);

        unit_check(f.done && !f.sold_out && !f.resume && !f.rate_milli,
                   "\"%s\" was believed", faults[i]);
        unit_check(f.fault_len != 0, "nothing is said of \"%s\"", faults[i]);
    }

    f = hear("rate=1000000");
    assert_int_equal(f.rate_milli, 1000000000);
}


/* From the RFC, and the edges of its numbers. */
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
        f = hear(cases[i].text);

        unit_check(ft_feedback_read(&f, cases[i].text, strlen(cases[i].text))
                   == cases[i].valid,
                   "\"%s\" is %s dictionary", cases[i].text,
                   cases[i].valid ? "no" : "a");
    }
}


/* What a broken one says before it breaks is not believed either. */
static void
test_all_or_nothing(void **unused)
{
    ft_feedback_t  f;

    (void) unused;

    f = hear("sold-out, done, rate=3, !");
    assert_false(f.sold_out || f.done || f.rate_milli);
    assert_int_equal(f.fault_len, 1);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_what_is_not_known_is_ignored),
        cmocka_unit_test(test_wrong_kinds_are_ignored),
        cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_all_or_nothing)
    };

    return unit_tests(tests);
}
