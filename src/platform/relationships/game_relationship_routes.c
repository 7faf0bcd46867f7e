/* game_relationship_routes.c - routes of friendships within one game. The game is the application
 * of the OAuth2 token or, for user tokens, the application in the path. The rules are those of
 * friendships, but there are no blocks. */
#include "platform/relationships/internal.h"

#include "api/deletion.h"
#include "base/clock.h"
#include "platform/relationships/game_relationship_rows.h"
#include "platform/relationships/notifications.h"

/* Returns an error unless the caller has an OAuth2 token. The path has no application, so the
 * token's application is the game. */
static enum err check_caller_is_application(struct call *call)
{
    return call->caller->kind == CALLER_BEARER ? OK : ERR_APPLICATION_REQUIRED;
}

static snowflake application_id_of_call(const struct call *call)
{
    return call->target.application ? call_get_path_id(call, "application.id")
                                    : call->caller->application_id;
}

/* GET /users/@me/game-relationships: the game relationships in all games or, for an OAuth2 token,
 * in the game of its application. */
static enum err list_game_relationships(struct call *call)
{
    const struct caller *caller = call->caller;
    struct list list;
    enum err e = game_relationships_read(call->tx, caller->id, caller->application_id, &list);

    for (size_t i = 0; !e && caller->kind == CALLER_BEARER && i < list.count; i++)
        ((struct game_relationship *)list.items)[i].user = NULL;
    return e ? e : call_reply_with_object(call, &list);
}

/* --- changes -------------------------------------------------------------------------- */

static enum err check_game_friend_target(struct call *call, const struct user *user)
{
    int64_t mine, theirs;

    if (user->disabled || user->deleting)
        return ERR_NO_SUCH_TAG;
    if (user->id == call->caller->id)
        return ERR_SELF_FRIEND;
    if (user->bot.value || user->system.value)
        return ERR_BOT_FRIEND;
    enum err e = relationship_type_read(call->tx, call->caller->id, user->id, &mine);
    if (!e)
        e = relationship_type_read(call->tx, user->id, call->caller->id, &theirs);
    if (e)
        return e;
    return mine == RELATIONSHIP_BLOCKED || theirs == RELATIONSHIP_BLOCKED
               ? ERR_FRIEND_REQUEST_BLOCKED
               : OK;
}

/* The rows of both users of a game relationship. */
struct game_relationship_pair {
    struct game_relationship mine, theirs;
};

static enum err read_game_relationship_pair(struct call *call, snowflake their_id,
                                            struct game_relationship_pair *ret)
{
    snowflake my_id = call->caller->id, application_id = application_id_of_call(call);
    enum err e = game_relationship_find(call->tx, my_id, their_id, application_id, &ret->mine);

    return e ? e : game_relationship_find(call->tx, their_id, my_id, application_id, &ret->theirs);
}

/* Computes the change of a game relationship by the rules of friendships. *ret_changes is false if
 * nothing changes. */
static enum err compute_game_relationship_change(enum relationship_operation op,
                                                 const struct game_relationship_pair *before,
                                                 struct relationship_pair_change *ret,
                                                 bool *ret_changes)
{
    struct relationship_pair b = { .mine.type = before->mine.type,
                                   .theirs.type = before->theirs.type };
    enum err e = relationship_compute_change(op, &b, ret);

    *ret_changes = !e && !relationship_change_has_no_effect(&b, ret);
    return e;
}

/* To send a game friend request, the target must have authorized the app. To accept a game friend
 * request, both users must have authorized it. */
static enum err check_application_authorizations(struct call *call,
                                                 const struct game_relationship_pair *c,
                                                 bool accepting)
{
    snowflake application_id = c->mine.application_id;
    bool mine = true, theirs;
    enum err e =
        account_has_authorized_application(call->tx, c->theirs.user_id, application_id, &theirs);

    if (!e && accepting)
        e = account_has_authorized_application(call->tx, c->mine.user_id, application_id, &mine);
    if (e || (mine && theirs))
        return e;
    return accepting ? ERR_APPLICATION_NO_LONGER_AUTHORIZED : ERR_NO_COMMON_APPLICATION;
}

static enum err check_game_friend_limit(struct call *call, const struct game_relationship_pair *c)
{
    const struct game_relationship *sides[] = { &c->mine, &c->theirs };

    for (int i = 0; i < 2; i++) {
        int64_t count;
        enum err e =
            count_game_relationships(call->tx, sides[i]->user_id, sides[i]->application_id, &count);

        if (e || count >= MOST_GAME_RELATIONSHIPS)
            return e ? e : ERR_MAX_FRIENDS;
    }
    return OK;
}

static enum err emit_game_relationship_change(struct call *call,
                                              const struct game_relationship *before,
                                              const struct game_relationship *after,
                                              enum relationship_event event_list)
{
    if (event_list == SIDE_EVENT_REMOVE)
        return game_relationship_emit(call, EVENT_GAME_RELATIONSHIP_REMOVE, before);
    return game_relationship_emit(call, EVENT_GAME_RELATIONSHIP_ADD, after);
}

static enum err apply_game_relationship_change(struct call *call,
                                               const struct game_relationship_pair *before,
                                               const struct relationship_pair_change *c)
{
    struct game_relationship_pair after = *before;
    enum err e;

    after.mine.type = c->mine.type;
    after.theirs.type = c->theirs.type;
    after.mine.since = after.theirs.since = clock_us();
    e = game_relationship_save(call->tx, &after.mine);
    if (!e)
        e = game_relationship_save(call->tx, &after.theirs);
    if (!e)
        e = emit_game_relationship_change(call, &before->mine, &after.mine, c->mine.event);
    return e ? e
             : emit_game_relationship_change(call, &before->theirs, &after.theirs, c->theirs.event);
}

