
#include <stddef.h>
#include "ft.h"
#include "ft_spent.h"


/*
 * A record: 30 bits of the key, 2 bits of the kind, and 32 bits of the end of
 * the pass in epoch seconds; for a held request 8 bits of the worker and 24 of
 * the seconds; for a used version the milliseconds of its use.
 */
#define FT_SPENT_KIND_SHIFT   32
#define FT_SPENT_KEY_SHIFT    34
#define FT_SPENT_WORKER_MASK  0xff
#define FT_SPENT_HOLD_MASK    0xffffff

#define ft_spent_kind(word)                                                   \
    ((ft_spent_kind_t) ((word) >> FT_SPENT_KIND_SHIFT & 3))

#define ft_spent_same(word, key)                                              \
    ((word) != 0                                                              \
     && (word) >> FT_SPENT_KEY_SHIFT == (key) >> FT_SPENT_KEY_SHIFT)


static uint64_t
ft_spent_word(uint64_t key, ft_spent_kind_t kind, uint32_t value)
{
    return key >> FT_SPENT_KEY_SHIFT << FT_SPENT_KEY_SHIFT
           | (uint64_t) kind << FT_SPENT_KIND_SHIFT | value;
}


/* The low half of the key, which is not in the fingerprint, as a number < n. */
static uint32_t
ft_spent_bucket(uint64_t key, uint32_t n)
{
    return (uint32_t) ((key & UINT32_MAX) * n >> 32);
}


static uint64_t
ft_spent_version(uint64_t id, uint64_t due_ms)
{
    return ft_mix(id ^ ft_mix(due_ms));
}


/* The id, mixed: not all callers have random ids. */
static uint64_t
ft_spent_key(uint64_t id)
{
    return ft_mix(id);
}


static uint32_t
ft_spent_seconds(uint64_t ms)
{
    return (uint32_t) (ms / 1000);
}


void
ft_spent_prefetch(const ft_spent_t *spent, uint64_t id)
{
    __builtin_prefetch((const void *)
                       spent->ticket[ft_spent_bucket(ft_spent_key(id),
                                                     FT_SPENT_TICKETS)]);
}


/* The record of a key in its bucket, and its word; NULL: there is none. */
static _Atomic uint64_t *
ft_spent_lookup(_Atomic uint64_t *bucket, uint64_t key, uint64_t *word)
{
    unsigned  i;

    for (i = 0; i < FT_SPENT_WAYS; i++) {
        *word = ft_load(&bucket[i]);

        if (ft_spent_same(*word, key)) {
            return &bucket[i];
        }
    }

    return NULL;
}


static _Atomic uint64_t *
ft_spent_tickets(const ft_spent_t *spent, uint64_t key)
{
    return (_Atomic uint64_t *)
           spent->ticket[ft_spent_bucket(key, FT_SPENT_TICKETS)];
}


ft_spent_record_t
ft_spent_find(const ft_spent_t *spent, uint64_t id, uint64_t now_ms)
{
    uint64_t           key, word, left;
    ft_spent_record_t  record = { FT_SPENT_UNKNOWN, 0, 0 };

    key = ft_spent_key(id);

    if (ft_spent_lookup(ft_spent_tickets(spent, key), key, &word) == NULL) {
        return record;
    }

    if (ft_spent_kind(word) != FT_SPENT_HELD) {
        record.kind = ft_spent_kind(word);
        record.until_ms = (word & UINT32_MAX) * 1000;
        return record;
    }

    /* a hold is short: 24 bits of the seconds tell how much of it is left */

    left = (word - now_ms / 1000) & FT_SPENT_HOLD_MASK;

    if (left && left < FT_SPENT_HOLD_MASK / 2) {
        record.kind = FT_SPENT_HELD;
        record.worker = word >> 24 & FT_SPENT_WORKER_MASK;
        record.until_ms = (now_ms / 1000 + left) * 1000;
    }

    return record;
}


