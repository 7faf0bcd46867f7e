/* connections.c - checks voice connections of the relay, and records which states are connected. */
#include "voice/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/log.h"
#include "platform/guilds/guilds.h"
#include "voice/homes.h"
#include "voice/state_rows.h"
#include "voice/streams/streams.h"

/* --- IDENTIFY ------------------------------------------------------------------------- */

/* Finds the voice state of an IDENTIFY. For a private call server_id is the channel. */
static enum err connection_find(struct tx *tx, const struct relay_claim *c, struct voice_state *ret)
{
    enum err e = voice_find(tx, c->server_id, c->user_id, ret);

    if (e != ERR_UNKNOWN_VOICE_STATE)
        return e;
    e = voice_find(tx, 0, c->user_id, ret);
    return !e && voice_channel(ret) != c->server_id ? ERR_UNKNOWN_VOICE_STATE : e;
}

/* If there is no voice state, the close code depends on whether the guild exists. */
static enum err connection_refuse_unknown(struct tx *tx, const struct relay_claim *c,
                                          enum relay_close *ret)
{
    struct guild guild;
    enum err e = guild_find(tx, c->server_id, &guild);

    *ret = e == ERR_UNKNOWN_GUILD ? RELAY_NO_SERVER : RELAY_NO_SESSION;
    return e && e != ERR_UNKNOWN_GUILD ? e : ERR_UNKNOWN_VOICE_STATE;
}

/* Validates an IDENTIFY; 0: it is valid. */
static enum relay_close connection_judge(const struct relay_claim *c,
                                         const unsigned char token[VOICE_TOKEN],
                                         struct str session_id, snowflake channel_id)
{
    if (sodium_memcmp(token, c->token, VOICE_TOKEN) != 0)
        return RELAY_BAD_TOKEN;
    if (!str_is(session_id, c->session_id))
        return RELAY_NO_SESSION;
    return c->channel_id && c->channel_id != channel_id ? RELAY_NO_SESSION : 0;
}

static enum err connection_accept(struct call *call, const struct relay_claim *c,
                                  struct voice_fact fact)
{
    fact.claim = c->number;
    call_note_voice(call, &fact);
    return OK;
}

/* Refuses a client whose room another node owns. */
static enum err connection_refuse_elsewhere(struct call *call, snowflake room_id,
                                            enum relay_close *ret)
{
    bool here;
    enum err e = voice_home_is_here(call, room_id, &here);

    *ret = e ? RELAY_UNKNOWN : here ? 0 : RELAY_NO_SERVER;
    return e ? e : here ? OK : ERR_UNKNOWN_VOICE_STATE;
}

/* Checks an IDENTIFY for a voice state; admits: also marks the state as connected. */
static enum err connection_of_state(struct call *call, struct relay_claim *c, struct voice_state *s,
                                    bool admits)
{
    unsigned char token[VOICE_TOKEN];

    voice_token(call->api, s, token);
    c->refusal = connection_judge(c, token, s->session_id, voice_channel(s));
    if (c->refusal)
        return ERR_UNKNOWN_VOICE_STATE;
    enum err e = connection_refuse_elsewhere(call, voice_channel(s), &c->refusal);
    if (e || !admits)
        return e;
    s->live = true;
    e = voice_put(call->tx, s);
    return e ? e : connection_accept(call, c, voice_fact_of(s));
}

/* Checks an IDENTIFY for a stream; admits: also writes the row unchanged, so that a concurrent end
 * of the stream conflicts with it. */
static enum err connection_of_stream(struct call *call, struct relay_claim *c,
                                     const struct stream *s, bool admits)
{
    struct stream_part part;
    unsigned char token[VOICE_TOKEN];
    enum err e = stream_part_find(call->tx, s->key.owner_id, c->user_id, &part);

    c->refusal = e == ERR_UNKNOWN_STREAM ? RELAY_NO_SESSION : RELAY_UNKNOWN;
    if (e)
        return e;
    stream_token(call->api, &part, token);
    c->refusal = connection_judge(c, token, part.session_id, stream_rtc_channel(s));
    if (c->refusal)
        return ERR_UNKNOWN_STREAM;
    e = connection_refuse_elsewhere(call, s->rtc_server_id, &c->refusal);
    if (e || !admits)
        return e;
    e = stream_part_put(call->tx, s->key.owner_id, &part);
    return e ? e : connection_accept(call, c, stream_fact(s, &part, true));
}

