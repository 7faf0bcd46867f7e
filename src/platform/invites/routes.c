/* routes.c - route table of invites; reads and deletes them. */
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/invites/internal.h"

#include "api/deletion.h"
#include "api/hooks.h"
#include "gateway/gateway.h"
#include "platform/members/members.h"
#include "platform/relationships/relationship_pairs.h"
#include "platform/relationships/friends.h"
#include "platform/scheduled_events/scheduled_events.h"

enum err invite_emit_event(struct call *call, enum event event, const struct schema *schema,
                           const struct invite *i)
{
    struct audience to = audience_of_members_with_permission(i->guild_id.value, i->channel_id.value,
                                                             PERMISSION(MANAGE_CHANNELS));
    struct list roles;

    if (i->type != INVITE_GUILD)
        return OK;
    if (i->named_roles.count) {
        enum err e = guild_roles_list(call->tx, i->guild_id.value, &roles);

        if (e)
            return e;
        to = audience_limit_to_role_granters(
            to, invite_list_users_and_roles_that_see_code(call->arena, i, &roles));
    }
    call_emit_event(call, event, to, schema, i);
    return OK;
}

/* Returns ERR_UNKNOWN_INVITE for a friend invite if its inviter has blocked the caller. */
static enum err hide_invite_from_blocked_user(struct call *call, const struct invite *i)
{
    int64_t type = RELATIONSHIP_NONE;
    enum err e = OK;

    if (i->type == INVITE_FRIEND && call->caller)
        e = relationship_type_read(call->tx, i->inviter_id, call->caller->id, &type);
    if (e)
        return e;
    return type == RELATIONSHIP_BLOCKED ? ERR_UNKNOWN_INVITE : OK;
}

static enum err resolve_invite(struct call *call)
{
    struct invite *invite = arena_alloc(call->arena, sizeof *invite);
    enum err e = invite_find(call->tx, call_get_path_text(call, "invite.code"), invite);

    call->target.invite = invite;
    return e ? e : hide_invite_from_blocked_user(call, invite);
}

/* Adds the scheduled event that the query names to the reply. To a caller who is not a member, only
 * external scheduled events and those in the invite's channel are shown. */
static enum err add_event_to_invite(struct call *call, struct invite *i, struct opt_id id)
{
    struct scheduled_event *event = arena_alloc(call->arena, sizeof *event);
    enum err e = scheduled_event_find(call->tx, i->guild_id.value, id.value, event);

    if (e)
        return e == ERR_UNKNOWN_SCHEDULED_EVENT ? OK : e;
    if (event->channel_id.given != GIVEN || event->channel_id.value == i->channel_id.value)
        i->guild_scheduled_event = event;
    return OK;
}

static enum err get_invite(struct call *call)
{
    const struct invite_query *in = call->query;
    struct invite *i = call->target.invite;
    snowflake caller = call->caller ? call->caller->id : 0;
    enum err e =
        caller && caller == i->inviter_id ? OK : require_user_is_invite_target(call->tx, i, caller);

    if (e)
        return e;
    if (in->with_counts && i->guild) {
        i->approximate_member_count = opt_int_present(i->guild->member_count);
        i->approximate_presence_count = opt_int_present(
            gateway_online_member_count(api_get_options(call->api)->gateway, i->guild->id));
    }
    if (in->guild_scheduled_event_id.given == GIVEN && i->guild)
        e = add_event_to_invite(call, i, in->guild_scheduled_event_id);
    return e ? e : call_reply_with_object(call, i);
}

static enum err accept_invite(struct call *call)
{
    enum err e = invite_accept(call, call->target.invite, call->caller->id);

    return e ? e : call_reply_with_object(call, call->target.invite);
}

/* Removes those guild invites from the list whose code the caller may not see. Group invites are
 * not restricted. */
static void remove_invites_hidden_from_caller(const struct call *call, struct list *invites)
{
    struct invite *i = invites->items;
    size_t shown = 0;

    for (size_t n = 0; call->target.member_access && n < invites->count; n++)
        if (member_can_view_invite(&i[n], call->target.member_access))
            i[shown++] = i[n];
    if (call->target.member_access)
        invites->count = shown;
}

static enum err get_channel_invites(struct call *call)
{
    struct list invites;
    enum err e = invites_list_of_channel(call->tx, call->target.channel->id, &invites);

    remove_invites_hidden_from_caller(call, &invites);
    return e ? e : call_reply_with_object(call, &invites);
}

static enum err check_list_invites_permission(struct call *call)
{
    const uint64_t either = PERMISSION(MANAGE_GUILD) | PERMISSION(VIEW_AUDIT_LOG);

