
#include <string.h>
#include "ft_accept.h"


#define FT_ACCEPT_ANY    1
#define FT_ACCEPT_TYPE   2
#define FT_ACCEPT_EXACT  3


static char
ft_accept_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}


static bool
ft_accept_equals(const char *text, size_t len, const char *word)
{
    size_t  i;

    if (len != strlen(word)) {
        return false;
    }

    for (i = 0; i < len; i++) {
        if (ft_accept_lower(text[i]) != word[i]) {
            return false;
        }
    }

    return true;
}


/* by its name or by its suffix (RFC 6839, section 3.1) */
static bool
ft_accept_is_json(const char *type, size_t len)
{
    const char    kind[] = "application/", suffix[] = "+json";
    const size_t  kind_len = sizeof(kind) - 1, suffix_len = sizeof(suffix) - 1;

    return ft_accept_equals(type, len, "application/json")
           || (len > kind_len + suffix_len
               && ft_accept_equals(type, kind_len, kind)
               && ft_accept_equals(type + len - suffix_len, suffix_len, suffix));
}


/* Cuts off the part before a separator, trimmed. */
static const char *
ft_accept_cut(const char **text, const char *end, char separator, size_t *len)
{
    const char  *p, *last;

    p = *text;
    last = memchr(p, separator, (size_t) (end - p));

    *text = last ? last + 1 : end;

    if (last == NULL) {
        last = end;
    }

    while (p < last && (*p == ' ' || *p == '\t')) {
        p++;
    }

    while (last > p && (last[-1] == ' ' || last[-1] == '\t')) {
        last--;
    }

    *len = (size_t) (last - p);

    return p;
}


/* "0" or "1" with up to three decimals; anything else is 0 */
static uint32_t
ft_accept_qvalue(const char *text, size_t len)
{
    size_t    i;
    uint32_t  milli, unit;

    if (len == 0 || len > 5 || (text[0] != '0' && text[0] != '1')
        || (len > 1 && text[1] != '.'))
    {
        return 0;
    }

    milli = (uint32_t) (text[0] - '0') * 1000;
    unit = 100;

    for (i = 2; i < len; i++, unit /= 10) {

        if (text[i] < '0' || text[i] > '9') {
            return 0;
        }

        milli += (uint32_t) (text[i] - '0') * unit;
    }

    return milli <= 1000 ? milli : 0;
}


/* The more specific range decides, of equal ones the greater weight. */
static void
ft_accept_prefer(ft_accept_weight_t *weight, uint32_t exact, uint32_t milli)
{
    if (exact > weight->exact
        || (exact == weight->exact && milli > weight->milli))
    {
        weight->exact = exact;
        weight->milli = milli;
    }
}


bool
ft_accept_next(const char **text, const char *end, ft_accept_range_t *range)
{
    size_t       len;
    const char  *p, *last, *param;

    if (*text >= end) {
        return false;
    }

    p = ft_accept_cut(text, end, ',', &len);
    last = p + len;

    range->type = ft_accept_cut(&p, last, ';', &range->len);
    range->milli = 1000;

    while (p < last) {
        param = ft_accept_cut(&p, last, ';', &len);

        if (len >= 2 && ft_accept_equals(param, 2, "q=")) {
            range->milli = ft_accept_qvalue(param + 2, len - 2);
            break;
        }
    }

    return true;
}


bool
ft_accept_is(const ft_accept_range_t *range, const char *type)
{
    return ft_accept_equals(range->type, range->len, type);
}


static void
ft_accept_add(ft_accept_t *accept, const ft_accept_range_t *range)
{
    size_t       type_len;
    uint32_t     milli;
    const char  *type;

    type = range->type;
    type_len = range->len;
    milli = range->milli;

    if (ft_accept_is_json(type, type_len)) {
        ft_accept_prefer(&accept->json, FT_ACCEPT_EXACT, milli);

    } else if (ft_accept_equals(type, type_len, "text/html")) {
        ft_accept_prefer(&accept->html, FT_ACCEPT_EXACT, milli);

    } else if (ft_accept_equals(type, type_len, "application/*")) {
        ft_accept_prefer(&accept->json, FT_ACCEPT_TYPE, milli);

    } else if (ft_accept_equals(type, type_len, "text/*")) {
        ft_accept_prefer(&accept->html, FT_ACCEPT_TYPE, milli);

    } else if (ft_accept_equals(type, type_len, "*/*")) {
        ft_accept_prefer(&accept->json, FT_ACCEPT_ANY, milli);
        ft_accept_prefer(&accept->html, FT_ACCEPT_ANY, milli);
    }
}


void
ft_accept_read(ft_accept_t *accept, const char *text, size_t len)
{
    ft_accept_range_t   range;
    const char  *end;

    end = text + len;

    /* a browser navigation begins with text/html: nothing outweighs it */

    while ((accept->html.exact < FT_ACCEPT_EXACT || accept->html.milli < 1000)
           && ft_accept_next(&text, end, &range))
    {
        ft_accept_add(accept, &range);
    }
}


bool
ft_accept_json(const ft_accept_t *accept)
{
    const ft_accept_weight_t  *json, *html;

    json = &accept->json;
    html = &accept->html;

    if (json->milli != html->milli) {
        return json->milli > html->milli;
    }

    return json->milli && json->exact > html->exact;
}
