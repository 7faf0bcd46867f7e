/* resolved.c - `resolved`: users, roles, channels, messages and files of the payload. */
#include "interactions/invoke.h"

#include <inttypes.h>

#include "platform/channels/channels.h"
#include "platform/members/members.h"

/* --- entries of the maps -------------------------------------------------------------- */

struct resolved_user {
    struct str key;
    struct user user;
};
struct resolved_member_entry {
    struct str key;
    struct member member;
};
struct resolved_role {
    struct str key;
    struct role role;
};
struct resolved_channel {
    struct str key;
    struct channel channel;
};
struct resolved_message {
    struct str key;
    struct message message;
};
struct payload_attachment {
    /* Must be the first field: the field table of attachments is used for this struct. */
    struct attachment attachment;
    bool ephemeral;
};
struct resolved_attachment_entry {
    struct str key;
    struct payload_attachment attachment;
};

static struct str format_id_key(struct arena *arena, snowflake id)
{
    return str_printf(arena, "%" PRIu64, id);
}

/* Returns whether the list already contains this key. The key is the first field of each struct in
 * the list. */
static bool resolved_map_has_key(const struct opt_list *map, size_t size, struct str key)
{
    for (size_t i = 0; i < map->value.count; i++)
        if (str_eq(*(const struct str *)((const char *)map->value.items + i * size), key))
            return true;
    return false;
}

static void *resolved_map_add_entry(struct arena *arena, struct opt_list *map, size_t size,
                                    struct str key)
{
    struct str *item = list_append(arena, &map->value, size);

    map->given = GIVEN;
    *item = key;
    return item;
}

/* --- users, members and roles --------------------------------------------------------- */

/* Adds the member to `resolved`, with his permissions in the interaction's channel. */
static enum err add_resolved_member(struct call *call, struct str key, snowflake id)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct member_access s;
    uint64_t user_permissions;
    enum err e = member_access_find_of_other_user(call->tx, v->it.guild_id, id, &s);

    if (e == ERR_UNKNOWN_MEMBER)
        return OK;
    if (!e)
        e = member_permissions_in_channel(call->tx, &s, call->target.channel, &user_permissions);
    if (e)
        return e;
    struct resolved_member_entry *item =
        resolved_map_add_entry(call->arena, &v->resolved.members, sizeof *item, key);
    item->member = *s.member;
    item->member.permissions = (struct opt_id){ GIVEN, user_permissions };
    return OK;
}

enum err resolve_user_option(struct call *call, snowflake id, bool *ret_found)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct str key = format_id_key(call->arena, id);
    struct user user;

    *ret_found = true;
    if (resolved_map_has_key(&v->resolved.users, sizeof(struct resolved_user), key))
        return OK;
    enum err e = user_find(call->tx, id, &user);
    if (e == ERR_UNKNOWN_USER) {
        *ret_found = false;
        return OK;
    }
    if (e)
        return e;
    struct resolved_user *item =
        resolved_map_add_entry(call->arena, &v->resolved.users, sizeof *item, key);
    item->user = user;
    return v->it.guild_id ? add_resolved_member(call, key, id) : OK;
}

enum err resolve_role_option(struct call *call, snowflake id, bool *ret_found)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct str key = format_id_key(call->arena, id);
    struct role role;

    *ret_found = v->it.guild_id != 0;
    if (!*ret_found || resolved_map_has_key(&v->resolved.roles, sizeof(struct resolved_role), key))
        return OK;
    enum err e = role_find(call->tx, v->it.guild_id, id, &role);
    if (e == ERR_UNKNOWN_ROLE) {
        *ret_found = false;
        return OK;
    }
    if (e)
        return e;
    struct resolved_role *item =
        resolved_map_add_entry(call->arena, &v->resolved.roles, sizeof *item, key);
    item->role = role;
    return OK;
}

enum err resolve_mentionable_option(struct call *call, snowflake id, bool *ret_found)
{
    enum err e = resolve_role_option(call, id, ret_found);

    return e || *ret_found ? e : resolve_user_option(call, id, ret_found);
}

/* --- channels ------------------------------------------------------------------------- */

static bool is_allowed_channel_type(const struct list *types, int64_t type)
{
    const int64_t *t = types->items;

    for (size_t i = 0; i < types->count; i++)
        if (t[i] == type)
            return true;
    return types->count == 0;
}

