/* bot_session.c - IDENTIFY, RESUME, heartbeats and reconnects of a bot's gateway session. */
#include "tools/wire/bot_session.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "json/write.h"
#include "model/fields/types.h"
#include "net/websocket/websocket.h"
#include "tools/wire/internal.h"

enum { CONNECT_TIMEOUT_S = 30, LONGEST_BEAT_MS = 60 * 60 * 1000 };
#define NANOSECONDS_PER_SECOND INT64_C(1000000000)

struct bot_session {
    char url[300], token[300];
    int64_t intents;
    bool public_only;
    struct gateway_resume_point point;
    struct api_client *client; /* NULL if not connected */
    struct arena *arena;       /* freed with the connection */
};

struct bot_session *bot_session_new(const struct bot_session_options *options,
                                    const struct gateway_resume_point *from)
{
    struct bot_session *s = mem_new(sizeof *s);

    snprintf(s->url, sizeof s->url, "%s", options->url);
    snprintf(s->token, sizeof s->token, "%s", options->token);
    s->intents = options->intents;
    s->public_only = options->public_only;
    s->point = *from;
    return s;
}

static void session_disconnect(struct bot_session *s)
{
    api_client_free(s->client);
    arena_free(s->arena);
    s->client = NULL;
    s->arena = NULL;
}

void bot_session_free(struct bot_session *s)
{
    if (!s)
        return;
    session_disconnect(s);
    mem_free(s);
}

void bot_session_drop_resume_point(struct bot_session *s)
{
    s->point = (struct gateway_resume_point){ 0 };
    session_disconnect(s);
}

/* --- connecting ----------------------------------------------------------------------- */

/* Creates a client for the URL of a gateway. wss://host is requested like https://host. */
static struct api_client *new_client_of_url(const char *url, struct arena *arena)
{
    struct str rest = str_of(url), scheme = str_cut(&rest, ':');
    bool secure = str_is(scheme, "wss") || str_is(scheme, "https");

    rest = str_skip_bytes(rest, 2);
    struct str authority = str_cut(&rest, '/');
    if (memchr(authority.p, '?', authority.n))
        authority = str_cut(&authority, '?');
    return api_client_new(
        str_dup_cstring(arena,
                        str_printf(arena, "http%s://%.*s", secure ? "s" : "", STR_ARGS(authority))),
        arena);
}

static void write_token_and_session(const struct bot_session *s, struct json_writer *j)
{
    json_write_name(j, "token");
    json_write_text(j, str_of(s->token));
    if (s->point.id[0]) {
        json_write_name(j, "session_id");
        json_write_text(j, str_of(s->point.id));
        json_write_name(j, "seq");
        json_write_int(j, s->point.seq);
        return;
    }
    json_write_name(j, "intents");
    json_write_int(j, s->intents);
    json_write_name(j, "properties");
    json_begin_object(j);
    json_write_name(j, "os");
    json_write_text(j, STR("linux"));
    json_write_name(j, "browser");
    json_write_text(j, STR("guildhall"));
    json_write_name(j, "device");
    json_write_text(j, STR("guildhall"));
    json_end_object(j);
}

/* Sends RESUME if there is a session to resume, otherwise IDENTIFY. */
static bool send_first_message(struct bot_session *s)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 4096);
    json_begin_object(&j);
    json_write_name(&j, "op");
    json_write_int(&j, s->point.id[0] ? GATEWAY_RESUME : GATEWAY_IDENTIFY);
    json_write_name(&j, "d");
    json_begin_object(&j);
    write_token_and_session(s, &j);
    json_end_object(&j);
    json_end_object(&j);
    bool ok = api_client_send_websocket_frame(s->client, WS_TEXT, buf_as_str(&out));
    buf_clear(&out);
    return ok;
}

struct hello_data {
    int64_t heartbeat_interval;
};
static const struct field hello_fields[] = {
    { FIELD(struct hello_data, heartbeat_interval), .type = &type_int },
    { 0 },
};
static const struct schema hello_schema = { .size = sizeof(struct hello_data),
                                            .fields = hello_fields };
static const struct type type_hello = { .kind = KIND_OBJECT, .schema = &hello_schema };

static bool receive_hello(struct bot_session *s)
{
    int64_t until = clock_monotonic_ns() + CONNECT_TIMEOUT_S * NANOSECONDS_PER_SECOND;
    struct str text;

    if (api_client_wait_for_websocket_text(s->client, until, s->arena, &text) != CLIENT_EVENT)
        return false;
    const struct received_gateway_message *e =
        schema_decode_or_null(&type_wire_envelope, text, s->arena);
    const struct hello_data *hello = e && e->op == GATEWAY_HELLO
                                         ? schema_decode_or_null(&type_hello, e->d.value, s->arena)
                                         : NULL;
    if (!hello || hello->heartbeat_interval <= 0 || hello->heartbeat_interval > LONGEST_BEAT_MS)
        return false;
    s->client->beat_ns = hello->heartbeat_interval * 1000000;
    /* The first heartbeat is sent after half an interval, so that clients that reconnect together
     * spread their heartbeats. */
    s->client->next_beat = clock_monotonic_ns() + s->client->beat_ns / 2;
    return true;
}

