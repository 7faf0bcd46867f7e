/* routes.c - reads and removes members; route table of the folder. */
#include "api/deletion.h"
#include "platform/members/internal.h"

/* Application flags (privileged intent GUILD_MEMBERS) that allow a bot to list members. */
#define MEMBERS_INTENT ((INT64_C(1) << 14) | (INT64_C(1) << 15))

static enum err get_member(struct call *call)
{
    return call_reply_with_object(call, call->target.member);
}

/* The reply includes the caller's permissions. */
static enum err get_current_member(struct call *call)
{
    struct member *m = call->target.member_access->member;
    enum err e = member_read_user(call->tx, m);

    m->permissions = (struct opt_id){ GIVEN, call->target.permissions };
    return e ? e : call_reply_with_object(call, m);
}

/* GET /users/@me/guilds/{guild.id}/member: the caller's member object, for apps with a bearer
 * token. */
static enum err get_current_member_by_token(struct call *call)
{
    return call->target.member_access ? get_current_member(call) : ERR_UNKNOWN_GUILD;
}

static const char FLAGS_OF_APPLICATION[] = "select flags from applications where id = $1";

static enum err check_members_intent(struct call *call)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FLAGS_OF_APPLICATION, BIND(v_id(call->caller->application_id)),
                        &row, &found);

    if (e)
        return e;
    if (!found || row_int(&row, 0) & MEMBERS_INTENT)
        return OK;
    call_set_refusal_cause(
        call,
        "the application has not enabled the privileged intent GUILD_MEMBERS; enable it in the "
        "settings of the application");
    return ERR_MISSING_ACCESS;
}

static enum err get_members(struct call *call)
{
    const struct members_page_query *in = call->query;
    struct list members;

    enum err e = check_members_intent(call);
    if (!e)
        e = members_list_after(call->tx, call->target.guild->id, in->after, in->limit, &members);
    return e ? e : call_reply_with_object(call, &members);
}

static enum err search_members(struct call *call)
{
    const struct member_search_request *in = call->query;
    struct list members;
    enum err e =
        members_find_by_name(call->tx, call->target.guild->id, in->query, in->limit, &members);

    return e ? e : call_reply_with_object(call, &members);
}

static enum err kick_member(struct call *call)
{
    const struct member *m = call->target.member;

    if (m->user_id == call->caller->id)
        return ERR_SELF;
    enum err e = require_rank_above_member(call, m);
    if (!e)
        e = member_remove_from_guild(call, m->guild_id, m->user_id);
    return e ? e : audit_log_record_action(call, m->guild_id, AUDIT_MEMBER_KICK, m->user_id);
}

/* Removes the caller from the guild. The owner cannot leave, and must transfer the guild first. */
static enum err leave_guild(struct call *call)
{
    if (call->target.member_access->input.owner)
        return ERR_INVALID_GUILD;
    return member_remove_from_guild(call, call->target.guild->id, call->caller->id);
}

