/* resolved.c - `resolved`: users, roles, channels, messages and files that a payload refers to. */
#include "interactions/invoke.h"

#include <inttypes.h>

#include "platform/channels/channels.h"
#include "platform/members/members.h"

/* --- entries of the maps -------------------------------------------------------------- */

struct user_item {
    struct str key;
    struct user user;
};
struct member_item {
    struct str key;
    struct member member;
};
struct role_item {
    struct str key;
    struct role role;
};
struct channel_item {
    struct str key;
    struct channel channel;
};
struct message_item {
    struct str key;
    struct message message;
};
struct seen_attachment {
    struct attachment attachment; /* must be first: shares the field table */
    bool ephemeral;
};
struct attachment_item {
    struct str key;
    struct seen_attachment attachment;
};

static struct str key_of(struct arena *arena, snowflake id)
{
    return str_printf(arena, "%" PRIu64, id);
}

/* Returns true if the map has this key, which is the first member of each entry type. */
static bool has_key(const struct opt_list *map, size_t size, struct str key)
{
    for (size_t i = 0; i < map->value.count; i++)
        if (str_eq(*(const struct str *)((const char *)map->value.items + i * size), key))
            return true;
    return false;
}

static void *resolved_add(struct arena *arena, struct opt_list *map, size_t size, struct str key)
{
    struct str *item = list_add(arena, &map->value, size);

    map->given = GIVEN;
    *item = key;
    return item;
}

/* --- users, members and roles --------------------------------------------------------- */

/* Adds the member with its permissions in the interaction's channel. */
static enum err add_member(struct call *call, struct str key, snowflake id)
{
    struct invoking *v = invoking_of(call);
    struct standing s;
    uint64_t rights;
    enum err e = standing_of_member(call->tx, v->it.guild_id, id, &s);

    if (e == ERR_UNKNOWN_MEMBER)
        return OK;
    if (!e)
        e = standing_rights_in(call->tx, &s, call->target.channel, &rights);
    if (e)
        return e;
    struct member_item *item = resolved_add(call->arena, &v->resolved.members, sizeof *item, key);
    item->member = *s.member;
    item->member.permissions = (struct opt_id){ GIVEN, rights };
    return OK;
}

enum err resolve_user(struct call *call, snowflake id, bool *ret_found)
{
    struct invoking *v = invoking_of(call);
    struct str key = key_of(call->arena, id);
    struct user user;

    *ret_found = true;
    if (has_key(&v->resolved.users, sizeof(struct user_item), key))
        return OK;
    enum err e = user_find(call->tx, id, &user);
    if (e == ERR_UNKNOWN_USER) {
        *ret_found = false;
        return OK;
    }
    if (e)
        return e;
    struct user_item *item = resolved_add(call->arena, &v->resolved.users, sizeof *item, key);
    item->user = user;
    return v->it.guild_id ? add_member(call, key, id) : OK;
}

enum err resolve_role(struct call *call, snowflake id, bool *ret_found)
{
    struct invoking *v = invoking_of(call);
    struct str key = key_of(call->arena, id);
    struct role role;

    *ret_found = v->it.guild_id != 0;
    if (!*ret_found || has_key(&v->resolved.roles, sizeof(struct role_item), key))
        return OK;
    enum err e = role_find(call->tx, v->it.guild_id, id, &role);
    if (e == ERR_UNKNOWN_ROLE) {
        *ret_found = false;
        return OK;
    }
    if (e)
        return e;
    struct role_item *item = resolved_add(call->arena, &v->resolved.roles, sizeof *item, key);
    item->role = role;
    return OK;
}

enum err resolve_mentionable(struct call *call, snowflake id, bool *ret_found)
{
    enum err e = resolve_role(call, id, ret_found);

    return e || *ret_found ? e : resolve_user(call, id, ret_found);
}

/* --- channels ------------------------------------------------------------------------- */

static bool is_type(const struct list *types, int64_t type)
{
    const int64_t *t = types->items;

    for (size_t i = 0; i < types->count; i++)
        if (t[i] == type)
            return true;
    return types->count == 0;
}

static enum err add_channel(struct call *call, struct str key, const struct channel *c,
                            uint64_t rights)
{
    struct invoking *v = invoking_of(call);
    uint64_t bots = 0;
    enum err e = v->bot_is_member ? standing_rights_in(call->tx, &v->bot, c, &bots) : OK;

    if (e)
        return e;
    struct channel_item *item = resolved_add(call->arena, &v->resolved.channels, sizeof *item, key);
    item->channel = *c;
    item->channel.permission_overwrites.given = ABSENT;
    item->channel.permissions = (struct opt_id){ GIVEN, rights };
    if (v->bot_is_member)
        item->channel.app_permissions = (struct opt_id){ GIVEN, bots };
    return channel_load_pins_time(call->tx, &item->channel);
}

enum err resolve_channel(struct call *call, snowflake id, const struct list *types, bool *ret_found)
{
    struct invoking *v = invoking_of(call);
    struct str key = key_of(call->arena, id);
    struct channel c;
    uint64_t rights;

