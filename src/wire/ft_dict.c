
#include <string.h>
#include "ft_dict.h"


#define FT_INTEGER_DIGITS   15
#define FT_DECIMAL_DIGITS   12      /* before the point */
#define FT_FRACTION_DIGITS  3


static bool ft_dict_item(ft_dict_t *dict, ft_dict_member_t *member);


static bool
ft_dict_is_digit(char c)
{
    return c >= '0' && c <= '9';
}


static bool
ft_dict_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}


static bool
ft_dict_is_alpha(char c)
{
    return ft_dict_is_lower(c) || (c >= 'A' && c <= 'Z');
}


static bool
ft_dict_is_one_of(char c, const char *chars)
{
    return c != '\0' && strchr(chars, c) != NULL;
}


/* Functions are named after the algorithms of RFC 9651, section 4.2. */
static bool
ft_dict_take(ft_dict_t *dict, char c)
{
    if (dict->pos == dict->end || *dict->pos != c) {
        return false;
    }

    dict->pos++;

    return true;
}


static void
ft_dict_skip(ft_dict_t *dict, const char *chars)
{
    while (dict->pos < dict->end && ft_dict_is_one_of(*dict->pos, chars)) {
        dict->pos++;
    }
}


static bool
ft_dict_key(ft_dict_t *dict, ft_dict_member_t *member)
{
    const char  *p;

    p = dict->pos;

    if (p == dict->end || !(ft_dict_is_lower(*p) || *p == '*')) {
        return false;
    }

    while (p < dict->end && (ft_dict_is_lower(*p) || ft_dict_is_digit(*p)
                             || ft_dict_is_one_of(*p, "_-.*")))
    {
        p++;
    }

    member->name = dict->pos;
    member->len = (size_t) (p - dict->pos);
    dict->pos = p;

    return true;
}


static bool
ft_dict_number(ft_dict_t *dict, ft_dict_member_t *member)
{
    bool      minus;
    int64_t   n;
    unsigned  digits, fraction;

    minus = ft_dict_take(dict, '-');
    n = 0;

    for (digits = 0; dict->pos < dict->end && ft_dict_is_digit(*dict->pos);
         digits++)
    {
        if (digits == FT_INTEGER_DIGITS) {
            return false;
        }

        n = n * 10 + (*dict->pos++ - '0');
    }

    if (digits == 0) {
        return false;
    }

    fraction = 0;

    if (ft_dict_take(dict, '.')) {

        if (digits > FT_DECIMAL_DIGITS) {
            return false;
        }

        for ( /* void */ ; dict->pos < dict->end && ft_dict_is_digit(*dict->pos);
             fraction++)
        {
            if (fraction == FT_FRACTION_DIGITS) {
                return false;
            }

            n = n * 10 + (*dict->pos++ - '0');
        }

        if (fraction == 0) {
            return false;
        }
    }

    for ( /* void */ ; fraction < FT_FRACTION_DIGITS; fraction++) {
        n *= 10;
    }

    member->kind = FT_DICT_NUMBER;
    member->milli = minus ? -n : n;

    return true;
}


static bool
ft_dict_string(ft_dict_t *dict)
{
    char  c;

    while (dict->pos < dict->end) {
        c = *dict->pos++;

        if (c == '"') {
            return true;
        }

        if (c == '\\') {
            if (dict->pos == dict->end || !ft_dict_is_one_of(*dict->pos, "\"\\")) {
                return false;
            }

            dict->pos++;

        } else if (c < 0x20 || c > 0x7e) {
            return false;
        }
    }

    return false;
}


static bool
ft_dict_token(ft_dict_t *dict)
{
    char  c;

    while (dict->pos < dict->end) {
        c = *dict->pos;

        if (!ft_dict_is_alpha(c) && !ft_dict_is_digit(c)
            && !ft_dict_is_one_of(c, ":/!#$%&'*+-.^_`|~"))
        {
            break;
        }

        dict->pos++;
    }

    return true;
}


/* RFC 9651 accepts missing and misplaced padding. */
static bool
ft_dict_bytes(ft_dict_t *dict)
{
    char  c;

    while (dict->pos < dict->end) {
        c = *dict->pos++;

        if (c == ':') {
            return true;
        }

        if (!ft_dict_is_alpha(c) && !ft_dict_is_digit(c) && !ft_dict_is_one_of(c, "+/=")) {
            return false;
        }
    }

    return false;
}


