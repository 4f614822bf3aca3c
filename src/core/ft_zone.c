
#include <string.h>
#include "ft.h"
#include "ft_lru.h"
#include "ft_override.h"
#include "ft_process.h"
#include "ft_zone.h"


/*
 * In memory: the zone, the heads of the hash chains, the heap of last uses, an
 * entry per key, a state per key.  Entry i belongs to state i.  Indices in chains
 * count from 1; 0 ends a chain.
 */

#define FT_KEY_WORDS       (FT_KEY_MAX / 8)
#define FT_USED_STEP_MS    1000     /* resolution of a state's last use */
#define FT_STALE_MS        65000    /* every count has expired by then */
#define FT_CLOCK_STEP_MS   1000     /* a larger difference is a step */
#define FT_CLOCK_CHECK_MS  1000


typedef struct {
    _Atomic uint64_t  hash;         /* 0: unused, or being replaced */
    _Atomic uint32_t  next;
    _Atomic uint32_t  len;
    _Atomic uint64_t  word[FT_KEY_WORDS];   /* the key, zero-padded */
} ft_entry_t;


struct ft_zone_s {
    uint32_t          keys;
    uint64_t          seed;
    _Atomic uint64_t  offset_ms;    /* zone's time - monotonic time */
    _Atomic uint64_t  checked_ms;   /* monotonic: clocks were compared */
    _Atomic uint32_t  used;         /* entries ever used */
    _Atomic uint32_t  generations;  /* states ever made */
    _Atomic uint32_t  workers;
    ft_lru_t          lru;
    _Atomic uint32_t  pid[FT_WORKERS];
    _Atomic uint64_t  started[FT_WORKERS];  /* see ft_process.h */
};


/* A key as it is hashed, compared and stored. */
typedef struct {
    uint64_t          hash;
    uint64_t          word[FT_KEY_WORDS];
    uint32_t          len;
    uint32_t          words;
} ft_key_words_t;


/* By the upper half of the hash: the lowest bit is always set. */
static uint32_t
ft_zone_chain(const ft_zone_t *zone, uint64_t hash)
{
    return (uint32_t) ((hash >> 32) * zone->keys >> 32);
}


static size_t
ft_zone_align(size_t n)
{
    return (n + 63) & ~(size_t) 63;
}


static _Atomic uint32_t *
ft_zone_heads(ft_zone_t *zone)
{
    return (_Atomic uint32_t *) ((char *) zone + ft_zone_align(sizeof(ft_zone_t)));
}


static ft_lru_item_t *
ft_zone_heap(const ft_zone_t *zone)
{
    return (ft_lru_item_t *) ((char *) zone + ft_zone_align(sizeof(ft_zone_t))
                              + ft_zone_align(zone->keys * sizeof(uint32_t)));
}


static ft_entry_t *
ft_zone_entries(const ft_zone_t *zone)
{
    return (ft_entry_t *) ((char *) ft_zone_heap(zone)
                           + ft_zone_align(zone->keys * sizeof(ft_lru_item_t)));
}


static ft_state_t *
ft_zone_states(const ft_zone_t *zone)
{
    return (ft_state_t *) ((char *) ft_zone_entries(zone)
                           + ft_zone_align(zone->keys * sizeof(ft_entry_t)));
}


