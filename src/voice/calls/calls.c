/* calls.c - calls in private channels: a call starts when the first participant joins and ends when
 * the last one leaves. Its message stores the participants and the end time. */
#include "voice/calls/calls.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/messages/messages.h"

/* The field `call` of a message. */
struct message_call {
    struct list participants; /* snowflakes */
    struct opt_int ended_timestamp;
};
static const struct field message_call_fields[] = {
    { FIELD(struct message_call, participants), .type = &type_ids },
    { FIELD(struct message_call, ended_timestamp), .type = &type_time, .flags = NULLABLE },
    { 0 },
};
static const struct schema message_call_schema = { .name = "MessageCall",
                                                   .size = sizeof(struct message_call),
                                                   .fields = message_call_fields,
                                                   .doc = "The call that a message is about." };
static const struct type type_message_call = { .kind = KIND_OBJECT,
                                               .schema = &message_call_schema };

static const struct field request_fields[] = {
    { FIELD(struct call_connect_request, channel_id), .type = &type_id },
    { 0 },
};
static const struct schema request_schema = { .size = sizeof(struct call_connect_request),
                                              .fields = request_fields };
const struct type type_call_request = { .kind = KIND_OBJECT, .schema = &request_schema };

static enum err create_call_message(struct call *call, const struct channel *c, snowflake user_id,
                                    snowflake *ret_id)
{
    struct message_call in_message = { { &user_id, 1 }, { GIVEN_NULL, 0 } };
    struct new_message draft = { .channel = c, .type = MESSAGE_CALL };
    struct message m;
    struct user user;
    enum err e = user_find(call->tx, user_id, &user);

    if (e)
        return e;
    draft.author = &user;
    draft.call = opt_str_or_null(json_column_encode(call->arena, &type_message_call, &in_message));
    e = message_create(call, &draft, &m);
    *ret_id = m.id;
    return e;
}

static const char FIND_MESSAGE_CALL[] = "select call from messages where id = $1";
static const char UPDATE_MESSAGE_CALL[] =
    "update messages set call = $2, shown = null where id = $1";

/* Adds a participant to the message that records the call, unless this message was deleted. */
static enum err add_participant_to_call_message(struct call *call, const struct voice_call *c,
                                                snowflake user_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_MESSAGE_CALL, BIND(v_id(c->message_id)), &row, &found);
    const struct message_call *in_message =
        e || !found ? NULL : json_column_decode(call->arena, &type_message_call, row_text(&row, 0));

    if (!in_message || id_list_contains(&in_message->participants, user_id))
        return e;
    struct message_call more = { .ended_timestamp = in_message->ended_timestamp };
    for (size_t i = 0; i < in_message->participants.count; i++)
        id_list_add(call->arena, &more.participants,
                    ((const snowflake *)in_message->participants.items)[i]);
    id_list_add(call->arena, &more.participants, user_id);
    return tx_exec(call->tx, UPDATE_MESSAGE_CALL,
                   BIND(v_id(c->message_id),
                        v_text(json_column_encode(call->arena, &type_message_call, &more))),
                   NULL);
}

static enum err set_call_message_end_time(struct call *call, const struct channel *c, snowflake id)
{
    struct message m;
    enum err e = message_find(call, c->id, id, &m);

    if (e)
        return e == ERR_UNKNOWN_MESSAGE ? OK : e;
    const struct message_call *in_message =
        json_column_decode(call->arena, &type_message_call, m.call.value);
    if (!in_message)
        return OK;
    struct message_call ended = { in_message->participants, opt_int_present(clock_us()) };
    m.call = opt_str_or_null(json_column_encode(call->arena, &type_message_call, &ended));
    return message_update_row_and_emit(call, c, &m);
}

static enum err start_call(struct call *call, const struct channel *c, const struct voice_state *s)
{
    struct voice_call began = { .channel_id = c->id, .region = s->region };
    enum err e = create_call_message(call, c, s->user_id, &began.message_id);

    if (!e)
        e = voice_call_insert(call->tx, &began);
    if (e)
        return e;
    began.voice_states = (struct opt_list){ .given = GIVEN };
    call_emit_event(call, EVENT_CALL_CREATE, audience_of_private_channel(c->id), &voice_call_schema,
                    &began);
    return OK;
}

enum err emit_voice_call_update(struct call *call, snowflake channel_id)
{
    struct voice_call now;
    enum err e = voice_call_find(call->tx, channel_id, &now);

    if (!e)
        call_emit_event(call, EVENT_CALL_UPDATE, audience_of_private_channel(channel_id),
                        &voice_call_schema, &now);
    return e;
}

enum err voice_call_on_join(struct call *call, const struct channel *c, struct voice_state *s)
{
    struct voice_call running;
    enum err e = voice_call_find(call->tx, c->id, &running);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? start_call(call, c, s) : e;
    s->region = running.region;
    e = add_participant_to_call_message(call, &running, s->user_id);
    if (e || !id_list_contains(&running.ringing, s->user_id))
        return e;
    e = voice_call_remove_ringing_user(call->tx, c->id, s->user_id);
    return e ? e : emit_voice_call_update(call, c->id);
}

static enum err finish_and_free_call(struct call *call, const struct voice_call *c)
{
    struct voice_call_delete_event gone = { c->channel_id };
    struct channel channel;
    enum err e = voice_call_delete(call->tx, c->channel_id);

    if (!e)
        e = job_cancel(call, &call_ring_job, c->channel_id);
    if (!e)
        e = channel_find(call->tx, c->channel_id, &channel);
    if (e)
        return e;
    call_emit_event(call, EVENT_CALL_DELETE, audience_of_private_channel(c->channel_id),
                    &voice_call_delete_event_schema, &gone);
    return set_call_message_end_time(call, &channel, c->message_id);
}

enum err voice_call_on_leave(struct call *call, const struct voice_state *was)
{
    struct voice_call running;
    int64_t participants, cameras;

    if (voice_state_get_guild_id(was))
        return OK;
    enum err e = count_voice_participants(call->tx, voice_state_get_channel_id(was), &participants,
                                          &cameras);
    if (e || participants)
        return e;
    e = voice_call_find(call->tx, voice_state_get_channel_id(was), &running);
    return e ? (e == ERR_UNKNOWN_CHANNEL ? OK : e) : finish_and_free_call(call, &running);
}

/* --- end of ringing, and op 13 (call connect) ------------------------------------------- */

static enum err run_stop_ringing_job(struct call *call, const struct job *job)
{
    struct voice_call running;
    enum err e = voice_call_find(call->tx, job->key, &running);

    if (e || !running.ringing.count)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    e = voice_call_remove_all_ringing_users(call->tx, job->key);
    return e ? e : emit_voice_call_update(call, job->key);
}

const struct job_kind call_ring_job = {
    .name = "call-ring",
    .doc = "Stops ringing for users who do not answer.",
    .run = run_stop_ringing_job,
};

enum err handle_call_connect_opcode(struct call *call, struct session_opcode *o)
{
    const struct call_connect_request *in = o->d;
    struct voice_call running;
    enum err e;

    if (!user_is_channel_recipient(call->tx, in->channel_id, o->caller.id, &e))
        return e;
    e = voice_call_find(call->tx, in->channel_id, &running);
    if (!e)
        e = list_voice_states_of_channel(call->tx, in->channel_id, &running.voice_states.value);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    running.voice_states.given = GIVEN;
    call_emit_event(call, EVENT_CALL_CREATE, audience_of_session(o->session), &voice_call_schema,
                    &running);
    return OK;
}