static bool
ft_dict_boolean(ft_dict_t *dict, ft_dict_member_t *member)
{
    member->kind = FT_DICT_BOOLEAN;
    member->yes = ft_dict_take(dict, '1');

    return member->yes || ft_dict_take(dict, '0');
}


/* A Date is an Integer after "@". */
static bool
ft_dict_date(ft_dict_t *dict)
{
    const char   *first;
    ft_dict_member_t   seconds;

    first = dict->pos;

    return ft_dict_number(dict, &seconds)
           && memchr(first, '.', (size_t) (dict->pos - first)) == NULL;
}


/* The value is not used, so its UTF-8 is not checked. */
static bool
ft_dict_display(ft_dict_t *dict)
{
    char      c;
    unsigned  i;

    if (!ft_dict_take(dict, '"')) {
        return false;
    }

    while (dict->pos < dict->end) {
        c = *dict->pos++;

        if (c == '"') {
            return true;
        }

        if (c < 0x20 || c > 0x7e) {
            return false;
        }

        if (c != '%') {
            continue;
        }

        for (i = 0; i < 2; i++, dict->pos++) {

            if (dict->pos == dict->end
                || !(ft_dict_is_digit(*dict->pos)
                     || (*dict->pos >= 'a' && *dict->pos <= 'f')))
            {
                return false;
            }
        }
    }

    return false;
}


static bool
ft_dict_bare_item(ft_dict_t *dict, ft_dict_member_t *member)
{
    char  c;

    if (dict->pos == dict->end) {
        return false;
    }

    c = *dict->pos;

    if (c == '-' || ft_dict_is_digit(c)) {
        return ft_dict_number(dict, member);
    }

    dict->pos++;

    if (c == '?') {
        return ft_dict_boolean(dict, member);
    }

    member->kind = FT_DICT_OTHER;

    switch (c) {

    case '"':
        return ft_dict_string(dict);

    case ':':
        return ft_dict_bytes(dict);

    case '@':
        return ft_dict_date(dict);

    case '%':
        return ft_dict_display(dict);

    default:

        if (ft_dict_is_alpha(c) || c == '*') {
            return ft_dict_token(dict);
        }

        dict->pos--;
        return false;
    }
}


static bool
ft_dict_parameters(ft_dict_t *dict)
{
    ft_dict_member_t  parameter;

    while (ft_dict_take(dict, ';')) {
        ft_dict_skip(dict, " ");

        if (!ft_dict_key(dict, &parameter)) {
            return false;
        }

        if (ft_dict_take(dict, '=') && !ft_dict_bare_item(dict, &parameter)) {
            return false;
        }
    }

    return true;
}


static bool
ft_dict_item(ft_dict_t *dict, ft_dict_member_t *member)
{
    return ft_dict_bare_item(dict, member) && ft_dict_parameters(dict);
}


static bool
ft_dict_inner_list(ft_dict_t *dict, ft_dict_member_t *member)
{
    ft_dict_member_t  item;

    member->kind = FT_DICT_OTHER;

    for ( ;; ) {
        ft_dict_skip(dict, " ");

        if (ft_dict_take(dict, ')')) {
            return ft_dict_parameters(dict);
        }

        if (!ft_dict_item(dict, &item)) {
            return false;
        }

        if (dict->pos == dict->end || !ft_dict_is_one_of(*dict->pos, " )")) {
            return false;
        }
    }
}


static bool
ft_dict_member(ft_dict_t *dict, ft_dict_member_t *member)
{
    if (!ft_dict_key(dict, member)) {
        return false;
    }

    if (!ft_dict_take(dict, '=')) {
        member->kind = FT_DICT_BOOLEAN;
        member->yes = true;
        return ft_dict_parameters(dict);
    }

    if (ft_dict_take(dict, '(')) {
        return ft_dict_inner_list(dict, member);
    }

    return ft_dict_item(dict, member);
}


ft_dict_answer_t
ft_dict_next(ft_dict_t *dict, ft_dict_member_t *member)
{
    if (!dict->started) {
        dict->started = true;
        ft_dict_skip(dict, " ");

        if (dict->pos == dict->end) {
            return FT_DICT_END;
        }

    } else {
        ft_dict_skip(dict, " \t");

        if (dict->pos == dict->end) {
            return FT_DICT_END;
        }

        if (!ft_dict_take(dict, ',')) {
            return FT_DICT_MALFORMED;
        }

        ft_dict_skip(dict, " \t");
    }

    return ft_dict_member(dict, member) ? FT_DICT_MEMBER : FT_DICT_MALFORMED;
}
