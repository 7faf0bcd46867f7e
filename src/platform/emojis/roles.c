/* roles.c - restriction of an emoji to roles. */
#include "platform/emojis/internal.h"

#include "model/fields/ids.h"
#include "platform/guilds/guilds.h"

static bool role_list_contains_id(const struct list *roles, snowflake id)
{
    const struct role *all = roles->items;

    for (size_t i = 0; i < roles->count; i++)
        if (all[i].id == id)
            return true;
    return false;
}

enum err emoji_validate_roles(struct call *call, const struct list *given, struct list *ret)
{
    snowflake guild_id = call->target.guild->id;
    const snowflake *ids = given->items;
    struct json_path all = json_path_key(NULL, STR("roles"));
    struct list roles;
    enum err e = given->count ? guild_roles_list(call->tx, guild_id, &roles) : OK;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < given->count; i++) {
        struct json_path at = json_path_index(&all, i);

        if (!role_list_contains_id(&roles, ids[i]))
            form_add_error(&call->form, &at, "EMOJI_UNKNOWN_ROLE", "The guild has no such role.");
        else if (ids[i] != guild_id && !id_list_contains(ret, ids[i]))
            id_list_add(call->arena, ret, ids[i]);
    }
    return e || !form_has_errors(&call->form) ? e : ERR_INVALID_FORM_BODY;
}

bool emoji_roles_equal(const struct list *a, const struct list *b)
{
    bool equal = a->count == b->count;

    for (size_t i = 0; equal && i < a->count; i++)
        equal = id_list_contains(b, ((const snowflake *)a->items)[i]);
    return equal;
}

static void copy_role_ids_without(struct arena *arena, const struct list *ids, snowflake id,
                                  struct list *ret)
{
    *ret = (struct list){ 0 };
    for (size_t i = 0; i < ids->count; i++)
        if (((const snowflake *)ids->items)[i] != id)
            id_list_add(arena, ret, ((const snowflake *)ids->items)[i]);
}

enum err emojis_remove_role(struct call *call, const struct role *role)
{
    struct list emojis;
    bool changed = false;
    enum err e = guild_emojis_list(call->tx, role->guild_id, &emojis);

    for (size_t i = 0; !e && i < emojis.count; i++) {
        struct emoji *emoji = &((struct emoji *)emojis.items)[i];
        struct list left;

        if (!id_list_contains(&emoji->roles, role->id))
            continue;
        copy_role_ids_without(call->arena, &emoji->roles, role->id, &left);
        emoji->roles = left;
        e = emoji_update(call->tx, emoji);
        changed = true;
    }
    return e || !changed ? e : guild_emojis_emit_update(call, role->guild_id);
}
