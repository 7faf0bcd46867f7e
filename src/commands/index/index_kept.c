/* index_kept.c - cache keys of command indexes: a digest of everything that a reply depends on.
 *
 * Writing a thousand commands costs several times as much as reading the view. The digest needs no
 * command rows: every change that an index shows increments a version in the same transaction. */
#include "commands/index/index.h"

enum { USUAL_VIEW = 8 * 1024, MOST_VIEW = 64 * 1024 * 1024 };

static void put_number(struct buf *out, uint64_t v)
{
    buf_add(out, &v, sizeof v);
}

static void put_text(struct buf *out, struct str s)
{
    put_number(out, s.n);
    buf_add_str(out, s);
}

static void put_question(struct buf *out, const struct index_view *v)
{
    const struct command_question *q = &v->ask;

    put_number(out, v->kind);
    put_number(out, v->key);
    put_number(out, v->own_version);
    put_number(out, v->version);
    put_text(out, v->locale);
    put_number(out, (uint64_t)q->places << 32 | q->installed);
    put_number(out, (uint64_t)q->in_group << 3 | (uint64_t)q->nsfw_allowed << 2 |
                        (uint64_t)q->administrator << 1 | (uint64_t)q->timed_out);
}

/* Adds the member's permissions. The identity of the member matters only if there are permission
 * rows. */
static void put_reader(struct buf *out, const struct index_reader *r)
{
    const struct index_place *p = r->places.items;
    const struct command_permission *row = r->rows.items;
    const snowflake *target = r->targets.items;
    const struct rights_of *who = &r->standing->rights_of;

    put_number(out, r->adult);
    put_number(out, r->places.count);
    for (size_t i = 0; i < r->places.count; i++) {
        put_number(out, p[i].rights);
        put_number(out, p[i].channel_id);
        put_number(out, (uint64_t)p[i].nsfw << 1 | p[i].thread);
    }
    put_number(out, r->rows.count);
    for (size_t i = 0; i < r->rows.count; i++) {
        put_number(out, target[i]);
        put_number(out, row[i].id);
        put_number(out, (uint64_t)row[i].type << 1 | row[i].permission);
    }
    if (!r->rows.count)
        return;
    put_number(out, r->standing->user_id);
    put_number(out, who->role_count);
    buf_add(out, who->roles, who->role_count * sizeof *who->roles);
}

static void put_applications(struct buf *out, const struct list *applications)
{
    const struct index_application *a = applications->items;

    put_number(out, applications->count);
    for (size_t i = 0; i < applications->count; i++) {
        put_number(out, a[i].id);
        put_number(out, a[i].version);
        put_number(out, a[i].flags);
        put_number(out, a[i].bot_id.given == GIVEN ? a[i].bot_id.value : 0);
        put_text(out, a[i].name);
        put_text(out, a[i].description);
        put_number(out, a[i].icon.given);
        put_text(out, a[i].icon.given == GIVEN ? a[i].icon.value : STR(""));
    }
}

static void put_uses(struct buf *out, const struct list *uses)
{
    const struct command_uses *u = uses->items;

    put_number(out, uses->count);
    for (size_t i = 0; i < uses->count; i++) {
        put_number(out, u[i].command_id);
        put_number(out, (uint64_t)u[i].uses);
    }
}

/* The bot is part of the reply of INDEX_APPLICATION. */
static void put_bot(struct buf *out, const struct user *bot)
{
    struct json j = json_to(out);

    schema_encode(&j, &type_partial_user, bot);
}

bool index_key(const struct index_view *v, struct kept_key *ret)
{
    static const char what[] = "command index";
    unsigned char digest[COMMANDS_DIGEST];
    struct buf out;

    buf_init(&out, MOST_VIEW);
    buf_room(&out, USUAL_VIEW);
    put_question(&out, v);
    put_applications(&out, &v->applications);
    put_uses(&out, &v->uses);
    if (v->reader)
        put_reader(&out, v->reader);
    if (v->bot)
        put_bot(&out, v->bot);
    bool whole = !buf_full(&out);
    commands_digest(v->call, out.p, out.n, digest);
    *ret = (struct kept_key){ .what = what };
    memcpy(ret->of, digest, sizeof digest);
    ret->of[2] = v->key;
    ret->of[3] = out.n;
    buf_clear(&out);
    return whole;
}