static const enum event fired_by_changes[] = { VOICE_EVENTS, AUTOMOD_EVENTS, EVENT_NONE };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/members",
        .name = "get_members",
        .doc = "A page of members, ordered by id. For bots whose application has the members "
               "intent.",
        .auth = AUTH_BOT,
        .query = &member_list_query,
        .reply = &type_members,
        .before_standby = check_members_intent,
        .handle = get_members,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/members/search",
        .name = "search_members",
        .doc = "Members whose username, name or nickname starts with the text.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &member_search_query,
        .reply = &type_members,
        .before_standby = call_read_nothing_but_path_objects,
        .handle = search_members,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/members/{member.id}",
        .name = "get_member",
        .doc = "A member.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_member,
        .handle = get_member,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/members/@me",
        .name = "get_own_member",
        .doc = "The caller as a member of a guild, with permissions.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_member,
        .handle = get_current_member,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/new-member-welcome",
        .name = "get_new_member_welcome",
        .doc = "The welcome page for new members, which is never set: the reply is 204.",
        .auth = AUTH_USER | AUTH_BOT,
        .handle = get_new_member_welcome,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/members/{member.id}",
        .name = "add_guild_member",
        .doc = "Add a user with an access token: 201 with the member, 204 if already a member.",
        .auth = AUTH_BOT,
        .needs = PERMISSION(CREATE_INSTANT_INVITE),
        .body = &member_add_body,
        .reply = &type_member,
        .status = 201,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD,
                                       EVENT_USER_SETTINGS_UPDATE, AUTOMOD_EVENTS, EVENT_NONE },
        .handle = add_guild_member,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/members/{member.id}",
        .name = "modify_member",
        .doc = "Change a member. Each field needs its own permission.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &member_patch_body,
        .reply = &type_member,
        .fires = fired_by_changes,
        .handle = modify_member,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/members/@me",
        .name = "modify_own_member",
        .doc = "Change the caller as a member of a guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &current_member_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(2),
        .reply = &type_member,
        .fires = (const enum event[]){ AUTOMOD_EVENTS, EVENT_NONE },
        .prepare = schedule_storing_member_pictures,
        .allowed_when_restricted = true,
        .handle = modify_current_member,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/profile/{member.id}",
        .name = "modify_guild_profile",
        .doc = "Change the caller's profile in a guild; the member must be the caller.",
        .auth = AUTH_USER,
        .body = &current_member_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(2),
        .reply = &type_member,
        .fires = (const enum event[]){ AUTOMOD_EVENTS, EVENT_NONE },
        .prepare = schedule_storing_guild_profile_pictures,
        .allowed_when_restricted = true,
        .handle = modify_guild_profile,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/members/@me/nick",
        .name = "modify_own_nick",
        .doc = "Change the caller's nickname in a guild (older route).",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &current_member_patch_body,
        .reply = &type_member,
        .fires = (const enum event[]){ AUTOMOD_EVENTS, EVENT_NONE },
        .prepare = schedule_storing_member_pictures,
        .allowed_when_restricted = true,
        .handle = modify_current_member,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/members/{member.id}/roles/{role.id}",
        .name = "add_member_role",
        .doc = "Add a role to a member.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .fires = fired_by_changes,
        .handle = add_member_role,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/members/{member.id}/roles/{role.id}",
        .name = "remove_member_role",
        .doc = "Remove a role from a member.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .fires = fired_by_changes,
        .handle = remove_member_role,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/members/{member.id}",
        .name = "kick_member",
        .doc = "Kick a member.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(KICK_MEMBERS),
        .fires =
            (const enum event[]){ LEAVE_EVENTS, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = kick_member,
    },
    {
        .method = GET,
        .path = "/users/@me/guilds/{guild.id}/member",
        .name = "get_own_member_by_token",
        .doc = "The caller as a member of a guild, with permissions.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "guilds.members.read",
        .visitors = require_discoverable_guild,
        .reply = &type_member,
        .handle = get_current_member_by_token,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/roles/member-counts",
        .name = "get_role_member_counts",
        .doc = "Number of members of each role, without @everyone.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &role_counts_reply,
        .background = true,
        .before_standby = call_read_nothing_but_path_objects,
        .handle = get_role_member_counts,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/roles/{role.id}/member-ids",
        .name = "get_role_member_ids",
        .doc = "The first hundred members with a role.",
        .auth = AUTH_USER,
        .reply = &role_members_reply,
        .handle = get_role_member_ids,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/roles/{role.id}/members",
        .name = "add_role_members",
        .doc = "Add a role to up to 30 members.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .body = &role_new_members_body,
        .reply = &role_new_members_reply,
        .fires = fired_by_changes,
        .handle = add_role_members,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/prune",
        .name = "get_prune_count",
        .doc = "Number of members that a prune would remove.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(KICK_MEMBERS) | PERMISSION(MANAGE_GUILD),
        .query = &prune_query,
        .reply = &prune_reply,
        .background = true,
        .limit = &limit_prune_count,
        .admit = check_prune_permission,
        .before_standby = call_read_nothing_but_path_objects,
        .handle = get_prune_count,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/prune",
        .name = "begin_prune",
        .doc = "Remove members who were inactive for some days and have no other roles than "
               "these. The owner, bots, the caller and connected members stay.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(KICK_MEMBERS) | PERMISSION(MANAGE_GUILD),
        .body = &prune_body,
        .reply = &prune_reply,
        .fires =
            (const enum event[]){ LEAVE_EVENTS, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .background = true,
        .prepare = schedule_counting_of_members_to_prune,
        .admit = check_prune_permission,
        .handle = begin_guild_prune,
    },
    {
        .method = DELETE,
        .path = "/users/@me/guilds/{guild.id}",
        .name = "leave_guild",
        .doc = "Leave a guild; refused for its owner.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = (const enum event[]){ LEAVE_EVENTS, EVENT_NONE },
        .allowed_when_restricted = true,
        .handle = leave_guild,
    },
    { 0 },
};

const struct domain members_domain = {
    .name = "Members",
    .doc = "Members of guilds.",
    .routes = routes,
    .world = &members_world,
    .jobs = (const struct job_kind *const[]){ &account_emit_job, &member_prune_job, NULL },
    .hooks = &(const struct hook_listeners){ .account_changed = account_update_emit_to_guilds,
                                             .guild_created = member_insert_guild_owner },
    .deletions = member_deletions,
};