static bool session_connect(struct bot_session *s)
{
    s->arena = arena_new();
    s->client =
        new_client_of_url(s->point.id[0] && s->point.url[0] ? s->point.url : s->url, s->arena);
    if (!s->client)
        return false;
    api_client_silence_errors(s->client);
    s->client->public_only = s->public_only;
    s->client->seq = s->point.seq;
    s->client->line = api_connection_open(s->client);
    return s->client->line &&
           api_client_send_websocket_handshake(s->client, "/?v=10&encoding=json") &&
           receive_hello(s) && send_first_message(s);
}

/* --- events --------------------------------------------------------------------------- */

struct ready_data {
    struct str session_id;
    struct opt_str resume_gateway_url;
};
static const struct field ready_fields[] = {
    { FIELD(struct ready_data, session_id), .type = &type_text },
    { FIELD(struct ready_data, resume_gateway_url), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
static const struct schema ready_schema = { .size = sizeof(struct ready_data),
                                            .fields = ready_fields };
static const struct type type_ready = { .kind = KIND_OBJECT, .schema = &ready_schema };

static void begin_session(struct bot_session *s, struct str data, struct arena *arena)
{
    const struct ready_data *ready = schema_decode_or_null(&type_ready, data, arena);

    s->point = (struct gateway_resume_point){ 0 };
    if (!ready)
        return;
    snprintf(s->point.id, sizeof s->point.id, "%.*s", STR_ARGS(ready->session_id));
    if (ready->resume_gateway_url.given == GIVEN)
        snprintf(s->point.url, sizeof s->point.url, "%.*s",
                 STR_ARGS(ready->resume_gateway_url.value));
}

/* Describes close codes after which it is useless to connect again. Returns NULL for other
 * codes. */
static const char *describe_close_code(int code)
{
    switch (code) {
    case 4004:
        return "the gateway refuses the token";
    case 4010:
    case 4011:
        return "the gateway requires shards, which a copy does not support";
    case 4012:
        return "the gateway does not support version 10";
    case 4013:
    case 4014:
        return "the gateway refuses the intents: turn on Server Members and Message Content for "
               "the bot";
    default:
        return NULL;
    }
}

static enum bot_session_result session_end_connection(struct bot_session *s,
                                                      struct bot_session_event *ret)
{
    int code = s->client ? s->client->close_code : 0;
    const char *refusal = s->client && s->client->address_is_private
                              ? "the address of the gateway is private, which is refused because "
                                "the API is public; correct the gateway address"
                              : describe_close_code(code);

    session_disconnect(s);
    if (code == 4007 || code == 4009)
        bot_session_drop_resume_point(s);
    if (!refusal)
        return SESSION_LOST;
    ret->data = str_of(refusal);
    return SESSION_REFUSED;
}

/* Handles a gateway message that is not an event. Returns whether the connection continues. */
static bool handle_control_message(struct bot_session *s, const struct received_gateway_message *e)
{
    if (e->op == GATEWAY_HEARTBEAT)
        s->client->next_beat = 0;
    if (e->op == GATEWAY_HEARTBEAT_ACK)
        s->client->unanswered_beats = 0;
    if (e->op == GATEWAY_INVALID_SESSION && !str_is(e->d.value, "true"))
        bot_session_drop_resume_point(s);
    return e->op != GATEWAY_RECONNECT && e->op != GATEWAY_INVALID_SESSION;
}

enum bot_session_result bot_session_wait_for_event(struct bot_session *s, int64_t until,
                                                   struct arena *arena,
                                                   struct bot_session_event *ret)
{
    *ret = (struct bot_session_event){ 0 };
    if (!s->client && !session_connect(s))
        return session_end_connection(s, ret);
    for (;;) {
        struct str text;
        enum api_client_event_result result =
            api_client_wait_for_websocket_text(s->client, until, arena, &text);

        if (result == CLIENT_TIMEOUT && s->client->unanswered_beats < 2)
            return SESSION_TIMEOUT;
        if (result != CLIENT_EVENT)
            return session_end_connection(s, ret);
        const struct received_gateway_message *e =
            schema_decode_or_null(&type_wire_envelope, text, arena);
        if (!e)
            continue;
        if (e->op != GATEWAY_DISPATCH) {
            if (!handle_control_message(s, e))
                return session_end_connection(s, ret);
            continue;
        }
        if (str_is(e->t.value, "READY"))
            begin_session(s, e->d.value, arena);
        if (e->s.given == GIVEN)
            s->point.seq = s->client->seq = e->s.value;
        *ret = (struct bot_session_event){ e->t.value, e->d.value, s->point };
        return SESSION_EVENT;
    }
}
