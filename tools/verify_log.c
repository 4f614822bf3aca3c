
#define _GNU_SOURCE                     /* memmem() */

#include "verify_log.h"
#include "access_log.h"

#include <stdlib.h>
#include <string.h>


/* Hexadecimal, 16 lower-case digits. */
static bool
verify_log_id(access_log_text_t value, uint64_t *id)
{
    char  text[17];

    if (value.len != 16) {
        return false;
    }

    memcpy(text, value.data, 16);
    text[16] = '\0';

    if (strspn(text, "0123456789abcdef") != 16) {
        return false;
    }

    *id = strtoull(text, NULL, 16);

    return true;
}


static bool
verify_log_has_pair(const char *text, size_t len, const char *pair)
{
    size_t       n;
    const char  *p, *last;

    n = strlen(pair);
    last = text + len;

    for (p = text; (p = memmem(p, (size_t) (last - p), pair, n)) != NULL; p++) {
        if ((p == text || p[-1] == ' ') && (p + n == last || p[n] == ' ')) {
            return true;
        }
    }

    return false;
}


/* Space for one more element; NULL: no memory. */
static void *
verify_log_grow(void *array, size_t n, size_t size)
{
    /* capacities are powers of two */

    if (n & (n - 1)) {
        return array;
    }

    return realloc(array, (n ? 2 * n : 1) * size);
}


static bool
verify_log_add_queued(verify_log_t *log, int64_t at_us, uint64_t id)
{
    void  *queued;

    queued = verify_log_grow(log->queued, log->nqueued,
                             sizeof(verify_log_queued_t));
    if (queued == NULL) {
        return false;
    }

    log->queued = queued;
    log->queued[log->nqueued++] = (verify_log_queued_t) {
        .at_us = at_us,
        .id = id
    };

    return true;
}


static bool
verify_log_add_shopper(verify_log_t *log, const access_log_line_t *line,
    uint64_t id)
{
    void  *shoppers;

    shoppers = verify_log_grow(log->shoppers, log->nshoppers,
                               sizeof(verify_log_shopper_t));
    if (shoppers == NULL) {
        return false;
    }

    log->shoppers = shoppers;
    log->shoppers[log->nshoppers++] = (verify_log_shopper_t) {
        .id = id,
        .first_us = line->first_us,
        .admitted_us = line->status == ACCESS_LOG_ADMITTED
                       ? line->first_us + line->waited_us : -1
    };

    return true;
}


static bool
verify_log_add_line(verify_log_t *log, const char *text, size_t len)
{
    int64_t              at_us;
    uint64_t             id;
    access_log_line_t    line;
    access_log_result_t  result;

    result = access_log_parse(&line, text, len);

    if (line.dry_run
        || (line.status != ACCESS_LOG_QUEUED
            && line.status != ACCESS_LOG_ADMITTED
            && line.status != ACCESS_LOG_CLOSED))
    {
        return true;
    }

    log->lines++;
    at_us = access_log_time_us(line.time);

    if (result == ACCESS_LOG_TORN || !verify_log_id(line.id, &id)
        || line.first_us < 0
        || (line.status == ACCESS_LOG_QUEUED && at_us < 0)
        || (line.status == ACCESS_LOG_ADMITTED && line.waited_us < 0))
    {
        log->incomplete++;
        return true;
    }

    if (line.status == ACCESS_LOG_QUEUED
        && !verify_log_add_queued(log, at_us, id))
    {
        return false;
    }

    return verify_log_add_shopper(log, &line, id);
}


static int
verify_log_by_id(const void *a, const void *b)
{
    const verify_log_shopper_t  *x, *y;

    x = a;
    y = b;

    return (x->id > y->id) - (x->id < y->id);
}


/* One shopper per ticket, with its first admission. */
static void
verify_log_merge(verify_log_t *log)
{
    size_t                 i, n;
    verify_log_shopper_t  *s, *last;

    if (log->nshoppers == 0) {
        return;
    }

    qsort(log->shoppers, log->nshoppers, sizeof(verify_log_shopper_t),
          verify_log_by_id);

    n = 0;

    for (i = 1; i < log->nshoppers; i++) {
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

    log->nshoppers = n + 1;
}


bool
verify_log_read(verify_log_t *log, FILE *file, const char *only)
{
    bool      ok;
    char     *text;
    size_t    size;
    ssize_t   len;

    memset(log, 0, sizeof(verify_log_t));

    text = NULL;
    size = 0;
    ok = true;

    while (ok && (len = getline(&text, &size, file)) >= 0) {

        while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r')) {
            len--;
        }

        if (only == NULL || verify_log_has_pair(text, (size_t) len, only)) {
            ok = verify_log_add_line(log, text, (size_t) len);
        }
    }

    free(text);
    verify_log_merge(log);

    return ok && !ferror(file);
}


void
verify_log_free(verify_log_t *log)
{
    free(log->shoppers);
    free(log->queued);
}


verify_log_shopper_t *
verify_log_find(const verify_log_t *log, uint64_t id)
{
    verify_log_shopper_t  key = { .id = id };

    return bsearch(&key, log->shoppers, log->nshoppers,
                   sizeof(verify_log_shopper_t), verify_log_by_id);
}
