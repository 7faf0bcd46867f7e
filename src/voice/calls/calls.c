/* calls.c - calls in private channels: they start with the first participant and end with the last
 * one. A message stores the participants and the end time. */
#include "voice/calls/calls.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/messages/messages.h"

/* The call object of a message. */
struct call_note {
    struct list participants; /* snowflakes */
    struct opt_int ended_timestamp;
};
static const struct field note_fields[] = {
    { FIELD(struct call_note, participants), .type = &type_ids },
    { FIELD(struct call_note, ended_timestamp), .type = &type_time, .flags = NULLABLE },
    { 0 },
};
static const struct schema note_schema = { .name = "MessageCall",
                                           .size = sizeof(struct call_note),
                                           .fields = note_fields,
                                           .doc = "The call that a message is about." };
static const struct type type_note = { .kind = KIND_OBJECT, .schema = &note_schema };

static const struct field request_fields[] = {
    { FIELD(struct call_request, channel_id), .type = &type_id },
    { 0 },
};
static const struct schema request_schema = { .size = sizeof(struct call_request),
                                              .fields = request_fields };
const struct type type_call_request = { .kind = KIND_OBJECT, .schema = &request_schema };

static enum err write_message(struct call *call, const struct channel *c, snowflake user_id,
                              snowflake *ret_id)
{
    struct call_note note = { { &user_id, 1 }, { GIVEN_NULL, 0 } };
    struct message_draft draft = { .channel = c, .type = MESSAGE_CALL };
    struct message m;
    struct user user;
    enum err e = user_find(call->tx, user_id, &user);

    if (e)
        return e;
    draft.author = &user;
    draft.call = given_str(column_encode(call->arena, &type_note, &note));
    e = message_create(call, &draft, &m);
    *ret_id = m.id;
    return e;
}

static const char FIND_NOTE[] = "select call from messages where id = $1";
static const char SAVE_NOTE[] = "update messages set call = $2, shown = null where id = $1";

/* Adds a participant to the call's message, unless that message was deleted. */
static enum err add_participant(struct call *call, const struct voice_call *c, snowflake user_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_NOTE, BIND(v_id(c->message_id)), &row, &found);
    const struct call_note *note =
        e || !found ? NULL : column_decode(call->arena, &type_note, row_text(&row, 0));

    if (!note || ids_hold(&note->participants, user_id))
        return e;
    struct call_note more = { .ended_timestamp = note->ended_timestamp };
    for (size_t i = 0; i < note->participants.count; i++)
        ids_add(call->arena, &more.participants, ((const snowflake *)note->participants.items)[i]);
    ids_add(call->arena, &more.participants, user_id);
    return tx_exec(call->tx, SAVE_NOTE,
                   BIND(v_id(c->message_id), v_text(column_encode(call->arena, &type_note, &more))),
                   NULL);
}

static enum err end_message(struct call *call, const struct channel *c, snowflake id)
{
    struct message m;
    enum err e = message_find(call, c->id, id, &m);

    if (e)
        return e == ERR_UNKNOWN_MESSAGE ? OK : e;
    const struct call_note *note = column_decode(call->arena, &type_note, m.call.value);
    if (!note)
        return OK;
    struct call_note ended = { note->participants, given_int(clock_us()) };
    m.call = given_str(column_encode(call->arena, &type_note, &ended));
    return message_save(call, c, &m);
}

static enum err voice_call_begin(struct call *call, const struct channel *c,
                                 const struct voice_state *s)
{
    struct voice_call began = { .channel_id = c->id, .region = s->region };
    enum err e = write_message(call, c, s->user_id, &began.message_id);

    if (!e)
        e = voice_call_insert(call->tx, &began);
    if (e)
        return e;
    began.voice_states = (struct opt_list){ .given = GIVEN };
    call_emit(call, EVENT_CALL_CREATE, to_channel(c->id), &voice_call_schema, &began);
    return OK;
}

enum err voice_call_tell(struct call *call, snowflake channel_id)
{
    struct voice_call now;
    enum err e = voice_call_find(call->tx, channel_id, &now);

    if (!e)
        call_emit(call, EVENT_CALL_UPDATE, to_channel(channel_id), &voice_call_schema, &now);
    return e;
}

enum err voice_call_enter(struct call *call, const struct channel *c, struct voice_state *s)
{
    struct voice_call running;
    enum err e = voice_call_find(call->tx, c->id, &running);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? voice_call_begin(call, c, s) : e;
    s->region = running.region;
    e = add_participant(call, &running, s->user_id);
    if (e || !ids_hold(&running.ringing, s->user_id))
        return e;
    e = ringing_remove(call->tx, c->id, s->user_id);
    return e ? e : voice_call_tell(call, c->id);
}

static enum err voice_call_end(struct call *call, const struct voice_call *c)
{
    struct voice_call_gone gone = { c->channel_id };
    struct channel channel;
    enum err e = voice_call_delete(call->tx, c->channel_id);

    if (!e)
        e = job_cancel(call, &call_ring_job, c->channel_id);
    if (!e)
        e = channel_find(call->tx, c->channel_id, &channel);
    if (e)
        return e;
    call_emit(call, EVENT_CALL_DELETE, to_channel(c->channel_id), &voice_call_gone_schema, &gone);
    return end_message(call, &channel, c->message_id);
}

enum err voice_call_left(struct call *call, const struct voice_state *was)
{
    struct voice_call running;
    int64_t people, cameras;

    if (voice_guild(was))
        return OK;
    enum err e = voice_count(call->tx, voice_channel(was), &people, &cameras);
    if (e || people)
        return e;
    e = voice_call_find(call->tx, voice_channel(was), &running);
    return e ? (e == ERR_UNKNOWN_CHANNEL ? OK : e) : voice_call_end(call, &running);
}

/* --- end of ringing, and op 13 -------------------------------------------------------- */

static enum err ring_out(struct call *call, const struct job *job)
{
    struct voice_call running;
    enum err e = voice_call_find(call->tx, job->key, &running);

    if (e || !running.ringing.count)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    e = ringing_clear(call->tx, job->key);
    return e ? e : voice_call_tell(call, job->key);
}

const struct job_kind call_ring_job = {
    .name = "call-ring",
    .doc = "Stops ringing for users who do not answer.",
    .run = ring_out,
};

enum err connect_call(struct call *call, struct session_order *o)
{
    const struct call_request *in = o->d;
    struct voice_call running;
    enum err e;

    if (!channel_is_recipient(call->tx, in->channel_id, o->caller.id, &e))
        return e;
    e = voice_call_find(call->tx, in->channel_id, &running);
    if (!e)
        e = voice_in_channel(call->tx, in->channel_id, &running.voice_states.value);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    running.voice_states.given = GIVEN;
    call_emit(call, EVENT_CALL_CREATE, to_session(o->session), &voice_call_schema, &running);
    return OK;
}