size_t
ft_zone_size(uint32_t keys)
{
    return ft_zone_align(sizeof(ft_zone_t)) + ft_zone_align(keys * sizeof(uint32_t))
           + ft_zone_align(keys * sizeof(ft_lru_item_t))
           + ft_zone_align(keys * sizeof(ft_entry_t))
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
ft_zone_state_is_busy(const ft_state_t *state, uint64_t now_ms)
{
    return ft_load(&state->queueing)
           && ft_load(&state->used_ms) + FT_STALE_MS > now_ms;
}


static bool
ft_zone_is_busy(ft_zone_t *zone, uint64_t now_ms)
{
    uint32_t  i;

    for (i = 0; i < ft_load(&zone->used); i++) {
        if (ft_zone_state_is_busy(&ft_zone_states(zone)[i], now_ms)) {
            return true;
        }
    }

    return false;
}


uint64_t
ft_zone_now(ft_zone_t *zone, uint64_t mono_ms, uint64_t wall_ms)
{
    uint64_t  now, checked;

    now = mono_ms + ft_load(&zone->offset_ms);

    if (wall_ms + FT_CLOCK_STEP_MS >= now && wall_ms <= now + FT_CLOCK_STEP_MS)
    {
        return now;
    }

    checked = ft_load(&zone->checked_ms);

    if (checked && mono_ms < checked + FT_CLOCK_CHECK_MS) {
        return now;
    }

    if (!atomic_compare_exchange_strong(&zone->checked_ms, &checked, mono_ms)
        || ft_zone_is_busy(zone, now))
    {
        return now;
    }

    ft_store(&zone->offset_ms, wall_ms - mono_ms);

    return wall_ms;
}


static bool
ft_zone_slot_is_gone(const ft_zone_t *zone, uint32_t slot, uint32_t pid)
{
    return ft_process_is_gone(pid, ft_load(&zone->started[slot]));
}


/* Clears the slot of a process that is gone, in all states. */
static void
ft_zone_clear(ft_zone_t *zone, uint32_t slot)
{
    uint32_t  i;

    for (i = 0; i < ft_load(&zone->used); i++) {
        ft_state_forget(&ft_zone_states(zone)[i], slot);
    }

    ft_store(&zone->pid[slot], 0);
}


uint32_t
ft_zone_join(ft_zone_t *zone, uint32_t pid)
{
    uint32_t  i, slot, owner, workers;

    slot = FT_WORKERS;
    workers = 0;

    for (i = 0; i < FT_WORKERS; i++) {
        owner = ft_load(&zone->pid[i]);

        if (owner && (owner == pid || ft_zone_slot_is_gone(zone, i, owner))) {
            ft_zone_clear(zone, i);
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

    ft_store(&zone->started[slot], ft_process_started(pid));
    ft_store(&zone->pid[slot], pid);

    /* sums over workers go this far; it shrinks again after many reloads */

    ft_store(&zone->workers, slot < workers ? workers : slot + 1);

    return slot;
}


void
ft_zone_reap(ft_zone_t *zone)
{
    uint32_t  i, owner;

    for (i = 0; i < ft_load(&zone->workers); i++) {
        owner = ft_load(&zone->pid[i]);

        if (owner && ft_zone_slot_is_gone(zone, i, owner)) {
            ft_zone_clear(zone, i);
        }
    }
}


uint32_t
ft_zone_workers(const ft_zone_t *zone)
{
    return ft_load(&zone->workers);
}


/* A multiplicative hash with a secret seed: no client can aim at a chain. */
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
ft_zone_entry_is(ft_entry_t *entry, const ft_key_words_t *words)
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

    /* not replaced while it was read */

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

    /* chains may change during the walk, which ends in any case */

    for (steps = 0; i && steps < zone->keys; steps++) {

        if (ft_zone_entry_is(&entries[i - 1], words)) {
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
 * Removed from the chain first, then unnamed: a process killed in between loses
 * an entry, while an entry reused in its old chain would cut the chain off.
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


static bool
ft_zone_state_is_idle(ft_zone_t *zone, ft_state_t *state, uint64_t now_ms)
{
    uint32_t  workers;

    workers = ft_zone_workers(zone);

    return !ft_zone_state_is_busy(state, now_ms)
           && !ft_override_is_set(state)
           && ft_load(&state->bucket.empty_ns) <= now_ms * 1000000
           && ft_state_held(state, workers) == 0
           && ft_state_inflight(state, workers) == 0
           && (ft_load(&state->sessions.limited) == 0
               || ft_sessions_alive(&state->sessions, now_ms) == 0);
}


/* The least recently used idle entry of those examined; zone->keys: none. */
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

        if (!ft_zone_state_is_idle(zone, state, now_ms)) {
            ft_lru_later(&zone->lru, heap, now_ms * 1000);
            continue;
        }

        if (used * 1000 <= at_us) {

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


/* The entry for a new key: an unused one, or an evicted one. */
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
    uint32_t           i, k, generation;
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

    generation = (uint32_t) (zone->seed >> 32)
                 + ft_add(&zone->generations, 1) + 1;

    entry = &ft_zone_entries(zone)[i];
    state = &ft_zone_states(zone)[i];

    ft_state_init(state, generation ? generation : 1, now_ms);

    ft_store(&entry->len, words.len);

    for (k = 0; k < words.words; k++) {
        ft_store(&entry->word[k], words.word[k]);
    }

    /* in use before it is linked: a process killed here loses an entry only */

    if (i == ft_load(&zone->used)) {

        /* an incomplete heap is rebuilt when the zone is full */

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