/* The record to replace: an empty one, or the oldest, held requests last. */
static unsigned
ft_spent_victim(_Atomic uint64_t *bucket, uint64_t *victim)
{
    unsigned  i, oldest;
    uint64_t  word, age, least;

    oldest = 0;
    least = UINT64_MAX;

    for (i = 0; i < FT_SPENT_WAYS; i++) {
        word = ft_load(&bucket[i]);

        if (word == 0) {
            *victim = 0;
            return i;
        }

        age = ft_spent_kind(word) == FT_SPENT_HELD ? UINT32_MAX
                                                   : word & UINT32_MAX;

        if (age < least) {
            least = age;
            oldest = i;
            *victim = word;
        }
    }

    return oldest;
}


static void
ft_spent_forget(ft_spent_t *spent, uint64_t key, uint64_t word)
{
    uint32_t           old;
    _Atomic uint32_t  *forgotten;

    if (word == 0 || ft_spent_kind(word) == FT_SPENT_HELD) {
        return;
    }

    forgotten = &spent->forgotten_s[ft_spent_bucket(key, FT_SPENT_TICKETS)];
    old = ft_load(forgotten);

    while (old < (uint32_t) word
           && !atomic_compare_exchange_weak(forgotten, &old, (uint32_t) word))
    {
        /* void */
    }
}


/*
 * Replaces the record of an id, or adds one.  Returns its former kind.  An
 * admission is recorded once, and a hold never replaces it: of two requests with
 * one ticket, one may be held while the other is admitted.
 */
static ft_spent_kind_t
ft_spent_put(ft_spent_t *spent, uint64_t id, ft_spent_kind_t kind,
    uint32_t value)
{
    uint64_t           key, word, old;
    _Atomic uint64_t  *bucket, *p;

    key = ft_spent_key(id);
    word = ft_spent_word(key, kind, value);
    bucket = ft_spent_tickets(spent, key);

    for ( ;; ) {
        p = ft_spent_lookup(bucket, key, &old);

        if (p) {
            if (kind < ft_spent_kind(old)
                || (kind == FT_SPENT_ADMITTED
                    && ft_spent_kind(old) == FT_SPENT_ADMITTED)
                || atomic_compare_exchange_strong(p, &old, word))
            {
                return ft_spent_kind(old);
            }

            continue;
        }

        p = &bucket[ft_spent_victim(bucket, &old)];

        /* before the record is gone, so that no lookup misses both */

        ft_spent_forget(spent, key, old);

        if (atomic_compare_exchange_strong(p, &old, word)) {
            return FT_SPENT_UNKNOWN;
        }
    }
}


void
ft_spent_hold(ft_spent_t *spent, uint64_t id, uint32_t worker,
    uint64_t until_ms)
{
    uint32_t  value;

    value = (worker & FT_SPENT_WORKER_MASK) << 24
            | (ft_spent_seconds(until_ms + 999) & FT_SPENT_HOLD_MASK);

    (void) ft_spent_put(spent, id, FT_SPENT_HELD, value);
}


void
ft_spent_release(ft_spent_t *spent, uint64_t id)
{
    uint64_t           key, word;
    _Atomic uint64_t  *p;

    key = ft_spent_key(id);
    p = ft_spent_lookup(ft_spent_tickets(spent, key), key, &word);

    if (p && ft_spent_kind(word) == FT_SPENT_HELD) {
        (void) atomic_compare_exchange_strong(p, &word, 0);
    }
}


void
ft_spent_release_worker(ft_spent_t *spent, uint32_t worker)
{
    unsigned           i;
    uint64_t           word;
    _Atomic uint64_t  *p;

    for (i = 0; i < FT_SPENT_TICKETS * FT_SPENT_WAYS; i++) {
        p = &spent->ticket[i / FT_SPENT_WAYS][i % FT_SPENT_WAYS];
        word = ft_load(p);

        if (ft_spent_kind(word) == FT_SPENT_HELD
            && (word >> 24 & FT_SPENT_WORKER_MASK) == worker)
        {
            (void) atomic_compare_exchange_strong(p, &word, 0);
        }
    }
}