static enum err notify_game_friend_requester(struct call *call, snowflake asker)
{
    struct user me;
    enum err e = user_find(call->tx, call->caller->id, &me);

    if (!e)
        emit_notification_center_item(call, NOTIFICATION_GAME_FRIEND, asker, &me);
    return e;
}

static enum err request_or_accept_game_friend(struct call *call, const struct user *user,
                                              enum relationship_operation op)
{
    struct relationship_pair_change change;
    struct game_relationship_pair couple;
    bool changes = false;

    enum err e = check_game_friend_target(call, user);
    if (!e)
        e = read_game_relationship_pair(call, user->id, &couple);
    if (!e)
        e = compute_game_relationship_change(op, &couple, &change, &changes);
    if (e || !changes)
        return e;
    bool accepting = change.mine.type == RELATIONSHIP_FRIEND;
    e = check_application_authorizations(call, &couple, accepting);
    if (!e && !accepting)
        e = check_game_friend_limit(call, &couple);
    if (!e)
        e = apply_game_relationship_change(call, &couple, &change);
    return e || !accepting ? e : notify_game_friend_requester(call, user->id);
}

/* POST /users/@me/game-relationships */
static enum err send_game_friend_request(struct call *call)
{
    const struct game_friend_request_body *in = call->body;
    struct user user;
    struct user_tag tag;

    user_tag_parse(in->username, (struct str){ 0 }, &tag);
    enum err e = user_find_by_tag(call->tx, &tag, &user);
    return e ? e : request_or_accept_game_friend(call, &user, OPERATION_ASK);
}

/* PUT /users/@me/game-relationships/{user.id} */
static enum err create_game_relationship(struct call *call)
{
    const struct game_relationship_body *in = call->body;

    return request_or_accept_game_friend(call, call->target.user,
                                         in->type == RELATIONSHIP_FRIEND ? OPERATION_ACCEPT
                                                                         : OPERATION_ASK);
}

/* PUT /users/@me/game-relationships/{user.id}/{application.id} */
static enum err accept_game_relationship(struct call *call)
{
    return request_or_accept_game_friend(call, call->target.user, OPERATION_ACCEPT);
}

/* DELETE /users/@me/game-relationships/{user.id}, and with /{application.id} */
static enum err remove_game_relationship(struct call *call)
{
    struct relationship_pair_change change;
    struct game_relationship_pair couple;
    bool changes = false;

    enum err e = read_game_relationship_pair(call, call->target.user->id, &couple);
    if (!e)
        e = compute_game_relationship_change(OPERATION_END, &couple, &change, &changes);
    return e || !changes ? e : apply_game_relationship_change(call, &couple, &change);
}

/* --- routes --------------------------------------------------------------------------- */

static const enum event added[] = { EVENT_GAME_RELATIONSHIP_ADD,
                                    EVENT_NOTIFICATION_CENTER_ITEM_CREATE, EVENT_NONE };
static const enum event removed[] = { EVENT_GAME_RELATIONSHIP_REMOVE, EVENT_NONE };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/game-relationships",
        .name = "list_game_relationships",
        .doc = "Friends in games. Apps get only those of their own game.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.read",
        .reply = &type_game_relationships,
        .handle = list_game_relationships,
    },
    {
        .method = POST,
        .path = "/users/@me/game-relationships",
        .name = "send_game_friend_request",
        .doc = "Send a friend request within the calling game, by username.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.write",
        .body = &game_request_body,
        .fires = added,
        .admit = check_caller_is_application,
        .handle = send_game_friend_request,
    },
    {
        .method = PUT,
        .path = "/users/@me/game-relationships/{user.id}",
        .name = "create_game_relationship",
        .doc = "Send or accept a friend request within the calling game.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.write",
        .body = &game_body,
        .fires = added,
        .admit = check_caller_is_application,
        .handle = create_game_relationship,
    },
    {
        .method = PUT,
        .path = "/users/@me/game-relationships/{user.id}/{application.id}",
        .name = "create_game_relationship_by_application",
        .doc = "Accept a friend request within a game.",
        .auth = AUTH_USER,
        .body = &game_accept_body,
        .fires = added,
        .handle = accept_game_relationship,
    },
    {
        .method = DELETE,
        .path = "/users/@me/game-relationships/{user.id}",
        .name = "remove_game_relationship",
        .doc = "End a friendship within the calling game; decline or cancel a request.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.write",
        .fires = removed,
        .admit = check_caller_is_application,
        .handle = remove_game_relationship,
    },
    {
        .method = DELETE,
        .path = "/users/@me/game-relationships/{user.id}/{application.id}",
        .name = "remove_game_relationship_by_application",
        .doc = "End a friendship within a game; decline or cancel a request.",
        .auth = AUTH_USER,
        .fires = removed,
        .handle = remove_game_relationship,
    },
    { 0 },
};

const struct domain game_relationships_domain = {
    .name = "Game relationships",
    .doc = "Friendships within one game.",
    .routes = routes,
    .deletions =
        (const struct deletion_rule[]){
            { WITH_APPLICATION, "game_relationships",
              .run = game_relationships_delete_of_application, .phase = DELETE_PARTS },
            { WITH_ACCOUNT, "game_relationships", .run = game_relationships_delete_of_account,
              .phase = DELETE_PARTS },
            { 0 } },
};
