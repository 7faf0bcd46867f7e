/* routes.c - route table of polls; lists the voters of an answer. */
#include "platform/votes/internal.h"

#include "model/fields/ids.h"
#include "model/permissions/permissions.h"
#include "api/deletion.h"
#include "platform/channels/channels.h"

/* --- voters --------------------------------------------------------------------------- */

struct voters_query {
    struct opt_id after;
    int64_t limit;
};
struct voters_reply {
    struct list users; /* struct user */
};

static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field query_fields[] = {
    { FIELD(struct voters_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct voters_query, limit), .type = &type_limit, .flags = OPTIONAL, .fallback = 25 },
    { 0 },
};
static const struct schema voters_query = {
    .size = sizeof(struct voters_query),
    .fields = query_fields,
    .doc = "Which voters of an answer.",
};
static const struct field voters_fields[] = {
    { FIELD(struct voters_reply, users), .type = &type_partial_users },
    { 0 },
};
static const struct schema voters_schema = {
    .name = "PollVoters",
    .size = sizeof(struct voters_reply),
    .fields = voters_fields,
    .doc = "Voters of an answer of a poll.",
};
static const struct type type_voters = { .kind = KIND_OBJECT, .schema = &voters_schema };

static const char VOTERS_OF[] = "select user_id from poll_votes where message_id = $1 and "
                                "answer_id = $2 and user_id > $3 order by user_id limit $4";

static enum err read_voters_of_answer(struct call *call, const struct list *ids, struct list *ret)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < ids->count; i++) {
        struct user user;

        e = user_find(call->tx, ((const snowflake *)ids->items)[i], &user);
        if (!e)
            *(struct user *)list_append(call->arena, ret, sizeof user) = user;
        else if (e == ERR_UNKNOWN_USER)
            e = OK;
    }
    return e;
}

/* GET /channels/{channel.id}/polls/{message.id}/answers/{answer.id} */
static enum err list_poll_voters(struct call *call)
{
    const struct voters_query *q = call->query;
    const struct message *m = call->target.message;
    snowflake answer = call_get_path_id(call, "answer.id");
    struct voters_reply voters = { 0 };
    struct list ids;

    if (!m->poll)
        return ERR_NO_POLL;
    if (answer < 1 || answer > m->poll->answers.count)
        return call_add_field_error(call, "answer_id", "POLL_ANSWER_UNKNOWN",
                                    "The poll has no such answer.");
    enum err e = tx_read_ids(
        call->tx, VOTERS_OF,
        BIND(v_id(m->id), v_int((int64_t)answer), v_id(q->after.value), v_int(q->limit)), &ids);
    if (!e)
        e = read_voters_of_answer(call, &ids, &voters.users);
    return e ? e : call_reply_with_object(call, &voters);
}

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    { .name = "answer.id", .field = "answer_id", .doc = "An answer of the poll, from 1." },
    { 0 },
};

static const struct type type_answer_ids = { .kind = KIND_ARRAY,
                                             .max = POLL_MAX_ANSWERS,
                                             .of = &type_count };
static const struct field choice_fields[] = {
    { FIELD(struct poll_vote_body, answer_ids), .type = &type_answer_ids },
    { 0 },
};
static const struct schema choice_schema = {
    .name = "PollChoice",
    .size = sizeof(struct poll_vote_body),
    .fields = choice_fields,
    .doc = "All answers that the caller chooses; an empty list removes the vote.",
};
static const struct type choice_body = { .kind = KIND_OBJECT, .schema = &choice_schema };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/channels/{channel.id}/polls/{message.id}/answers/{answer.id}",
        .name = "list_poll_voters",
        .doc = "Voters of an answer, by id; needs READ_MESSAGE_HISTORY.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &voters_query,
        .reply = &type_voters,
        .admit = require_read_message_history,
        .handle = list_poll_voters,
    },
    {
        .method = PUT,
        .path = "/channels/{channel.id}/polls/{message.id}/answers/@me",
        .name = "choose_poll_answers",
        .doc = "Choose answers of a poll; replaces the previous choice.",
        .auth = AUTH_USER,
        .body = &choice_body,
        .store = ROUTE_STORE_APPEND,
        .fires = (const enum event[]){ EVENT_MESSAGE_POLL_VOTE_ADD, EVENT_MESSAGE_POLL_VOTE_REMOVE,
                                       EVENT_NONE },
        .admit = require_read_message_history,
        .handle = choose_poll_answers,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/polls/{message.id}/expire",
        .name = "end_poll",
        .doc = "End a poll of the caller before its expiry.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, EVENT_MESSAGE_CREATE,
                                       EVENT_CHANNEL_CREATE, THREAD_MESSAGE_EVENTS, EVENT_NONE },
        .handle = end_poll,
    },
    { 0 },
};

const struct domain polls_domain = {
    .name = "Polls",
    .doc = "Questions under messages, with answers to choose from.",
    .routes = routes,
    .world = &polls_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &poll_end_job, &poll_votes_delete_job, NULL },
    .hooks = &(const struct hook_listeners){ .poll_message_created = poll_schedule_end,
                                             .message_deleted = poll_delete_with_message },
    .deletions =
        (const struct deletion_rule[]){
            { WITH_MESSAGES, "jobs",
              .remove = { &"delete from jobs where kind = 'poll-end' and key in (select message_id from polls "
                           "where " OF_DELETED_MESSAGES " limit $2)" } },
            { DELETE_WHERE(WITH_MESSAGES, "poll_votes", "message_id, answer_id, user_id",
                           OF_DELETED_MESSAGES) },
            { DELETE_WHERE(WITH_MESSAGES, "poll_voters", "message_id, user_id",
                           OF_DELETED_MESSAGES) },
            { DELETE_WHERE(WITH_MESSAGES, "poll_counts", "message_id, answer_id, lane",
                           OF_DELETED_MESSAGES) },
            { DELETE_WHERE(WITH_MESSAGES, "polls", "message_id", OF_DELETED_MESSAGES) },
            { 0 } },
};
