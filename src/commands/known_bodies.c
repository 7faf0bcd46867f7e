/* known_bodies.c - cache of bulk overwrite bodies and their results; see
 * known_overwrite_bodies.h. */
#include "commands/known_bodies.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cache.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/shared_text.h"
#include "net/http/http.h"
#include "net/http/server.h"
#include "platform/applications/applications.h"

struct cached_body {
    struct cache_entry entry;
    snowflake application_id, guild_id;
    struct shared_text *text;
    struct known_body known;
};

/* Key of a cached body. The size is part of it, so that a body of another size is rejected without
 * comparing bytes under the lock. */
struct body_asked {
    snowflake application_id, guild_id;
    size_t size;
};

static bool cached_body_is(const struct cache_entry *e, const void *key)
{
    const struct cached_body *b = (const struct cached_body *)e;
    const struct body_asked *asked = key;

    return b->application_id == asked->application_id && b->guild_id == asked->guild_id &&
           shared_text_str(b->text).n == asked->size;
}

static void cached_body_free(struct cache_entry *e)
{
    shared_text_unref(((struct cached_body *)e)->text);
    mem_free(e);
}

static struct cache_kind command_bodies = {
    .name = "command bodies",
    .entries = 256,
    .bytes = 16 * 1024 * 1024,
    .is = cached_body_is,
    .free = cached_body_free,
};
static struct {
    pthread_mutex_t lock;
    struct cache cache;
} bodies = { .lock = PTHREAD_MUTEX_INITIALIZER, .cache.kind = &command_bodies };

/* Id and version of a row; every change of a command changes the version. */
struct row_mark {
    snowflake id, version;
};

static void marks_digest(const struct call *call, const struct row_mark *marks, size_t count,
                         unsigned char ret[COMMANDS_DIGEST])
{
    commands_digest(call, marks, count * sizeof *marks, ret);
}

bool known_body_holds(const struct call *call, const struct known_body *known,
                      const struct list *rows)
{
    const struct command_row *row = rows->items;
    unsigned char digest[COMMANDS_DIGEST];
    struct row_mark marks[KNOWN_MOST];

    if (rows->count != known->count)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        marks[i] = (struct row_mark){ row[i].id, row[i].version };
    marks_digest(call, marks, rows->count, digest);
    return memcmp(digest, known->rows, sizeof digest) == 0;
}

bool known_body_find(const struct call *call, snowflake application_id, snowflake guild_id,
                     struct known_body *ret)
{
    const struct exchange *x = call->exchange;
    const struct body_asked asked = { application_id, guild_id, x->body.n };
    struct shared_text *text = NULL;

    if (x->parts || !http_media_type_is(x->request->content_type, STR("application/json")))
        return false;
    pthread_mutex_lock(&bodies.lock);
    const struct cached_body *b =
        cache_find(&bodies.cache, hash_u64(application_id) ^ guild_id, &asked);
    if (b) {
        text = shared_text_ref(b->text);
        *ret = b->known;
    }
    pthread_mutex_unlock(&bodies.lock);
    bool same = text && str_eq(shared_text_str(text), x->body);
    shared_text_unref(text);
    return same;
}

static int by_id(const void *a, const void *b)
{
    snowflake one = ((const struct row_mark *)a)->id, two = ((const struct row_mark *)b)->id;

    return one < two ? -1 : one > two;
}

/* Builds the cache entry: the digest of the resulting rows, and the row index of each item of the
 * body. */
static struct known_body known_of(const struct call *call, const struct command_drafts *d)
{
    struct known_body known = { .installs = installs_of(call->target.application),
                                .count = d->count };
    struct row_mark marks[KNOWN_MOST];

    for (size_t i = 0; i < d->count; i++)
        marks[i] = (struct row_mark){ d->items[i].command.id, d->items[i].command.version };
    qsort(marks, d->count, sizeof *marks, by_id);
    for (size_t i = 0; i < d->count; i++) {
        const struct row_mark *at =
            bsearch(&d->items[i].command.id, marks, d->count, sizeof *marks, by_id);

        known.order[i] = (uint8_t)(at - marks);
    }
    marks_digest(call, marks, d->count, known.rows);
    return known;
}

void known_body_note(const struct call *call, const struct command_drafts *d)
{
    struct str body = call->exchange->body;

    if (!d->count || d->count > KNOWN_MOST || body.n > KNOWN_LONGEST)
        return;
    struct cached_body *b = mem_new(sizeof *b);
    b->application_id = call->target.application->id;
    b->guild_id = call->target.guild ? call->target.guild->id : 0;
    b->known = known_of(call, d);
    commands_digest(call, body.p, body.n, b->known.body);
    b->text = shared_text_new(body);
    pthread_mutex_lock(&bodies.lock);
    cache_put(&bodies.cache, hash_u64(b->application_id) ^ b->guild_id, sizeof *b + body.n,
              &b->entry);
    pthread_mutex_unlock(&bodies.lock);
}
