/* create.c - creates invites. */
#include "platform/invites/internal.h"

#include "base/clock.h"
#include "platform/guilds/guilds.h"

/* Guild channels need CREATE_INSTANT_INVITE; in a group only the owner may invite. */
enum err admit_invite_creation(struct call *call)
{
    const struct channel *c = call->target.channel;

    if (c->type == CHANNEL_DM)
        return ERR_DM_CHANNEL;
    if (c->type == CHANNEL_GROUP)
        return c->owner_id.value == call->caller->id ? OK : ERR_MISSING_PERMISSIONS;
    return call->target.rights & PERMISSION(CREATE_INSTANT_INVITE) ? OK : ERR_MISSING_PERMISSIONS;
}

static void invite_begin(struct call *call, enum invite_type type, int64_t max_age,
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

static void draft_channel_invite(struct call *call, struct invite *ret)
{
    const struct invite_draft *in = call->body;
    const struct channel *c = call->target.channel;

    invite_begin(call, c->type == CHANNEL_GROUP ? INVITE_GROUP : INVITE_GUILD, in->max_age,
                 in->max_uses, ret);
    ret->channel_id = given_id(c->id);
    if (c->guild_id.value)
        ret->guild_id = given_id(c->guild_id.value);
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

/* The caller must be able to assign each role that the invite grants. */
static enum err check_invite_roles(struct call *call, const struct list *ids)
{
    const snowflake *id = ids->items;
    struct place all = place_key(NULL, STR("role_ids"));
    struct role role;
    enum err e = OK;

    if (!ids->count)
        return OK;
    const struct standing *s = call->target.standing;
    if (!s)
        return call_lacks(call, PERMISSION(MANAGE_ROLES));
    /* MANAGE_ROLES in a channel is about overwrites; roles need the permission in the guild. */
    if (!(s->rights & PERMISSION(MANAGE_ROLES)))
        return standing_lacks(s, PERMISSION(MANAGE_ROLES));
    for (size_t i = 0; i < ids->count && !e; i++) {
        struct place at = place_index(&all, i);

        e = role_find(call->tx, call->target.channel->guild_id.value, id[i], &role);
        if (e == ERR_UNKNOWN_ROLE || (!e && (role.managed || role.id == role.guild_id))) {
            form_fail(&call->form, &at, FORM_CHOICES, "Value must be a role that can be assigned.");
            return ERR_INVALID_FORM_BODY;
        }
        if (!e && !invite_role_grantable(s, &role))
            e = ERR_MISSING_PERMISSIONS;
    }
    return e;
}

static enum err check_target_user(struct call *call, const struct invite *i)
{
    struct user user;

    return i->target_user_id ? user_find(call->tx, i->target_user_id, &user) : OK;
}

enum err create_channel_invite(struct call *call)
{
    const struct invite_draft *in = call->body;
    const struct channel *c = call->target.channel;
    struct invite invite;
    struct list targets;
    bool found = false, targeted = false;

    if (c->type == CHANNEL_CATEGORY || channel_is_thread(c->type))
        return ERR_CHANNEL_TYPE;
    if (in->flags & INVITE_GUEST && !channel_is_voice(c->type))
        return call_invalid(call, "flags", FORM_CHOICES,
                            "Guest invites are only possible for voice channels.");
    draft_channel_invite(call, &invite);
    enum err e = check_target_user(call, &invite);
    if (!e)
        e = check_invite_roles(call, &in->role_ids);
    if (!e)
        e = invite_targets_read(call, &targets, &targeted);
    if (!e && !in->unique && !targeted && !in->role_ids.count && !in->flags)
        e = invite_find_same(call->tx, &invite, &invite, &found);
    if (e || found)
        return e ? e : call_reply(call, &invite);
    e = invite_insert(call->tx, &invite);
    if (!e && targeted)
        e = invite_targets_save(call->tx, invite.code, &targets);
    if (!e)
        e = invite_load(call->tx, &invite);
    if (!e && invite.target_application_id && !invite.target_application)
        e = ERR_UNKNOWN_APPLICATION;
    if (!e && invite.type == INVITE_GUILD)
        e = invite_audit(call, AUDIT_INVITE_CREATE, &invite);
    if (!e)
        e = invite_announce(call, EVENT_INVITE_CREATE, &invite_create_schema, &invite);
    return e ? e : call_reply(call, &invite);
}

enum err invite_lasting_make(struct call *call, const struct channel *c)
{
    struct invite invite;
    struct str code;
    enum err e = invite_lasting(call->tx, c->id, &code);

    if (e || code.p)
        return e;
    invite_begin(call, INVITE_GUILD, 0, 0, &invite);
    invite.channel_id = given_id(c->id);
    invite.guild_id = given_id(c->guild_id.value);
    e = invite_insert(call->tx, &invite);
    if (!e)
        e = invite_load(call->tx, &invite);
    if (!e)
        e = invite_audit(call, AUDIT_INVITE_CREATE, &invite);
    return e ? e : invite_announce(call, EVENT_INVITE_CREATE, &invite_create_schema, &invite);
}

enum err create_friend_invite(struct call *call)
{
    const struct friend_invite_draft *in = call->body;
    struct invite invite;

    invite_begin(call, INVITE_FRIEND, in->max_age, in->max_uses, &invite);
    enum err e = invite_insert(call->tx, &invite);
    if (!e)
        e = invite_load(call->tx, &invite);
    return e ? e : call_reply(call, &invite);
}
