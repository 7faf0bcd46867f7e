/* routes.c - routes of teams: create, list, modify, transfer, delete. */
#include "platform/teams/internal.h"

/* Resolves {team.id}. The caller must be a member of the team or invited. */
static enum err resolve_team(struct call *call)
{
    struct team *team = call->target.team = arena_alloc(call->arena, sizeof *team);
    enum err e = team_find(call->tx, call_get_path_id(call, "team.id"), team);

    if (e)
        return e;
    return team_find_member(team, call->caller->id) ? OK : ERR_MISSING_ACCESS;
}

static enum err require_team_access_level(struct call *call, enum team_access_level least)
{
    enum team_access_level level = team_access_level_of_user(call->target.team, call->caller->id);

    if (level == TEAM_ACCESS_NONE)
        return ERR_MISSING_ACCESS;
    return level >= least ? OK : ERR_MISSING_PERMISSIONS;
}

static enum err require_team_reader(struct call *call)
{
    return require_team_access_level(call, TEAM_ACCESS_READER);
}

enum err require_team_admin(struct call *call)
{
    return require_team_access_level(call, TEAM_ACCESS_ADMIN);
}

static enum err require_team_owner(struct call *call)
{
    return require_team_access_level(call, TEAM_ACCESS_OWNER);
}

/* GET /teams: includes teams that the caller is invited to. */
static enum err list_teams(struct call *call)
{
    struct list teams;
    enum err e = teams_read_of_user(call->tx, call->caller->id, &teams);

    return e ? e : call_reply_with_object(call, &teams);
}

/* GET /teams/{team.id} */
static enum err get_team(struct call *call)
{
    return call_reply_with_object(call, call->target.team);
}

/* --- creating and modifying ----------------------------------------------------------- */

/* The uploaded icon, which the stages prepare and compute pass to the handler. */
struct team_icon_upload {
    snowflake id;
    struct opt_str icon;
};

static enum err store_team_icon(struct call *call)
{
    const struct team_request_body *in = call->body;
    struct team_icon_upload *change = call_get_stage_data(call, "team_icon_upload");

    return store_uploaded_picture(call, "team-icons", change->id, &in->icon, &change->icon);
}

/* Checks the caller's permissions before the icon is stored, so that no icon is stored for a
 * refused request. */
static enum err check_team_before_upload(struct call *call)
{
    enum err e = resolve_team(call);

    return e ? e : require_team_admin(call);
}

static enum err schedule_storing_new_team_icon(struct call *call)
{
    const struct team_request_body *in = call->body;
    struct team_icon_upload *change =
        call_store_stage_data(call, "team_icon_upload", sizeof *change);

    change->id = snowflake_new();
    if (in->icon.given == GIVEN)
        call->compute = store_team_icon;
    return OK;
}

static enum err schedule_storing_changed_team_icon(struct call *call)
{
    const struct team_request_body *in = call->body;
    struct team_icon_upload *change =
        call_store_stage_data(call, "team_icon_upload", sizeof *change);

    change->id = call_get_path_id(call, "team.id");
    if (in->icon.given != ABSENT) {
        call->read = check_team_before_upload;
        call->compute = store_team_icon;
    }
    return OK;
}

/* POST /teams */
static enum err create_team(struct call *call)
{
    const struct team_request_body *in = call->body;
    const struct team_icon_upload *change = call_get_stage_data(call, "team_icon_upload");
    struct team team = { .id = change->id,
                         .name = in->name.value,
                         .icon = change->icon,
                         .owner_user_id = call->caller->id };
    int64_t count;

    enum err e = count_teams_of_user(call->tx, call->caller->id, &count);
    if (e || count >= MOST_TEAMS)
        return e ? e : ERR_MAX_TEAMS;
    e = team_insert(call->tx, &team);
    if (!e)
        e = team_find(call->tx, team.id, &team);
    return e ? e : call_reply_with_object(call, &team);
}

static enum err transfer_team_ownership(struct call *call, struct team *team, snowflake id)
{
    enum err e = require_team_owner(call);

    if (e)
        return e;
    if (team_access_level_of_user(team, id) == TEAM_ACCESS_NONE)
        return ERR_UNKNOWN_TEAM_MEMBER;
    team->owner_user_id = id;
    return team_member_set_role(call->tx, team->id, id, STR("admin"));
}

/* PATCH /teams/{team.id} */
static enum err modify_team(struct call *call)
{
    const struct team_request_body *in = call->body;
    const struct team_icon_upload *change = call_get_stage_data(call, "team_icon_upload");
    struct team *team = call->target.team;
    enum err e = OK;

