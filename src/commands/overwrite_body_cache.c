/* overwrite_body_cache.c - cache of the last bulk overwrite body of each app and guild. */
#include "commands/overwrite_body_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cache.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/shared_text.h"
#include "net/http/http_parser.h"
#include "net/http/server.h"
#include "platform/applications/applications.h"

struct cached_body {
    struct cache_entry entry;
    snowflake application_id, guild_id;
    struct shared_text *text;
    struct cached_bulk_overwrite_body known;
};

/* Key of a cached body. Bodies of different sizes have different keys, so that the lock is not held
 * to compare their bytes. */
struct cached_body_key {
    snowflake application_id, guild_id;
    size_t size;
};

static bool cached_body_matches_key(const struct cache_entry *e, const void *key)
{
    const struct cached_body *b = (const struct cached_body *)e;
    const struct cached_body_key *asked = key;

    return b->application_id == asked->application_id && b->guild_id == asked->guild_id &&
           shared_text_get(b->text).n == asked->size;
}

static void free_cached_body(struct cache_entry *e)
{
    shared_text_unref(((struct cached_body *)e)->text);
    mem_free(e);
}

static struct cache_kind command_bodies = {
    .name = "command bodies",
    .entries = 256,
    .bytes = 16 * 1024 * 1024,
    .matches = cached_body_matches_key,
    .free = free_cached_body,
};
static struct {
    pthread_mutex_t lock;
    struct cache cache;
} known_bodies_cache = { .lock = PTHREAD_MUTEX_INITIALIZER, .cache.kind = &command_bodies };

/* Id and version of a command row. Every change of a command gives it a new version. */
struct row_version {
    snowflake id, version;
};

static void digest_row_versions(const struct call *call, const struct row_version *marks,
                                size_t count, unsigned char ret[COMMANDS_DIGEST])
{
    compute_command_digest(call, marks, count * sizeof *marks, ret);
}

bool cached_bulk_overwrite_body_is_current(const struct call *call,
                                           const struct cached_bulk_overwrite_body *known,
                                           const struct list *rows)
{
    const struct command_row *row = rows->items;
    unsigned char digest[COMMANDS_DIGEST];
    struct row_version marks[KNOWN_MOST];

    if (rows->count != known->count)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        marks[i] = (struct row_version){ row[i].id, row[i].version };
    digest_row_versions(call, marks, rows->count, digest);
    return memcmp(digest, known->rows, sizeof digest) == 0;
}

bool bulk_overwrite_body_cache_find(const struct call *call, snowflake application_id,
                                    snowflake guild_id, struct cached_bulk_overwrite_body *ret)
{
    const struct http_exchange *x = call->exchange;
    const struct cached_body_key asked = { application_id, guild_id, x->body.n };
    struct shared_text *text = NULL;

    if (x->parts || !http_media_type_is(x->request->content_type, STR("application/json")))
        return false;
    pthread_mutex_lock(&known_bodies_cache.lock);
    const struct cached_body *b =
        cache_find(&known_bodies_cache.cache, hash_u64(application_id) ^ guild_id, &asked);
    if (b) {
        text = shared_text_ref(b->text);
        *ret = b->known;
    }
    pthread_mutex_unlock(&known_bodies_cache.lock);
    bool same = text && str_eq(shared_text_get(text), x->body);
    shared_text_unref(text);
    return same;
}

static int compare_row_version_ids(const void *a, const void *b)
{
    snowflake one = ((const struct row_version *)a)->id, two = ((const struct row_version *)b)->id;

    return one < two ? -1 : one > two;
}

/* Builds the cached body: a digest of the rows that the body resulted in, and for each command of
 * the body the index of its row. */
static struct cached_bulk_overwrite_body build_cached_bulk_overwrite_body(
    const struct call *call, const struct prepared_command_change *d)
{
    struct cached_bulk_overwrite_body known = {
        .installs = application_get_install_types(call->target.application), .count = d->count
    };
    struct row_version marks[KNOWN_MOST];

    for (size_t i = 0; i < d->count; i++)
        marks[i] = (struct row_version){ d->items[i].command.id, d->items[i].command.version };
    qsort(marks, d->count, sizeof *marks, compare_row_version_ids);
    for (size_t i = 0; i < d->count; i++) {
        const struct row_version *at = bsearch(&d->items[i].command.id, marks, d->count,
                                               sizeof *marks, compare_row_version_ids);

        known.order[i] = (uint8_t)(at - marks);
    }
    digest_row_versions(call, marks, d->count, known.rows);
    return known;
}

void bulk_overwrite_body_cache_store(const struct call *call,
                                     const struct prepared_command_change *d)
{
    struct str body = call->exchange->body;

    if (!d->count || d->count > KNOWN_MOST || body.n > KNOWN_LONGEST)
        return;
    struct cached_body *b = mem_new(sizeof *b);
    b->application_id = call->target.application->id;
    b->guild_id = call->target.guild ? call->target.guild->id : 0;
    b->known = build_cached_bulk_overwrite_body(call, d);
    compute_command_digest(call, body.p, body.n, b->known.body);
    b->text = shared_text_new(body);
    pthread_mutex_lock(&known_bodies_cache.lock);
    cache_insert(&known_bodies_cache.cache, hash_u64(b->application_id) ^ b->guild_id,
                 sizeof *b + body.n, &b->entry);
    pthread_mutex_unlock(&known_bodies_cache.lock);
}