    return call->target.permissions & either ? OK
                                             : call_get_missing_any_permission_error(call, either);
}

static const struct type type_plain_invites = { .kind = KIND_ARRAY, .of = &type_invite };

/* Replies with the guild's invites. Only callers with MANAGE_GUILD also get the use counts. */
static enum err get_guild_invites(struct call *call)
{
    bool manages = call->target.permissions & PERMISSION(MANAGE_GUILD);
    struct list invites;
    enum err e = invites_list_of_guild(call->tx, call->target.guild->id, &invites);

    if (e)
        return e;
    remove_invites_hidden_from_caller(call, &invites);
    return manages ? call_reply_with_object(call, &invites)
                   : call_reply_with_object_of_type(call, &type_plain_invites, &invites);
}

/* --- deleting an invite -------------------------------------------------------------- */

/* Checks whether the caller may delete the invite. A guild invite needs MANAGE_CHANNELS or
 * MANAGE_GUILD; any other invite can be deleted only by its creator or the group's owner. */
static enum err check_delete_invite_permission(struct call *call)
{
    const struct invite *i = call->target.invite;
    struct member_access standing;
    uint64_t perms;

    if (i->vanity)
        return ERR_INVITE_CODE_INVALID;
    if (i->type != INVITE_GUILD) {
        bool owner = i->type == INVITE_GROUP && i->channel->owner_id.value == call->caller->id;

        return owner || i->inviter_id == call->caller->id ? OK : ERR_MISSING_PERMISSIONS;
    }
    enum err e = member_access_find(call->tx, i->guild_id.value, call->caller->id, &standing);
    if (!e)
        e = member_permissions_in_channel(call->tx, &standing, i->channel, &perms);
    if (e)
        return e;
    if ((perms & PERMISSION(MANAGE_CHANNELS)) || (standing.permissions & PERMISSION(MANAGE_GUILD)))
        return OK;
    e = get_error_for_permissions_missing_in_guild(&standing, PERMISSION(MANAGE_GUILD));
    return e == ERR_MISSING_PERMISSIONS
               ? permission_error_in_channel(call->tx, &standing, i->channel,
                                             PERMISSION(MANAGE_CHANNELS))
               : e;
}

static enum err remove_invite(struct call *call)
{
    struct invite *i = call->target.invite;
    enum err e = invite_delete(call->tx, i->code);

    if (!e && i->type == INVITE_GUILD)
        e = audit_log_record_invite(call, AUDIT_INVITE_DELETE, i);
    if (!e)
        e = invite_emit_event(call, EVENT_INVITE_DELETE, &invite_delete_schema, i);
    return e ? e : call_reply_with_object(call, i);
}

/* --- invites to become friends ------------------------------------------------------- */

static enum err get_friend_invites(struct call *call)
{
    struct list invites;
    enum err e = friend_invites_list_of_user(call->tx, call->caller->id, &invites);

    return e ? e : call_reply_with_object(call, &invites);
}

static enum err revoke_friend_invites(struct call *call)
{
    struct list invites;
    enum err e = friend_invites_list_of_user(call->tx, call->caller->id, &invites);

    for (size_t i = 0; !e && i < invites.count; i++)
        e = invite_delete(call->tx, ((struct invite *)invites.items)[i].code);
    return e ? e : call_reply_with_object(call, &invites);
}

