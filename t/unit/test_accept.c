
/*
 * Clients that want JSON, and clients that want a page: headers of real
 * clients, and the rules of RFC 9110, section 12.5.1.
 */

#include "unit.h"
#include "ft_accept.h"
#include "ft_format.h"


static bool
json(const char *header)
{
    ft_accept_t  accept;

    memset(&accept, 0, sizeof(accept));
    ft_accept_read(&accept, header, strlen(header));

    return ft_accept_json(&accept);
}


static void
test_real_clients(void **unused)
{
    (void) unused;

    /* a browser's navigation; curl; fetch() without and with a type; axios */

    assert_false(json("text/html,application/xhtml+xml,application/xml;q=0.9,"
                      "image/avif,image/webp,*/*;q=0.8"));
    assert_false(json("*/*"));
    assert_false(json(""));
    assert_true(json("application/json"));
    assert_true(json("application/json, text/plain, */*"));
    assert_true(json("application/json;charset=utf-8"));
}


/* JSON by its suffix: JSON:API, GraphQL, problem details. */
static void
test_suffix(void **unused)
{
    (void) unused;

    assert_true(json("application/vnd.api+json"));
    assert_true(json("application/graphql-response+json, application/json"));
    assert_true(json("Application/Problem+JSON"));
    assert_true(json("text/html;q=0.5, application/ld+json"));
    assert_false(json("text/html, application/ld+json;q=0.5"));

    assert_false(json("application/+json"));
    assert_false(json("application/xjson"));
    assert_false(json("application/x+jsonp"));
    assert_false(json("image/x+json"));
    assert_false(json("application/xhtml+xml"));
}


static void
test_the_higher_weight(void **unused)
{
    (void) unused;

    assert_true(json("text/html;q=0.8, application/json;q=0.9"));
    assert_false(json("text/html;q=0.9, application/json;q=0.8"));
    assert_true(json("text/html;q=0.001, application/json;q=0.002"));
    assert_true(json("text/html;q=0, */*"));
    assert_false(json("text/html, application/json"));
    assert_false(json("text/html, text/html;q=0.1, application/json;q=0.5"));
    assert_false(json("application/json;q=0, */*"));
    assert_false(json("application/json;q=0"));
    assert_false(json("application/json;q=0.0, text/html;q=0"));
}


/* The more specific range decides, whatever the weights of the others. */
static void
test_the_more_specific_range(void **unused)
{
    (void) unused;

    assert_true(json("*/*;q=0.1, application/*;q=0.2"));
    assert_false(json("*/*;q=0.1, text/*;q=0.2"));
    assert_false(json("application/*;q=0.9, application/json;q=0.1, "
                      "text/html;q=0.5"));
    assert_true(json("application/json, */*"));
    assert_false(json("application/json, text/html"));
    assert_false(json("text/*, application/*"));
    assert_true(json("application/json, text/*"));
}


static void
test_spelling(void **unused)
{
    (void) unused;

    assert_true(json("APPLICATION/JSON"));
    assert_true(json(" application/json ; q=0.9 , text/html ; Q=0.8 "));
    assert_true(json("application/json;version=2;q=0.5,text/html;q=0.4"));
    assert_true(json(",,application/json,,"));

    assert_false(json("application/jsonp"));
    assert_false(json("application/json2, text/html"));
    assert_false(json("json"));
    assert_false(json("application"));
}


/* An invalid weight counts as absent. */
static void
test_bad_weights(void **unused)
{
    size_t       i;
    char         header[64];
    const char  *bad[] = {
        "", "x", "2", "-1", "1.1", "1.001", "0.1234", ".5", "0,5", "00.5",
        "0.5x", "0x1"
    };

    (void) unused;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(header, sizeof(header), "application/json;q=%s", bad[i]);

        unit_check(!json(header), "\"%s\"", header);
    }

    /* valid by the grammar */

    assert_true(json("application/json;q=1."));
    assert_true(json("application/json;q=1.000"));
    assert_true(json("application/json;q=0.001"));
}


/* Several headers are one list. */
static void
test_several_headers(void **unused)
{
    ft_accept_t  accept;

    (void) unused;

    memset(&accept, 0, sizeof(accept));
    ft_accept_read(&accept, "text/html;q=0.5", 15);
    assert_false(ft_accept_json(&accept));
    ft_accept_read(&accept, "application/json", 16);
    assert_true(ft_accept_json(&accept));
}


static ft_format_t
format_of(const char *first, const char *second)
{
    ft_formats_t  formats;

    memset(&formats, 0, sizeof(formats));
    ft_format_accept(&formats, first, strlen(first));
    ft_format_accept(&formats, second, strlen(second));

    return ft_format_best(&formats);
}


static void
test_format_of_the_stats(void **unused)
{
    ft_format_t  format;

    (void) unused;

    assert_int_equal(format_of("", ""), FT_FORMAT_JSON);
    assert_int_equal(format_of("*/*", ""), FT_FORMAT_JSON);
    assert_int_equal(format_of("text/html;q=0.1", "text/plain;q=0.2"),
                     FT_FORMAT_PROMETHEUS);
    assert_int_equal(format_of("text/html;q=0.2", "text/html;q=0.1, text/plain"
                               ";q=0.15"), FT_FORMAT_HTML);
    assert_int_equal(format_of("text/plain, application/openmetrics-text", ""),
                     FT_FORMAT_OPENMETRICS);
    assert_int_equal(format_of("text/html;q=0,text/plain;q=nonsense", ",;,"),
                     FT_FORMAT_JSON);

    assert_true(ft_format_named("html", 4, &format));
    assert_int_equal(format, FT_FORMAT_HTML);
    assert_false(ft_format_named("htm", 3, &format));
    assert_false(ft_format_named("", 0, &format));
    assert_false(ft_format_named("HTML", 4, &format));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_real_clients),
        cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_the_higher_weight),
        cmocka_unit_test(test_the_more_specific_range),
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_bad_weights),
        cmocka_unit_test(test_several_headers),
        cmocka_unit_test(test_format_of_the_stats)
    };

    return unit_tests(tests);
}
