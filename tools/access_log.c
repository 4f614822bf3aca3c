
#include "access_log.h"

#include <string.h>


#define ACCESS_LOG_SECONDS_MAX  INT64_C(100000000000)


/* Pairs that occur at most once in a line. */
typedef enum {
    ACCESS_LOG_KEY_STATUS = 1,
    ACCESS_LOG_KEY_ID = 2,
    ACCESS_LOG_KEY_FIRST = 4,
    ACCESS_LOG_KEY_WAITED = 8
} access_log_key_t;


static inline bool
access_log_equal(access_log_text_t a, const char *b)
{
    return a.len == strlen(b) && memcmp(a.data, b, strlen(b)) == 0;
}


int64_t
access_log_time_us(access_log_text_t value)
{
    size_t   i;
    int64_t  time_us, unit;

    time_us = 0;
    unit = 1000000;

    for (i = 0; i < value.len && value.data[i] != '.'; i++) {
        if (value.data[i] < '0' || value.data[i] > '9'
            || time_us > ACCESS_LOG_SECONDS_MAX)
        {
            return -1;
        }

        time_us = time_us * 10 + (value.data[i] - '0');
    }

    if (i == 0) {
        return -1;
    }

    time_us *= unit;

    for (i++; i < value.len; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return -1;
        }

        unit /= 10;
        time_us += (value.data[i] - '0') * unit;
    }

    return time_us;
}


/* FNV-1a, 64 bits; never 0. */
static uint64_t
access_log_hash(access_log_text_t text)
{
    size_t    i;
    uint64_t  hash;

    hash = UINT64_C(0xcbf29ce484222325);

    for (i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char) text.data[i])
               * UINT64_C(0x100000001b3);
    }

    return hash != 0 ? hash : 1;
}


static void
access_log_set_status(access_log_line_t *line, access_log_text_t value)
{
    size_t  i, suffix;

    static const char  *names[ACCESS_LOG_STATUSES] = {
        [ACCESS_LOG_QUEUED] = "QUEUED",
        [ACCESS_LOG_ADMITTED] = "ADMITTED",
        [ACCESS_LOG_REJECTED] = "REJECTED",
        [ACCESS_LOG_PASSED] = "PASSED",
        [ACCESS_LOG_BYPASSED] = "BYPASSED",
        [ACCESS_LOG_SOLD_OUT] = "SOLD_OUT",
        [ACCESS_LOG_CLOSED] = "CLOSED"
    };

    suffix = sizeof("_DRY_RUN") - 1;

    line->dry_run = value.len > suffix
                    && memcmp(value.data + value.len - suffix, "_DRY_RUN",
                              suffix) == 0;

    if (line->dry_run) {
        value.len -= suffix;
    }

    line->status = ACCESS_LOG_OTHER;

    for (i = ACCESS_LOG_QUEUED; i < ACCESS_LOG_STATUSES; i++) {
        if (access_log_equal(value, names[i])) {
            line->status = (access_log_status_t) i;
        }
    }
}


static unsigned
access_log_set_pair(access_log_line_t *line, access_log_text_t key,
    access_log_text_t value)
{
    if (value.len == 1 && *value.data == '-') {
        value.len = 0;
    }

    if (access_log_equal(key, "status")) {

        if (value.len > 0) {
            access_log_set_status(line, value);
        }

        return ACCESS_LOG_KEY_STATUS;
    }

    if (access_log_equal(key, "id")) {
        line->id = value;
        line->id_hash = value.len > 0 ? access_log_hash(value) : 0;
        return ACCESS_LOG_KEY_ID;
    }

    if (access_log_equal(key, "first")) {
        line->first_us = access_log_time_us(value);
        return ACCESS_LOG_KEY_FIRST;
    }

    if (access_log_equal(key, "waited")) {
        line->waited_us = access_log_time_us(value);
        return ACCESS_LOG_KEY_WAITED;
    }

    if (access_log_equal(key, "time")) {
        line->time = value;
    }

    return 0;
}


access_log_result_t
access_log_parse(access_log_line_t *line, const char *text, size_t len)
{
    bool                torn;
    unsigned            keys, found;
    const char         *end, *equals, *last, *next;
    access_log_text_t   key, value;

    *line = (access_log_line_t) {
        .status = ACCESS_LOG_NONE, .first_us = -1, .waited_us = -1
    };

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

        key = (access_log_text_t) { text, (size_t) (equals - text) };
        value = (access_log_text_t) { equals + 1, (size_t) (end - equals - 1) };

        found = access_log_set_pair(line, key, value);
        torn |= (keys & found) != 0;
        keys |= found;
    }

    if (line->status == ACCESS_LOG_NONE) {
        return ACCESS_LOG_UNRELATED;
    }

    return torn ? ACCESS_LOG_TORN : ACCESS_LOG_COMPLETE;
}