/* Two records at once may lose one of two changes: a reload changes it once. */
static void
ft_spent_session(ft_spent_t *spent, uint32_t session_ms, uint32_t now_s)
{
    uint32_t  old, former;

    old = ft_load(&spent->session_ms);

    if (old == session_ms) {
        return;
    }

    former = ft_load(&spent->former_ms);

    if (old && (former == 0 || old < former)) {
        ft_store(&spent->former_ms, old);
    }

    ft_store(&spent->changed_s, now_s);
    ft_store(&spent->session_ms, session_ms);
}


bool
ft_spent_admit(ft_spent_t *spent, uint64_t id, uint64_t end_ms,
    uint32_t session_ms)
{
    ft_spent_kind_t  kind;

    ft_spent_session(spent, session_ms, ft_spent_seconds(end_ms - session_ms));

    kind = ft_spent_put(spent, id, FT_SPENT_ADMITTED,
                        ft_spent_seconds(end_ms));

    return kind != FT_SPENT_ADMITTED && kind != FT_SPENT_DONE;
}


bool
ft_spent_finish(ft_spent_t *spent, uint64_t id, uint64_t end_ms)
{
    return ft_spent_put(spent, id, FT_SPENT_DONE, ft_spent_seconds(end_ms))
           != FT_SPENT_DONE;
}


/*
 * A forgotten pass may be from before a change of the session, until the bucket
 * has forgotten one from after it.
 */
bool
ft_spent_is_forgotten(const ft_spent_t *spent, uint64_t id, uint64_t seen_ms,
    uint32_t session_ms)
{
    uint32_t  forgotten, known, former;
    uint64_t  shortest;

    forgotten = ft_load(&spent->forgotten_s[ft_spent_bucket(ft_spent_key(id),
                                                      FT_SPENT_TICKETS)]);
    known = ft_load(&spent->session_ms);
    former = ft_load(&spent->former_ms);
    shortest = session_ms;

    if (known) {
        shortest = ft_min(shortest, known);
    }

    if (former
        && forgotten < ft_load(&spent->changed_s) + session_ms / 1000)
    {
        shortest = ft_min(shortest, former);
    }

    return ft_spent_seconds(seen_ms + shortest) <= forgotten;
}


/* Since a version was used.  The clock of the worker that recorded the use may be
   a little ahead. */
static uint32_t
ft_spent_age(uint64_t word, uint64_t now_ms)
{
    uint32_t  age;

    age = (uint32_t) now_ms - (uint32_t) word;

    return age > UINT32_MAX - FT_SPENT_REPLAY_MS ? 0 : age;
}


bool
ft_spent_use(ft_spent_t *spent, uint64_t id, uint64_t due_ms, uint64_t now_ms)
{
    unsigned           i, oldest;
    uint32_t           age, most;
    uint64_t           key, word, old;
    _Atomic uint64_t  *bucket;

    key = ft_spent_version(id, due_ms);
    bucket = spent->version[ft_spent_bucket(key, FT_SPENT_VERSIONS)];

    for ( ;; ) {
        old = 0;
        oldest = 0;
        most = 0;

        for (i = 0; i < FT_SPENT_WAYS; i++) {
            word = ft_load(&bucket[i]);
            age = word ? ft_spent_age(word, now_ms) : UINT32_MAX;

            if (ft_spent_same(word, key)) {

                if (age < FT_SPENT_REPLAY_MS) {
                    return true;
                }

                age = UINT32_MAX;
            }

            if (i == 0 || age > most) {
                most = age;
                oldest = i;
                old = word;
            }
        }

        word = ft_spent_word(key, FT_SPENT_ADMITTED, (uint32_t) now_ms);

        if (atomic_compare_exchange_strong(&bucket[oldest], &old, word)) {
            return false;
        }
    }
}


bool
ft_spent_is_used(const ft_spent_t *spent, uint64_t id, uint64_t due_ms,
    uint64_t now_ms)
{
    uint64_t                 key, word;
    const _Atomic uint64_t  *bucket;

    key = ft_spent_version(id, due_ms);
    bucket = spent->version[ft_spent_bucket(key, FT_SPENT_VERSIONS)];

    return ft_spent_lookup((_Atomic uint64_t *) bucket, key, &word)
           && ft_spent_age(word, now_ms) < 2 * FT_SPENT_REPLAY_MS;
}
