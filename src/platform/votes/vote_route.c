/* vote_route.c - PUT …/answers/@me: sets the answers of the caller in a poll. */
#include "platform/votes/internal.h"

#include "base/clock.h"
#include "model/relationship.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"

bool poll_has_ended(const struct poll *poll)
{
    return poll->results->is_finalized || poll->expiry <= clock_us();
}

/* --- checks --------------------------------------------------------------------------- */

static enum err check_poll_accepts_votes(struct call *call)
{
    const struct message *m = call->target.message;
    bool blocked = false;
    enum err e = OK;

    if (!m->poll)
        return ERR_NO_POLL;
    if (poll_has_ended(m->poll))
        return ERR_POLL_EXPIRED;
    if (m->webhook_id.given != GIVEN)
        e = account_has_relationship(call->tx, m->author_id, call->caller->id, RELATIONSHIP_BLOCKED,
                                     &blocked);
    return e || !blocked ? e : ERR_POLL_BLOCKED;
}

/* Converts the answer ids of the body to a bit set. Adds a form error for an unknown answer. */
static enum err parse_chosen_answers(struct call *call, int64_t *ret)
{
    const struct poll *poll = call->target.message->poll;
    const struct poll_vote_body *in = call->body;
    const int64_t *ids = in->answer_ids.items;
    struct json_path all = json_path_key(NULL, STR("answer_ids"));

    *ret = 0;
    for (size_t i = 0; i < in->answer_ids.count; i++) {
        struct json_path at = json_path_index(&all, i);

        if (ids[i] < 1 || ids[i] > (int64_t)poll->answers.count)
            form_add_error(&call->form, &at, "POLL_ANSWER_UNKNOWN", "The poll has no such answer.");
        else
            *ret |= INT64_C(1) << (ids[i] - 1);
    }
    if (!poll->allow_multiselect && (*ret & (*ret - 1)))
        form_add_error(&call->form, &all, "POLL_SINGLE_ANSWER", "Only one answer can be chosen.");
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

/* --- voting --------------------------------------------------------------------------- */

static const char CHOOSE[] =
    "insert into poll_voters (message_id, user_id, answers) values ($1, $2, $3) "
    "on conflict (message_id, user_id) do update set answers = $3";
static const char ADD_VOTE[] = "insert into poll_votes (message_id, answer_id, user_id) "
                               "values ($1, $2, $3) on conflict do nothing";
static const char REMOVE_VOTE[] =
    "delete from poll_votes where message_id = $1 and answer_id = $2 and user_id = $3";
static const char COUNT_VOTE[] =
    "insert into poll_counts (message_id, answer_id, lane, votes) values ($1, $2, $3, $4) "
    "on conflict (message_id, answer_id, lane) do update set votes = poll_counts.votes + $4";

enum err poll_voter_save(struct tx *tx, snowflake message_id, snowflake user_id, int64_t answers)
{
    return tx_exec(tx, CHOOSE, BIND(v_id(message_id), v_id(user_id), v_int(answers)), NULL);
}

enum err poll_vote_change(struct tx *tx, snowflake message_id, int64_t answer_id, snowflake user_id,
                          bool chosen)
{
    int64_t changed = 0;
    enum err e = tx_exec(tx, chosen ? SQL(ADD_VOTE) : SQL(REMOVE_VOTE),
                         BIND(v_id(message_id), v_int(answer_id), v_id(user_id)), &changed);

    if (e || !changed)
        return e;
    return tx_exec(tx, COUNT_VOTE,
                   BIND(v_id(message_id), v_int(answer_id), v_int(tx_get_counter_shard(tx)),
                        v_int(chosen ? 1 : -1)),
                   NULL);
}

static enum err change_vote_for_answer(struct call *call, int64_t answer_id, bool chosen)
{
    const struct channel *c = call->target.channel;
    snowflake message_id = call->target.message->id;
    struct poll_vote_event event = { .user_id = call->caller->id,
                                     .channel_id = c->id,
                                     .message_id = message_id,
                                     .answer_id = answer_id };
    enum err e = poll_vote_change(call->tx, message_id, answer_id, call->caller->id, chosen);

    if (!channel_is_private(c->type))
        event.guild_id = opt_id_or_null(c->guild_id.value);
    if (!e)
        call_emit_event(call, chosen ? EVENT_MESSAGE_POLL_VOTE_ADD : EVENT_MESSAGE_POLL_VOTE_REMOVE,
                        audience_of_channel(c), &poll_vote_schema, &event);
    return e;
}

static int64_t bits_of_voted_answers(const struct poll *poll)
{
    const struct poll_answer_count *c = poll->results->answer_counts.items;
    int64_t bits = 0;

    for (size_t i = 0; i < poll->results->answer_counts.count; i++)
        bits |= (int64_t)c[i].me_voted << i;
    return bits;
}

enum err choose_poll_answers(struct call *call)
{
    const struct message *m = call->target.message;
    int64_t now, before;
    enum err e = check_poll_accepts_votes(call);

    if (!e)
        e = parse_chosen_answers(call, &now);
    if (e)
        return e;
    before = bits_of_voted_answers(m->poll);
    if (now == before)
        return OK;
    e = poll_voter_save(call->tx, m->id, call->caller->id, now);
    /* Emits removals first, so that clients never see two answers in a single-choice poll. */
    for (int64_t i = 0; !e && i < POLL_MAX_ANSWERS; i++)
        if (before >> i & ~now >> i & 1)
            e = change_vote_for_answer(call, i + 1, false);
    for (int64_t i = 0; !e && i < POLL_MAX_ANSWERS; i++)
        if (now >> i & ~before >> i & 1)
            e = change_vote_for_answer(call, i + 1, true);
    return e;
}
