/* routes.c - routes below /users/@me/relationships. */
#include "platform/relationships/internal.h"

#include "api/deletion.h"
#include "platform/relationships/game_relationship_rows.h"
#include "platform/relationships/relationship_cache.h"

/* Shared rate limit of friend requests by name and by id. */
static const struct rate_limit limit_ask = {
    .name = "friend-request", .count = 10, .window_s = 60, .strict = true
};
static const struct rate_limit limit_ask_daily = {
    .name = "friend-request-daily", .count = 50, .window_s = 24 * 3600, .strict = true
};
static const struct rate_limit limit_bulk = {
    .name = "friend-request-bulk", .count = 2, .window_s = 60, .strict = true
};

static const struct rate_limit limit_change = { .name = "relationship-change",
                                                .count = 30,
                                                .window_s = 60 };

static enum err count_friend_request_against_limits(struct call *call)
{
    struct str who = str_printf(call->arena, "%llu", (unsigned long long)call->caller->id);
    enum err e = call_replace_route_rate_limit(call, &limit_ask, who);

    if (!e)
        e = call_count_against_rate_limit(call, &limit_ask_daily, who);
    return e ? ERR_TOO_MANY_REQUESTS : OK;
}

/* --- reading -------------------------------------------------------------------------- */

static enum err reply_with_cached_relationships(struct call *call)
{
    const struct encoded_members *people;
    enum err e = relationships_read_json(call->tx, call->caller->id, false, &people);

    if (!e)
        buf_add_str(&call->reply, people->list);
    return e;
}

/* GET /users/@me/relationships: all relationships; for OAuth2 apps only friends. */
static enum err list_relationships(struct call *call)
{
    const struct caller *caller = call->caller;
    struct list list;

    if (caller->kind != CALLER_BEARER)
        return reply_with_cached_relationships(call);
    enum err e = friends_read_for_application(call->tx, caller->id, caller->application_id, &list);
    return e ? e : call_reply_with_object(call, &list);
}

/* --- requesting, accepting, blocking -------------------------------------------------- */

/* POST /users/@me/relationships: sends a request by username. */
static enum err send_friend_request(struct call *call)
{
    const struct friend_request_body *in = call->body;
    struct user user;
    struct user_tag tag;

    user_tag_parse(in->username, in->discriminator, &tag);
    enum err e = user_find_by_tag(call->tx, &tag, &user);
    if (e)
        return e;
    /* The caller typed the name, so the request needs no confirmation. */
    struct friend_request_attempt asking = {
        .op = OPERATION_ASK, .user = &user, .note = in->note, .confirmed = true
    };
    return friend_request_send_or_accept(call, &asking);
}

/* Blocks a user. This ends every other relationship with the user, including game relationships. */
static enum err block_user(struct call *call)
{
    snowflake me = call->caller->id, other = call->target.user->id;
    struct relationship_pair_change change;
    struct relationship_pair bond;
    int64_t blocked;

    if (me == other)
        return ERR_SELF;
    enum err e = relationship_pair_read(call->tx, me, other, &bond);
    if (!e)
        e = relationship_compute_change(OPERATION_BLOCK, &bond, &change);
    if (e || relationship_change_has_no_effect(&bond, &change))
        return e;
    e = count_relationships_of_type(call->tx, me, RELATIONSHIP_BLOCKED, &blocked);
    if (!e && blocked >= MOST_BLOCKED)
        e = ERR_MAX_BLOCKED;
    if (!e)
        e = relationship_pair_apply_change(call, &bond, &change, NULL);
    if (!e)
        e = game_relationships_delete_between(call, me, other);
    if (!e)
        e = friend_suggestion_delete(call, me, other);
    return e ? e : friend_suggestion_delete(call, other, me);
}

static enum err count_friend_request_unless_block(struct call *call)
{
    const struct relationship_body *in = call->body;

    return in->type == RELATIONSHIP_BLOCKED ? OK : count_friend_request_against_limits(call);
}

/* PUT /users/@me/relationships/{user.id}: requests, accepts or blocks. */
static enum err create_relationship(struct call *call)
{
    const struct relationship_body *in = call->body;
    struct friend_request_attempt asking = {
        .op = in->type == RELATIONSHIP_FRIEND ? OPERATION_ACCEPT : OPERATION_ASK,
        .user = call->target.user,
        .note = in->note,
        .suggested = in->from_friend_suggestion,
        .confirmed = in->confirm_stranger_request,
    };

    return in->type == RELATIONSHIP_BLOCKED ? block_user(call)
                                            : friend_request_send_or_accept(call, &asking);
}

/* --- ignoring, nicknames, removal ----------------------------------------------------- */

/* PUT /users/@me/relationships/{user.id}/ignore */
static enum err ignore_user(struct call *call)
{
    snowflake me = call->caller->id, other = call->target.user->id;
    struct relationship_pair_change change;
    struct relationship_pair bond;
    int64_t ignored = 0;

    if (me == other)
        return ERR_SELF;
    enum err e = relationship_pair_read(call->tx, me, other, &bond);
    if (!e)
        e = relationship_compute_change(OPERATION_IGNORE, &bond, &change);
    if (e || relationship_change_has_no_effect(&bond, &change))
        return e;
    if (bond.mine.type == RELATIONSHIP_NONE)
        e = count_relationships_of_type(call->tx, me, RELATIONSHIP_NONE, &ignored);
    if (!e && ignored >= MOST_IGNORED)
        e = ERR_MAX_BLOCKED;
    if (!e)
        e = relationship_pair_apply_change(call, &bond, &change, NULL);
    return e ? e : friend_suggestion_delete(call, me, other);
}

