/* find_by_name.c - finds channels, users and roles by name. */
#include "tools/invoke/invoke.h"

#include <inttypes.h>
#include <stdio.h>

struct named_object {
    snowflake id;
    struct opt_str name, username;
    struct opt_id guild_id;
    struct opt_object user; /* struct named_object */
    struct opt_list recipients;
};

static const struct schema named_schema;
static const struct type type_named = { .kind = KIND_OBJECT, .schema = &named_schema };
static const struct type type_all_named = { .kind = KIND_ARRAY, .max = 100000, .of = &type_named };
static const struct field named_fields[] = {
    { FIELD(struct named_object, id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct named_object, name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct named_object, username), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct named_object, guild_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct named_object, user), .type = &type_named, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct named_object, recipients), .type = &type_all_named,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema named_schema = { .size = sizeof(struct named_object),
                                            .fields = named_fields };

static bool optional_name_equals(const struct opt_str *name, struct str text)
{
    return name->given == GIVEN && str_eq(name->value, text);
}

/* Parses a mention or an id: "<@123>", "<@!123>", "<@&123>", "<#123>" or "123". */
static bool parse_mention_or_id(struct str text, snowflake *ret)
{
    if (text.n > 3 && text.p[0] == '<' && text.p[text.n - 1] == '>') {
        text = str_slice(text.p + 1, text.n - 2);
        while (text.n &&
               (text.p[0] == '@' || text.p[0] == '!' || text.p[0] == '&' || text.p[0] == '#'))
            text = str_skip_bytes(text, 1);
    }
    return snowflake_parse(text, ret) && *ret;
}

static struct str remove_leading_mention_sign(struct str text)
{
    return text.n > 1 && (text.p[0] == '@' || text.p[0] == '#') ? str_skip_bytes(text, 1) : text;
}

/* --- channels ------------------------------------------------------------------------- */

static bool read_and_select_channel(struct invoke_command_state *v, snowflake id)
{
    char path[64];

    snprintf(path, sizeof path, "/channels/%" PRIu64, id);
    const struct named_object *c = invoke_get_json(v, &type_named, path);
    if (!c)
        return false;
    v->channel_id = id;
    v->guild_id = c->guild_id.value;
    return true;
}

static bool find_channel_in_guild(struct invoke_command_state *v, const struct named_object *guild,
                                  struct str name, size_t *found)
{
    char path[64];

    snprintf(path, sizeof path, "/guilds/%" PRIu64 "/channels", guild->id);
    const struct list *channels = invoke_get_json(v, &type_all_named, path);
    if (!channels)
        return false;
    for (size_t i = 0; i < channels->count; i++) {
        const struct named_object *c = &((const struct named_object *)channels->items)[i];

        if (!optional_name_equals(&c->name, name))
            continue;
        v->channel_id = c->id;
        v->guild_id = guild->id;
        ++*found;
    }
    return true;
}

bool find_channel_of_option(struct invoke_command_state *v)
{
    struct str name = str_of(v->options->channel), guild = { 0 };
    const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;
    snowflake id;
    size_t found = 0;

    if (parse_mention_or_id(name, &id))
        return read_and_select_channel(v, id);
    if (slash)
        guild = str_cut(&name, '/');
    name = remove_leading_mention_sign(name);
    const struct list *guilds = invoke_get_json(v, &type_all_named, "/users/@me/guilds");
    if (!guilds)
        return false;
    for (size_t i = 0; i < guilds->count; i++) {
        const struct named_object *g = &((const struct named_object *)guilds->items)[i];

        if ((!slash || optional_name_equals(&g->name, guild)) &&
            !find_channel_in_guild(v, g, name, &found))
            return false;
    }
    if (found == 1)
        return true;
    return print_invoke_error(found
                                  ? "'%s' is the name of several channels; write GUILD/CHANNEL, or "
                                    "an id"
                                  : "there is no channel '%s' that this account can view",
                              v->options->channel);
}

/* --- users and roles ------------------------------------------------------------------ */

static const struct list *search_members(struct invoke_command_state *v, struct str name)
{
    struct buf path;

    buf_init(&path, 8192);
    buf_printf(&path, "/guilds/%" PRIu64 "/members/search?limit=100&query=", v->guild_id);
    buf_add_str(&path, str_percent_encode(v->arena, name));
    return invoke_get_json(v, &type_all_named,
                           str_dup_cstring(v->arena, buf_move_to_arena(&path, v->arena)));
}

static const struct list *read_recipients_of_private_channel(struct invoke_command_state *v)
{
    char path[64];

    snprintf(path, sizeof path, "/channels/%" PRIu64, v->channel_id);
    const struct named_object *c = invoke_get_json(v, &type_named, path);
    return c ? &c->recipients.value : NULL;
}

static snowflake find_user_by_name(struct invoke_command_state *v, struct str name)
{
    const struct list *list =
        v->guild_id ? search_members(v, name) : read_recipients_of_private_channel(v);

    for (size_t i = 0; list && i < list->count; i++) {
        const struct named_object *n = &((const struct named_object *)list->items)[i],
                                  *user = n->user.value ? n->user.value : n;

        if (optional_name_equals(&user->username, name))
            return user->id;
    }
    return 0;
}

snowflake find_user_by_text(struct invoke_command_state *v, struct str text)
{
    snowflake id;

    if (!parse_mention_or_id(text, &id) &&
        !(id = find_user_by_name(v, remove_leading_mention_sign(text))))
        print_invoke_error("there is no user '%.*s' here", STR_ARGS(text));
    return id;
}

static snowflake find_role_or_channel_by_name(struct invoke_command_state *v, const char *kind,
                                              struct str name)
{
    char path[64];

    if (!v->guild_id)
        return 0;
    snprintf(path, sizeof path, "/guilds/%" PRIu64 "/%s", v->guild_id, kind);
    const struct list *list = invoke_get_json(v, &type_all_named, path);
    for (size_t i = 0; list && i < list->count; i++) {
        const struct named_object *n = &((const struct named_object *)list->items)[i];

        if (optional_name_equals(&n->name, name))
            return n->id;
    }
    return 0;
}

snowflake find_role_by_text(struct invoke_command_state *v, struct str text)
{
    snowflake id;

    if (!parse_mention_or_id(text, &id) && !(id = find_role_or_channel_by_name(v, "roles", text)) &&
        !(id = find_role_or_channel_by_name(v, "roles", remove_leading_mention_sign(text))))
        print_invoke_error("there is no role '%.*s' here", STR_ARGS(text));
    return id;
}

snowflake find_channel_by_text(struct invoke_command_state *v, struct str text)
{
    snowflake id;

    if (!parse_mention_or_id(text, &id) &&
        !(id = find_role_or_channel_by_name(v, "channels", remove_leading_mention_sign(text))))
        print_invoke_error("there is no channel '%.*s' here", STR_ARGS(text));
    return id;
}

/* Finds a user or a role; users are preferred, as in Discord. */
snowflake find_mentionable_by_text(struct invoke_command_state *v, struct str text)
{
    snowflake id;

    if (!parse_mention_or_id(text, &id) &&
        !(id = find_user_by_name(v, remove_leading_mention_sign(text))) &&
        !(id = find_role_or_channel_by_name(v, "roles", text)) &&
        !(id = find_role_or_channel_by_name(v, "roles", remove_leading_mention_sign(text))))
        print_invoke_error("there is no user and no role '%.*s' here", STR_ARGS(text));
    return id;
}
