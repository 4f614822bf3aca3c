
/*
 * Zones: see ft_zone.h.
 *
 * In memory: the zone, the heads of the hash chains, the keys by their last use,
 * an entry for each key, a state for each key.  Entry i names state i.  Indices
 * in chains count from 1; 0 ends a chain.
 */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include "ft_lru.h"
#include "ft_orders.h"
#include "ft_word.h"
#include "ft_zone.h"


#define FT_KEY_WORDS      (FT_KEY_MAX / 8)
#define FT_USED_STEP_MS   1000      /* a state's last use is dated so finely */
#define FT_STALE_MS       65000     /* whoever waited is due or gone by then */
#define FT_CLOCK_STEP_MS  1000      /* a wall clock this far off has stepped */


typedef struct {
    _Atomic uint64_t  hash;         /* 0: unused, or changing hands */
    _Atomic uint32_t  next;
    _Atomic uint32_t  len;
    _Atomic uint64_t  word[FT_KEY_WORDS];   /* the key, zero-padded */
} ft_entry_t;


struct ft_zone_s {
    uint32_t          keys;
    uint64_t          seed;
    _Atomic uint64_t  offset_ms;    /* zone's time - monotonic time */
    _Atomic uint32_t  used;         /* entries ever used */
    _Atomic uint32_t  epochs;       /* states ever made */
    _Atomic uint32_t  workers;
    ft_lru_t          lru;
    _Atomic uint32_t  pid[FT_WORKERS];
};


/* A key as words; what is compared, hashed and stored. */
typedef struct {
    uint64_t          hash;
    uint64_t          word[FT_KEY_WORDS];
    uint32_t          len;
    uint32_t          words;
} ft_key_words_t;


/* Its chain: of the upper half, since the lowest bit is always set. */
static uint32_t
ft_zone_chain(const ft_zone_t *zone, uint64_t hash)
{
    return (uint32_t) ((hash >> 32) * zone->keys >> 32);
}


static size_t
ft_align(size_t n)
{
    return (n + 63) & ~(size_t) 63;
}


static _Atomic uint32_t *
ft_zone_heads(ft_zone_t *zone)
{
    return (_Atomic uint32_t *) ((char *) zone + ft_align(sizeof(ft_zone_t)));
}


static ft_lru_item_t *
ft_zone_heap(const ft_zone_t *zone)
{
    return (ft_lru_item_t *) ((char *) zone + ft_align(sizeof(ft_zone_t))
                              + ft_align(zone->keys * sizeof(uint32_t)));
}


static ft_entry_t *
ft_zone_entries(const ft_zone_t *zone)
{
    return (ft_entry_t *) ((char *) ft_zone_heap(zone)
                           + ft_align(zone->keys * sizeof(ft_lru_item_t)));
}


static ft_state_t *
ft_zone_states(const ft_zone_t *zone)
{
    return (ft_state_t *) ((char *) ft_zone_entries(zone)
                           + ft_align(zone->keys * sizeof(ft_entry_t)));
}


size_t
ft_zone_size(uint32_t keys)
{
    return ft_align(sizeof(ft_zone_t)) + ft_align(keys * sizeof(uint32_t))
           + ft_align(keys * sizeof(ft_lru_item_t))
           + ft_align(keys * sizeof(ft_entry_t))
           + keys * sizeof(ft_state_t);
}


void
ft_zone_init(ft_zone_t *zone, uint32_t keys, uint64_t seed, uint64_t mono_ms,
    uint64_t wall_ms)
{
    zone->keys = keys;
    zone->seed = seed;
    ft_store(&zone->offset_ms, wall_ms - mono_ms);
}


static bool
ft_state_busy(const ft_state_t *state, uint64_t now_ms)
{
    return ft_load(&state->queueing)
           && ft_load(&state->used_ms) + FT_STALE_MS > now_ms;
}


static bool
ft_zone_busy(ft_zone_t *zone, uint64_t now_ms)
{
    uint32_t  i;

    for (i = 0; i < ft_load(&zone->used); i++) {
        if (ft_state_busy(&ft_zone_states(zone)[i], now_ms)) {
            return true;
        }
    }

    return false;
}


uint64_t
ft_zone_now(ft_zone_t *zone, uint64_t mono_ms, uint64_t wall_ms)
{
    uint64_t  offset, now;

    offset = ft_load(&zone->offset_ms);
    now = mono_ms + offset;

    if (wall_ms + FT_CLOCK_STEP_MS < now || wall_ms > now + FT_CLOCK_STEP_MS) {

        if (!ft_zone_busy(zone, now)) {
            ft_store(&zone->offset_ms, wall_ms - mono_ms);
            now = wall_ms;
        }
    }

    return now;
}


/* Forgets what a process that is gone had in hand. */
static void
ft_zone_clear(ft_zone_t *zone, uint32_t slot)
{
    uint32_t  i;

    for (i = 0; i < ft_load(&zone->used); i++) {
        ft_state_forget(&ft_zone_states(zone)[i], slot);
    }
}