    *ret_found = false;
    if (!v->it.guild_id)
        return OK;
    enum err e = channel_find(call->tx, id, &c);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (c.guild_id.given != GIVEN || c.guild_id.value != v->it.guild_id || !is_type(types, c.type))
        return OK;
    e = standing_rights_in(call->tx, call->target.standing, &c, &rights);
    if (e || !(rights & PERMISSION(VIEW_CHANNEL)))
        return e;
    *ret_found = true;
    if (has_key(&v->resolved.channels, sizeof(struct channel_item), key))
        return OK;
    return add_channel(call, key, &c, rights);
}

/* --- messages and attachments --------------------------------------------------------- */

void resolve_message(struct call *call, const struct message *m)
{
    struct invoking *v = invoking_of(call);
    struct message_item *item =
        resolved_add(call->arena, &v->resolved.messages, sizeof *item, key_of(call->arena, m->id));

    item->message = *m;
}

void resolve_attachment(struct call *call, const struct attachment *a)
{
    struct invoking *v = invoking_of(call);
    struct attachment_item *item = resolved_add(call->arena, &v->resolved.attachments, sizeof *item,
                                                key_of(call->arena, a->id));

    item->attachment = (struct seen_attachment){ *a, true };
}

/* --- JSON ----------------------------------------------------------------------------- */

static const struct field member_fields[] = {
    { FIELD(struct member, nick), .type = &type_nick, .flags = NULLABLE },
    { FIELD(struct member, avatar), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct member, roles), .type = &type_ids },
    { FIELD(struct member, joined_at), .type = &type_time },
    { FIELD(struct member, premium_since), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct member, pending), .type = &type_bool },
    { FIELD(struct member, communication_disabled_until), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct member, flags), .type = &type_count },
    { FIELD(struct member, permissions), .type = &type_permissions },
    { 0 },
};
static const struct schema resolved_member = {
    .name = "ResolvedMember",
    .size = sizeof(struct member),
    .fields = member_fields,
    .doc = "A member, without its account.",
};

static const struct type type_resolved_member = { .kind = KIND_OBJECT, .schema = &resolved_member };

static const struct field attachment_fields[] = {
    { FIELD(struct attachment, id), .type = &type_id },
    { FIELD(struct attachment, filename), .type = &type_text },
    { FIELD(struct attachment, description), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct attachment, content_type), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct attachment, size), .type = &type_count },
    { FIELD(struct attachment, url), .type = &type_text },
    { FIELD(struct attachment, proxy_url), .type = &type_text },
    { FIELD(struct attachment, width), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct attachment, height), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct seen_attachment, ephemeral), .type = &type_bool },
    { 0 },
};
static const struct schema resolved_attachment = {
    .name = "ResolvedAttachment",
    .size = sizeof(struct seen_attachment),
    .fields = attachment_fields,
    .doc = "An uploaded file of an option; it is stored for 15 minutes.",
};
static const struct type type_resolved_attachment = { .kind = KIND_OBJECT,
                                                      .schema = &resolved_attachment };

static const struct type type_users_map = { .kind = KIND_MAP, .of = &type_partial_user };
static const struct type type_members_map = { .kind = KIND_MAP, .of = &type_resolved_member };
static const struct type type_roles_map = { .kind = KIND_MAP, .of = &type_role };
static const struct type type_channels_map = { .kind = KIND_MAP, .of = &type_channel };
static const struct type type_messages_map = { .kind = KIND_MAP, .of = &type_message };
static const struct type type_attachments_map = { .kind = KIND_MAP,
                                                  .of = &type_resolved_attachment };

static const struct field resolved_fields[] = {
    { FIELD(struct resolved, users), .type = &type_users_map, .flags = OPTIONAL },
    { FIELD(struct resolved, members), .type = &type_members_map, .flags = OPTIONAL },
    { FIELD(struct resolved, roles), .type = &type_roles_map, .flags = OPTIONAL },
    { FIELD(struct resolved, channels), .type = &type_channels_map, .flags = OPTIONAL },
    { FIELD(struct resolved, messages), .type = &type_messages_map, .flags = OPTIONAL },
    { FIELD(struct resolved, attachments), .type = &type_attachments_map, .flags = OPTIONAL },
    { 0 },
};
static const struct schema resolved_schema = {
    .name = "Resolved",
    .size = sizeof(struct resolved),
    .fields = resolved_fields,
    .doc = "Objects that an interaction refers to, by id.",
};
static const struct type type_resolved = { .kind = KIND_OBJECT, .schema = &resolved_schema };

struct str object_text(struct call *call, const struct type *type, const void *object)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, CALL_MAX_REPLY);
    schema_encode(&j, type, object);
    return buf_take(&out, call->arena);
}

struct str resolved_text(struct call *call)
{
    const struct resolved *r = &invoking_of(call)->resolved;
    bool any = r->users.given || r->members.given || r->roles.given || r->channels.given ||
               r->messages.given || r->attachments.given;

    return any ? object_text(call, &type_resolved, r) : (struct str){ 0 };
}
