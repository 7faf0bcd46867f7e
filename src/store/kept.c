/* kept.c - what a thread has made of rows, and whether it still holds. */
#include "store/kept.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"

/* Where something may lie follows from its key: in one of a few places beside each other. */
enum {
    SETS = 64,
    PLACES = 8,
    KEPT = SETS * PLACES,
    LARGEST = 256 * 1024,
    MOST = 16 * 1024 * 1024, /* bytes in all arenas of a thread */
    LARGEST_TEXT = 1024 * 1024,
    MOST_TEXTS = 8 * 1024 * 1024, /* bytes of all texts of a thread */
};

struct kept_from {
    enum noted_rows rows;
    snowflake id;
};

struct kept_read {
    struct kept_key key;
    struct tx_seen seen;
    struct arena *arena;
    struct kept_from *from;
    size_t count, room;
    size_t size;              /* counted in .bytes of all */
    const void *made;         /* NULL: nothing, or not yet */
    struct shared_text *text; /* is .made, too */
};

struct kept_here {
    struct kept_read all[KEPT];
    unsigned char next[SETS]; /* whose place is taken */
    unsigned sweep;           /* and where there is not enough room for all */
    size_t bytes, texts;      /* in arenas; in texts */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t of_thread;

static void kept_drop_text(struct kept_here *here, struct kept_read *k)
{
    if (!k->text)
        return;
    here->texts -= shared_text_str(k->text).n;
    shared_text_unref(k->text);
    k->text = NULL;
    k->made = NULL;
}

static void kept_here_free(void *arg)
{
    struct kept_here *here = arg;

    for (size_t i = 0; i < KEPT; i++) {
        kept_drop_text(here, &here->all[i]);
        arena_free(here->all[i].arena);
    }
    mem_free(here);
}

static void kept_make_key(void)
{
    pthread_key_create(&of_thread, kept_here_free);
}

static struct kept_here *kept_here(void)
{
    pthread_once(&once, kept_make_key);
    struct kept_here *here = pthread_getspecific(of_thread);
    if (!here) {
        here = mem_new(sizeof *here);
        pthread_setspecific(of_thread, here);
    }
    return here;
}

static unsigned kept_set(const struct kept_key *key)
{
    uint64_t hash = (uintptr_t)key->what;

    for (size_t i = 0; i < COUNT_OF(key->of); i++)
        hash = (hash ^ key->of[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(hash >> 32) % SETS;
}

static bool kept_is(const struct kept_read *k, const struct kept_key *key)
{
    return k->made && k->key.what == key->what && memcmp(k->key.of, key->of, sizeof key->of) == 0;
}

/* Another connection counts other commits: the store was opened anew. */
static bool kept_holds(struct tx *tx, const struct tx_seen *now, const struct kept_read *k)
{
    if (k->seen.connection != now->connection)
        return false;
    for (size_t i = 0; i < k->count; i++)
        if (tx_row_changed(tx, &k->seen, k->from[i].rows, k->from[i].id))
            return false;
    return true;
}

const void *kept_find(struct tx *tx, const struct kept_key *key)
{
    struct tx_seen now;

    if (!tx_seen(tx, &now))
        return NULL;
    struct kept_here *here = kept_here();
    struct kept_read *set = &here->all[kept_set(key) * PLACES];
    for (size_t i = 0; i < PLACES; i++) {
        struct kept_read *k = &set[i];

        if (!kept_is(k, key))
            continue;
        if (kept_holds(tx, &now, k))
            return k->made;
        kept_drop_text(here, k);
        k->made = NULL;
    }
    return NULL;
}

struct shared_text *kept_find_text(struct tx *tx, const struct kept_key *key)
{
    const void *found = kept_find(tx, key);

    return found ? shared_text_ref((struct shared_text *)found) : NULL;
}

/* In the place of the oldest of the set. */
static struct kept_read *kept_new(const struct kept_key *key, const struct tx_seen *seen,
                                  size_t rows)
{
    struct kept_here *here = kept_here();
    unsigned set = kept_set(key);
    struct kept_read *k = &here->all[set * PLACES + here->next[set]++ % PLACES];
    struct arena *arena = k->arena;

    kept_drop_text(here, k);
    here->bytes -= k->size;
    if (arena && arena_used(arena) <= LARGEST) {
        arena_reset(arena);
    } else {
        arena_free(arena);
        arena = arena_new_small();
    }
    *k = (struct kept_read){ .key = *key, .seen = *seen, .arena = arena, .room = rows };
    k->from = arena_raw(arena, rows * sizeof *k->from);
    return k;
}

struct kept_read *kept_begin(struct tx *tx, const struct kept_key *key, size_t rows)
{
    struct tx_seen now;

    return tx_seen(tx, &now) ? kept_new(key, &now, rows) : NULL;
}

struct arena *kept_arena(struct kept_read *k)
{
    return k->arena;
}

void kept_row(struct kept_read *k, enum noted_rows rows, snowflake id)
{
    assert(k->count < k->room);
    k->from[k->count++] = (struct kept_from){ rows, id };
}

static void kept_drop(struct kept_here *here, struct kept_read *k)
{
    kept_drop_text(here, k);
    here->bytes -= k->size;
    arena_free(k->arena);
    k->arena = NULL;
    k->made = NULL;
    k->size = 0;
}

/* Others go, one after the other, until there is room. */
void kept_end(struct kept_read *k, const void *made)
{
    struct kept_here *here = kept_here();
    size_t size = arena_used(k->arena);

    if (size > LARGEST) {
        kept_drop(here, k);
        return;
    }
    while (here->bytes + size > MOST) {
        struct kept_read *other = &here->all[here->sweep++ % KEPT];

        if (other != k)
            kept_drop(here, other);
    }
    k->made = made;
    k->size = size;
    here->bytes += size;
}

void kept_end_text(struct kept_read *k, struct str text)
{
    struct kept_here *here = kept_here();

    if (text.n > LARGEST_TEXT) {
        kept_end(k, NULL);
        return;
    }
    while (here->texts + text.n > MOST_TEXTS)
        kept_drop_text(here, &here->all[here->sweep++ % KEPT]);
    k->text = shared_text_new(text);
    here->texts += text.n;
    kept_end(k, k->text);
}

struct shared_text *kept_text_of(const struct kept_key *key)
{
    struct kept_read *set = &kept_here()->all[kept_set(key) * PLACES];

    for (size_t i = 0; i < PLACES; i++)
        if (kept_is(&set[i], key))
            return shared_text_ref(set[i].text);
    return NULL;
}

void kept_add_text(const struct kept_key *key, struct str text)
{
    if (text.n <= LARGEST_TEXT)
        kept_end_text(kept_new(key, &(struct tx_seen){ 0 }, 0), text);
}
