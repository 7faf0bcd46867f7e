/* known_bodies.c - what a scope's commands were last made of. */
#include "commands/known_bodies.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/shared_text.h"
#include "net/http.h"
#include "platform/applications/applications.h"

/* Of more scopes those are forgotten that were asked for longest ago. While there is room the
 * bodies themselves are kept: comparing bytes takes a tenth of making a digest of them. */
enum { MOST_KEPT = 256, MOST_BYTES = 16 * 1024 * 1024 };

struct kept_body {
    snowflake application_id, guild_id; /* 0: a free place */
    size_t size;
    struct shared_text *text; /* or NULL */
    struct known_body known;
    uint64_t used;
};

static struct {
    pthread_mutex_t lock;
    struct kept_body all[MOST_KEPT];
    size_t bytes; /* of all texts */
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

/* A copy, if there is one of the same size: others need not be looked at. Its text is held. */
static bool body_copy(const struct call *call, snowflake application_id, snowflake guild_id,
                      struct kept_body *ret)
{
    pthread_mutex_lock(&bodies.lock);
    struct kept_body *b = body_of(application_id, guild_id);
    bool found = b && b->size == call->exchange->body.n;
    if (found) {
        b->used = ++bodies.clock;
        *ret = *b;
        if (b->text)
            shared_text_ref(b->text);
    }
    pthread_mutex_unlock(&bodies.lock);
    return found;
}

static bool body_is(const struct call *call, const struct kept_body *b, struct str body)
{
    unsigned char digest[COMMANDS_DIGEST];

    if (b->text)
        return memcmp(body.p, shared_text_str(b->text).p, body.n) == 0;
    commands_digest(call, body.p, body.n, digest);
    return memcmp(digest, b->known.body, sizeof digest) == 0;
}

bool known_body_find(const struct call *call, snowflake application_id, snowflake guild_id,
                     struct known_body *ret)
{
    const struct exchange *x = call->exchange;
    struct kept_body found;

    if (x->parts || !http_media_type_is(x->request->content_type, STR("application/json")) ||
        !body_copy(call, application_id, guild_id, &found))
        return false;
    bool same = body_is(call, &found, x->body);
    shared_text_unref(found.text);
    *ret = found.known;
    return same;
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

static void body_drop_text(struct kept_body *b)
{
    if (!b->text)
        return;
    bodies.bytes -= b->size;
    shared_text_unref(b->text);
    b->text = NULL;
}

/* Texts go until there is room for so many bytes, those first that were asked for longest ago. */
static void bodies_make_room(size_t n)
{
    while (bodies.bytes + n > MOST_BYTES) {
        struct kept_body *oldest = NULL;

        for (size_t i = 0; i < MOST_KEPT; i++) {
            struct kept_body *b = &bodies.all[i];

            if (b->text && (!oldest || b->used < oldest->used))
                oldest = b;
        }
        body_drop_text(oldest);
    }
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
    struct shared_text *text = shared_text_new(body);
    pthread_mutex_lock(&bodies.lock);
    struct kept_body *b = body_of(made.application_id, made.guild_id);
    if (!b)
        b = body_oldest();
    body_drop_text(b);
    bodies_make_room(body.n);
    bodies.bytes += body.n;
    made.text = text;
    made.used = ++bodies.clock;
    *b = made;
    pthread_mutex_unlock(&bodies.lock);
}
