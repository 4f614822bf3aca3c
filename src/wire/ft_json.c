
#include <string.h>
#include "ft_json.h"


#define FT_JSON_NAME_MAX  32


typedef struct {
    const char       *start;
    const char       *pos;
    const char       *end;
    const char       *error;        /* at pos */
} ft_json_t;


static bool
ft_json_fail(ft_json_t *json, const char *at, const char *what)
{
    json->pos = at;
    json->error = what;

    return false;
}


static void
ft_json_skip(ft_json_t *json)
{
    while (json->pos < json->end
           && (*json->pos == ' ' || *json->pos == '\t' || *json->pos == '\n'
               || *json->pos == '\r'))
    {
        json->pos++;
    }
}


/* Skips spaces, and this character if it is next. */
static bool
ft_json_take(ft_json_t *json, char c)
{
    ft_json_skip(json);

    if (json->pos == json->end || *json->pos != c) {
        return false;
    }

    json->pos++;

    return true;
}


static bool
ft_json_hex(ft_json_t *json, unsigned *code)
{
    char      c;
    unsigned  i;

    *code = 0;

    for (i = 0; i < 4; i++) {

        if (json->pos == json->end) {
            return false;
        }

        c = *json->pos++;

        if (c >= '0' && c <= '9') {
            *code = *code * 16 + (unsigned) (c - '0');

        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            *code = *code * 16 + (unsigned) ((c | 0x20) - 'a') + 10;

        } else {
            return false;
        }
    }

    return true;
}


/* The character after a backslash. */
static bool
ft_json_escape(ft_json_t *json, unsigned *code)
{
    const char  *p, *at;

    const char   names[] = "\"\\/bfnrt";
    const char   chars[] = "\"\\/\b\f\n\r\t";

    at = json->pos - 1;

    if (json->pos < json->end && *json->pos == 'u') {
        json->pos++;

        if (!ft_json_hex(json, code)) {
            return ft_json_fail(json, at, "\\u needs four hex digits");
        }

        return true;
    }

    p = json->pos < json->end && *json->pos ? strchr(names, *json->pos) : NULL;

    if (p == NULL) {
        return ft_json_fail(json, at, "no such escape");
    }

    json->pos++;
    *code = (unsigned char) chars[p - names];

    return true;
}


/* The next character of a string, up to 0xff. */
static bool
ft_json_character(ft_json_t *json, unsigned *code)
{
    const char     *at;
    unsigned char   c;

    at = json->pos;
    c = (unsigned char) *json->pos++;
    *code = c;

    if (c < 0x20) {
        return ft_json_fail(json, at, "a control character, escape it");
    }

    if (c == '\\') {
        if (!ft_json_escape(json, code)) {
            return false;
        }

    } else if (c >= 0x80) {

        /* UTF-8 of U+0080 to U+00FF is two bytes, after 0xc2 or 0xc3 */

        if ((c != 0xc2 && c != 0xc3) || json->pos == json->end
            || ((unsigned char) *json->pos & 0xc0) != 0x80)
        {
            return ft_json_fail(json, at, "a character above U+00FF");
        }

        *code = (c & 3u) << 6 | ((unsigned char) *json->pos++ & 0x3fu);
    }

    if (*code > 0xff) {
        return ft_json_fail(json, at, "a character above U+00FF");
    }

    return true;
}


static bool
ft_json_string(ft_json_t *json, char *value, size_t size, size_t *len)
{
    unsigned     code;
    const char  *at;

    ft_json_skip(json);

    at = json->pos;
    *len = 0;

    if (!ft_json_take(json, '"')) {
        return ft_json_fail(json, at, "a string is expected");
    }

    for ( ;; ) {
        if (json->pos == json->end) {
            return ft_json_fail(json, at, "the string does not end");
        }

        if (*json->pos == '"') {
            json->pos++;
            return true;
        }

        if (!ft_json_character(json, &code)) {
            return false;
        }

        if (*len == size) {
            return ft_json_fail(json, at, "the string is too long");
        }

        value[(*len)++] = (char) code;
    }
}


static bool
ft_json_boolean(ft_json_t *json, bool *yes)
{
    size_t  left;

    ft_json_skip(json);

    left = (size_t) (json->end - json->pos);

    if (left >= 4 && memcmp(json->pos, "true", 4) == 0) {
        json->pos += 4;
        *yes = true;
        return true;
    }

    if (left >= 5 && memcmp(json->pos, "false", 5) == 0) {
        json->pos += 5;
        *yes = false;
        return true;
    }

    return ft_json_fail(json, json->pos, "true or false is expected");
}


static bool
ft_json_member(ft_json_t *json, ft_json_field_t *fields, size_t n)
{
    char         name[FT_JSON_NAME_MAX];
    size_t       i, len;
    const char  *at;

    ft_json_skip(json);
    at = json->pos;

    if (!ft_json_string(json, name, sizeof(name), &len)) {
        return false;
    }

    for (i = 0; i < n; i++) {
        if (len == strlen(fields[i].name)
            && memcmp(name, fields[i].name, len) == 0)
        {
            break;
        }
    }

    if (i == n) {
        return ft_json_fail(json, at, "no such field");
    }

    if (fields[i].given) {
        return ft_json_fail(json, at, "the field was given before");
    }

    if (!ft_json_take(json, ':')) {
        return ft_json_fail(json, json->pos, "a colon is expected");
    }

    fields[i].given = true;

    return fields[i].value ? ft_json_string(json, fields[i].value,
                                            fields[i].size, &fields[i].len)
                           : ft_json_boolean(json, &fields[i].yes);
}


static bool
ft_json_object(ft_json_t *json, ft_json_field_t *fields, size_t n)
{
    if (!ft_json_take(json, '{')) {
        return ft_json_fail(json, json->pos, "an object is expected");
    }

    if (!ft_json_take(json, '}')) {

        do {
            if (!ft_json_member(json, fields, n)) {
                return false;
            }

        } while (ft_json_take(json, ','));

        if (!ft_json_take(json, '}')) {
            return ft_json_fail(json, json->pos,
                                "a comma or a brace is expected");
        }
    }

    ft_json_skip(json);

    if (json->pos < json->end) {
        return ft_json_fail(json, json->pos, "more than one object");
    }

    return true;
}


const char *
ft_json_read(const char *text, size_t len, ft_json_field_t *fields, size_t n,
    size_t *at)
{
    size_t     i;
    ft_json_t  json = { text, text, text + len, NULL };

    for (i = 0; i < n; i++) {
        fields[i].given = false;
        fields[i].yes = false;
        fields[i].len = 0;
    }

    *at = 0;

    if (ft_json_object(&json, fields, n)) {
        return NULL;
    }

    *at = (size_t) (json.pos - json.start);

    return json.error;
}
