/* connections.c - checks connections to the relay, and records which voice states are connected. */
#include "voice/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/log.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "voice/rooms/room_owners.h"
#include "voice/state_rows.h"
#include "voice/streams/streams.h"

/* --- IDENTIFY ------------------------------------------------------------------------- */

/* Finds the voice state of an IDENTIFY payload. For a private call, server_id is the channel id. */
static enum err find_voice_state_to_connect(struct tx *tx, const struct pending_identify *c,
                                            struct voice_state *ret)
{
    enum err e = voice_state_find(tx, c->server_id, c->user_id, ret);

    if (e != ERR_UNKNOWN_VOICE_STATE)
        return e;
    e = voice_state_find(tx, 0, c->user_id, ret);
    return !e && voice_state_get_channel_id(ret) != c->server_id ? ERR_UNKNOWN_VOICE_STATE : e;
}

/* Refuses an IDENTIFY without a voice state. The close code says whether the guild exists. */
static enum err refuse_without_voice_state(struct tx *tx, const struct pending_identify *c,
                                           enum relay_close_code *ret)
{
    struct guild guild;
    enum err e = guild_find(tx, c->server_id, &guild);

    *ret = e == ERR_UNKNOWN_GUILD ? RELAY_SERVER_NOT_FOUND : RELAY_INVALID_SESSION;
    return e && e != ERR_UNKNOWN_GUILD ? e : ERR_UNKNOWN_VOICE_STATE;
}

/* Validates an IDENTIFY payload. Returns 0 if it is valid, else the close code. */
static enum relay_close_code check_fields_of_voice_identify(
    const struct pending_identify *c, const unsigned char token[VOICE_TOKEN_SIZE],
    struct str session_id, snowflake channel_id)
{
    if (sodium_memcmp(token, c->token, VOICE_TOKEN_SIZE) != 0)
        return RELAY_BAD_TOKEN;
    if (!str_is(session_id, c->session_id))
        return RELAY_INVALID_SESSION;
    return c->channel_id && c->channel_id != channel_id ? RELAY_INVALID_SESSION : 0;
}

/* Accepts an IDENTIFY payload: sends the voice state to the relay, with the information whether the
 * channel is a stage. */
static enum err accept_voice_identify(struct call *call, const struct pending_identify *c,
                                      snowflake channel_id, struct relay_voice_state fact)
{
    struct channel channel;
    enum err e = channel_find(call->tx, channel_id, &channel);

    if (e && e != ERR_UNKNOWN_CHANNEL)
        return e;
    fact.stage = !e && channel.type == CHANNEL_STAGE;
    fact.claim = c->number;
    call_record_voice_state_change(call, &fact);
    return OK;
}

/* Refuses a client if another node owns the voice room to which it connects. */
static enum err refuse_room_of_other_node(struct call *call, snowflake room_id,
                                          enum relay_close_code *ret)
{
    bool here;
    enum err e = voice_room_belongs_to_this_node(call, room_id, &here);

    *ret = e ? RELAY_UNKNOWN_ERROR : here ? 0 : RELAY_SERVER_NOT_FOUND;
    return e ? e : here ? OK : ERR_UNKNOWN_VOICE_STATE;
}

/* Checks an IDENTIFY payload for a voice state, and marks it as connected if `admits` is set. */
static enum err connect_voice_state(struct call *call, struct pending_identify *c,
                                    struct voice_state *s, bool admits)
{
    unsigned char token[VOICE_TOKEN_SIZE];

    voice_token_derive(call->api, s, token);
    c->refusal =
        check_fields_of_voice_identify(c, token, s->session_id, voice_state_get_channel_id(s));
    if (c->refusal)
        return ERR_UNKNOWN_VOICE_STATE;
    enum err e = refuse_room_of_other_node(call, voice_state_get_channel_id(s), &c->refusal);
    if (e || !admits)
        return e;
    s->live = true;
    e = voice_state_write_row(call->tx, s);
    return e ? e
             : accept_voice_identify(call, c, voice_state_get_channel_id(s),
                                     relay_voice_state_from_voice_state(s));
}

/* Checks an IDENTIFY payload for a stream. If `admits` is set, also writes the participant's
 * unchanged row, so that the transaction conflicts with a transaction that ends the stream. */
static enum err connect_stream_participant_to_relay(struct call *call, struct pending_identify *c,
                                                    const struct stream *s, bool admits)
{
    struct stream_participant part;
    unsigned char token[VOICE_TOKEN_SIZE];
    enum err e = stream_participant_find(call->tx, s->key.owner_id, c->user_id, &part);

    c->refusal = e == ERR_UNKNOWN_STREAM ? RELAY_INVALID_SESSION : RELAY_UNKNOWN_ERROR;
    if (e)
        return e;
    stream_token_derive(call->api, &part, token);
    c->refusal =
        check_fields_of_voice_identify(c, token, part.session_id, stream_rtc_channel_id(s));
    if (c->refusal)
        return ERR_UNKNOWN_STREAM;
    e = refuse_room_of_other_node(call, s->rtc_server_id, &c->refusal);
    if (e || !admits)
        return e;
    e = stream_participant_write(call->tx, s->key.owner_id, &part);
    return e ? e
             : accept_voice_identify(call, c, s->key.channel_id,
                                     stream_make_relay_voice_state(s, &part, true));
}

