/* create.c - creates invites. */
#include "platform/invites/internal.h"

#include "base/clock.h"
#include "platform/guilds/guilds.h"

/* Checks the permission to invite. Guild channels need CREATE_INSTANT_INVITE; in a group only the
 * owner may invite. */
enum err check_invite_creation_permission(struct call *call)
{
    const struct channel *c = call->target.channel;

    if (c->type == CHANNEL_DM)
        return ERR_DM_CHANNEL;
    if (c->type == CHANNEL_GROUP)
        return c->owner_id.value == call->caller->id ? OK : ERR_MISSING_PERMISSIONS;
    return call_require_permissions(call, PERMISSION(CREATE_INSTANT_INVITE));
}

static void set_fields_of_new_invite(struct call *call, enum invite_type type, int64_t max_age,
                                     int64_t max_uses, struct invite *ret)
{
    int64_t now = clock_us();

    *ret = (struct invite){
        .type = type,
        .inviter_id = call->caller->id,
        .created_at = now,
        .expires_at = { max_age ? GIVEN : GIVEN_NULL, now + max_age * 1000000 },
        .max_age = max_age,
        .max_uses = max_uses,
    };
}

static void init_channel_invite(struct call *call, struct invite *ret)
{
    const struct invite_create_request *in = call->body;
    const struct channel *c = call->target.channel;

    set_fields_of_new_invite(call, c->type == CHANNEL_GROUP ? INVITE_GROUP : INVITE_GUILD,
                             in->max_age, in->max_uses, ret);
    ret->channel_id = opt_id_or_null(c->id);
    if (c->guild_id.value)
        ret->guild_id = opt_id_or_null(c->guild_id.value);
    ret->temporary = in->temporary;
    ret->role_ids = in->role_ids;
    ret->flags = (struct opt_int){ in->flags ? GIVEN : ABSENT, in->flags };
    if (in->target_type.given != GIVEN)
        return;
    ret->target_type = in->target_type;
    if (in->target_type.value == INVITE_TO_STREAM)
        ret->target_user_id = in->target_user_id.value;
    else
        ret->target_application_id = in->target_application_id.value;
}

/* Returns an error unless the caller could assign each role that the invite grants. */
static enum err check_invite_roles(struct call *call, const struct list *ids)
{
    const snowflake *id = ids->items;
    struct json_path all = json_path_key(NULL, STR("role_ids"));
    struct role role;
    enum err e = OK;

    if (!ids->count)
        return OK;
    const struct member_access *s = call->target.member_access;
    if (!s)
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_ROLES));
    /* An invite that grants roles needs MANAGE_ROLES in the whole guild, not only in the channel:
     * there MANAGE_ROLES only permits changes of overwrites. */
    if (!(s->permissions & PERMISSION(MANAGE_ROLES)))
        return get_error_for_permissions_missing_in_guild(s, PERMISSION(MANAGE_ROLES));
    for (size_t i = 0; i < ids->count && !e; i++) {
        struct json_path at = json_path_index(&all, i);

        e = role_find(call->tx, call->target.channel->guild_id.value, id[i], &role);
        if (e == ERR_UNKNOWN_ROLE || (!e && (role.managed || role.id == role.guild_id))) {
            form_add_error(&call->form, &at, FORM_CHOICES,
                           "Value must be a role that can be assigned.");
            return ERR_INVALID_FORM_BODY;
        }
        if (!e && !member_can_grant_invite_role(s, &role))
            e = call_get_rank_too_low_error(call);
    }
    return e;
}

static enum err check_invite_target_user(struct call *call, const struct invite *i)
{
    struct user user;

    return i->target_user_id ? user_find(call->tx, i->target_user_id, &user) : OK;
}

enum err create_channel_invite(struct call *call)
{
    const struct invite_create_request *in = call->body;
    const struct channel *c = call->target.channel;
    struct invite invite;
    struct list targets;
    bool found = false, targeted = false;

    if (c->type == CHANNEL_CATEGORY || channel_is_thread(c->type))
        return ERR_CHANNEL_TYPE;
    if (in->flags & INVITE_GUEST && !channel_is_voice(c->type))
        return call_add_field_error(call, "flags", FORM_CHOICES,
                                    "Guest invites are only possible for voice channels.");
    init_channel_invite(call, &invite);
    enum err e = check_invite_target_user(call, &invite);
    if (!e)
        e = check_invite_roles(call, &in->role_ids);
    if (!e)
        e = invite_target_users_parse(call, &targets, &targeted);
    if (!e && !in->unique && !targeted && !in->role_ids.count && !in->flags)
        e = invite_find_equivalent(call->tx, &invite, &invite, &found);
    if (e || found)
        return e ? e : call_reply_with_object(call, &invite);
    e = invite_insert(call->tx, &invite);
    if (!e && targeted)
        e = invite_target_users_write(call->tx, invite.code, &targets);
    if (!e)
        e = invite_read_referenced_objects(call->tx, &invite);
    if (!e && invite.target_application_id && !invite.target_application)
        e = ERR_UNKNOWN_APPLICATION;
    if (!e && invite.type == INVITE_GUILD)
        e = audit_log_record_invite(call, AUDIT_INVITE_CREATE, &invite);
    if (!e)
        e = invite_emit_event(call, EVENT_INVITE_CREATE, &invite_create_schema, &invite);
    return e ? e : call_reply_with_object(call, &invite);
}

enum err permanent_invite_create(struct call *call, const struct channel *c)
{
    struct invite invite;
    struct str code;
    enum err e = permanent_invite_find(call->tx, c->id, &code);

    if (e || code.p)
        return e;
    set_fields_of_new_invite(call, INVITE_GUILD, 0, 0, &invite);
    invite.channel_id = opt_id_or_null(c->id);
    invite.guild_id = opt_id_or_null(c->guild_id.value);
    e = invite_insert(call->tx, &invite);
    if (!e)
        e = invite_read_referenced_objects(call->tx, &invite);
    if (!e)
        e = audit_log_record_invite(call, AUDIT_INVITE_CREATE, &invite);
    return e ? e : invite_emit_event(call, EVENT_INVITE_CREATE, &invite_create_schema, &invite);
}

enum err create_friend_invite(struct call *call)
{
    const struct friend_invite_create_request *in = call->body;
    struct invite invite;

    set_fields_of_new_invite(call, INVITE_FRIEND, in->max_age, in->max_uses, &invite);
    enum err e = invite_insert(call->tx, &invite);
    if (!e)
        e = invite_read_referenced_objects(call->tx, &invite);
    return e ? e : call_reply_with_object(call, &invite);
}
