/* indexes.c - GET …/application-command-index for guilds, accounts, applications and channels. */
#include "commands/index/index.h"

#include "commands/index/index_moves.h"
#include "model/fields/rows.h"
#include "platform/accounts/age.h"
#include "platform/applications/applications.h"
#include "platform/channels/channels.h"

/* --- writing one command -------------------------------------------------------------- */

/* A command of a bundle with the fields that depend on the caller. */
struct shown_command {
    const struct bundle *bundle;
    const struct bundle_entry *entry;
    struct str text; /* a JSON object */
    int64_t rank;    /* 0: a guild command, which has no rank */
    const struct command_index_permissions *permissions;
};

/* Decodes the command and encodes it in the caller's language. */
static enum err show_localized(struct index_view *v, const struct shown_command *s, struct str *ret)
{
    struct command k;
    enum err e = command_find(v->call->tx, s->bundle->application_id, s->entry->id, &k);

    if (e)
        return e;
    command_localize(&k, v->locale, COMMAND_INDEXED);
    k.permissions = s->permissions;
    if (s->rank)
        k.global_popularity_rank = given_int(s->rank);
    *ret = column_encode(v->call->arena, &type_command, &k);
    return OK;
}

/* Writes the stored text, with the caller's fields before the closing brace. */
static void show_finished(struct index_view *v, const struct shown_command *s)
{
    struct buf *out = v->json.out;

    json_raw(&v->json, str_slice(s->text.p, s->text.n - 1));
    if (s->rank) {
        buf_add_lit(out, ",\"global_popularity_rank\":");
        buf_add_i64(out, s->rank);
    }
    if (s->permissions) {
        buf_add_lit(out, ",\"permissions\":");
        buf_add_str(out,
                    column_encode(v->call->arena, &type_command_index_permissions, s->permissions));
    }
    buf_add_char(out, '}');
}

static enum err index_show(struct index_view *v, struct shown_command *s)
{
    struct str text;

    if (v->reader)
        s->permissions = index_permissions(v->reader, s->entry->id);
    if (!(s->entry->locales & v->locales)) {
        show_finished(v, s);
        return OK;
    }
    enum err e = show_localized(v, s, &text);
    if (!e)
        json_raw(&v->json, text);
    else if (e == ERR_UNKNOWN_COMMAND)
        show_finished(v, s); /* The command cannot be decoded: send the stored text. */
    return e == ERR_UNKNOWN_COMMAND ? OK : e;
}

/* --- filtering ------------------------------------------------------------------------ */

static bool is_launchable(const struct index_view *v, snowflake application_id)
{
    const struct index_application *a = v->applications.items;

    for (size_t i = 0; i < v->applications.count; i++)
        if (a[i].id == application_id)
            return a[i].flags & APPLICATION_EMBEDDED;
    return false;
}

/* Returns true if the application is in the index, which leaves out apps without the scope
 * applications.commands. */
