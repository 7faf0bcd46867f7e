/* accept.c - accepts invites to guilds, groups and friendships. */
#include "model/fields/ids.h"
#include "platform/channels/channels.h"
#include "platform/invites/internal.h"
#include "platform/members/members.h"
#include "platform/relationships/friends.h"

static enum err join_invited_guild(struct call *call, const struct invite *i, snowflake user_id,
                                   bool *ret_new)
{
    const struct role *role = i->roles.value.items;
    struct member_to_add_to_guild newcomer = {
        .guild_id = i->guild_id.value,
        .user_id = user_id,
        .temporary = i->temporary || i->flags.value & INVITE_GUEST,
    };
    struct member member;

    enum err e = require_user_is_invite_target(call->tx, i, user_id);
    if (e)
        return e;
    for (size_t n = 0; n < i->roles.value.count; n++)
        id_list_add(call->arena, &newcomer.roles, role[n].id);
    return member_add_to_guild(call, &newcomer, &member, ret_new);
}

static enum err join_invited_group(struct call *call, const struct invite *i, snowflake user_id,
                                   bool *ret_new)
{
    struct user user;
    enum err e = user_find(call->tx, user_id, &user);

    return e ? e : group_channel_add_user(call, i->channel, &user, i->inviter_id, ret_new);
}

/* Makes the inviter and the user friends. Returns ERR_UNKNOWN_INVITE if one of them has blocked the
 * other. */
static enum err befriend_inviter(struct call *call, const struct invite *i, snowflake user_id,
                                 bool *ret_new)
{
    int64_t theirs, own;

    if (user_id == i->inviter_id)
        return ERR_OWN_FRIEND_INVITE;
    enum err e = relationship_type_read(call->tx, i->inviter_id, user_id, &theirs);
    if (!e)
        e = relationship_type_read(call->tx, user_id, i->inviter_id, &own);
    if (e)
        return e;
    if (theirs == RELATIONSHIP_BLOCKED || own == RELATIONSHIP_BLOCKED)
        return ERR_UNKNOWN_INVITE;
    return friendship_create(call, user_id, i->inviter_id, ret_new);
}

static enum err count_invite_use(struct call *call, struct invite *i)
{
    if (i->vanity)
        return vanity_invite_increment_use_count(call->tx, i->guild_id.value);
    enum err e = invite_increment_use_count(call->tx, i);

    if (e || !i->max_uses || i->uses < i->max_uses)
        return e;
    e = invite_delete(call->tx, i->code);
    return e ? e : invite_emit_event(call, EVENT_INVITE_DELETE, &invite_delete_schema, i);
}

enum err invite_accept(struct call *call, struct invite *i, snowflake user_id)
{
    bool is_new = false;
    enum err e = i->type == INVITE_GUILD   ? join_invited_guild(call, i, user_id, &is_new)
                 : i->type == INVITE_GROUP ? join_invited_group(call, i, user_id, &is_new)
                                           : befriend_inviter(call, i, user_id, &is_new);

    if (!e && is_new)
        e = count_invite_use(call, i);
    i->new_member = opt_bool_present(is_new);
    if (i->channel_id.given == GIVEN)
        i->accepted_channel_id = i->channel_id;
    return e;
}

enum err invite_accept_at_registration(struct call *call, const struct account_creation *made)
{
    struct invite invite;

    if (made->invite.given != GIVEN)
        return OK;
    enum err e = invite_find(call->tx, made->invite.value, &invite);
    if (!e && made->guild_required && invite.type != INVITE_GUILD)
        e = ERR_UNKNOWN_INVITE;
    if (!e)
        e = invite_accept(call, &invite, made->user_id);
    return e == ERR_UNKNOWN_INVITE
               ? call_add_field_error(call, "invite", "INVITE_CODE_INVALID",
                                      "The invite is either invalid or has expired.")
               : e;
}
