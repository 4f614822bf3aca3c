
/*
 * Flat JSON: accepted and refused texts, and the place of the fault.
 */

#include "unit.h"
#include "ft_json.h"


typedef struct {
    char             zone[4];
    char             key[32];
    ft_json_field_t  fields[3];
    size_t           at;
} ft_reading_t;


typedef struct {
    const char  *text;
    size_t       at;
    const char  *wrong;
} ft_case_t;


static const char *
read_it(ft_reading_t *r, const char *text, size_t len)
{
    char        *copy;
    const char  *wrong;

    memset(r, 0, sizeof(ft_reading_t));

    r->fields[0] = (ft_json_field_t) { .name = "zone", .value = r->zone,
                                       .size = sizeof(r->zone) };
    r->fields[1] = (ft_json_field_t) { .name = "key", .value = r->key,
                                       .size = sizeof(r->key) };
    r->fields[2] = (ft_json_field_t) { .name = "new" };

    /* without a terminator, so that a sanitizer sees reads past the end */

    copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);

    wrong = ft_json_read(copy, len, r->fields, 3, &r->at);

    free(copy);

    return wrong;
}


static void
test_fields(void **unused)
{
    ft_reading_t  r;
    const char   *text;

    (void) unused;

    text = " {\"key\":\"a b\",\r\n\t\"zone\" : \"sale\" , \"new\":true } \n";
    assert_null(read_it(&r, text, strlen(text)));
    assert_true(r.fields[0].given && r.fields[1].given && r.fields[2].given);
    assert_int_equal(r.fields[0].len, 4);
    assert_memory_equal(r.zone, "sale", 4);
    assert_int_equal(r.fields[1].len, 3);
    assert_memory_equal(r.key, "a b", 3);
    assert_true(r.fields[2].yes);

    assert_null(read_it(&r, "{}", 2));
    assert_false(r.fields[0].given || r.fields[1].given || r.fields[2].given);

    assert_null(read_it(&r, "{\"new\":false,\"key\":\"\"}", 22));
    assert_true(r.fields[2].given && !r.fields[2].yes);
    assert_true(r.fields[1].given && r.fields[1].len == 0);
}


/* Each byte is the character with its number. */
static void
test_strings_are_bytes(void **unused)
{
    ft_reading_t  r;
    const char   *text;

    (void) unused;

    text = "{\"key\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00fF\\u0000\xc3\xa9\xc2\x80\x7f\"}";
    assert_null(read_it(&r, text, strlen(text)));
    assert_int_equal(r.fields[1].len, 14);
    assert_memory_equal(r.key, "\"\\/\b\f\n\r\tA\xff\0\xe9\x80\x7f", 14);
}


static void
test_refused_texts(void **unused)
{
    size_t         i;
    ft_reading_t   r;
    const char    *wrong;

    const ft_case_t  cases[] = {
        { "", 0, "an object" },
        { "  ", 2, "an object" },
        { "[]", 0, "an object" },
        { "{", 1, "a string" },
        { "{}x", 2, "more than one" },
        { "{} {}", 3, "more than one" },
        { "{zone:1}", 1, "a string" },
        { "{\"zone\"}", 7, "a colon" },
        { "{\"zone\":}", 8, "a string" },
        { "{\"zone\":\"a\"", 11, "a comma or a brace" },
        { "{\"zone\":\"a\",}", 12, "a string" },
        { "{\"zone\":\"a\" \"key\":\"b\"}", 12, "a comma or a brace" },
        { "{\"zone\":1}", 8, "a string" },
        { "{\"zone\":null}", 8, "a string" },
        { "{\"zone\":{\"a\":\"b\"}}", 8, "a string" },
        { "{\"zone\":[\"a\"]}", 8, "a string" },
        { "{\"zone\":\"a", 8, "the string does not end" },
        { "{\"zone\":\"a\\\"}", 8, "the string does not end" },
        { "{\"zone\":\"abcde\"}", 8, "the string is too long" },
        { "{\"zone\":\"a\",\"zone\":\"a\"}", 12, "the field was given" },
        { "{\"zones\":\"a\"}", 1, "no such field" },
        { "{\"Zone\":\"a\"}", 1, "no such field" },
        { "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":\"a\"}", 1,
          "the string is too long" },
        { "{\"new\":\"true\"}", 7, "true or false" },
        { "{\"new\":1}", 7, "true or false" },
        { "{\"new\":tru", 7, "true or false" },
        { "{\"key\":\"\\x\"}", 8, "no such escape" },
        { "{\"key\":\"\\u12g4\"}", 8, "\\u needs" },
        { "{\"key\":\"\\u0", 8, "\\u needs" },
        { "{\"key\":\"\\u0100\"}", 8, "a character above" },
        { "{\"key\":\"\\ud83d\\ude00\"}", 8, "a character above" },
        { "{\"key\":\"\xe2\x82\xac\"}", 8, "a character above" },
        { "{\"key\":\"\xc3\"}", 8, "a character above" },
        { "{\"key\":\"\xff\"}", 8, "a character above" },
        { "{\"key\":\"\n\"}", 8, "a control character" },
        { "\xef\xbb\xbf{}", 0, "an object" }
    };

    (void) unused;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        wrong = read_it(&r, cases[i].text, strlen(cases[i].text));

        unit_check(wrong != NULL, "%s was read", cases[i].text);
        unit_check(strncmp(wrong, cases[i].wrong, strlen(cases[i].wrong)) == 0,
                   "%s: \"%s\"", cases[i].text, wrong);
        unit_check(r.at == cases[i].at, "%s: at %zu", cases[i].text, r.at);
    }

    wrong = read_it(&r, "{\"key\":\"a\0b\"}", 13);
    unit_check(wrong != NULL && r.at == 9, "a zero was read");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_strings_are_bytes),
        cmocka_unit_test(test_refused_texts)
    };

    return unit_tests(tests);
}
