/* result_cache.c - per-thread cache of results that were computed from rows. */
#include "store/result_cache.h"

#include <assert.h>
#include <string.h>

#include "base/cache.h"
#include "base/mem.h"

enum { MAX_RESULT_BYTES = 256 * 1024, MAX_TEXT_BYTES = 1024 * 1024 };

struct result_cache_entry {
    struct cache_entry entry;
    struct result_cache_key key;
    struct snapshot_version seen;
    struct arena *arena;
    struct tx *tx; /* the transaction whose dependencies are collected in .reads, or NULL */
    struct tx_dependencies *reads; /* the columns that the queries of .tx have read, or NULL */
    uint16_t *slots;
    size_t count, room;
    const void *made;
    struct shared_text *text; /* the result, if it is a text; otherwise NULL */
};

/* The key to find. If tx is NULL, a found cache entry is always valid, because its result depends
 * on the key only. */
struct result_cache_lookup {
    const struct result_cache_key *key;
    struct tx *tx;
};

static bool cached_result_matches_lookup(const struct cache_entry *e, const void *arg)
{
    const struct result_cache_entry *k = (const struct result_cache_entry *)e;
    const struct result_cache_lookup *asked = arg;

    return k->key.what == asked->key->what &&
           memcmp(k->key.ids, asked->key->ids, sizeof k->key.ids) == 0 &&
           (!asked->tx ||
            tx_row_version_slots_are_unchanged(asked->tx, &k->seen, k->slots, k->count));
}

static void cached_result_free(struct cache_entry *e)
{
    struct result_cache_entry *k = (struct result_cache_entry *)e;

    shared_text_unref(k->text);
    arena_free(k->arena);
    mem_free(k);
}

static struct cache_kind cached_results = {
    .name = "pages and lists",
    .entries = 768,
    .bytes = 24 * 1024 * 1024,
    .idle_ms = 60 * 1000, /* if no requests arrive for this long, cached results are freed */
    .matches = cached_result_matches_lookup,
    .free = cached_result_free,
};
/* The last result that was not cached. Stored until the next one replaces it, because its caller
 * still uses its arena. */
static struct cache_kind last_uncached_result = { .entries = 1, .free = cached_result_free };

static uint64_t hash_result_cache_key(const struct result_cache_key *key)
{
    uint64_t hash = (uintptr_t)key->what;

    for (size_t i = 0; i < COUNT_OF(key->ids); i++)
        hash = (hash ^ key->ids[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

const void *result_cache_find(struct tx *tx, const struct result_cache_key *key)
{
    const struct result_cache_entry *k =
        cache_find(cache_get_for_thread(&cached_results), hash_result_cache_key(key),
                   &(struct result_cache_lookup){ .key = key, .tx = tx });

    return k ? k->made : NULL;
}

struct shared_text *result_cache_find_text(struct tx *tx, const struct result_cache_key *key)
{
    const void *found = result_cache_find(tx, key);

    return found ? shared_text_ref((struct shared_text *)found) : NULL;
}

static struct result_cache_entry *cached_result_new(const struct result_cache_key *key,
                                                    const struct snapshot_version *seen,
                                                    size_t rows)
{
    struct result_cache_entry *k = mem_new(sizeof *k);

    *k = (struct result_cache_entry){ .key = *key, .seen = *seen, .room = rows };
    k->arena = arena_new_small();
    k->slots = arena_alloc_unzeroed(k->arena, rows * sizeof *k->slots);
    return k;
}

struct result_cache_entry *result_cache_begin_entry(struct tx *tx,
                                                    const struct result_cache_key *key, size_t rows)
{
    struct snapshot_version now;

    return tx_get_snapshot_version(tx, &now) ? cached_result_new(key, &now, rows) : NULL;
}

struct result_cache_entry *result_cache_begin_entry_tracking_queries(
    struct tx *tx, const struct result_cache_key *key)
{
    struct result_cache_entry *k = result_cache_begin_entry(tx, key, 0);

    if (!k)
        return NULL;
    k->tx = tx;
    k->reads = arena_alloc(k->arena, sizeof *k->reads);
    tx_record_query_dependencies(tx, k->reads);
    return k;
}

struct arena *result_cache_get_entry_arena(struct result_cache_entry *k)
{
    return k->arena;
}

void result_cache_add_dependency(struct result_cache_entry *k, enum versioned_row_kind rows,
                                 snowflake id)
{
    assert(k->count < k->room);
    k->slots[k->count++] = row_version_slot(rows, id);
}

static void cached_result_insert(struct result_cache_entry *k, const void *made,
                                 struct cache_kind *kind)
{
    size_t size = arena_used_bytes(k->arena) + (k->text ? shared_text_get(k->text).n : 0);

    k->made = made;
    cache_insert(cache_get_for_thread(kind), hash_result_cache_key(&k->key), sizeof *k + size,
                 &k->entry);
}

void result_cache_end_entry(struct result_cache_entry *k, const void *made)
{
    if (made && arena_used_bytes(k->arena) <= MAX_RESULT_BYTES)
        cached_result_insert(k, made, &cached_results);
    else
        cached_result_free(&k->entry);
}

void result_cache_end_entry_tracking_queries(struct result_cache_entry *k, const void *made,
                                             bool passes)
{
    tx_record_query_dependencies(k->tx, NULL);
    k->tx = NULL;
    k->slots = k->reads->slots;
    k->count = k->reads->count;
    passes |= k->reads->is_unknown || arena_used_bytes(k->arena) > MAX_RESULT_BYTES;
    if (made)
        cached_result_insert(k, made, passes ? &last_uncached_result : &cached_results);
    else
        cached_result_free(&k->entry);
}

void result_cache_end_text_entry(struct result_cache_entry *k, struct str text)
{
    if (text.n <= MAX_TEXT_BYTES)
        k->text = shared_text_new(text);
    result_cache_end_entry(k, k->text);
}

struct shared_text *result_cache_find_constant_text(const struct result_cache_key *key)
{
    struct result_cache_entry *k =
        cache_find(cache_get_for_thread(&cached_results), hash_result_cache_key(key),
                   &(struct result_cache_lookup){ .key = key });

    return k ? shared_text_ref(k->text) : NULL;
}

void result_cache_add_constant_text(const struct result_cache_key *key, struct str text)
{
    if (text.n <= MAX_TEXT_BYTES)
        result_cache_end_text_entry(cached_result_new(key, &(struct snapshot_version){ 0 }, 0),
                                    text);
}
