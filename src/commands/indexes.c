/* indexes.c - GET …/application-command-index, for four kinds of places. */
#include "commands/index.h"

#include "platform/age.h"
#include "platform/applications/applications.h"
#include "platform/channels/channels.h"
#include "platform/rows.h"

/* What is the same for all commands of an answer. */
struct view {
    struct call *call;
    enum index_kind kind;
    snowflake key;
    unsigned context, integration_type; /* bits of which a command needs one; 0: any */
    bool adult, nothing;                /* nothing: applications without commands */
    struct str locale;
    struct index_reader *reader; /* of a guild's index */
    const struct user *bot;      /* of the one application */
    struct command_index index;
};

/* --- showing one command ---------------------------------------------------------------------- */

/* The finished text with what only this answer knows put in before its last brace. */
static struct str add_to_text(struct arena *arena, const struct index_row *k,
                              const struct command_index_permissions *permissions)
{
    struct str open = str_slice(k->text.p, k->text.n - 1);
    struct str rank =
        k->rank ? str_printf(arena, ",\"global_popularity_rank\":%lld", (long long)k->rank)
                : STR("");

    if (!permissions)
        return STR_CONCAT(arena, open, rank, STR("}"));
    struct str rows = column_encode(arena, &type_command_index_permissions, permissions);
    return STR_CONCAT(arena, open, rank, STR(",\"permissions\":"), rows, STR("}"));
}

static enum err show(struct view *v, const struct index_row *k)
{
    struct arena *arena = v->call->arena;
    struct str *text = list_add(arena, &v->index.application_commands, sizeof *text);
    const struct command_index_permissions *permissions =
        v->reader ? index_permissions(v->reader, k->id) : NULL;
    struct command command;

    if (!k->localized) {
        *text = add_to_text(arena, k, permissions);
        return OK;
    }
    enum err e = command_read(v->call->tx, k->text, &command);
    if (e)
        return e;
    command_localize(&command, v->locale, COMMAND_INDEXED);
    command.permissions = permissions;
    if (k->rank)
        command.global_popularity_rank = given_int(k->rank);
    *text = column_encode(arena, &type_command, &command);
    return OK;
}

/* --- which are shown -------------------------------------------------------------------------- */

static bool is_launchable(const struct view *v, snowflake application_id)
{
    const struct index_application *a = v->index.applications.items;

    for (size_t i = 0; i < v->index.applications.count; i++)
        if (a[i].id == application_id)
            return a[i].flags & APPLICATION_EMBEDDED;
    return false;
}

static bool belongs_here(const struct view *v, const struct index_row *k)
{
    if (v->nothing || (k->nsfw && !v->adult))
        return false;
    if (k->type == COMMAND_ENTRY_POINT && !is_launchable(v, k->application_id))
        return false;
    if (k->guild_id)
        return true;
    return (!v->context || k->contexts & v->context) &&
           (!v->integration_type || k->integration_types & v->integration_type);
}

static enum err add_commands(struct view *v)
{
    struct list rows;
    enum err e = index_commands(v->call->tx, v->kind, v->key, v->locale, &rows);
    const struct index_row *k = rows.items;

    for (size_t i = 0; !e && i < rows.count; i++) {
        bool usable = belongs_here(v, &k[i]);

        if (usable && v->reader)
            e = index_usable(v->reader, &k[i], &usable);
        if (!e && usable)
            e = show(v, &k[i]);
    }
    return e;
}

static void add_permissions(struct view *v)
{
    struct index_application *a = v->index.applications.items;

    for (size_t i = 0; v->reader && i < v->index.applications.count; i++)
        a[i].permissions = index_permissions(v->reader, a[i].id);
}

static enum err reply(struct view *v)
{
    struct tx *tx = v->call->tx;
    struct user user;

