
/*
 * Flat JSON: what was read can be written, and reads the same; spaces between
 * the parts change nothing; nothing is written outside of the room there is.
 *
 * Input: the text.
 */

#include "fuzz.h"
#include "ft_json.h"


#define ROOM   16
#define GUARD  0x5a


typedef struct {
    char             zone[ROOM + 1];
    char             key[ROOM + 1];
    ft_json_field_t  fields[3];
    size_t           at;
} reading_t;


static const char *
read_it(reading_t *r, const uint8_t *data, size_t size)
{
    char        *text;
    const char  *wrong;

    memset(r, GUARD, sizeof(reading_t));

    r->fields[0] = (ft_json_field_t) { .name = "zone", .value = r->zone,
                                       .size = ROOM };
    r->fields[1] = (ft_json_field_t) { .name = "key", .value = r->key,
                                       .size = ROOM };
    r->fields[2] = (ft_json_field_t) { .name = "new" };

    text = fuzz_copy(data, size);
    wrong = ft_json_read(text, size, r->fields, 3, &r->at);
    free(text);

    fuzz_check(r->zone[ROOM] == GUARD && r->key[ROOM] == GUARD);
    fuzz_check(r->fields[0].len <= ROOM && r->fields[1].len <= ROOM);
    fuzz_check(r->at <= size);

    return wrong;
}


static size_t
write_string(char *p, const ft_json_field_t *f)
{
    size_t  i, n;

    n = (size_t) sprintf(p, "%s\"%s\" : \"", "\n", f->name);

    for (i = 0; i < f->len; i++) {
        n += (size_t) sprintf(p + n, "\\u00%02X", (unsigned char) f->value[i]);
    }

    return n + (size_t) sprintf(p + n, "\"\t,");
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char        text[1024];
    size_t      i, n;
    reading_t   first, second;

    if (read_it(&first, data, size)) {
        return 0;
    }

    n = (size_t) sprintf(text, " { ");

    for (i = 0; i < 2; i++) {
        if (first.fields[i].given) {
            n += write_string(text + n, &first.fields[i]);
        }
    }

    n += (size_t) sprintf(text + n, " \"new\":%s}\r",
                          first.fields[2].yes ? "true" : "false");

    fuzz_check(read_it(&second, (uint8_t *) text, n) == NULL);

    for (i = 0; i < 2; i++) {
        fuzz_check(first.fields[i].given == second.fields[i].given);
        fuzz_check(first.fields[i].len == second.fields[i].len);
        fuzz_check(memcmp(first.fields[i].value, second.fields[i].value,
                          first.fields[i].len) == 0);
    }

    fuzz_check(first.fields[2].yes == second.fields[2].yes);

    return 0;
}
