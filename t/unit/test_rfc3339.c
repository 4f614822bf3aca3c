
/*
 * Times in the format of RFC 3339.
 */

#include "ft_rfc3339.h"
#include "unit.h"


#define NONE  UINT64_MAX


static uint64_t
read_time(const char *text)
{
    uint64_t  ms;

    return ft_rfc3339_read(text, strlen(text), &ms) ? ms : NONE;
}


static void
test_valid_times(void **unused)
{
    (void) unused;

    assert_int_equal(read_time("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(read_time("2026-01-01T00:00:00Z"), UNIT_EPOCH_MS);
    assert_int_equal(read_time("2026-01-01t00:00:00z"), UNIT_EPOCH_MS);
    assert_int_equal(read_time("2026-01-01 00:00:00Z"), UNIT_EPOCH_MS);

    /* date -u -d ... +%s */

    assert_int_equal(read_time("2026-11-27T12:00:00Z"), 1795780800000);
    assert_int_equal(read_time("2000-02-29T23:59:59Z"), 951868799000);
    assert_int_equal(read_time("2000-03-01T00:00:00Z"), 951868800000);
    assert_int_equal(read_time("2100-03-01T00:00:00Z"), 4107542400000);
    assert_int_equal(read_time("9999-12-31T23:59:59Z"), 253402300799000);
}


static void
test_every_day(void **unused)
{
    char      text[32];
    uint64_t  days;
    unsigned  year, month, day, leap, length;

    (void) unused;

    days = 0;

    for (year = 1970; year < 2110; year++) {
        leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

        for (month = 1; month <= 12; month++) {
            length = month == 2 ? 28 + leap
                     : month == 4 || month == 6 || month == 9 || month == 11
                       ? 30 : 31;

            for (day = 1; day <= length; day++) {
                snprintf(text, sizeof(text), "%04u-%02u-%02uT00:00:00Z", year,
                         month, day);
                assert_int_equal(read_time(text), days++ * 86400000);
            }

            snprintf(text, sizeof(text), "%04u-%02u-%02uT00:00:00Z", year,
                     month, day);
            assert_true(read_time(text) == NONE);
        }
    }
}


static void
test_offsets(void **unused)
{
    (void) unused;

    assert_int_equal(read_time("2026-01-01T01:00:00+01:00"), UNIT_EPOCH_MS);
    assert_int_equal(read_time("2025-12-31T18:30:00-05:30"), UNIT_EPOCH_MS);
    assert_int_equal(read_time("2026-01-01T00:00:00-00:00"), UNIT_EPOCH_MS);
    assert_int_equal(read_time("2026-01-01T23:59:00+23:59"), UNIT_EPOCH_MS);
    assert_true(read_time("1970-01-01T00:00:00+00:01") == NONE);
    assert_int_equal(read_time("1970-01-01T00:00:00-00:01"), 60000);
}


static void
test_fractions(void **unused)
{
    (void) unused;

    assert_int_equal(read_time("2026-01-01T00:00:00.5Z"), UNIT_EPOCH_MS + 500);
    assert_int_equal(read_time("2026-01-01T00:00:00.05Z"), UNIT_EPOCH_MS + 50);
    assert_int_equal(read_time("2026-01-01T00:00:00.0019Z"), UNIT_EPOCH_MS + 1);
    assert_int_equal(read_time("2026-01-01T00:00:00.123456789012345678901Z"),
                     UNIT_EPOCH_MS + 123);
    assert_int_equal(read_time("2026-01-01T01:00:00.25+01:00"),
                     UNIT_EPOCH_MS + 250);
}


static void
test_leap_seconds(void **unused)
{
    (void) unused;

    assert_int_equal(read_time("2016-12-31T23:59:60Z"), 1483228800000);
    assert_int_equal(read_time("2017-01-01T00:59:60+01:00"), 1483228800000);
    assert_true(read_time("2016-12-31T23:58:60Z") == NONE);
    assert_true(read_time("2016-12-31T23:59:60+01:00") == NONE);
}


static void
test_invalid_times(void **unused)
{
    size_t             i;
    const char *const  texts[] = {
        "", "now", "1795780800", "2026-11-27", "12:00:00Z",
        "2026-11-27T12:00:00", "2026-11-27T12:00Z", "2026-11-27T12:00:00+0100",
        "2026-11-27T12:00:00+01", "2026-11-27T12:00:00+1:00",
        "2026-11-27T12:00:00.Z", "2026-11-27T12:00:00,5Z",
        "2026-11-27T12:00:00ZZ", "2026-11-27T12:00:00Z ",
        " 2026-11-27T12:00:00Z", "2026-11-27T24:00:00Z",
        "2026-11-27T12:60:00Z", "2026-11-27T12:00:61Z",
        "2026-11-27T12:00:00+24:00", "2026-11-27T12:00:00+01:60",
        "2026-13-27T12:00:00Z", "2026-00-27T12:00:00Z",
        "2026-11-31T12:00:00Z", "2026-11-00T12:00:00Z",
        "2026-02-29T12:00:00Z", "2100-02-29T12:00:00Z",
        "1969-12-31T23:59:59Z", "26-11-27T12:00:00Z",
        "+2026-11-27T12:00:00Z", "2026-1-27T12:00:00Z",
        "2026/11/27T12:00:00Z", "2026-11-27X12:00:00Z",
        "-026-11-27T12:00:00Z", "2026-11-27T12:00:00 Z"
    };

    (void) unused;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        unit_check(read_time(texts[i]) == NONE, "\"%s\"", texts[i]);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_valid_times),
        cmocka_unit_test(test_every_day),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_leap_seconds),
        cmocka_unit_test(test_invalid_times)
    };

    return unit_tests(tests);
}
