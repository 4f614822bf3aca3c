
/*
 * The Flash-Throttle response header: spaces and unknown members around a
 * dictionary change nothing; of members with the same name the last one counts.
 *
 * Input: the header.
 */

#include "fuzz.h"
#include "ft_dict.h"
#include "ft_feedback.h"
#include "ft_override.h"


static bool
read_text(ft_feedback_t *f, const char *before, const uint8_t *data,
    size_t size, const char *behind)
{
    bool     valid;
    char    *text;
    size_t   from, len;

    from = strlen(before);
    len = from + size + strlen(behind);
    text = malloc(len ? len : 1);
    fuzz_check(text != NULL);

    memcpy(text, before, from);
    memcpy(text + from, data, size);
    memcpy(text + from + size, behind, strlen(behind));

    valid = ft_feedback_read(f, text, len);

    if (!valid) {
        fuzz_check(f->fault >= text && f->fault + f->fault_len == text + len);
    }

    free(text);

    return valid;
}


static bool
is_same(const ft_feedback_t *a, const ft_feedback_t *b)
{
    return a->sold_out == b->sold_out && a->resume == b->resume
           && a->done == b->done && a->rate_milli == b->rate_milli;
}


/* Names are not empty, and follow each other in the text. */
static size_t
walk(const char *text, size_t size)
{
    size_t        n;
    ft_dict_t     dict;
    const char   *last;
    ft_dict_member_t   member;

    dict = ft_dict(text, size);
    last = text;

    for (n = 0; ft_dict_next(&dict, &member) == FT_DICT_MEMBER; n++) {
        fuzz_check(member.len > 0 && member.name >= last);
        fuzz_check(member.name + member.len <= dict.pos);
        fuzz_check(dict.pos <= text + size);
        last = member.name + member.len;
    }

    return n;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool            valid;
    char           *text;
    size_t          members;
    ft_feedback_t   plain, other;

    valid = read_text(&plain, "", data, size, "");

    fuzz_check(!(plain.sold_out && plain.resume));
    fuzz_check(plain.rate_milli <= FT_RATE_MAX_MILLI);

    text = fuzz_copy(data, size);
    members = walk(text, size);
    free(text);

    fuzz_check(read_text(&other, "  ", data, size, "") == valid);
    fuzz_check(is_same(&plain, &other));

    if (!valid) {
        fuzz_check(!plain.sold_out && !plain.resume && !plain.done);
        fuzz_check(plain.rate_milli == 0);
        return 0;
    }

    fuzz_check(read_text(&other, "", data, size, "  "));
    fuzz_check(is_same(&plain, &other));

    if (members == 0) {
        return 0;
    }

    fuzz_check(read_text(&other, "x=(1 a;b);c, ", data, size,
                         ", y=\"z, done\""));
    fuzz_check(is_same(&plain, &other));

    fuzz_check(read_text(&other, "", data, size,
                         ", done, rate=1.5, resume=?0"));
    fuzz_check(other.done && other.rate_milli == 1500 && !other.resume);

    return 0;
}