static bool
ft_process_gone(uint32_t pid)
{
    return kill((pid_t) pid, 0) == -1 && errno == ESRCH;
}


uint32_t
ft_zone_join(ft_zone_t *zone, uint32_t pid)
{
    uint32_t  i, slot, owner, workers;

    slot = FT_WORKERS;
    workers = 0;

    for (i = 0; i < FT_WORKERS; i++) {
        owner = ft_load(&zone->pid[i]);

        if (owner && (owner == pid || ft_process_gone(owner))) {
            ft_zone_clear(zone, i);
            ft_store(&zone->pid[i], 0);
            owner = 0;
        }

        if (owner) {
            workers = i + 1;

        } else if (slot == FT_WORKERS) {
            slot = i;
        }
    }

    if (slot == FT_WORKERS) {
        return FT_WORKERS;
    }

    ft_store(&zone->pid[slot], pid);

    /* sums over hands go this far: not for ever as far as after many reloads */

    ft_store(&zone->workers, slot < workers ? workers : slot + 1);

    return slot;
}


void
ft_zone_reap(ft_zone_t *zone)
{
    uint32_t  i, owner;

    for (i = 0; i < ft_load(&zone->workers); i++) {
        owner = ft_load(&zone->pid[i]);

        if (owner && ft_process_gone(owner)) {
            ft_zone_clear(zone, i);
            ft_store(&zone->pid[i], 0);
        }
    }
}


uint32_t
ft_zone_workers(const ft_zone_t *zone)
{
    return ft_load(&zone->workers);
}


/* Multiplicative, with a secret seed: chains cannot be aimed at. */
static void
ft_zone_words(const ft_zone_t *zone, const void *key, size_t len,
    ft_key_words_t *words)
{
    uint64_t  h;
    uint32_t  i;

    words->len = (uint32_t) len;
    words->words = (uint32_t) (len + 7) / 8;

    if (words->words) {
        words->word[words->words - 1] = 0;
    }

    memcpy(words->word, key, len);

    h = zone->seed ^ len;

    for (i = 0; i < words->words; i++) {
        h = (h ^ words->word[i]) * UINT64_C(0x9fb21c651e98df25);
        h ^= h >> 28;
        h += zone->seed;
    }

    h *= UINT64_C(0x9fb21c651e98df25);
    words->hash = (h ^ h >> 31) | 1;
}


static bool
ft_entry_is(ft_entry_t *entry, const ft_key_words_t *words)
{
    uint32_t  i;

    if (atomic_load_explicit(&entry->hash, memory_order_acquire)
        != words->hash
        || ft_load(&entry->len) != words->len)
    {
        return false;
    }

    for (i = 0; i < words->words; i++) {
        if (ft_load(&entry->word[i]) != words->word[i]) {
            return false;
        }
    }

    /* the key was not replaced while it was read */

    atomic_thread_fence(memory_order_acquire);

    return ft_load(&entry->hash) == words->hash;
}


static ft_state_t *
ft_zone_lookup(ft_zone_t *zone, const ft_key_words_t *words, uint64_t now_ms)
{
    uint32_t     i, steps;
    ft_entry_t  *entries;
    ft_state_t  *state;

    entries = ft_zone_entries(zone);
    i = ft_load(&ft_zone_heads(zone)[ft_zone_chain(zone, words->hash)]);

    /* chains may change under the walk, never so that it does not end */

    for (steps = 0; i && steps < zone->keys; steps++) {

        if (ft_entry_is(&entries[i - 1], words)) {
            state = &ft_zone_states(zone)[i - 1];

            if (ft_load(&state->used_ms) + FT_USED_STEP_MS < now_ms) {
                ft_store(&state->used_ms, now_ms);
            }

            return state;
        }

        i = ft_load(&entries[i - 1].next);
    }

    return NULL;
}


ft_state_t *
ft_zone_find(ft_zone_t *zone, const void *key, size_t len, uint64_t now_ms)
{
    ft_key_words_t  words;

    ft_zone_words(zone, key, len, &words);

    return ft_zone_lookup(zone, &words, now_ms);
}


/*
 * Out of its chain first, then unnamed: whoever dies in between loses an entry,
 * while one that is reused in its old chain would cut that chain off.
 */
static void
ft_zone_unlink(ft_zone_t *zone, uint32_t i)
{
    ft_entry_t        *entries;
    _Atomic uint32_t  *link;

    entries = ft_zone_entries(zone);
    link = &ft_zone_heads(zone)[ft_zone_chain(zone,
                                              ft_load(&entries[i].hash))];

    while (ft_load(link)) {

        if (ft_load(link) == i + 1) {
            ft_store(link, ft_load(&entries[i].next));
            break;
        }

        link = &entries[ft_load(link) - 1].next;
    }

    atomic_store(&entries[i].hash, 0);
}


/*
 * Whether it may make way: nobody waits, nothing is owed or in hand, and the
 * operator has ordered nothing.
 */
