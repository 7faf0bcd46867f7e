/* roles.c - routes that list, create, modify and delete roles. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"

struct stored_role_icon {
    snowflake id; /* id of the role */
    struct opt_str icon;
};

static bool is_everyone_role(const struct role *r)
{
    return r->id == r->guild_id;
}

/* Returns an error if the caller grants permissions that the caller does not have. Owners and
 * administrators have all permissions. */
static enum err check_granted_permissions(const struct call *call, uint64_t granted)
{
    return granted & ~call->target.member_access->permissions ? call_get_rank_too_low_error(call)
                                                              : OK;
}

static enum err store_role_icon(struct call *call)
{
    const struct role_edit *in = call->body;
    struct stored_role_icon *retained = call_get_stage_data(call, "stored_role_icon");

    return store_uploaded_picture(call, "role-icons", retained->id, &in->icon, &retained->icon);
}

static enum err schedule_storing_role_icon(struct call *call, snowflake id)
{
    const struct role_edit *in = call->body;
    struct stored_role_icon *retained =
        call_store_stage_data(call, "stored_role_icon", sizeof *retained);

    retained->id = id;
    retained->icon.given = in->icon.given;
    if (in->icon.given == GIVEN) {
        call->read = call_read_nothing_but_path_objects;
        call->compute = store_role_icon;
    }
    return OK;
}

static void emit_role_event(struct call *call, enum event event, const struct role *r)
{
    struct guild_role_event e = { r->guild_id, r };

    call_emit_event(call, event, audience_of_guild(r->guild_id), &guild_role_event_schema, &e);
}

static enum err list_roles(struct call *call)
{
    struct list roles;
    enum err e = guild_roles_list(call->tx, call->target.guild->id, &roles);

    return e ? e : call_reply_with_object(call, &roles);
}

static enum err get_role(struct call *call)
{
    return call_reply_with_object(call, call->target.role);
}

/* Fields of a role that the audit log records. */
static const struct field audited_role[] = {
    { FIELD(struct role, name), .type = &type_text },
    { FIELD(struct role, color), .type = &type_int },
    { FIELD(struct role, colors), .type = &type_role_colors },
    { FIELD(struct role, permissions), .type = &type_permissions },
    { FIELD(struct role, hoist), .type = &type_bool },
    { FIELD(struct role, mentionable), .type = &type_bool },
    { FIELD_AS(struct role, icon, "icon_hash"), .type = &type_text },
    { FIELD(struct role, unicode_emoji), .type = &type_text },
    { 0 },
};

static enum err schedule_storing_new_role_icon(struct call *call)
{
    return schedule_storing_role_icon(call, snowflake_new());
}

static enum err check_role_limit(struct call *call)
{
    struct list roles;
    enum err e = guild_roles_list(call->tx, call->target.guild->id, &roles);

    return e || roles.count < MOST_ROLES ? e : ERR_MAX_ROLES;
}

/* Creates a role at position 1, directly above @everyone. */
static enum err create_role(struct call *call)
{
    snowflake guild_id = call->target.guild->id;
    const struct stored_role_icon *retained = call_get_stage_data(call, "stored_role_icon");
    struct role everyone;

    enum err e = role_find(call->tx, guild_id, guild_id, &everyone);
    if (e)
        return e;
    struct role role = {
        .id = retained->id,
        .guild_id = guild_id,
        .name = STR("new role"),
        .permissions = everyone.permissions,
        .position = 1,
        .icon = retained->icon,
    };
    role_edit_apply(call->arena, &role, call->body, everyone.permissions);
    e = check_granted_permissions(call, role.permissions);
    if (!e)
        e = check_role_limit(call);
    if (!e)
        e = roles_shift_up_by_one_position(call->tx, guild_id);
    if (!e)
        e = role_insert(call->tx, &role);
    if (!e)
        e = audit_log_record_object_change(call, guild_id, AUDIT_ROLE_CREATE, role.id, audited_role,
                                           NULL, &role);
    if (e)
        return e;
    emit_role_event(call, EVENT_GUILD_ROLE_CREATE, &role);
    return call_reply_with_object(call, &role);
}

static enum err schedule_storing_changed_role_icon(struct call *call)
{
    return schedule_storing_role_icon(call, call_get_path_id(call, "role.id"));
}

static bool edit_changes_more_than_permissions(const struct role_edit *in)
{
    return in->name.given || in->color.given || in->colors.given || in->hoist.given ||
           in->mentionable.given || in->icon.given || in->unicode_emoji.given;
}

