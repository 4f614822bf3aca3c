
/*
 * Cookies: found where a plain reading of the header finds them, and nothing
 * outside of the text is read or returned.
 *
 * Input: the cookie's name, a line feed, the header.
 */

#include "fuzz.h"
#include "ft_cookie.h"


/* Moves both ends of a part of a text over spaces. */
static void
plain_trim(const char *text, size_t *from, size_t *to)
{
    while (*from < *to && (text[*from] == ' ' || text[*from] == '\t')) {
        (*from)++;
    }

    while (*to > *from && (text[*to - 1] == ' ' || text[*to - 1] == '\t')) {
        (*to)--;
    }
}


/* The plain reading: the pair from .. to, split at its first "=" sign. */
static bool
plain_is(const char *text, size_t from, size_t to, const char *name,
    size_t name_len, size_t *value, size_t *value_end)
{
    size_t  equal, end;

    for (equal = from; equal < to && text[equal] != '='; equal++) {
        /* void */
    }

    if (equal == to) {
        return false;
    }

    end = equal;
    plain_trim(text, &from, &end);

    if (end - from != name_len || memcmp(text + from, name, name_len) != 0) {
        return false;
    }

    *value = equal + 1;
    *value_end = to;
    plain_trim(text, value, value_end);

    if (*value_end - *value >= 2 && text[*value] == '"'
        && text[*value_end - 1] == '"')
    {
        (*value)++;
        (*value_end)--;
    }

    return true;
}


static void
fuzz_header(const char *name, size_t name_len, const char *text, size_t len)
{
    size_t     from, to, value, value_end;
    ft_cookie_text_t  rest, found;

    rest.data = text;
    rest.len = len;

    for (from = 0; from <= len; from = to + 1) {

        for (to = from; to < len && text[to] != ';'; to++) {
            /* void */
        }

        if (!plain_is(text, from, to, name, name_len, &value, &value_end)) {
            continue;
        }

        fuzz_check(ft_cookie_next(&rest, name, name_len, &found));
        fuzz_check(found.len == value_end - value);
        fuzz_check(found.len == 0 || found.data == text + value);
        fuzz_check(found.data >= text && found.data <= text + len);
        fuzz_check(rest.data + rest.len == text + len);
    }

    fuzz_check(!ft_cookie_next(&rest, name, name_len, &found));
    fuzz_check(rest.len == 0);
}


/* Names are tokens: what nginx lets an operator set has no such character. */
static bool
fuzz_is_token(const uint8_t *data, size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {
        if (data[i] <= ' ' || data[i] >= 0x7f
            || strchr("()<>@,;:\\\"/[]?={}", data[i]))
        {
            return false;
        }
    }

    return len != 0;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char           *name, *text;
    size_t          name_len;
    const uint8_t  *line;

    line = memchr(data, '\n', size);

    if (line == NULL || !fuzz_is_token(data, (size_t) (line - data))) {
        return 0;
    }

    name_len = (size_t) (line - data);
    name = fuzz_copy(data, name_len);
    text = fuzz_copy(line + 1, size - name_len - 1);

    fuzz_header(name, name_len, text, size - name_len - 1);

    free(name);
    free(text);

    return 0;
}