    if (in->owner_user_id.given == GIVEN)
        e = transfer_team_ownership(call, team, in->owner_user_id.value);
    if (e)
        return e;
    if (in->name.given == GIVEN)
        team->name = in->name.value;
    if (in->icon.given != ABSENT) {
        e = delete_previous_picture(call, "team-icons", team->id, &team->icon, &change->icon);
        team->icon = change->icon;
    }
    if (!e)
        e = team_update(call->tx, team);
    if (!e)
        e = team_find(call->tx, team->id, team);
    return e ? e : call_reply_with_object(call, team);
}

/* POST /teams/{team.id}/delete: fails while the team owns applications. */
static enum err delete_team(struct call *call)
{
    bool used;
    enum err e = team_has_applications(call->tx, call->target.team->id, &used);

    if (e)
        return e;
    if (used)
        return call_add_field_error(call, NULL, "TEAM_HAS_APPLICATIONS",
                                    "A team that owns applications cannot be deleted.");
    e = delete_stored_picture(call, "team-icons", call->target.team->id, &call->target.team->icon);
    return e ? e : team_delete(call->tx, call->target.team->id);
}

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    {
        .name = "team.id",
        .field = "team_id",
        .doc = "A team that the caller is in.",
        .resolve = resolve_team,
    },
    {
        .name = "team_member.id",
        .field = "user_id",
        .me = true,
        .doc = "A member of the team, by user id.",
        .resolve = resolve_team_member,
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/teams",
        .name = "list_teams",
        .doc = "Teams that the caller is in or invited to.",
        .auth = AUTH_USER,
        .reply = &type_teams,
        .handle = list_teams,
    },
    {
        .method = POST,
        .path = "/teams",
        .name = "create_team",
        .doc = "Create a team; at most 30 per account.",
        .auth = AUTH_USER,
        .body = &team_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_team,
        .prepare = schedule_storing_new_team_icon,
        .handle = create_team,
    },
    {
        .method = POST,
        .path = "/teams/invite/accept",
        .name = "accept_team_invite",
        .doc = "Accept an invitation to a team.",
        .auth = AUTH_USER,
        .body = &team_acceptance_body,
        .reply = &type_team,
        .handle = accept_team_invite,
    },
    {
        .method = GET,
        .path = "/teams/{team.id}",
        .name = "get_team",
        .doc = "A team.",
        .auth = AUTH_USER,
        .reply = &type_team,
        .admit = require_team_reader,
        .handle = get_team,
    },
    {
        .method = PATCH,
        .path = "/teams/{team.id}",
        .name = "modify_team",
        .doc = "Change a team; admins only. Only the owner can transfer it.",
        .auth = AUTH_USER,
        .body = &team_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_team,
        .prepare = schedule_storing_changed_team_icon,
        .admit = require_team_admin,
        .handle = modify_team,
    },
    {
        .method = POST,
        .path = "/teams/{team.id}/delete",
        .name = "delete_team",
        .doc = "Delete a team that has no applications; its owner only.",
        .auth = AUTH_USER,
        .admit = require_team_owner,
        .handle = delete_team,
    },
    {
        .method = GET,
        .path = "/teams/{team.id}/members",
        .name = "list_team_members",
        .doc = "Members and invited users of a team.",
        .auth = AUTH_USER,
        .reply = &type_team_members,
        .admit = require_team_reader,
        .handle = list_team_members,
    },
    {
        .method = POST,
        .path = "/teams/{team.id}/members",
        .name = "invite_team_member",
        .doc = "Invite a friend to a team; admins only.",
        .auth = AUTH_USER,
        .body = &team_invitation_body,
        .reply = &invited_member_reply,
        .admit = require_team_admin,
        .handle = invite_team_member,
    },
    {
        .method = PATCH,
        .path = "/teams/{team.id}/members/{team_member.id}",
        .name = "modify_team_member",
        .doc = "Change the role of a team member; admins only.",
        .auth = AUTH_USER,
        .body = &team_member_patch_body,
        .reply = &type_team_member,
        .admit = require_team_admin,
        .handle = modify_team_member,
    },
    {
        .method = DELETE,
        .path = "/teams/{team.id}/members/{team_member.id}",
        .name = "remove_team_member",
        .doc = "Remove a member (admins), leave the team, or decline an invitation.",
        .auth = AUTH_USER,
        .handle = remove_team_member,
    },
    { 0 },
};

const struct domain teams_domain = {
    .name = "Teams",
    .doc = "Teams of developers that own applications.",
    .routes = routes,
    .resolvers = resolvers,
};