    enum err e = user_find(tx, v->call->caller->id, &user);
    if (!e)
        e = request_locale(v->call, &v->locale);
    if (!e)
        e = index_applications(tx, v->kind, v->key, &v->index.applications);
    if (e)
        return e;
    v->adult = user_is_adult(&user);
    if (v->bot)
        ((struct index_application *)v->index.applications.items)->bot = v->bot;
    add_permissions(v);
    e = add_commands(v);
    if (!e && !v->index.version)
        e = index_version(tx, v->kind, v->key, &v->index.version);
    return e ? e : call_reply_as(v->call, &command_index_kept, &v->index);
}

/* --- the four of them ------------------------------------------------------------------------- */

/* GET /guilds/{guild.id}/application-command-index */
enum err get_guild_command_index(struct call *call)
{
    struct index_reader reader;
    struct view v = {
        .call = call,
        .kind = INDEX_GUILD,
        .key = call->target.guild->id,
        .context = 1u << CONTEXT_GUILD,
        .integration_type = 1u << INSTALL_GUILD,
        .reader = &reader,
    };

    enum err e = index_reader_load(call->tx, call->target.standing, &reader);
    return e ? e : reply(&v);
}

/* GET /users/@me/application-command-index */
enum err get_user_command_index(struct call *call)
{
    struct view v = {
        .call = call,
        .kind = INDEX_USER,
        .key = call->caller->id,
        .integration_type = 1u << INSTALL_USER,
    };

    return reply(&v);
}

static const char AUTHORIZED[] =
    "select installed from authorizations where user_id = $1 and application_id = $2";

/* GET /applications/{application.id}/application-command-index: whoever allowed it
 * anything. */
enum err get_application_command_index(struct call *call)
{
    const struct application *a = call->target.application;
    struct view v = { .call = call, .kind = INDEX_APPLICATION, .key = a->id, .bot = a->bot };
    struct rows row;
    bool found;

    enum err e =
        tx_one(call->tx, AUTHORIZED, BIND(v_id(call->caller->id), v_id(a->id)), &row, &found);
    if (e)
        return e;
    return found ? reply(&v) : ERR_MISSING_ACCESS;
}

/* --- private channels
 * ----------------------------------------------------------------------------- */

static const char APPLICATION_OF_BOT[] = "select id from applications where bot_id = $1";

/* The application whose bot somebody talks to; 0: it is no bot. */
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

static const char INSTALLED_FOR[] =
    "select 1 from authorizations where application_id = $1 and user_id = $2 and installed = 1 "
    "union all select 1 from integrations i join members m on m.guild_id = i.guild_id "
    "where i.application_id = $1 and i.type = 'service' and m.user_id = $2 limit 1";
static const char DIRECT_VERSION[] =
    "select max(version) from command_indexes where id in ($1, $2, $3)";

/* With a bot: what it does in direct channels, for those who have it installed somewhere. */
static enum err reply_direct(struct call *call)
{
    snowflake channel_id = call->target.channel->id, me = call->caller->id;
    struct view v = { .call = call, .kind = INDEX_APPLICATION, .context = 1u << CONTEXT_BOT_DM };
    struct rows row;
    bool installed;

    enum err e = application_across(call, &v.key);
    if (!e)
        e = tx_one(call->tx, INSTALLED_FOR, BIND(v_id(v.key), v_id(me)), &row, &installed);
    if (!e) {
        v.nothing = !installed;
        e = tx_one(call->tx, DIRECT_VERSION, BIND(v_id(channel_id), v_id(v.key), v_id(me)), &row,
                   &installed);
    }
    if (e)
        return e;
    v.index.version = v.key && !row_null(&row, 0) ? row_id(&row, 0) : channel_id;
    return reply(&v);
}

/* GET /channels/{channel.id}/application-command-index */
enum err get_channel_command_index(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct view v = {
        .call = call,
        .kind = INDEX_GROUP,
        .key = c->id,
        .context = 1u << CONTEXT_PRIVATE_CHANNEL,
    };

    if (!channel_is_private(c->type))
        return ERR_CHANNEL_TYPE;
    return c->type == CHANNEL_DM ? reply_direct(call) : reply(&v);
}
