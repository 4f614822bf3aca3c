
#include <string.h>
#include "ft_cookie.h"


static bool
ft_cookie_space(char c)
{
    return c == ' ' || c == '\t';
}


static void
ft_cookie_trim(ft_cookie_text_t *text)
{
    while (text->len && ft_cookie_space(text->data[0])) {
        text->data++;
        text->len--;
    }

    while (text->len && ft_cookie_space(text->data[text->len - 1])) {
        text->len--;
    }
}


/* Cuts off the first pair, up to its semicolon. */
static ft_cookie_text_t
ft_cookie_pair(ft_cookie_text_t *rest)
{
    size_t       len;
    ft_cookie_text_t    pair;
    const char  *end;

    end = memchr(rest->data, ';', rest->len);
    len = end ? (size_t) (end - rest->data) : rest->len;

    pair.data = rest->data;
    pair.len = len;

    if (end) {
        len++;
    }

    rest->data += len;
    rest->len -= len;

    ft_cookie_trim(&pair);

    return pair;
}


bool
ft_cookie_next(ft_cookie_text_t *rest, const char *name, size_t name_len,
    ft_cookie_text_t *value)
{
    ft_cookie_text_t  pair;

    while (rest->len) {

        pair = ft_cookie_pair(rest);

        if (pair.len < name_len || memcmp(pair.data, name, name_len) != 0) {
            continue;
        }

        pair.data += name_len;
        pair.len -= name_len;

        ft_cookie_trim(&pair);

        if (pair.len == 0 || pair.data[0] != '=') {
            continue;
        }

        pair.data++;
        pair.len--;

        ft_cookie_trim(&pair);

        if (pair.len >= 2 && pair.data[0] == '"'
            && pair.data[pair.len - 1] == '"')
        {
            pair.data++;
            pair.len -= 2;
        }

        *value = pair;

        return true;
    }

    return false;
}