static bool
ft_state_idle(ft_zone_t *zone, ft_state_t *state, uint64_t now_ms)
{
    uint32_t  workers;

    workers = ft_zone_workers(zone);

    return !ft_state_busy(state, now_ms)
           && !ft_orders_given(state)
           && ft_load(&state->bucket.empty_ns) <= now_ms * 1000000
           && ft_state_held(state, workers) == 0
           && ft_state_inflight(state, workers) == 0
           && (ft_load(&state->sessions.bounded) == 0
               || ft_sessions_alive(&state->sessions, now_ms) == 0);
}


/*
 * The idle entry unused for longest; keys: none of those looked at is idle.  If
 * more were used lately than are looked at, the longest unused of these.
 */
static uint32_t
ft_zone_oldest(ft_zone_t *zone, uint64_t now_ms)
{
    uint32_t        i, looks, oldest;
    uint64_t        used, least, at_us;
    ft_state_t     *state;
    ft_lru_item_t  *heap;

    heap = ft_zone_heap(zone);

    if (!ft_lru_is_of(&zone->lru, zone->keys)) {
        ft_lru_make(&zone->lru, heap, zone->keys);
    }

    oldest = zone->keys;
    least = UINT64_MAX;

    for (looks = 0; looks < zone->keys && looks < FT_ZONE_LOOKS; looks++) {
        i = heap[0].i;
        at_us = heap[0].at_us;
        state = &ft_zone_states(zone)[i];
        used = ft_load(&state->used_ms);

        if (!ft_state_idle(zone, state, now_ms)) {
            ft_lru_later(&zone->lru, heap, now_ms * 1000);
            continue;
        }

        if (used * 1000 <= at_us) {

            /* not for the next new key again */

            ft_lru_used(&zone->lru, heap, now_ms * 1000);
            return i;
        }

        ft_lru_used(&zone->lru, heap, used * 1000);

        if (used < least) {
            oldest = i;
            least = used;
        }
    }

    return oldest;
}


/* The entry for a new key: an unused one, or one that makes way. */
static uint32_t
ft_zone_place(ft_zone_t *zone, uint64_t now_ms, bool *evicted)
{
    uint32_t  i;

    *evicted = false;

    if (ft_load(&zone->used) < zone->keys) {
        return ft_load(&zone->used);
    }

    i = ft_zone_oldest(zone, now_ms);

    if (i < zone->keys) {
        *evicted = true;
        ft_zone_unlink(zone, i);
    }

    return i;
}


ft_state_t *
ft_zone_add(ft_zone_t *zone, const void *key, size_t len, uint64_t now_ms,
    bool *evicted)
{
    uint32_t           i, k, epoch;
    ft_entry_t        *entry;
    ft_state_t        *state;
    ft_key_words_t     words;
    _Atomic uint32_t  *head;

    *evicted = false;

    ft_zone_words(zone, key, len, &words);

    state = ft_zone_lookup(zone, &words, now_ms);

    if (state) {
        return state;
    }

    i = ft_zone_place(zone, now_ms, evicted);

    if (i == zone->keys) {
        return NULL;
    }

    epoch = (uint32_t) (zone->seed >> 32) + ft_load(&zone->epochs) + 1;
    ft_store(&zone->epochs, ft_load(&zone->epochs) + 1);

    entry = &ft_zone_entries(zone)[i];
    state = &ft_zone_states(zone)[i];

    ft_state_init(state, epoch ? epoch : 1, now_ms);

    ft_store(&entry->len, words.len);

    for (k = 0; k < words.words; k++) {
        ft_store(&entry->word[k], words.word[k]);
    }

    /* in use before it is linked: whoever dies here loses an entry, no chain */

    if (i == ft_load(&zone->used)) {

        /* if it is not one of each, it is made anew when the zone is full */

        if (zone->lru.n < zone->keys) {
            ft_lru_add(&zone->lru, ft_zone_heap(zone), i, now_ms * 1000);
        }

        ft_store(&zone->used, i + 1);
    }

    head = &ft_zone_heads(zone)[ft_zone_chain(zone, words.hash)];

    atomic_store_explicit(&entry->hash, words.hash, memory_order_release);
    ft_store(&entry->next, ft_load(head));
    atomic_store_explicit(head, i + 1, memory_order_release);

    return state;
}


uint32_t
ft_zone_keys(const ft_zone_t *zone)
{
    return zone->keys;
}


ft_state_t *
ft_zone_state(ft_zone_t *zone, uint32_t i)
{
    return ft_load(&ft_zone_entries(zone)[i].hash) ? &ft_zone_states(zone)[i]
                                                   : NULL;
}


uint32_t
ft_zone_index(const ft_zone_t *zone, const ft_state_t *state)
{
    return (uint32_t) (state - ft_zone_states(zone));
}


size_t
ft_zone_key(const ft_zone_t *zone, uint32_t i, char *buf)
{
    uint32_t     k, len;
    uint64_t     word[FT_KEY_WORDS];
    ft_entry_t  *entry;

    entry = &ft_zone_entries(zone)[i];
    len = ft_load(&entry->len);

    for (k = 0; k < FT_KEY_WORDS; k++) {
        word[k] = ft_load(&entry->word[k]);
    }

    memcpy(buf, word, len);

    return len;
}
