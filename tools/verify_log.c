
/*
 * Reading the access log: see verify_log.h; docs/log.md describes it.
 */

#include "verify_log.h"

#include <stdlib.h>
#include <string.h>


#define FT_SECONDS_DIGITS  12


typedef enum {
    FT_VERIFY_OTHER,
    FT_VERIFY_QUEUED,
    FT_VERIFY_ADMITTED,
    FT_VERIFY_CLOSED
} ft_verify_status_t;

typedef struct {
    ft_verify_status_t   status;
    int64_t              time_us;
    int64_t              first_us;
    int64_t              waited_us;
    uint64_t             id;
    bool                 has_id;
    bool                 selected;
} ft_verify_line_t;


/* Seconds with a fraction, in us; -1: it is none. */
static int64_t
ft_verify_time(const char *p, size_t len)
{
    size_t   i;
    int64_t  us, unit;

    us = 0;

    for (i = 0; i < len && p[i] != '.'; i++) {

        if (p[i] < '0' || p[i] > '9' || i == FT_SECONDS_DIGITS) {
            return -1;
        }

        us = us * 10 + (p[i] - '0');
    }

    if (i == 0) {
        return -1;
    }

    us *= 1000000;
    unit = 1000000;

    for (i++; i < len; i++) {

        if (p[i] < '0' || p[i] > '9') {
            return -1;
        }

        unit /= 10;
        us += (p[i] - '0') * unit;
    }

    return us;
}


static bool
ft_verify_id(const char *p, size_t len, uint64_t *id)
{
    char   text[17], *end;

    if (len != 16) {
        return false;
    }

    memcpy(text, p, 16);
    text[16] = '\0';

    if (strspn(text, "0123456789abcdef") != 16) {
        return false;
    }

    *id = strtoull(text, &end, 16);

    return true;
}


static bool
ft_verify_is(const char *p, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(p, word, len) == 0;
}


static void
ft_verify_pair(ft_verify_line_t *line, const char *name, size_t name_len,
    const char *p, size_t len)
{
    if (ft_verify_is(name, name_len, "status")) {
        line->status = ft_verify_is(p, len, "QUEUED") ? FT_VERIFY_QUEUED
                       : ft_verify_is(p, len, "ADMITTED") ? FT_VERIFY_ADMITTED
                       : ft_verify_is(p, len, "CLOSED") ? FT_VERIFY_CLOSED
                       : FT_VERIFY_OTHER;

    } else if (ft_verify_is(name, name_len, "id")) {
        line->has_id = ft_verify_id(p, len, &line->id);

    } else if (ft_verify_is(name, name_len, "time")) {
        line->time_us = ft_verify_time(p, len);

    } else if (ft_verify_is(name, name_len, "first")) {
        line->first_us = ft_verify_time(p, len);

    } else if (ft_verify_is(name, name_len, "waited")) {
        line->waited_us = ft_verify_time(p, len);
    }
}


static void
ft_verify_parse(ft_verify_line_t *line, const char *p, size_t len,
    const char *only)
{
    const char  *last, *end, *equals;

    memset(line, 0, sizeof(ft_verify_line_t));
    line->time_us = line->first_us = line->waited_us = -1;
    line->selected = (only == NULL);

    for (last = p + len; p < last; p = end + 1) {
        end = memchr(p, ' ', (size_t) (last - p));
        end = end != NULL ? end : last;

        if (only != NULL && ft_verify_is(p, (size_t) (end - p), only)) {
            line->selected = true;
        }

        equals = memchr(p, '=', (size_t) (end - p));

        if (equals != NULL) {
            ft_verify_pair(line, p, (size_t) (equals - p), equals + 1,
                           (size_t) (end - equals - 1));
        }
    }
}


/* Room for one more; NULL: no memory. */
static void *
ft_verify_grow(void *array, size_t n, size_t size)
{
    if (n & (n - 1)) {
        return array;
    }

    /* a power of two is full */

    return realloc(array, (n ? 2 * n : 1) * size);
}


