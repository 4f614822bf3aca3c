
#include "report_log.h"

#include <string.h>


#define FT_LOG_SECONDS_MAX  INT64_C(100000000000)


typedef struct {
    const char        *text;
    size_t             len;
} ft_log_text_t;


static bool
ft_log_equal(ft_log_text_t a, const char *b)
{
    return a.len == strlen(b) && memcmp(a.text, b, a.len) == 0;
}


/* Seconds with a fraction, as $msec writes them, in us; -1: not a time. */
static int64_t
ft_log_time(ft_log_text_t value)
{
    size_t   i;
    int64_t  time_us, unit;

    time_us = 0;
    unit = 1000000;

    for (i = 0; i < value.len && value.text[i] != '.'; i++) {
        if (value.text[i] < '0' || value.text[i] > '9'
            || time_us > FT_LOG_SECONDS_MAX)
        {
            return -1;
        }

        time_us = time_us * 10 + (value.text[i] - '0');
    }

    if (i == 0) {
        return -1;
    }

    time_us *= unit;

    for (i++; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9') {
            return -1;
        }

        unit /= 10;
        time_us += (value.text[i] - '0') * unit;
    }

    return time_us;
}


/* FNV-1a, 64 bits; never 0. */
static uint64_t
ft_log_hash(ft_log_text_t value)
{
    size_t    i;
    uint64_t  hash;

    hash = UINT64_C(0xcbf29ce484222325);

    for (i = 0; i < value.len; i++) {
        hash = (hash ^ (unsigned char) value.text[i])
               * UINT64_C(0x100000001b3);
    }

    return hash != 0 ? hash : 1;
}


static void
ft_log_status(ft_log_line_t *line, ft_log_text_t value)
{
    size_t  i, suffix;

    static const char  *names[FT_LOG_STATUSES] = {
        [FT_LOG_NONE] = "",
        [FT_LOG_OTHER] = "",
        [FT_LOG_QUEUED] = "QUEUED",
        [FT_LOG_ADMITTED] = "ADMITTED",
        [FT_LOG_REJECTED] = "REJECTED",
        [FT_LOG_PASSED] = "PASSED",
        [FT_LOG_BYPASSED] = "BYPASSED",
        [FT_LOG_SOLD_OUT] = "SOLD_OUT",
        [FT_LOG_CLOSED] = "CLOSED"
    };

    suffix = sizeof("_DRY_RUN") - 1;

    line->dry_run = value.len > suffix
                    && memcmp(value.text + value.len - suffix, "_DRY_RUN",
                              suffix) == 0;

    if (line->dry_run) {
        value.len -= suffix;
    }

    line->status = FT_LOG_OTHER;

    for (i = FT_LOG_QUEUED; i < FT_LOG_STATUSES; i++) {
        if (ft_log_equal(value, names[i])) {
            line->status = (ft_log_status_t) i;
        }
    }
}


/* The keys that are read here, each once in a line. */
typedef enum {
    FT_LOG_KEY_STATUS = 1,
    FT_LOG_KEY_ID = 2,
    FT_LOG_KEY_FIRST = 4,
    FT_LOG_KEY_WAITED = 8
} ft_log_key_t;


static unsigned
ft_log_pair(ft_log_line_t *line, ft_log_text_t key, ft_log_text_t value)
{
    bool  given;

    given = value.len != 0 && !ft_log_equal(value, "-");

    if (ft_log_equal(key, "status")) {

        if (given) {
            ft_log_status(line, value);
        }

        return FT_LOG_KEY_STATUS;
    }

    if (ft_log_equal(key, "id")) {
        line->id = given ? ft_log_hash(value) : 0;
        return FT_LOG_KEY_ID;
    }

    if (ft_log_equal(key, "first")) {
        line->first_us = given ? ft_log_time(value) : -1;
        return FT_LOG_KEY_FIRST;
    }

    if (ft_log_equal(key, "waited")) {
        line->waited_us = given ? ft_log_time(value) : -1;
        return FT_LOG_KEY_WAITED;
    }

    return 0;
}


ft_log_kind_t
ft_log_read(ft_log_line_t *line, const char *text, size_t len)
{
    bool            torn;
    unsigned        keys, found;
    const char     *end, *equals, *last, *next;
    ft_log_text_t   key, value;

    line->status = FT_LOG_NONE;
    line->dry_run = false;
    line->id = 0;
    line->first_us = -1;
    line->waited_us = -1;

    last = text + len;

    while (last > text && (last[-1] == '\n' || last[-1] == '\r')) {
        last--;
    }

    keys = 0;
    torn = false;

    for ( /* void */ ; text < last; text = next) {
        end = memchr(text, ' ', (size_t) (last - text));
        next = end != NULL ? end + 1 : last;
        end = end != NULL ? end : last;

        equals = memchr(text, '=', (size_t) (end - text));
        if (equals == NULL) {
            continue;
        }

        key = (ft_log_text_t) { text, (size_t) (equals - text) };
        value = (ft_log_text_t) { equals + 1, (size_t) (end - equals - 1) };

        found = ft_log_pair(line, key, value);
        torn |= (keys & found) != 0;
        keys |= found;
    }

    if (line->status == FT_LOG_NONE) {
        return FT_LOG_FOREIGN;
    }

    return torn ? FT_LOG_TORN : FT_LOG_WHOLE;
}