static bool is_here(const struct index_view *v, snowflake application_id)
{
    const struct index_application *a = v->applications.items;
    size_t low = 0, high = v->applications.count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (a[middle].id < application_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->applications.count && a[low].id == application_id;
}

/* Returns true if the caller may use the command, by command_judge, as for an invocation. */
static bool belongs_here(const struct index_view *v, const struct bundle *b,
                         const struct bundle_entry *k)
{
    struct command_question q = v->ask;

    q.contexts = k->contexts;
    q.integration_types = k->integration_types;
    q.nsfw = k->nsfw;
    q.entry_point = k->type == COMMAND_ENTRY_POINT;
    q.launchable = q.entry_point && is_launchable(v, b->application_id);
    if (!v->reader)
        return command_judge(&q) == COMMAND_ALLOWED;
    q.default_member_permissions = (struct opt_id){
        k->default_member_permissions == BUNDLE_ANYBODY ? GIVEN_NULL : GIVEN,
        k->default_member_permissions,
    };
    q.of_command = index_rows_of(v->reader, k->id);
    q.of_application = index_rows_of(v->reader, b->application_id);
    return index_usable(v->reader, &q);
}

static enum err add_bundle(struct index_view *v, const struct bundle *b)
{
    int64_t *ranks = arena_alloc(v->call->arena, b->count * sizeof *ranks);
    struct shown_command s = { .bundle = b };
    struct bundle_walk walk;

    if (!b->guild_id)
        index_ranks(b, &v->uses, ranks);
    if (b->unreadable)
        bundle_repair_later(v->call, b);
    enum err e = bundle_walk_begin(v->call->tx, b, &walk), end;
    if (e)
        return e;
    walk.rows.lent = true; /* texts are copied into the reply at once */
    while (!e && bundle_walk_next(&walk, &s.entry, &s.text)) {
        s.rank = ranks[s.entry - b->entries];
        if (belongs_here(v, b, s.entry))
            e = index_show(v, &s);
    }
    end = bundle_walk_end(&walk);
    return e ? e : end;
}

/* Reserves space for most replies, to avoid repeated copies while the buffer grows. */
static void make_room(struct index_view *v)
{
    enum { USUAL = 8 * 1024 }; /* bytes per application */
    size_t size = v->applications.count * USUAL;

    if (size <= v->json.out->max - v->json.out->n)
        buf_room(v->json.out, size);
}

/* Returns true if an application is active: else there are no uses to read. */
static bool has_active(const struct index_view *v)
{
    const struct index_application *a = v->applications.items;

    for (size_t i = 0; i < v->applications.count; i++)
        if (a[i].active)
            return true;
    return false;
}

static enum err add_commands(struct index_view *v)
{
    struct bundle b;
    struct rows rows;
    enum err e = index_bundles(v->call->tx, v->kind, v->key, &rows), end;

    if (e)
        return e;
    make_room(v);
    while (!e && index_bundles_next(&rows, &b, &e))
        if (is_here(v, b.application_id))
            e = add_bundle(v, &b);
    end = rows_end(&rows);
    return e ? e : end;
}

static void add_permissions(struct index_view *v)
{
    struct index_application *a = v->applications.items;

    for (size_t i = 0; v->reader && i < v->applications.count; i++)
        a[i].permissions = index_permissions(v->reader, a[i].id);
}

static snowflake place_of_index(const struct index_view *v)
{
    return v->place ? v->place : v->key;
}

/* Reads the caller's account for its age and language. */
static enum err index_reader_find(struct index_view *v)
{
    return user_find(v->call->tx, v->call->caller->id, &v->user);
}

static enum err index_view_load(struct index_view *v)
{
    struct tx *tx = v->call->tx;
    enum err e = index_applications(tx, v->kind, v->key, &v->applications);

    if (!e)
        e = index_version(tx, place_of_index(v), &v->applications, &v->own_version, &v->version);
    if (!e && has_active(v))
        e = index_uses(tx, v->kind, v->key, &v->uses);
    if (e)
        return e;
    v->locale = request_locale_of(v->call, &v->user);
    v->locales = locale_reach(v->locale);
    if (v->bot)
        ((struct index_application *)v->applications.items)->bot = v->bot;
    add_permissions(v);
    return OK;
}

/* Writes the reply that command_index_reply describes piece by piece: it may be large, and most of
 * it is stored text. */
static enum err index_write(struct index_view *v)
{
    struct json *j = &v->json;
    enum err e;

    *j = call_reply_json(v->call);
    json_object(j);
    json_name(j, "applications");
    schema_encode(j, &type_index_applications, &v->applications);
    json_name(j, "application_commands");
    json_array(j);
    e = add_commands(v);
    json_array_end(j);
    json_name(j, "version");
    json_id(j, v->version);
    json_object_end(j);
    return e;
}

/* Replies from the cache if possible: many users request the same index, and a user requests it
 * repeatedly. */
static enum err index_reply(struct index_view *v)
{
    enum err e = index_view_load(v);

    if (e)
        return e;
    struct kept_key key;
    bool has_key = index_key(v, &key);
    struct shared_text *kept = has_key ? kept_text_of(&key) : NULL;
    if (kept)
        return call_reply_shared(v->call, kept);
    e = index_write(v);
    if (!e && has_key && !v->call->after)
        kept_add_text(&key, buf_str(&v->call->reply));
    return e;
}

/* --- handlers ------------------------------------------------------------------------- */

enum err prefetch_guild_command_index(struct call *call)
{
    snowflake guild_id = call_id(call, "guild.id");

    user_prefetch(call->tx, call->caller->id);
    index_prefetch(call->tx, INDEX_GUILD, guild_id);
    index_reader_prefetch(call->tx, guild_id, call->caller->id);
    return OK;
}

/* GET /guilds/{guild.id}/application-command-index */
enum err get_guild_command_index(struct call *call)
{
    struct index_reader reader;
    struct index_view v = {
        .call = call,
        .kind = INDEX_GUILD,
        .key = call->target.guild->id,
        .ask = { .places = 1u << CONTEXT_GUILD, .installed = 1u << INSTALL_GUILD },
        .reader = &reader,
    };
    enum err e = index_reader_find(&v);
    if (!e)
        e = index_reader_load(call->tx, call->target.standing, user_is_adult(&v.user), &reader);
    if (e)
        return e;
    command_ask_of(&v.ask, call->target.standing);
    return index_reply(&v);
}

enum {
    ANYWHERE = 1u << CONTEXT_GUILD | 1u << CONTEXT_BOT_DM | 1u << CONTEXT_PRIVATE_CHANNEL,
    ANYHOW = 1u << INSTALL_GUILD | 1u << INSTALL_USER,
};

enum err prefetch_user_command_index(struct call *call)
{
    user_prefetch(call->tx, call->caller->id);
    index_prefetch(call->tx, INDEX_USER, call->caller->id);
    return OK;
}

/* GET /users/@me/application-command-index */
enum err get_user_command_index(struct call *call)
{
    struct index_view v = {
        .call = call,
        .kind = INDEX_USER,
        .key = call->caller->id,
        .ask = { .places = ANYWHERE, .installed = 1u << INSTALL_USER },
    };
    enum err e = index_reader_find(&v);

    v.ask.nsfw_allowed = !e && user_is_adult(&v.user);
    return e ? e : index_reply(&v);
}

static const char AUTHORIZED[] =
    "select installed from authorizations where user_id = $1 and application_id = $2";

/* GET /applications/{application.id}/application-command-index: the caller must have authorized the
 * app. */
enum err get_application_command_index(struct call *call)
{
    const struct application *a = call->target.application;
    struct index_view v = {
        .call = call,
        .kind = INDEX_APPLICATION,
        .key = a->id,
        .bot = a->bot,
        .ask = { .places = ANYWHERE, .installed = ANYHOW },
    };
    struct rows row;
    bool found;

    enum err e =
        tx_one(call->tx, AUTHORIZED, BIND(v_id(call->caller->id), v_id(a->id)), &row, &found);
    if (!e && !found)
        e = ERR_MISSING_ACCESS;
    if (!e)
        e = index_reader_find(&v);
    v.ask.nsfw_allowed = !e && user_is_adult(&v.user);
    return e ? e : index_reply(&v);
}

/* --- private channels ----------------------------------------------------------------- */

static const char APPLICATION_OF_BOT[] =
    "select id from applications where bot_id = $1 and removed = 0";

/* Finds the application of the bot in this direct channel; *ret 0: the other user is no bot. */
static enum err application_across(struct call *call, snowflake *ret)
{
    struct list others;
    struct rows row;
    bool found = false;

    *ret = 0;
    enum err e = channel_others(call->tx, call->target.channel->id, call->caller->id, &others);
    if (!e && others.count)
        e = tx_one(call->tx, APPLICATION_OF_BOT, BIND(v_id(*(const snowflake *)others.items)), &row,
                   &found);
    if (!e && found)
        *ret = row_id(&row, 0);
    return e;
}

/* Replies with the commands in the direct channel with a bot: those with the context BOT_DM if the
 * app is installed for the user. */
static enum err reply_direct(struct call *call)
{
    struct index_view v = {
        .call = call,
        .kind = INDEX_APPLICATION,
        .place = call->target.channel->id,
        .ask = { .places = 1u << CONTEXT_BOT_DM },
    };
    bool barred = false;
    enum err e = application_across(call, &v.key);

    if (!e && v.key)
        e = installed_in_guilds_of(call->tx, v.key, call->caller->id, &v.ask.installed);
    if (!e && v.key)
        e = installed_on_account(call->tx, v.key, call->caller->id, &v.ask.installed);
    /* A user who has blocked the bot cannot invoke its commands, so none are listed. */
    if (!e && v.key)
        e = channel_is_barred(call->tx, call->target.channel, call->caller->id, &barred);
    if (barred)
        v.ask.installed = 0;
    if (!e)
        e = index_reader_find(&v);
    if (!e && v.key && user_is_adult(&v.user))
        e = wants_adult_commands(call->tx, call->caller->id, &v.ask.nsfw_allowed);
    return e ? e : index_reply(&v);
}

/* GET /channels/{channel.id}/application-command-index */
enum err get_channel_command_index(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct index_view v = {
        .call = call,
        .kind = INDEX_GROUP,
        .key = c->id,
        .ask = { .places = 1u << CONTEXT_PRIVATE_CHANNEL, .in_group = true },
    };

    if (!channel_is_private(c->type))
        return ERR_CHANNEL_TYPE;
    if (c->type == CHANNEL_DM)
        return reply_direct(call);
    enum err e = index_reader_find(&v);
    return e ? e : index_reply(&v);
}
