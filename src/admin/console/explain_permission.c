/* explain_permission.c - GET /console/permissions: explains whether a member has a permission. */
#include <string.h>

#include "admin/console/internal.h"
#include "platform/accounts/operator.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/channels/deletion.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { CANDIDATES_MAX = 5 };

struct permission_query {
    struct str user, permission, channel, guild;
};

/* clang-format off */
static const struct type type_word = { .kind = KIND_STRING, .min = 1, .max = 200 };
static const struct type type_any = { .kind = KIND_RAW };
static const struct field permission_query_fields[] = {
    { FIELD(struct permission_query, user), .type = &type_word, .doc = "Id or name of the member" },
    { FIELD(struct permission_query, permission), .type = &type_word,
      .doc = "SEND_MESSAGES, or Send Messages" },
    { FIELD(struct permission_query, channel), .type = &type_word, .flags = OPTIONAL,
      .doc = "Id, name, or SERVER/CHANNEL; default: the whole server" },
    { FIELD(struct permission_query, guild), .type = &type_word, .flags = OPTIONAL,
      .doc = "Id or name of the server, if no channel is given" },
    { 0 },
};
/* clang-format on */
static const struct schema permission_query_schema = { .name = "PermissionQuery",
                                                       .size = sizeof(struct permission_query),
                                                       .fields = permission_query_fields };

static enum err refuse_unknown_username(struct call *call, const char *field, struct str name)
{
    const char *meant;
    enum err e = find_similar_username(call->tx, call->arena, name, &meant);

    if (e)
        return e;
    const char *problem = "there is no account with this id or name";
    if (meant)
        problem = str_printf(call->arena, "%s; did you mean '%s'?", problem, meant).p;
    return call_add_field_error(call, field, FORM_CHOICES, problem);
}

enum err find_user_named_in_console_query(struct call *call, const char *field, struct str name,
                                          struct user *ret)
{
    struct rows row;
    snowflake id;
    enum err e = snowflake_parse(name, &id) ? user_find(call->tx, id, ret) : ERR_UNKNOWN_USER;

    if (e == ERR_UNKNOWN_USER) {
        e = tx_one_or(call->tx, "select id from users where username = $1 order by id limit 1",
                      BIND(v_text(name)), ERR_UNKNOWN_USER, &row);
        if (!e)
            e = user_find(call->tx, row_id(&row, 0), ret);
    }
    return e == ERR_UNKNOWN_USER ? refuse_unknown_username(call, field, name) : e;
}

/* Compares "Send Messages" with "SEND_MESSAGES". */
static bool permission_name_matches(struct str words, const char *name)
{
    size_t n = strlen(name);

    if (words.n != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = words.p[i] == ' ' || words.p[i] == '-' ? '_' : words.p[i];

        if (c >= 'a' && c <= 'z')
            c = (char)(c - 32);
        if (c != name[i])
            return false;
    }
    return true;
}

static enum err find_permission_bit_by_name(struct call *call, struct str words, unsigned *ret)
{
    struct buf all;

    for (unsigned bit = 0; bit < 64; bit++)
        if (get_permission_name(bit) && permission_name_matches(words, get_permission_name(bit))) {
            *ret = bit;
            return OK;
        }
    buf_init(&all, 8192);
    buf_add_lit(&all, "must be one of: ");
    permission_set_append_names(&all, PERMISSIONS_ALL);
    buf_add_char(&all, '\0');
    enum err e = call_add_field_error(call, "permission", FORM_CHOICES, all.p);
    buf_clear(&all);
    return e;
}

/* Finds the channels with this name in the guilds of a user. */
static const char FIND_CHANNELS[] =
    "select c.id, g.name from members m join guilds g on g.id = m.guild_id and g.removed = 0 "
    "join channels c on c.guild_id = m.guild_id and c.type >= 0 where m.user_id = $1 and c.name = $2 and "
    "($3 = '' or g.name = $3) order by c.id limit $4";

static enum err find_channel_by_name(struct call *call, snowflake user_id, struct str words,
                                     snowflake *ret)
{
    struct str name = words, guild = STR("");
    const char *slash = memchr(words.p, '/', words.n);
    struct rows rows;
    struct buf found;
    int count = 0;

    if (slash) {
        guild = str_slice(words.p, (size_t)(slash - words.p));
        name = str_skip_bytes(words, guild.n + 1);
    }
    if (name.n > 1 && name.p[0] == '#')
        name = str_skip_bytes(name, 1);
    enum err e =
        tx_query(call->tx, FIND_CHANNELS,
                 BIND(v_id(user_id), v_text(name), v_text(guild), v_int(CANDIDATES_MAX)), &rows);
    if (e)
        return e;
    buf_init(&found, 4096);
    while (rows_next(&rows)) {
        *ret = row_id(&rows, 0);
        buf_printf(&found, "%s%.*s/%.*s (%llu)", count++ ? ", " : "", STR_ARGS(row_text(&rows, 1)),
                   STR_ARGS(name), (unsigned long long)*ret);
    }
    e = rows_end(&rows);
    if (!e && count != 1) {
        struct str problem =
            count ? str_printf(call->arena, "several channels have this name; use one of: %.*s",
                               STR_ARGS(buf_as_str(&found)))
                  : STR("no server of this account has a channel with this id or name");
        e = call_add_field_error(call, "channel", FORM_CHOICES, problem.p);
    }
    buf_clear(&found);
    return e;
}

