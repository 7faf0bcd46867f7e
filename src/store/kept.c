/* kept.c - what a thread has made of rows, and whether it still holds. */
#include "store/kept.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"

enum {
    KEPT = 32,
    LARGEST = 256 * 1024,
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
    const void *made;         /* NULL: nothing, or not yet */
    struct shared_text *text; /* is .made, too */
};

struct kept_here {
    struct kept_read all[KEPT];
    unsigned next; /* whose place is taken */
    size_t texts;  /* bytes */
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
    for (size_t i = 0; i < KEPT; i++) {
        struct kept_read *k = &here->all[i];

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

/* In the place of the oldest. */
static struct kept_read *kept_new(const struct kept_key *key, const struct tx_seen *seen,
                                  size_t rows)
{
    struct kept_here *here = kept_here();
    struct kept_read *k = &here->all[here->next++ % KEPT];
    struct arena *arena = k->arena;

    kept_drop_text(here, k);
    if (arena && arena_used(arena) <= LARGEST) {
        arena_reset(arena);
    } else {
        arena_free(arena);
        arena = arena_new();
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

void kept_end(struct kept_read *k, const void *made)
{
    if (arena_used(k->arena) <= LARGEST) {
        k->made = made;
        return;
    }
    arena_free(k->arena);
    k->arena = NULL;
}

/* The oldest go until there is room. */
void kept_end_text(struct kept_read *k, struct str text)
{
    struct kept_here *here = kept_here();

    if (text.n > LARGEST_TEXT) {
        kept_end(k, NULL);
        return;
    }
    for (unsigned i = here->next; here->texts + text.n > MOST_TEXTS; i++)
        kept_drop_text(here, &here->all[i % KEPT]);
    k->text = shared_text_new(text);
    here->texts += text.n;
    kept_end(k, k->text);
}

struct shared_text *kept_text_of(const struct kept_key *key)
{
    struct kept_here *here = kept_here();

    for (size_t i = 0; i < KEPT; i++)
        if (kept_is(&here->all[i], key))
            return shared_text_ref(here->all[i].text);
    return NULL;
}

void kept_add_text(const struct kept_key *key, struct str text)
{
    if (text.n <= LARGEST_TEXT)
        kept_end_text(kept_new(key, &(struct tx_seen){ 0 }, 0), text);
}