static enum err add_resolved_channel(struct call *call, struct str key, const struct channel *c,
                                     uint64_t user_permissions)
{
    struct invocation_state *v = call_get_invocation_state(call);
    uint64_t bot_permissions = 0;
    enum err e = v->bot_is_member
                     ? member_permissions_in_channel(call->tx, &v->bot, c, &bot_permissions)
                     : OK;

    if (e)
        return e;
    struct resolved_channel *item =
        resolved_map_add_entry(call->arena, &v->resolved.channels, sizeof *item, key);
    item->channel = *c;
    item->channel.permission_overwrites.given = ABSENT;
    item->channel.permissions = (struct opt_id){ GIVEN, user_permissions };
    if (v->bot_is_member)
        item->channel.app_permissions = (struct opt_id){ GIVEN, bot_permissions };
    return channel_read_last_pin_time(call->tx, &item->channel);
}

enum err resolve_channel_option(struct call *call, snowflake id, const struct list *types,
                                bool *ret_found)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct str key = format_id_key(call->arena, id);
    struct channel c;
    uint64_t user_permissions;

    *ret_found = false;
    if (!v->it.guild_id)
        return OK;
    enum err e = channel_find(call->tx, id, &c);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (c.guild_id.given != GIVEN || c.guild_id.value != v->it.guild_id ||
        !is_allowed_channel_type(types, c.type))
        return OK;
    e = member_permissions_in_channel(call->tx, call->target.member_access, &c, &user_permissions);
    if (e || !(user_permissions & PERMISSION(VIEW_CHANNEL)))
        return e;
    *ret_found = true;
    if (resolved_map_has_key(&v->resolved.channels, sizeof(struct resolved_channel), key))
        return OK;
    return add_resolved_channel(call, key, &c, user_permissions);
}

/* --- messages and attachments --------------------------------------------------------- */

void add_resolved_message(struct call *call, const struct message *m)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct resolved_message *item = resolved_map_add_entry(
        call->arena, &v->resolved.messages, sizeof *item, format_id_key(call->arena, m->id));

    item->message = *m;
}

void add_resolved_attachment(struct call *call, const struct attachment *a)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct resolved_attachment_entry *item = resolved_map_add_entry(
        call->arena, &v->resolved.attachments, sizeof *item, format_id_key(call->arena, a->id));

    item->attachment = (struct payload_attachment){ *a, true };
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
    { FIELD(struct payload_attachment, ephemeral), .type = &type_bool },
    { 0 },
};
static const struct schema resolved_attachment = {
    .name = "ResolvedAttachment",
    .size = sizeof(struct payload_attachment),
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
    { FIELD(struct resolved_objects, users), .type = &type_users_map, .flags = OPTIONAL },
    { FIELD(struct resolved_objects, members), .type = &type_members_map, .flags = OPTIONAL },
    { FIELD(struct resolved_objects, roles), .type = &type_roles_map, .flags = OPTIONAL },
    { FIELD(struct resolved_objects, channels), .type = &type_channels_map, .flags = OPTIONAL },
    { FIELD(struct resolved_objects, messages), .type = &type_messages_map, .flags = OPTIONAL },
    { FIELD(struct resolved_objects, attachments), .type = &type_attachments_map,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema resolved_schema = {
    .name = "Resolved",
    .size = sizeof(struct resolved_objects),
    .fields = resolved_fields,
    .doc = "Objects that an interaction refers to, by id.",
};
static const struct type type_resolved = { .kind = KIND_OBJECT, .schema = &resolved_schema };

struct str encode_interaction_payload_object_json(struct call *call, const struct type *type,
                                                  const void *object)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, CALL_MAX_REPLY);
    schema_encode(&j, type, object);
    return buf_move_to_arena(&out, call->arena);
}

struct str encode_resolved_objects_json(struct call *call)
{
    const struct resolved_objects *r = &call_get_invocation_state(call)->resolved;
    bool any = r->users.given || r->members.given || r->roles.given || r->channels.given ||
               r->messages.given || r->attachments.given;

    return any ? encode_interaction_payload_object_json(call, &type_resolved, r)
               : (struct str){ 0 };
}
