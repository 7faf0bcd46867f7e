/* kept.c - per-thread cache of results that were computed from rows (see kept.h). */
#include "store/kept.h"

#include <assert.h>
#include <string.h>

#include "base/cache.h"
#include "base/mem.h"

enum { LARGEST = 256 * 1024, LARGEST_TEXT = 1024 * 1024 };

struct kept_read {
    struct cache_entry entry;
    struct kept_key key;
    struct tx_seen seen;
    struct arena *arena;
    struct tx *tx;          /* transaction whose reads are collected in .reads; or NULL */
    struct tx_reads *reads; /* columns that the queries have read; or NULL */
    uint16_t *slots;
    size_t count, room;
    const void *made;
    struct shared_text *text; /* set if .made is a text */
};

/* The key to find. tx NULL: skip validation, because the result depends on the key only. */
struct kept_asked {
    const struct kept_key *key;
    struct tx *tx;
};

static bool kept_is(const struct cache_entry *e, const void *arg)
{
    const struct kept_read *k = (const struct kept_read *)e;
    const struct kept_asked *asked = arg;

    return k->key.what == asked->key->what &&
           memcmp(k->key.of, asked->key->of, sizeof k->key.of) == 0 &&
           (!asked->tx || tx_unchanged(asked->tx, &k->seen, k->slots, k->count));
}

static void kept_free(struct cache_entry *e)
{
    struct kept_read *k = (struct kept_read *)e;

    shared_text_unref(k->text);
    arena_free(k->arena);
    mem_free(k);
}

static struct cache_kind replies = {
    .name = "pages and lists",
    .entries = 768,
    .bytes = 24 * 1024 * 1024,
    .idle_ms = 60 * 1000, /* a server without requests frees the memory */
    .is = kept_is,
    .free = kept_free,
};
/* The last result that is not cached. It lives on, because its caller still uses the arena. */
static struct cache_kind passing = { .entries = 1, .free = kept_free };

static uint64_t kept_hash(const struct kept_key *key)
{
    uint64_t hash = (uintptr_t)key->what;

    for (size_t i = 0; i < COUNT_OF(key->of); i++)
        hash = (hash ^ key->of[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

const void *kept_find(struct tx *tx, const struct kept_key *key)
{
    const struct kept_read *k = cache_find(cache_of_thread(&replies), kept_hash(key),
                                           &(struct kept_asked){ .key = key, .tx = tx });

    return k ? k->made : NULL;
}

struct shared_text *kept_find_text(struct tx *tx, const struct kept_key *key)
{
    const void *found = kept_find(tx, key);

    return found ? shared_text_ref((struct shared_text *)found) : NULL;
}

static struct kept_read *kept_new(const struct kept_key *key, const struct tx_seen *seen,
                                  size_t rows)
{
    struct kept_read *k = mem_new(sizeof *k);

    *k = (struct kept_read){ .key = *key, .seen = *seen, .room = rows };
    k->arena = arena_new_small();
    k->slots = arena_raw(k->arena, rows * sizeof *k->slots);
    return k;
}

struct kept_read *kept_begin(struct tx *tx, const struct kept_key *key, size_t rows)
{
    struct tx_seen now;

    return tx_seen(tx, &now) ? kept_new(key, &now, rows) : NULL;
}

struct kept_read *kept_begin_reading(struct tx *tx, const struct kept_key *key)
{
    struct kept_read *k = kept_begin(tx, key, 0);

    if (!k)
        return NULL;
    k->tx = tx;
    k->reads = arena_alloc(k->arena, sizeof *k->reads);
    tx_collect_reads(tx, k->reads);
    return k;
}

struct arena *kept_arena(struct kept_read *k)
{
    return k->arena;
}

void kept_row(struct kept_read *k, enum noted_rows rows, snowflake id)
{
    assert(k->count < k->room);
    k->slots[k->count++] = row_slot(rows, id);
}

static void kept_put(struct kept_read *k, const void *made, struct cache_kind *kind)
{
    size_t size = arena_used(k->arena) + (k->text ? shared_text_str(k->text).n : 0);

    k->made = made;
    cache_put(cache_of_thread(kind), kept_hash(&k->key), sizeof *k + size, &k->entry);
}

void kept_end(struct kept_read *k, const void *made)
{
    if (made && arena_used(k->arena) <= LARGEST)
        kept_put(k, made, &replies);
    else
        kept_free(&k->entry);
}

void kept_end_reading(struct kept_read *k, const void *made, bool passes)
{
    tx_collect_reads(k->tx, NULL);
    k->tx = NULL;
    k->slots = k->reads->slots;
    k->count = k->reads->count;
    passes |= k->reads->is_unknown || arena_used(k->arena) > LARGEST;
    if (made)
        kept_put(k, made, passes ? &passing : &replies);
    else
        kept_free(&k->entry);
}

void kept_end_text(struct kept_read *k, struct str text)
{
    if (text.n <= LARGEST_TEXT)
        k->text = shared_text_new(text);
    kept_end(k, k->text);
}

struct shared_text *kept_text_of(const struct kept_key *key)
{
    struct kept_read *k =
        cache_find(cache_of_thread(&replies), kept_hash(key), &(struct kept_asked){ .key = key });

    return k ? shared_text_ref(k->text) : NULL;
}

void kept_add_text(const struct kept_key *key, struct str text)
{
    if (text.n <= LARGEST_TEXT)
        kept_end_text(kept_new(key, &(struct tx_seen){ 0 }, 0), text);
}
