/* index_routes.c - GET …/application-command-index for guilds, accounts, apps and channels. */
#include "commands/index/index.h"

#include "commands/index/index_invalidation.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/age.h"
#include "platform/applications/applications.h"
#include "platform/channels/channels.h"

/* --- writing one command -------------------------------------------------------------- */

/* A command of a bundle, with fields that depend on the caller. */
struct index_command {
    const struct command_bundle *bundle;
    const struct command_bundle_entry *entry;
    struct str text; /* JSON object of the command */
    int64_t rank;    /* popularity rank; 0 for a guild command, which has none */
    const struct command_index_permissions *permissions;
};

/* Decodes the command and encodes it in the caller's language. */
static enum err encode_localized_command(struct command_index_request *v,
                                         const struct index_command *s, struct str *ret)
{
    struct command k;
    enum err e = read_command(v->call->tx, s->bundle->application_id, s->entry->id, &k);

    if (e)
        return e;
    command_localize(&k, v->locale, COMMAND_FORM_INDEX);
    k.permissions = s->permissions;
    if (s->rank)
        k.global_popularity_rank = opt_int_present(s->rank);
    *ret = json_column_encode(v->call->arena, &type_command, &k);
    return OK;
}

/* Writes the stored JSON text, and inserts the caller's fields before the closing brace. */
static void write_stored_command_json(struct command_index_request *v,
                                      const struct index_command *s)
{
    struct buf *out = v->json.out;

    json_write_raw(&v->json, str_slice(s->text.p, s->text.n - 1));
    if (s->rank) {
        buf_add_lit(out, ",\"global_popularity_rank\":");
        buf_add_i64(out, s->rank);
    }
    if (s->permissions) {
        buf_add_lit(out, ",\"permissions\":");
        buf_add_str(out, json_column_encode(v->call->arena, &type_command_index_permissions,
                                            s->permissions));
    }
    buf_add_char(out, '}');
}

static enum err write_index_command_json(struct command_index_request *v, struct index_command *s)
{
    struct str text;

    if (v->member)
        s->permissions = find_command_permissions_that_concern_member(v->member, s->entry->id);
    if (!(s->entry->locales & v->locales)) {
        write_stored_command_json(v, s);
        return OK;
    }
    enum err e = encode_localized_command(v, s, &text);
    if (!e)
        json_write_raw(&v->json, text);
    else if (e == ERR_UNKNOWN_COMMAND)
        write_stored_command_json(v, s); /* the stored text, because decoding failed */
    return e == ERR_UNKNOWN_COMMAND ? OK : e;
}

/* --- filtering ------------------------------------------------------------------------ */

static bool application_is_launchable(const struct command_index_request *v,
                                      snowflake application_id)
{
    const struct command_index_application *a = v->applications.items;

    for (size_t i = 0; i < v->applications.count; i++)
        if (a[i].id == application_id)
            return a[i].flags & APPLICATION_EMBEDDED;
    return false;
}

/* Returns whether the application is in the index. Applications without the scope
 * applications.commands are not listed. */
static bool application_is_in_index(const struct command_index_request *v, snowflake application_id)
{
    return id_sorted_list_find(&v->applications, sizeof(struct command_index_application),
                               application_id);
}

/* Returns whether the caller may use the command. Calls evaluate_command_permission, as an
 * invocation does. */
static bool caller_may_use_command(const struct command_index_request *v,
                                   const struct command_bundle *b,
                                   const struct command_bundle_entry *k)
{
    struct command_permission_input q = v->check;

    q.contexts = k->contexts;
    q.integration_types = k->integration_types;
    q.nsfw = k->nsfw;
    q.entry_point = k->type == COMMAND_ENTRY_POINT;
    q.launchable = q.entry_point && application_is_launchable(v, b->application_id);
    if (!v->member)
        return evaluate_command_permission(&q) == COMMAND_ALLOWED;
    q.default_member_permissions = (struct opt_id){
        k->default_member_permissions == BUNDLE_NO_DEFAULT_PERMISSIONS ? GIVEN_NULL : GIVEN,
        k->default_member_permissions,
    };
    q.of_command = find_command_index_permission_rows(v->member, k->id);
    q.of_application = find_command_index_permission_rows(v->member, b->application_id);
    return command_is_allowed_in_any_channel(v->member, &q);
}