static bool
ft_verify_add_wait(ft_verify_log_t *log, const ft_verify_line_t *line)
{
    void  *waits;

    waits = ft_verify_grow(log->waits, log->nwaits, sizeof(ft_verify_wait_t));
    if (waits == NULL) {
        return false;
    }

    log->waits = waits;
    log->waits[log->nwaits++] = (ft_verify_wait_t) {
        .at_us = line->time_us,
        .id = line->id
    };

    return true;
}


static bool
ft_verify_add_shopper(ft_verify_log_t *log, const ft_verify_line_t *line)
{
    void  *shoppers;

    shoppers = ft_verify_grow(log->shoppers, log->n,
                              sizeof(ft_verify_shopper_t));
    if (shoppers == NULL) {
        return false;
    }

    log->shoppers = shoppers;
    log->shoppers[log->n++] = (ft_verify_shopper_t) {
        .id = line->id,
        .first_us = line->first_us,
        .admitted_us = line->status == FT_VERIFY_ADMITTED
                       ? line->first_us + line->waited_us : -1
    };

    return true;
}


/* Every ticket that is seen counts, also if it never gets in. */
static bool
ft_verify_line(ft_verify_log_t *log, const ft_verify_line_t *line)
{
    if (line->status == FT_VERIFY_OTHER) {
        return true;
    }

    log->lines++;

    if (!line->has_id || line->first_us < 0
        || (line->status == FT_VERIFY_QUEUED && line->time_us < 0)
        || (line->status == FT_VERIFY_ADMITTED && line->waited_us < 0))
    {
        log->broken++;
        return true;
    }

    if (line->status == FT_VERIFY_QUEUED && !ft_verify_add_wait(log, line)) {
        return false;
    }

    return ft_verify_add_shopper(log, line);
}


static int
ft_verify_by_id(const void *a, const void *b)
{
    const ft_verify_shopper_t  *x, *y;

    x = a;
    y = b;

    return (x->id > y->id) - (x->id < y->id);
}


/* Of the lines of one ticket the first admission counts. */
static void
ft_verify_merge(ft_verify_log_t *log)
{
    size_t                i, n;
    ft_verify_shopper_t  *s, *last;

    if (log->n == 0) {
        return;
    }

    qsort(log->shoppers, log->n, sizeof(ft_verify_shopper_t), ft_verify_by_id);

    n = 0;

    for (i = 1; i < log->n; i++) {
        last = &log->shoppers[n];
        s = &log->shoppers[i];

        if (s->id != last->id) {
            log->shoppers[++n] = *s;

        } else if (s->admitted_us >= 0
                   && (last->admitted_us < 0
                       || s->admitted_us < last->admitted_us))
        {
            last->admitted_us = s->admitted_us;
        }
    }

    log->n = n + 1;
}


bool
ft_verify_read(ft_verify_log_t *log, FILE *file, const char *only)
{
    bool              read;
    char             *text;
    size_t            size;
    ssize_t           len;
    ft_verify_line_t  line;

    memset(log, 0, sizeof(ft_verify_log_t));

    text = NULL;
    size = 0;
    read = true;

    while (read && (len = getline(&text, &size, file)) >= 0) {

        while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) {
            len--;
        }

        ft_verify_parse(&line, text, (size_t) len, only);

        if (line.selected) {
            read = ft_verify_line(log, &line);
        }
    }

    free(text);
    ft_verify_merge(log);

    return read && !ferror(file);
}


void
ft_verify_free(ft_verify_log_t *log)
{
    free(log->shoppers);
    free(log->waits);
}


ft_verify_shopper_t *
ft_verify_find(const ft_verify_log_t *log, uint64_t id)
{
    ft_verify_shopper_t  key = { .id = id };

    return bsearch(&key, log->shoppers, log->n, sizeof(ft_verify_shopper_t),
                   ft_verify_by_id);
}