/* DELETE /users/@me/relationships/{user.id}/ignore */
static enum err unignore_user(struct call *call)
{
    snowflake me = call->caller->id, other = call->target.user->id;

    return me == other ? ERR_SELF
                       : relationship_apply_operation(call, OPERATION_UNIGNORE, me, other);
}

/* PATCH /users/@me/relationships/{user.id}: sets the nickname of a friend. */
static enum err modify_relationship(struct call *call)
{
    const struct nickname_body *in = call->body;
    struct relationship_pair bond;

    if (in->nickname.given == ABSENT)
        return OK;
    enum err e = relationship_pair_read(call->tx, call->caller->id, call->target.user->id, &bond);
    if (e)
        return e;
    if (bond.mine.type != RELATIONSHIP_FRIEND)
        return ERR_NOT_FRIENDS;

    bond.mine.nickname = in->nickname;
    return relationship_row_save_and_emit(call, &bond);
}

/* DELETE /users/@me/relationships/{user.id}: unfriends, declines, cancels or unblocks. */
static enum err remove_relationship(struct call *call)
{
    return relationship_apply_operation(call, OPERATION_END, call->caller->id,
                                        call->target.user->id);
}

/* --- routes --------------------------------------------------------------------------- */

#define EVENTS(...) ((const enum event[]){ __VA_ARGS__, EVENT_NONE })

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/relationships",
        .name = "list_relationships",
        .doc = "Friends, requests, blocked and ignored users. Apps get only friends.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.read",
        .reply = &type_relationships,
        .handle = list_relationships,
    },
    {
        .method = POST,
        .path = "/users/@me/relationships",
        .name = "send_friend_request",
        .doc = "Send a friend request, by username.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.write",
        .body = &request_body,
        .fires = EVENTS(FRIEND_EVENTS, EVENT_RELATIONSHIP_REMOVE),
        .prepare = count_friend_request_against_limits,
        .handle = send_friend_request,
    },
    {
        .method = DELETE,
        .path = "/users/@me/relationships",
        .name = "bulk_remove_relationships",
        .doc = "Decline all friend requests, or those that match the filters.",
        .auth = AUTH_USER,
        .query = &removal_query_schema,
        .body = &removal_body,
        .fires = EVENTS(EVENT_RELATIONSHIP_REMOVE, EVENT_RELATIONSHIP_ADD),
        .handle = bulk_remove_relationships,
    },
    {
        .method = POST,
        .path = "/users/@me/relationships/bulk",
        .name = "bulk_add_relationships",
        .doc = "Send friend requests to users who were suggested after a contact upload.",
        .auth = AUTH_USER,
        .body = &bulk_body,
        .reply = &bulk_reply,
        .fires = EVENTS(FRIEND_EVENTS, EVENT_RELATIONSHIP_REMOVE),
        .limit = &limit_bulk,
        .handle = bulk_add_relationships,
    },
    {
        .method = PUT,
        .path = "/users/@me/relationships/{user.id}",
        .name = "create_relationship",
        .doc = "Send or accept a friend request, or block a user.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.write",
        .body = &relationship_body,
        .fires = EVENTS(FRIEND_EVENTS, EVENT_RELATIONSHIP_REMOVE, EVENT_GAME_RELATIONSHIP_REMOVE),
        .prepare = count_friend_request_unless_block,
        .handle = create_relationship,
    },
    {
        .method = PATCH,
        .path = "/users/@me/relationships/{user.id}",
        .name = "modify_relationship",
        .doc = "Set the nickname of a friend.",
        .auth = AUTH_USER,
        .body = &nickname_body,
        .fires = EVENTS(EVENT_RELATIONSHIP_UPDATE),
        .limit = &limit_change,
        .handle = modify_relationship,
    },
    {
        .method = DELETE,
        .path = "/users/@me/relationships/{user.id}",
        .name = "remove_relationship",
        .doc = "End a friendship or a block; decline or cancel a request.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = "relationships.write",
        .fires = EVENTS(EVENT_RELATIONSHIP_REMOVE, EVENT_RELATIONSHIP_ADD),
        .limit = &limit_change,
        .handle = remove_relationship,
    },
    {
        .method = PUT,
        .path = "/users/@me/relationships/{user.id}/ignore",
        .name = "ignore_user",
        .doc = "Ignore a user. The user is not notified.",
        .auth = AUTH_USER,
        .fires = EVENTS(EVENT_RELATIONSHIP_ADD, EVENT_RELATIONSHIP_UPDATE,
                        EVENT_FRIEND_SUGGESTION_DELETE),
        .limit = &limit_change,
        .handle = ignore_user,
    },
    {
        .method = DELETE,
        .path = "/users/@me/relationships/{user.id}/ignore",
        .name = "unignore_user",
        .doc = "Stop ignoring a user.",
        .auth = AUTH_USER,
        .fires = EVENTS(EVENT_RELATIONSHIP_UPDATE, EVENT_RELATIONSHIP_REMOVE),
        .limit = &limit_change,
        .handle = unignore_user,
    },
    { 0 },
};

const struct domain relationships_domain = {
    .name = "Relationships",
    .doc = "Friends, requests, blocked and ignored users.",
    .routes = routes,
    .world = &relationships_world,
    .hooks = &(const struct hook_listeners){ .account_changed = friends_emit_presence_update },
    .deletions =
        (const struct deletion_rule[]){
            { WITH_ACCOUNT, "relationships", .run = relationships_delete_of_account,
              .phase = DELETE_PARTS },
            { DELETE_OF(WITH_ACCOUNT, "friend_requests", "user_id", "target_id") },
            { DELETE_OF(WITH_ACCOUNT, "friend_requests", "target_id", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "bulk_add_tokens", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "legacy_tags", "user_id") },
            { 0 } },
};