static enum err write_bundle_commands(struct command_index_request *v,
                                      const struct command_bundle *b)
{
    int64_t *ranks = arena_alloc(v->call->arena, b->count * sizeof *ranks);
    struct index_command s = { .bundle = b };
    struct command_bundle_iterator walk;

    if (!b->guild_id)
        rank_commands_by_use(b, &v->uses, ranks);
    if (b->unreadable)
        schedule_command_bundle_repair(v->call, b);
    enum err e = command_bundle_iterator_begin(v->call->tx, b, &walk), end;
    if (e)
        return e;
    /* Texts need not stay valid after the next row is read, because they are copied first. */
    walk.rows.lent = true;
    while (!e && command_bundle_iterator_next(&walk, &s.entry, &s.text)) {
        s.rank = ranks[s.entry - b->entries];
        if (caller_may_use_command(v, b, s.entry))
            e = write_index_command_json(v, &s);
    }
    end = command_bundle_iterator_end(&walk);
    return e ? e : end;
}

/* Reserves memory that is enough for most replies, to avoid copies while the buffer grows. */
static void reserve_command_index_reply_buffer(struct command_index_request *v)
{
    enum { USUAL = 8 * 1024 }; /* bytes per application */
    size_t size = v->applications.count * USUAL;

    if (size <= v->json.out->max - v->json.out->n)
        buf_reserve(v->json.out, size);
}

/* Returns whether an application is active. Only active applications have use counts to read. */
static bool has_active_application(const struct command_index_request *v)
{
    const struct command_index_application *a = v->applications.items;

    for (size_t i = 0; i < v->applications.count; i++)
        if (a[i].active)
            return true;
    return false;
}

static enum err write_commands_of_index(struct command_index_request *v)
{
    struct command_bundle b;
    struct rows rows;
    enum err e = read_command_index_bundles(v->call->tx, v->kind, v->key, &rows), end;

    if (e)
        return e;
    reserve_command_index_reply_buffer(v);
    while (!e && command_index_bundles_read_next(&rows, &b, &e))
        if (application_is_in_index(v, b.application_id))
            e = write_bundle_commands(v, &b);
    end = rows_end(&rows);
    return e ? e : end;
}

static void set_application_permissions(struct command_index_request *v)
{
    struct command_index_application *a = v->applications.items;

    for (size_t i = 0; v->member && i < v->applications.count; i++)
        a[i].permissions = find_command_permissions_that_concern_member(v->member, a[i].id);
}

static snowflake version_key_of_command_index(const struct command_index_request *v)
{
    return v->version_key ? v->version_key : v->key;
}

/* Reads the caller's account, for the age and language. */
static enum err read_requesting_user(struct command_index_request *v)
{
    return user_find(v->call->tx, v->call->caller->id, &v->user);
}

static enum err read_command_index_data(struct command_index_request *v)
{
    struct tx *tx = v->call->tx;
    enum err e = read_command_index_applications(tx, v->kind, v->key, &v->applications);

    if (!e)
        e = read_command_index_version(tx, version_key_of_command_index(v), &v->applications,
                                       &v->own_version, &v->version);
    if (!e && has_active_application(v))
        e = read_command_use_counts(tx, v->kind, v->key, &v->uses);
    if (e)
        return e;
    v->locale = determine_request_locale_of_user(v->call, &v->user);
    v->locales = locale_fallback_bits(v->locale);
    if (v->bot)
        ((struct command_index_application *)v->applications.items)->bot = v->bot;
    set_application_permissions(v);
    return OK;
}

/* Writes the reply, which command_index_reply describes, without a struct of the reply: the reply
 * may be large, and most of it is stored text. */
static enum err write_command_index_json(struct command_index_request *v)
{
    struct json_writer *j = &v->json;
    enum err e;

    *j = call_get_reply_json_writer(v->call);
    json_begin_object(j);
    json_write_name(j, "applications");
    schema_encode(j, &type_index_applications, &v->applications);
    json_write_name(j, "application_commands");
    json_begin_array(j);
    e = write_commands_of_index(v);
    json_end_array(j);
    json_write_name(j, "version");
    json_write_id(j, v->version);
    json_end_object(j);
    return e;
}

/* Replies from the cache if possible, because many users request the same index, and each user
 * requests it several times. */
static enum err reply_with_command_index(struct command_index_request *v)
{
    enum err e = read_command_index_data(v);

    if (e)
        return e;
    struct result_cache_key key;
    bool has_key = compute_command_index_cache_key(v, &key);
    struct shared_text *cached = has_key ? result_cache_find_constant_text(&key) : NULL;
    if (cached)
        return call_reply_with_shared_text(v->call, cached);
    e = write_command_index_json(v);
    if (!e && has_key && !v->call->after)
        result_cache_add_constant_text(&key, buf_as_str(&v->call->reply));
    return e;
}

/* --- handlers ------------------------------------------------------------------------- */

/* GET /guilds/{guild.id}/application-command-index */
enum err get_guild_command_index(struct call *call)
{
    struct command_index_member reader;
    struct command_index_request v = {
        .call = call,
        .kind = INDEX_GUILD,
        .key = call->target.guild->id,
        .check = { .contexts_to_check = 1u << CONTEXT_GUILD, .installed = 1u << INSTALL_GUILD },
        .member = &reader,
    };
    enum err e = read_requesting_user(&v);
    if (!e)
        e = read_command_index_member(call->tx, call->target.member_access, user_is_adult(&v.user),
                                      &reader);
    if (e)
        return e;
    command_permission_input_set_member(&v.check, call->target.member_access);
    return reply_with_command_index(&v);
}

