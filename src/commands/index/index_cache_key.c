/* index_cache_key.c - cache keys of command index replies: a digest of all data that a reply
 * depends on. Writing a reply with a thousand commands takes several times as long as computing the
 * digest. The digest needs no command rows, because every transaction that changes the contents of
 * an index also increments a version. */
#include "commands/index/index.h"

enum { USUAL_VIEW = 8 * 1024, MOST_VIEW = 64 * 1024 * 1024 };

static void append_cache_key_number(struct buf *out, uint64_t v)
{
    buf_add(out, &v, sizeof v);
}

static void append_cache_key_text(struct buf *out, struct str s)
{
    append_cache_key_number(out, s.n);
    buf_add_str(out, s);
}

static void append_cache_key_request(struct buf *out, const struct command_index_request *v)
{
    const struct command_permission_input *q = &v->check;

    append_cache_key_number(out, v->kind);
    append_cache_key_number(out, v->key);
    append_cache_key_number(out, v->own_version);
    append_cache_key_number(out, v->version);
    append_cache_key_text(out, v->locale);
    append_cache_key_number(out, (uint64_t)q->contexts_to_check << 32 | q->installed);
    append_cache_key_number(out, (uint64_t)q->in_group << 3 | (uint64_t)q->nsfw_allowed << 2 |
                                     (uint64_t)q->administrator << 1 | (uint64_t)q->timed_out);
}

/* Appends the member's permissions to the key. The user id and roles are only needed if there are
 * permission rows. */
static void append_cache_key_member(struct buf *out, const struct command_index_member *r)
{
    const struct channel_permission_class *p = r->channel_classes.items;
    const struct command_permission *row = r->rows.items;
    const snowflake *target = r->targets.items;
    const struct permission_computation_input *member_roles = &r->member_access->input;

    append_cache_key_number(out, r->adult);
    append_cache_key_number(out, r->channel_classes.count);
    for (size_t i = 0; i < r->channel_classes.count; i++) {
        append_cache_key_number(out, p[i].permissions);
        append_cache_key_number(out, p[i].channel_id);
        append_cache_key_number(out, (uint64_t)p[i].nsfw << 1 | p[i].thread);
    }
    append_cache_key_number(out, r->rows.count);
    for (size_t i = 0; i < r->rows.count; i++) {
        append_cache_key_number(out, target[i]);
        append_cache_key_number(out, row[i].id);
        append_cache_key_number(out, (uint64_t)row[i].type << 1 | row[i].permission);
    }
    if (!r->rows.count)
        return;
    append_cache_key_number(out, r->member_access->user_id);
    append_cache_key_number(out, member_roles->role_count);
    buf_add(out, member_roles->roles, member_roles->role_count * sizeof *member_roles->roles);
}

static void append_cache_key_applications(struct buf *out, const struct list *applications)
{
    const struct command_index_application *a = applications->items;

    append_cache_key_number(out, applications->count);
    for (size_t i = 0; i < applications->count; i++) {
        append_cache_key_number(out, a[i].id);
        append_cache_key_number(out, a[i].version);
        append_cache_key_number(out, a[i].flags);
        append_cache_key_number(out, a[i].bot_id.given == GIVEN ? a[i].bot_id.value : 0);
        append_cache_key_text(out, a[i].name);
        append_cache_key_text(out, a[i].description);
        append_cache_key_number(out, a[i].icon.given);
        append_cache_key_text(out, a[i].icon.given == GIVEN ? a[i].icon.value : STR(""));
    }
}

static void append_cache_key_use_counts(struct buf *out, const struct list *uses)
{
    const struct command_use_count *u = uses->items;

    append_cache_key_number(out, uses->count);
    for (size_t i = 0; i < uses->count; i++) {
        append_cache_key_number(out, u[i].command_id);
        append_cache_key_number(out, (uint64_t)u[i].uses);
    }
}

/* Appends the app's bot to the cache key, because the reply of INDEX_APPLICATION contains it. */
static void append_cache_key_bot(struct buf *out, const struct user *bot)
{
    struct json_writer j = json_writer_to_buf(out);

    schema_encode(&j, &type_partial_user, bot);
}

bool compute_command_index_cache_key(const struct command_index_request *v,
                                     struct result_cache_key *ret)
{
    static const char what[] = "command index";
    unsigned char digest[COMMANDS_DIGEST];
    struct buf out;

    buf_init(&out, MOST_VIEW);
    buf_reserve(&out, USUAL_VIEW);
    append_cache_key_request(&out, v);
    append_cache_key_applications(&out, &v->applications);
    append_cache_key_use_counts(&out, &v->uses);
    if (v->member)
        append_cache_key_member(&out, v->member);
    if (v->bot)
        append_cache_key_bot(&out, v->bot);
    bool whole = !buf_is_full(&out);
    compute_command_digest(v->call, out.p, out.n, digest);
    *ret = (struct result_cache_key){ .what = what };
    memcpy(ret->ids, digest, sizeof digest);
    ret->ids[2] = v->key;
    ret->ids[3] = out.n;
    buf_clear(&out);
    return whole;
}
