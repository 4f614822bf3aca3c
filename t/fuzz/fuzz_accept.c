
/*
 * Accept: splitting a header at its commas into several headers, and changing
 * the case, do not change the result; weights stay within 0 and 1.
 *
 * Input: the header.
 */

#include <ctype.h>
#include "fuzz.h"
#include "ft_accept.h"


static void
read_whole(ft_accept_t *accept, const char *text, size_t size)
{
    memset(accept, 0, sizeof(ft_accept_t));
    ft_accept_read(accept, text, size);
}


static void
read_split(ft_accept_t *accept, const char *text, size_t size)
{
    size_t  from, to;
    char   *part;

    memset(accept, 0, sizeof(ft_accept_t));

    for (from = 0; from < size; from = to + 1) {

        for (to = from; to < size && text[to] != ','; to++) {
            /* void */
        }

        part = fuzz_copy((const uint8_t *) text + from, to - from);
        ft_accept_read(accept, part, to - from);
        free(part);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char         *text;
    size_t        i;
    ft_accept_t   whole, split, other;

    text = fuzz_copy(data, size);

    read_whole(&whole, text, size);
    read_split(&split, text, size);
    fuzz_check(memcmp(&whole, &split, sizeof(whole)) == 0);

    for (i = 0; i < size; i++) {
        text[i] = (char) toupper((unsigned char) text[i]);
    }

    read_whole(&other, text, size);
    fuzz_check(memcmp(&whole, &other, sizeof(whole)) == 0);

    fuzz_check(whole.json.milli <= 1000 && whole.html.milli <= 1000);
    fuzz_check(whole.json.exact <= 3 && whole.html.exact <= 3);
    fuzz_check(!ft_accept_json(&whole) || whole.json.milli > 0);

    free(text);

    return 0;
}