enum {
    ALL_CONTEXTS = 1u << CONTEXT_GUILD | 1u << CONTEXT_BOT_DM | 1u << CONTEXT_PRIVATE_CHANNEL,
    ALL_INSTALL_TYPES = 1u << INSTALL_GUILD | 1u << INSTALL_USER,
};

/* GET /users/@me/application-command-index */
enum err get_user_command_index(struct call *call)
{
    struct command_index_request v = {
        .call = call,
        .kind = INDEX_USER,
        .key = call->caller->id,
        .check = { .contexts_to_check = ALL_CONTEXTS, .installed = 1u << INSTALL_USER },
    };
    enum err e = read_requesting_user(&v);

    v.check.nsfw_allowed = !e && user_is_adult(&v.user);
    return e ? e : reply_with_command_index(&v);
}

static const char AUTHORIZED[] =
    "select installed from authorizations where user_id = $1 and application_id = $2";

/* GET /applications/{application.id}/application-command-index: the caller must have authorized the
 * app. */
enum err get_application_command_index(struct call *call)
{
    const struct application *a = call->target.application;
    struct command_index_request v = {
        .call = call,
        .kind = INDEX_APPLICATION,
        .key = a->id,
        .bot = a->bot,
        .check = { .contexts_to_check = ALL_CONTEXTS, .installed = ALL_INSTALL_TYPES },
    };
    bool found;

    enum err e = tx_exists(call->tx, AUTHORIZED, BIND(v_id(call->caller->id), v_id(a->id)), &found);
    if (!e && !found)
        e = ERR_MISSING_ACCESS;
    if (!e)
        e = read_requesting_user(&v);
    v.check.nsfw_allowed = !e && user_is_adult(&v.user);
    return e ? e : reply_with_command_index(&v);
}

/* --- private channels ----------------------------------------------------------------- */

static const char APPLICATION_OF_BOT[] =
    "select id from applications where bot_id = $1 and removed = 0";

/* Finds the application whose bot is the other user of this DM channel. Sets *ret to 0 if the other
 * user is not a bot. */
static enum err find_application_of_dm_bot(struct call *call, snowflake *ret)
{
    struct list others;
    enum err e = channel_list_other_recipients(call->tx, call->target.channel->id, call->caller->id,
                                               &others);

    *ret = 0;
    if (e || !others.count)
        return e;
    return tx_read_id(call->tx, APPLICATION_OF_BOT, BIND(v_id(*(const snowflake *)others.items)),
                      ret);
}

/* Replies with the commands in the DM channel with a bot: if the app is installed for the user, the
 * commands with the context BOT_DM. */
static enum err reply_with_command_index_of_bot_dm(struct call *call)
{
    struct command_index_request v = {
        .call = call,
        .kind = INDEX_APPLICATION,
        .version_key = call->target.channel->id,
        .check = { .contexts_to_check = 1u << CONTEXT_BOT_DM },
    };
    bool barred = false;
    enum err e = find_application_of_dm_bot(call, &v.key);

    if (!e && v.key)
        e = read_whether_app_is_in_user_guilds(call->tx, v.key, call->caller->id,
                                               &v.check.installed);
    if (!e && v.key)
        e = read_whether_app_is_installed_on_account(call->tx, v.key, call->caller->id,
                                                     &v.check.installed);
    /* List no commands of a bot that the user has blocked, because the user cannot use them. */
    if (!e && v.key)
        e = direct_channel_write_is_refused(call->tx, call->target.channel, call->caller->id,
                                            &barred);
    if (barred)
        v.check.installed = 0;
    if (!e)
        e = read_requesting_user(&v);
    if (!e && v.key && user_is_adult(&v.user))
        e = read_user_allows_age_restricted_commands(call->tx, call->caller->id,
                                                     &v.check.nsfw_allowed);
    return e ? e : reply_with_command_index(&v);
}

/* GET /channels/{channel.id}/application-command-index */
enum err get_channel_command_index(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct command_index_request v = {
        .call = call,
        .kind = INDEX_GROUP,
        .key = c->id,
        .check = { .contexts_to_check = 1u << CONTEXT_PRIVATE_CHANNEL, .in_group = true },
    };

    if (!channel_is_private(c->type))
        return ERR_CHANNEL_TYPE;
    if (c->type == CHANNEL_DM)
        return reply_with_command_index_of_bot_dm(call);
    enum err e = read_requesting_user(&v);
    return e ? e : reply_with_command_index(&v);
}
