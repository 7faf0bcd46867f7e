/* known_bodies.c - what a scope's commands were last made of. */
#include "commands/known_bodies.h"

#include <pthread.h>
#include <stdlib.h>

#include "net/http.h"
#include "platform/applications/applications.h"

enum { MOST_KEPT = 256 }; /* of more scopes those are forgotten that were asked for longest ago */

struct kept_body {
    snowflake application_id, guild_id; /* 0: a free place */
    size_t size;
    struct known_body known;
    uint64_t used;
};

static struct {
    pthread_mutex_t lock;
    struct kept_body all[MOST_KEPT];
    uint64_t clock;
} bodies = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- digests -------------------------------------------------------------------------- */

/* What every change of a command moves; by id. */
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

/* --- finding -------------------------------------------------------------------------- */

static struct kept_body *body_of(snowflake application_id, snowflake guild_id)
{
    for (size_t i = 0; i < MOST_KEPT; i++) {
        struct kept_body *b = &bodies.all[i];

        if (b->application_id == application_id && b->guild_id == guild_id)
            return b;
    }
    return NULL;
}

/* A copy, if there is one of the same size: of others the digest need not be made. */
static bool body_copy(const struct call *call, snowflake application_id, snowflake guild_id,
                      struct kept_body *ret)
{
    pthread_mutex_lock(&bodies.lock);
    struct kept_body *b = body_of(application_id, guild_id);
    bool found = b && b->size == call->exchange->body.n;
    if (found) {
        b->used = ++bodies.clock;
        *ret = *b;
    }
    pthread_mutex_unlock(&bodies.lock);
    return found;
}

bool known_body_find(const struct call *call, snowflake application_id, snowflake guild_id,
                     struct known_body *ret)
{
    const struct exchange *x = call->exchange;
    unsigned char digest[COMMANDS_DIGEST];
    struct kept_body found;

    if (x->parts || !http_media_type_is(x->request->content_type, STR("application/json")) ||
        !body_copy(call, application_id, guild_id, &found))
        return false;
    commands_digest(call, x->body.p, x->body.n, digest);
    *ret = found.known;
    return memcmp(digest, found.known.body, sizeof digest) == 0;
}

/* --- noting --------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    snowflake one = ((const struct row_mark *)a)->id, two = ((const struct row_mark *)b)->id;

    return one < two ? -1 : one > two;
}

/* What the drafts are as rows, and where each of them stands there. */
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

static struct kept_body *body_oldest(void)
{
    struct kept_body *oldest = &bodies.all[0];

    for (size_t i = 1; i < MOST_KEPT && oldest->application_id; i++)
        if (!bodies.all[i].application_id || bodies.all[i].used < oldest->used)
            oldest = &bodies.all[i];
    return oldest;
}

void known_body_note(const struct call *call, const struct command_drafts *d)
{
    struct str body = call->exchange->body;
    struct kept_body made = {
        .application_id = call->target.application->id,
        .guild_id = call->target.guild ? call->target.guild->id : 0,
        .size = body.n,
    };

    if (!d->count || d->count > KNOWN_MOST || body.n > KNOWN_LONGEST)
        return;
    made.known = known_of(call, d);
    commands_digest(call, body.p, body.n, made.known.body);
    pthread_mutex_lock(&bodies.lock);
    struct kept_body *b = body_of(made.application_id, made.guild_id);
    if (!b)
        b = body_oldest();
    made.used = ++bodies.clock;
    *b = made;
    pthread_mutex_unlock(&bodies.lock);
}