static enum err check_voice_identify(struct call *call, bool admits)
{
    struct pending_identify *c = call_get_stage_data(call, "pending_identify");
    struct voice_state state;
    struct stream stream;
    enum err e = find_voice_state_to_connect(call->tx, c, &state);

    c->refusal = RELAY_UNKNOWN_ERROR;
    if (!e)
        return connect_voice_state(call, c, &state, admits);
    if (e != ERR_UNKNOWN_VOICE_STATE)
        return e;
    e = stream_find_by_rtc_server(call->tx, c->server_id, &stream);
    if (!e)
        return connect_stream_participant_to_relay(call, c, &stream, admits);
    return e == ERR_UNKNOWN_STREAM ? refuse_without_voice_state(call->tx, c, &c->refusal) : e;
}

static enum err check_and_admit_voice_identify(struct call *call)
{
    return check_voice_identify(call, true);
}

static enum err check_identify_without_admitting(struct call *call)
{
    return check_voice_identify(call, false);
}

/* Rejects invalid IDENTIFY payloads in a read transaction, because anyone can send them. Only valid
 * payloads need the write transaction. */
static enum err prepare_voice_identify(struct call *call)
{
    call->read = check_identify_without_admitting;
    return OK;
}

static void on_voice_identify_checked(struct call *call, enum err e, void *arg)
{
    const struct pending_identify *c = call_get_stage_data(call, "pending_identify");

    (void)arg;
    if (e)
        relay_refuse_identify(c, c->refusal ? c->refusal : RELAY_UNKNOWN_ERROR);
}

static void on_identify_received_by_relay(void *arg, const struct pending_identify *c)
{
    struct api *api = arg;

    if (api_is_draining(api)) {
        relay_refuse_identify(c, RELAY_GOING_AWAY);
        return;
    }
    internal_call_start(api, loop_get_current(),
                        &(struct internal_call){ .name = "voice_identify",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = prepare_voice_identify,
                                                 .run = check_and_admit_voice_identify,
                                                 .done = on_voice_identify_checked,
                                                 .type = "pending_identify",
                                                 .data = c,
                                                 .size = sizeof *c });
}

/* --- connected and active ------------------------------------------------------------- */

struct connection_change {
    struct voice_state_key voice_state;
    bool live, active; /* new values for the voice state; one call changes only one of the two */
};

/* Maximum time between an op 4 and the close of the old voice socket. A client may close its voice
 * socket and send op 4 at the same time, and op 4 may be handled first. If the close is handled
 * within this time after op 4, VOICE_SERVER_UPDATE is sent. */
#define REPEATED_REQUEST_US (INT64_C(2) * 1000000)
static bool state_awaits_server_update(const struct voice_state *s)
{
    return !s->live && clock_us() - s->requested_again_at < REPEATED_REQUEST_US;
}

/* Stores the connection state in the voice state. The change of an outdated connection is ignored,
 * because the voice state has another salt then. */
static enum err update_voice_connection(struct call *call)
{
    const struct connection_change *c = call_get_stage_data(call, "connection_change");
    struct voice_state s;
    enum err e = voice_state_find(call->tx, c->voice_state.guild_id, c->voice_state.user_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    if (!str_eq(s.salt, str_slice((const char *)c->voice_state.salt, sizeof c->voice_state.salt)))
        return OK;
    if (c->active)
        s.active_at = clock_us();
    else
        s.live = c->live;
    bool asked = !c->active && state_awaits_server_update(&s);
    if (asked)
        s.requested_again_at = 0;
    e = voice_state_write_row(call->tx, &s);
    return e || !asked ? e : emit_voice_server_update(call, &s);
}

static void start_connection_update(struct api *api, const struct connection_change *c)
{
    if (api_is_draining(api))
        return;
    internal_call_start(api, loop_get_current(),
                        &(struct internal_call){ .name = "voice_connection",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .run = update_voice_connection,
                                                 .type = "connection_change",
                                                 .data = c,
                                                 .size = sizeof *c });
}

static void on_relay_connected_changed(void *arg, const struct voice_state_key *p, bool live)
{
    start_connection_update(arg, &(struct connection_change){ .voice_state = *p, .live = live });
}

static void on_relay_audio_activity(void *arg, const struct voice_state_key *p)
{
    start_connection_update(arg, &(struct connection_change){ .voice_state = *p, .active = true });
}

struct relay_callbacks voice_relay_callbacks(struct api *api)
{
    return (struct relay_callbacks){ api, on_identify_received_by_relay, on_relay_connected_changed,
                                     on_relay_audio_activity };
}