static const struct path_resolver resolvers[] = {
    {
        .name = "invite.code",
        .field = "invite_code",
        .is_text = true,
        .doc = "The code of an invite that has not expired.",
        .resolve = resolve_invite,
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/invites",
        .name = "create_channel_invite",
        .doc = "Create an invite; needs CREATE_INSTANT_INVITE, or to be the owner of the group.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &invite_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = 256 * 1024,
        .reply = &type_invite_with_metadata,
        .fires = (const enum event[]){ EVENT_INVITE_CREATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .admit = check_invite_creation_permission,
        .handle = create_channel_invite,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/invites",
        .name = "get_channel_invites",
        .doc = "Invites to a channel. Those that grant roles are visible only to their creator "
               "and to members who could assign all of these roles.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_CHANNELS),
        .reply = &type_invites_with_metadata,
        .handle = get_channel_invites,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/invites",
        .name = "get_guild_invites",
        .doc = "Invites to a guild; needs MANAGE_GUILD, or VIEW_AUDIT_LOG (without use counts). "
               "Those that grant roles are visible only to their creator and to members who "
               "could assign all of these roles.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_invites_with_metadata,
        .admit = check_list_invites_permission,
        .handle = get_guild_invites,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/vanity-url",
        .name = "get_vanity_url",
        .doc = "The vanity code of a guild with the feature VANITY_URL.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &vanity_reply,
        .admit = require_vanity_feature,
        .handle = get_vanity_url,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/vanity-url",
        .name = "modify_vanity_url",
        .doc = "Set or remove the vanity code of a guild.",
        .auth = AUTH_USER,
        .needs = PERMISSION(MANAGE_GUILD) | PERMISSION(CREATE_INSTANT_INVITE),
        .body = &vanity_body,
        .reply = &vanity_reply,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .admit = require_vanity_feature,
        .handle = modify_vanity_url,
    },
    {
        .method = GET,
        .path = "/invites/{invite.code}",
        .name = "get_invite",
        .doc = "Get an invite.",
        .auth = AUTH_OPEN,
        .query = &invite_query_schema,
        .reply = &type_invite,
        .handle = get_invite,
    },
    {
        .method = POST,
        .path = "/invites/{invite.code}",
        .name = "accept_invite",
        .doc = "Accept an invite.",
        .auth = AUTH_USER,
        .reply = &type_invite,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD,
                                       EVENT_USER_SETTINGS_UPDATE, EVENT_CHANNEL_RECIPIENT_ADD,
                                       EVENT_CHANNEL_CREATE, AUTOMOD_EVENTS, FRIEND_EVENTS,
                                       EVENT_INVITE_DELETE, EVENT_NONE },
        .handle = accept_invite,
    },
    {
        .method = DELETE,
        .path = "/invites/{invite.code}",
        .name = "remove_invite",
        .doc = "Delete an invite; needs MANAGE_CHANNELS in its channel, or MANAGE_GUILD.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_invite_with_metadata,
        .fires = (const enum event[]){ EVENT_INVITE_DELETE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .admit = check_delete_invite_permission,
        .handle = remove_invite,
    },
    {
        .method = GET,
        .path = "/invites/{invite.code}/target-users",
        .name = "get_invite_target_users",
        .doc = "The target users of an invite as CSV; for its creator, or with MANAGE_GUILD or "
               "VIEW_AUDIT_LOG.",
        .auth = AUTH_USER | AUTH_BOT,
        .status = 200,
        .admit = check_invite_targets_read_permission,
        .handle = get_invite_target_users,
    },
    {
        .method = PUT,
        .path = "/invites/{invite.code}/target-users",
        .name = "put_invite_target_users",
        .doc = "Set the target users of an invite: form part target_users_file, one id per line, "
               "at most 1000.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &invite_targets_body,
        .body_kinds = BODY_PARTS,
        .max_upload = 256 * 1024,
        .admit = check_invite_targets_write_permission,
        .handle = put_invite_target_users,
    },
    {
        .method = GET,
        .path = "/invites/{invite.code}/target-users/job-status",
        .name = "get_invite_target_users_job",
        .doc = "The state of the target user upload, which is always complete.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &invite_targets_job_reply,
        .admit = check_invite_targets_read_permission,
        .handle = get_invite_target_users_job,
    },
    {
        .method = POST,
        .path = "/users/@me/invites",
        .name = "create_friend_invite",
        .doc = "Create an invite to become the caller's friend.",
        .auth = AUTH_USER,
        .body = &friend_invite_body,
        .reply = &type_invite_with_metadata,
        .handle = create_friend_invite,
    },
    {
        .method = GET,
        .path = "/users/@me/invites",
        .name = "get_friend_invites",
        .doc = "The caller's friend invites.",
        .auth = AUTH_USER,
        .reply = &type_invites_with_metadata,
        .handle = get_friend_invites,
    },
    {
        .method = DELETE,
        .path = "/users/@me/invites",
        .name = "revoke_friend_invites",
        .doc = "Delete all of the caller's friend invites.",
        .auth = AUTH_USER,
        .reply = &type_invites_with_metadata,
        .handle = revoke_friend_invites,
    },
    { 0 },
};

const struct domain invites_domain = {
    .name = "Invites",
    .doc = "Invites to guilds, groups and friendships.",
    .routes = routes,
    .world = &invites_world,
    .resolvers = resolvers,
    .hooks = &(const struct hook_listeners){ .account_created = invite_accept_at_registration },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_CHANNEL, "invites", "code", "channel_id = $1"),
              .phase = DELETE_FIRST },
            { DELETE_WHERE(WITH_GUILD, "invites", "code", "guild_id = $1") },
            { 0 } },
};