static enum err find_channel_by_id_or_name(struct call *call, snowflake user_id, struct str words,
                                           struct channel *ret)
{
    snowflake id;
    enum err e = OK;

    if (!snowflake_parse(words, &id))
        e = find_channel_by_name(call, user_id, words, &id);
    if (!e)
        e = channel_find(call->tx, id, ret);
    if (e == ERR_UNKNOWN_CHANNEL || (!e && !ret->guild_id.value))
        e = call_add_field_error(call, "channel", FORM_CHOICES,
                                 "no server of this account has a channel with this id or name");
    return e;
}

/* Finds a guild by id or name. If `words` is empty, finds the user's guild, provided that the user
 * is in only one guild. */
static enum err find_guild_id_of_explanation(struct call *call, snowflake user_id, struct str words,
                                             snowflake *ret)
{
    struct rows row;
    bool found;

    if (snowflake_parse(words, ret))
        return OK;
    enum err e = tx_one(call->tx,
                        "select min(g.id), count(*) from members m join guilds g on g.id = "
                        "m.guild_id and g.removed = 0 where m.user_id = $1 and ($2 = '' or "
                        "g.name = $2)",
                        BIND(v_id(user_id), v_text(words)), &row, &found);
    if (e)
        return e;
    if (found && row_int(&row, 1) == 1) {
        *ret = row_id(&row, 0);
        return OK;
    }
    return call_add_field_error(call, "guild", FORM_CHOICES,
                                "name a channel, or one server of this account by id or name");
}

static void write_object_with_id_and_name_json(struct json_writer *j, const char *key, snowflake id,
                                               struct str name)
{
    json_write_key(j, str_of(key));
    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, id);
    json_write_name(j, "name");
    json_write_text(j, name);
    json_end_object(j);
}

void write_permission_steps_json(struct json_writer *j, const struct list *steps)
{
    const struct explained_permission_step *s = steps->items;

    json_write_name(j, "steps");
    json_begin_array(j);
    for (size_t i = 0; i < steps->count; i++) {
        json_begin_object(j);
        json_write_name(j, "text");
        json_write_text(j, s[i].text);
        json_write_name(j, "has");
        json_write_bool(j, s[i].has);
        json_end_object(j);
    }
    json_end_array(j);
}

/* GET /console/permissions */
static enum err get_permission_explanation(struct call *call)
{
    const struct permission_query *q = call->query;
    struct permission_explanation why;
    struct member_access access;
    struct channel channel = { 0 };
    struct guild guild;
    struct user user;
    unsigned bit = 0;
    snowflake guild_id = 0;
    enum err e = find_user_named_in_console_query(call, "user", q->user, &user);

    if (!e)
        e = find_permission_bit_by_name(call, q->permission, &bit);
    if (!e && q->channel.n)
        e = find_channel_by_id_or_name(call, user.id, q->channel, &channel);
    if (!e && !q->channel.n)
        e = find_guild_id_of_explanation(call, user.id, q->guild, &guild_id);
    if (!e && q->channel.n)
        guild_id = channel.guild_id.value;
    if (!e)
        e = member_access_find_of_other_user(call->tx, guild_id, user.id, &access);
    if (e == ERR_UNKNOWN_MEMBER)
        return call_add_field_error(call, "user", FORM_CHOICES,
                                    "the account is not a member of this server");
    if (!e)
        e = guild_find(call->tx, guild_id, &guild);
    if (!e)
        e = explain_permission(call->tx, &access, channel.id ? &channel : NULL, bit, &why);
    if (e)
        return e;
    struct json_writer j = call_get_reply_json_writer(call);

    json_begin_object(&j);
    write_object_with_id_and_name_json(&j, "user", user.id, user.username);
    write_object_with_id_and_name_json(&j, "guild", guild.id, guild.name);
    if (channel.id)
        write_object_with_id_and_name_json(&j, "channel", channel.id, channel.name.value);
    json_write_name(&j, "permission");
    json_write_text(&j, str_of(get_permission_name(bit)));
    json_write_name(&j, "allowed");
    json_write_bool(&j, why.allowed);
    json_write_name(&j, "permissions");
    json_write_id(&j, why.permissions);
    write_permission_steps_json(&j, &why.steps);
    json_write_name(&j, "cause");
    json_write_text(&j, why.cause);
    json_end_object(&j);
    return OK;
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/permissions",
        .name = "get_permission_explanation",
        .doc = "Explains step by step whether a member has a permission in a channel or server.",
        .service = true,
        .query = &permission_query_schema,
        .reply = &type_any,
        .store = ROUTE_STORE_READ,
        /* Runs in the background, because it searches the channels of all guilds of the user. */
        .background = true,
        .limit = &limit_console,
        .admit = check_console_permission,
        .handle = get_permission_explanation,
    },
    { 0 },
};

const struct domain console_permissions_domain = {
    .name = "Workbench: permissions",
    .doc = "For the operator: why a member has a permission or not. Paths begin with /console, not "
           "with /api.",
    .routes = routes,
};