static enum err connection_try(struct call *call, bool admits)
{
    struct relay_claim *c = call_passed(call, "relay_claim");
    struct voice_state state;
    struct stream stream;
    enum err e = connection_find(call->tx, c, &state);

    c->refusal = RELAY_UNKNOWN;
    if (!e)
        return connection_of_state(call, c, &state, admits);
    if (e != ERR_UNKNOWN_VOICE_STATE)
        return e;
    e = stream_of_server(call->tx, c->server_id, &stream);
    if (!e)
        return connection_of_stream(call, c, &stream, admits);
    return e == ERR_UNKNOWN_STREAM ? connection_refuse_unknown(call->tx, c, &c->refusal) : e;
}

static enum err connection_identify(struct call *call)
{
    return connection_try(call, true);
}

static enum err connection_look(struct call *call)
{
    return connection_try(call, false);
}

/* A read transaction rejects bad IDENTIFYs, which anyone can send, before the write transaction. */
static enum err connection_prepare(struct call *call)
{
    call->look = connection_look;
    return OK;
}

static void connection_identified(struct call *call, enum err e, void *arg)
{
    const struct relay_claim *c = call_passed(call, "relay_claim");

    (void)arg;
    if (e)
        relay_refuse(c, c->refusal ? c->refusal : RELAY_UNKNOWN);
}

static void source_identify(void *arg, const struct relay_claim *c)
{
    struct api *api = arg;

    if (api_draining(api)) {
        relay_refuse(c, RELAY_GOING);
        return;
    }
    errand_start(api, loop_current(),
                 &(struct errand){ .name = "voice_identify",
                                   .store = ROUTE_STORE_WRITE,
                                   .decode = connection_prepare,
                                   .run = connection_identify,
                                   .done = connection_identified,
                                   .type = "relay_claim",
                                   .data = c,
                                   .size = sizeof *c });
}

/* --- connected and active ------------------------------------------------------------- */

struct connection_change {
    struct relay_place place;
    bool live, active; /* exactly one of the two changes */
};

/* Whether the state needs VOICE_SERVER_UPDATE. A client may close its voice socket and send op 4 at
 * once. If op 4 is handled first, it is answered as if the socket were open, and the update is sent
 * when the socket is closed. */
#define ASKED_US (INT64_C(2) * 1000000)
static bool connection_was_asked_for(const struct voice_state *s)
{
    return !s->live && clock_us() - s->asked_at < ASKED_US;
}

/* Ignores the change if the state has another salt by now. */
static enum err connection_change(struct call *call)
{
    const struct connection_change *c = call_passed(call, "connection_change");
    struct voice_state s;
    enum err e = voice_find(call->tx, c->place.guild_id, c->place.user_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    if (!str_eq(s.salt, str_slice((const char *)c->place.salt, sizeof c->place.salt)))
        return OK;
    if (c->active)
        s.active_at = clock_us();
    else
        s.live = c->live;
    bool asked = !c->active && connection_was_asked_for(&s);
    if (asked)
        s.asked_at = 0;
    e = voice_put(call->tx, &s);
    return e || !asked ? e : voice_send_server(call, &s);
}

static void connection_change_start(struct api *api, const struct connection_change *c)
{
    if (api_draining(api))
        return;
    errand_start(api, loop_current(),
                 &(struct errand){ .name = "voice_connection",
                                   .store = ROUTE_STORE_WRITE,
                                   .run = connection_change,
                                   .type = "connection_change",
                                   .data = c,
                                   .size = sizeof *c });
}

static void source_live(void *arg, const struct relay_place *p, bool live)
{
    connection_change_start(arg, &(struct connection_change){ .place = *p, .live = live });
}

static void source_active(void *arg, const struct relay_place *p)
{
    connection_change_start(arg, &(struct connection_change){ .place = *p, .active = true });
}

struct relay_source voice_relay_source(struct api *api)
{
    return (struct relay_source){ api, source_identify, source_live, source_active };
}
