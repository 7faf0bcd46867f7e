/* routes.c - route table of reactions; lists the users of an emoji. */
#include "platform/reactions/internal.h"

#include "model/permissions/permissions.h"
#include "api/deletion.h"
#include "platform/channels/channels.h"

static const struct enum_choice kinds[] = {
    { 0, NULL, "NORMAL", "A normal reaction" },
    { 1, NULL, "BURST", "With an animation, for premium accounts" },
    { 0 },
};
static const struct type type_kind = { .kind = KIND_INT, .choices = kinds };

static const struct field query_fields[] = {
    { FIELD(struct reaction_query, type), .type = &type_kind, .flags = OPTIONAL },
    { 0 },
};
static const struct schema query_schema = {
    .size = sizeof(struct reaction_query),
    .fields = query_fields,
    .doc = "Which kind of reaction.",
};

/* --- users of an emoji ---------------------------------------------------------------- */

struct reaction_users_query {
    int64_t type, limit;
    struct opt_id after;
};
static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field users_fields[] = {
    { FIELD(struct reaction_users_query, type), .type = &type_kind, .flags = OPTIONAL },
    { FIELD(struct reaction_users_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct reaction_users_query, limit), .type = &type_limit, .flags = OPTIONAL,
      .fallback = 25 },
    { 0 },
};
static const struct schema users_schema = {
    .size = sizeof(struct reaction_users_query),
    .fields = users_fields,
    .doc = "Which users of a reaction.",
};

/* GET …/reactions/{emoji} */
static enum err list_reactions(struct call *call)
{
    const struct reaction_users_query *q = call->query;
    struct list users = { 0 };
    struct reaction_emoji_name name;
    struct reaction_line line;
    enum err e = parse_emoji_of_path(call, &name);

    if (!e && find_reaction_by_emoji_key(call, name.key, &line))
        e = reaction_read_users(call->tx, line.id, q->type == 1, q->after.value, q->limit, &users);
    return e ? e : call_reply_with_object(call, &users);
}

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    {
        .name = "emoji",
        .field = "emoji",
        .is_text = true,
        .doc = "Unicode characters, or name:id.",
    },
    {
        .name = "reactor.id",
        .field = "user_id",
        .me = true,
        .doc = "A user who reacted.",
    },
    { 0 },
};

/* Rate limit of adding and removing reactions. The window is short, because bots often add several
 * reactions in a row. */
static const struct rate_limit reaction_writes = { .name = "reactions", .count = 4, .window_s = 1 };

#define REACTIONS "/channels/{channel.id}/messages/{message.id}/reactions"
#define REMOVES(path_, name_, handle_, doc_)                                        \
    {                                                                               \
        .method = DELETE, .path = REACTIONS path_, .name = #name_, .doc = doc_,     \
        .auth = AUTH_USER | AUTH_BOT, .store = ROUTE_STORE_APPEND,                  \
        .fires = (const enum event[]){ EVENT_MESSAGE_REACTION_REMOVE, EVENT_NONE }, \
        .limit = &reaction_writes, .allowed_when_restricted = true,                 \
        .admit = require_read_message_history, .handle = handle_,                   \
    }

static const struct route routes[] = {
    {
        .method = PUT,
        .path = REACTIONS "/{emoji}/@me",
        .name = "create_reaction",
        .doc = "Add a reaction to a message; needs READ_MESSAGE_HISTORY, and ADD_REACTIONS if "
               "the message does not have the emoji yet.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &query_schema,
        .store = ROUTE_STORE_APPEND,
        .fires = (const enum event[]){ EVENT_MESSAGE_REACTION_ADD, EVENT_NONE },
        .limit = &reaction_writes,
        .admit = require_read_message_history,
        .handle = create_reaction,
    },
    REMOVES("/{emoji}/@me", delete_own_reaction, delete_own_reaction,
            "Remove the caller's reaction from a message."),
    REMOVES("/{emoji}/0/@me", delete_own_normal_reaction, delete_own_reaction,
            "The same, with the kind said."),
    REMOVES("/{emoji}/1/@me", delete_own_burst_reaction, delete_own_burst_reaction,
            "The same for a burst reaction."),
    REMOVES("/{emoji}/{reactor.id}", delete_user_reaction, delete_user_reaction,
            "Remove a user's reaction from a message. Reactions of others need MANAGE_MESSAGES."),
    REMOVES("/{emoji}/0/{reactor.id}", delete_user_normal_reaction, delete_user_reaction,
            "The same, with the kind said."),
    REMOVES("/{emoji}/1/{reactor.id}", delete_user_burst_reaction, delete_user_burst_reaction,
            "The same for a burst reaction."),
    {
        .method = DELETE,
        .path = REACTIONS "/{emoji}",
        .name = "delete_all_reactions_for_emoji",
        .doc = "Remove all reactions with an emoji from a message.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_MESSAGES),
        .fires = (const enum event[]){ EVENT_MESSAGE_REACTION_REMOVE_EMOJI, EVENT_NONE },
        .handle = delete_all_reactions_for_emoji,
    },
    {
        .method = DELETE,
        .path = REACTIONS,
        .name = "delete_all_reactions",
        .doc = "Remove all reactions from a message.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_MESSAGES),
        .fires = (const enum event[]){ EVENT_MESSAGE_REACTION_REMOVE_ALL, EVENT_NONE },
        .handle = delete_all_reactions,
    },
    {
        .method = GET,
        .path = REACTIONS "/{emoji}",
        .name = "list_reactions",
        .doc = "Users who reacted with an emoji, by id.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &users_schema,
        .reply = &type_partial_users,
        .admit = require_read_message_history,
        .handle = list_reactions,
    },
    { 0 },
};

#define REACTIONS_DELETED "select id from reactions where " OF_DELETED_MESSAGES

const struct domain reactions_domain = {
    .name = "Reactions",
    .doc = "Emoji reactions to messages.",
    .routes = routes,
    .world = &reactions_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &reaction_users_delete_job, NULL },
    .hooks = &(const struct hook_listeners){ .messages_fill = messages_fill_reactions,
                                             .own_reactions_find = read_caller_reactions,
                                             .message_deleted = reactions_delete_of_message },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_MESSAGES, "reaction_users", "reaction_id, burst, user_id",
                           "reaction_id in (" REACTIONS_DELETED ")") },
            { DELETE_WHERE(WITH_MESSAGES, "reaction_lanes", "message_id, lane",
                           OF_DELETED_MESSAGES) },
            { WITH_MESSAGES, "reactions",
              .remove = { &"delete from reactions where id in (" REACTIONS_DELETED " limit $2)" } },
            { 0 } },
};
