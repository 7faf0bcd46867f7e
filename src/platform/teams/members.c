/* members.c - routes that invite, modify and remove team members. */
#include "platform/teams/internal.h"

#include <sodium.h>

#include "model/relationship.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"

/* Returns the keyed digest of an invitation token. The store has only the digest. */
static struct str invitation_digest(const struct call *call, struct str token)
{
    unsigned char *digest = arena_alloc(call->arena, TEAM_DIGEST_BYTES);

    auth_derive_key(api_get_options(call->api)->auth, "team-invite", 0, token, digest,
                    TEAM_DIGEST_BYTES);
    return str_slice((const char *)digest, TEAM_DIGEST_BYTES);
}

/* Resolves {team_member.id}: a member of the team, or an invited user. */
enum err resolve_team_member(struct call *call)
{
    return team_find_member(call->target.team, call_get_path_id(call, "team_member.id"))
               ? OK
               : ERR_UNKNOWN_TEAM_MEMBER;
}

/* GET /teams/{team.id}/members */
enum err list_team_members(struct call *call)
{
    return call_reply_with_object(call, &call->target.team->members);
}

static const char FIND_BY_NAME[] = "select " USER_COLUMNS " from users u where u.username = $1";

static enum err find_user_to_invite(struct call *call, struct str name, struct user *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_BY_NAME, BIND(v_text(name)), &row, &found);

    if (e || !found)
        return e ? e : ERR_UNKNOWN_USER;
    user_from_row(&row, 0, ret);
    if (team_find_member(call->target.team, ret->id))
        return ERR_TEAM_MEMBER_EXISTS;
    e = account_has_relationship(call->tx, call->caller->id, ret->id, RELATIONSHIP_FRIEND, &found);
    return e || found ? e : ERR_FRIENDS_ONLY;
}

/* POST /teams/{team.id}/members: invites a friend of the caller. The caller gets the token and
 * passes it on, because no mail is sent. Only the invited account can use the token. */
enum err invite_team_member(struct call *call)
{
    static const struct str every[] = { STR_INIT("*") };
    const struct team_invitation_body *in = call->body;
    unsigned char secret[32];
    struct user user;

    enum err e = find_user_to_invite(call, in->username, &user);
    if (e)
        return e;
    randombytes_buf(secret, sizeof secret);
    struct invited_team_member out = {
        .member = { .user = &user,
                    .team_id = call->target.team->id,
                    .membership_state = TEAM_MEMBER_INVITED,
                    .role = in->role,
                    .permissions = { (void *)every, 1 } },
        .invite_token = str_base64url_encode(call->arena, secret, sizeof secret),
    };
    e = team_member_insert(call->tx, &out.member, invitation_digest(call, out.invite_token));
    return e ? e : call_reply_with_object(call, &out);
}

/* PATCH /teams/{team.id}/members/{team_member.id}: changes the role of a member. */
enum err modify_team_member(struct call *call)
{
    const struct team_member_patch *in = call->body;
    const struct team *team = call->target.team;
    snowflake id = call_get_path_id(call, "team_member.id");

    if (id == team->owner_user_id)
        return ERR_TEAM_OWNER;
    enum err e = team_member_set_role(call->tx, team->id, id, in->role);
    if (e)
        return e;
    struct team_member m = *team_find_member(team, id);
    m.role = in->role;
    return call_reply_with_object(call, &m);
}

/* DELETE /teams/{team.id}/members/{team_member.id}: removes a member or an invitation. */
enum err remove_team_member(struct call *call)
{
    const struct team *team = call->target.team;
    snowflake id = call_get_path_id(call, "team_member.id");

    if (id != call->caller->id) {
        enum err e = require_team_admin(call);

        if (e)
            return e;
    }
    if (id == team->owner_user_id)
        return ERR_TEAM_OWNER;
    return team_member_delete(call->tx, team->id, id);
}

/* POST /teams/invite/accept */
enum err accept_team_invite(struct call *call)
{
    const struct team_acceptance_body *in = call->body;
    snowflake me = call->caller->id, id;
    struct team team;
    int64_t count;

    enum err e = team_find_by_invitation(call->tx, me, invitation_digest(call, in->token), &id);
    if (e || !id)
        return e ? e : ERR_UNKNOWN_TOKEN;
    e = team_find(call->tx, id, &team);
    if (e)
        return e;
    if (team_find_member(&team, me)->membership_state == TEAM_MEMBER_ACCEPTED)
        return ERR_TEAM_ALREADY_MEMBER;
    e = count_teams_of_user(call->tx, me, &count);
    if (e || count >= MOST_TEAMS)
        return e ? e : ERR_MAX_TEAMS;
    e = team_member_accept(call->tx, id, me);
    if (!e)
        e = team_find(call->tx, id, &team);
    return e ? e : call_reply_with_object(call, &team);
}