static enum err modify_role(struct call *call)
{
    const struct role_edit *in = call->body;
    const struct stored_role_icon *retained = call_get_stage_data(call, "stored_role_icon");
    struct role role = *call->target.role, everyone;

    enum err e = role_find(call->tx, role.guild_id, role.guild_id, &everyone);
    if (e)
        return e;
    role_edit_apply(call->arena, &role, in, everyone.permissions);
    if (retained->icon.given != ABSENT)
        role.icon = retained->icon;
    e = delete_previous_picture(call, "role-icons", role.id, &call->target.role->icon, &role.icon);
    if (!e)
        e = check_granted_permissions(call, role.permissions & ~call->target.role->permissions);
    if (!e && is_everyone_role(&role) && edit_changes_more_than_permissions(in))
        e = ERR_INVALID_ROLE;
    if (!e)
        e = role_update(call->tx, &role);
    if (!e)
        e = audit_log_record_object_change(call, role.guild_id, AUDIT_ROLE_UPDATE, role.id,
                                           audited_role, call->target.role, &role);
    if (e)
        return e;
    emit_role_event(call, EVENT_GUILD_ROLE_UPDATE, &role);
    if (role.permissions != call->target.role->permissions)
        e = hook_permissions_changed(call, &(struct permission_change){ role.guild_id, NULL });
    return e ? e : call_reply_with_object(call, &role);
}

enum err role_delete_and_emit(struct call *call, const struct role *role)
{
    enum err e = role_delete(call, role);
    if (!e)
        e = audit_log_record_object_change(call, role->guild_id, AUDIT_ROLE_DELETE, role->id,
                                           audited_role, role, NULL);
    if (!e)
        e = role_emit_delete(call, role);
    return e ? e
             : hook_permissions_changed(call, &(struct permission_change){ role->guild_id, NULL });
}

static enum err delete_role(struct call *call)
{
    const struct role *role = call->target.role;

    return is_everyone_role(role) || role->managed ? ERR_INVALID_ROLE
                                                   : role_delete_and_emit(call, role);
}

enum err role_emit_imported(struct call *call, snowflake guild_id, snowflake id, bool created)
{
    struct role *role = arena_alloc(call->arena, sizeof *role);
    enum err e = role_find(call->tx, guild_id, id, role);

    if (e)
        return e;
    emit_role_event(call, created ? EVENT_GUILD_ROLE_CREATE : EVENT_GUILD_ROLE_UPDATE, role);
    return hook_permissions_changed(call, &(struct permission_change){ guild_id, NULL });
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/roles",
        .name = "list_roles",
        .doc = "All roles of a guild, lowest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_roles,
        .handle = list_roles,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/roles/{role.id}",
        .name = "get_role",
        .doc = "One role.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_role,
        .handle = get_role,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/roles",
        .name = "create_role",
        .doc = "Create a role just above @everyone. It may have only permissions that the caller "
               "has.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .body = &role_body,
        .reply = &type_role,
        .fires = (const enum event[]){ EVENT_GUILD_ROLE_CREATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .prepare = schedule_storing_new_role_icon,
        .handle = create_role,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/roles",
        .name = "move_roles",
        .doc = "Change the positions of roles below the caller's highest role. Other roles fill "
               "the gaps in order.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .body = &role_positions_body,
        .reply = &type_roles,
        .fires = (const enum event[]){ EVENT_GUILD_ROLE_UPDATE, EVENT_NONE },
        .handle = move_roles,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/roles/{role.id}",
        .name = "modify_role",
        .doc = "Change a role below the caller's highest role. For @everyone only the "
               "permissions can change.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .body = &role_body,
        .reply = &type_role,
        .fires = (const enum event[]){ EVENT_GUILD_ROLE_UPDATE, EVENT_VOICE_STATE_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .prepare = schedule_storing_changed_role_icon,
        .handle = modify_role,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/roles/{role.id}",
        .name = "delete_role",
        .doc = "Delete a role below the caller's highest role, also from its members.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .fires = (const enum event[]){ EVENT_GUILD_ROLE_DELETE, EVENT_GUILD_EMOJIS_UPDATE,
                                       EVENT_AUTO_MODERATION_RULE_UPDATE, EVENT_VOICE_STATE_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = delete_role,
    },
    { 0 },
};

const struct domain roles_domain = {
    .name = "Roles",
    .doc = "Roles of guilds: permissions and rank.",
    .routes = routes,
    .world = &roles_world,
};
