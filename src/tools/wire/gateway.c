/* gateway.c - gateway client: WebSocket frames, IDENTIFY, heartbeats, events. */
#include "tools/wire/internal.h"

#include <sodium.h>
#include <stdio.h>

#include "base/clock.h"
#include "json/schema.h"
#include "model/fields/types.h"
#include "net/websocket/websocket.h"

enum { CONNECT_TIMEOUT_S = 30 };
#define NANOSECONDS_PER_SECOND INT64_C(1000000000)

/* --- frames --------------------------------------------------------------------------- */

bool api_client_send_websocket_frame(struct api_client *w, int opcode, struct str payload)
{
    unsigned char head[WS_MAX_CLIENT_HEAD], mask[4];
    size_t n = 2;
    struct buf out;

    randombytes_buf(mask, sizeof mask);
    head[0] = (unsigned char)(0x80 | opcode);
    if (payload.n < 126) {
        head[1] = (unsigned char)(0x80 | payload.n);
    } else {
        head[1] = 0x80 | 126;
        head[2] = (unsigned char)(payload.n >> 8);
        head[3] = (unsigned char)payload.n;
        n = 4;
    }
    memcpy(head + n, mask, sizeof mask);
    buf_init(&out, WIRE_MAX_BYTES);
    buf_add(&out, head, n + sizeof mask);
    for (size_t i = 0; i < payload.n; i++)
        buf_add_char(&out, (char)((unsigned char)payload.p[i] ^ mask[i & 3]));
    bool ok = !buf_is_full(&out) && api_connection_send_all(w->line, buf_as_str(&out));
    buf_clear(&out);
    return ok;
}

/* Parses the frame at the start of the receive buffer. Returns its length, or 0 if the frame is
 * incomplete. */
static size_t parse_frame(struct api_client *w, int *ret_opcode, struct str *ret_payload)
{
    const unsigned char *p = (const unsigned char *)w->in.p + w->used;
    size_t there = w->in.n - w->used, head = 2;
    uint64_t length;

    if (there < 2)
        return 0;
    length = p[1] & 127;
    if (length >= 126) {
        size_t bytes = length == 126 ? 2 : 8;

        head += bytes;
        if (there < head)
            return 0;
        length = 0;
        for (size_t i = 0; i < bytes; i++)
            length = length << 8 | p[2 + i];
    }
    if (length > WIRE_MAX_BYTES || there < head + length)
        return 0;
    *ret_opcode = p[0] & 15;
    *ret_payload = str_slice((const char *)p + head, length);
    return head + length;
}

static void send_heartbeat_if_due(struct api_client *w, int64_t now)
{
    struct str beat =
        str_printf(w->arena, "{\"op\":%d,\"d\":%lld}", GATEWAY_HEARTBEAT, (long long)w->seq);

    if (!w->beat_ns || now < w->next_beat)
        return;
    w->next_beat = now + w->beat_ns;
    w->unanswered_beats++;
    api_client_send_websocket_frame(w, WS_TEXT, beat);
}

static enum api_client_event_result report_connection_lost(struct api_client *w, struct str why)
{
    if (!w->quiet)
        fprintf(stderr, "guildhall: the server closed the connection%s%.*s\n", why.n ? ": " : "",
                STR_ARGS(why));
    w->beat_ns = 0;
    return CLIENT_CONNECTION_LOST;
}

static enum api_client_event_result receive_text_message(struct api_client *w, int64_t until,
                                                         struct arena *arena, struct str *ret)
{
    for (;;) {
        int64_t now = clock_monotonic_ns(), wait = until - now;
        struct str payload;
        int opcode;
        size_t n = parse_frame(w, &opcode, &payload);

        w->used += n;
        if (n && opcode == WS_TEXT) {
            *ret = str_dup(arena, payload);
            buf_drop_first_bytes(&w->in, w->used);
            w->used = 0;
            return CLIENT_EVENT;
        }
        if (n && opcode == WS_CLOSE && payload.n >= 2)
            w->close_code = (unsigned char)payload.p[0] << 8 | (unsigned char)payload.p[1];
        if (n && opcode == WS_CLOSE)
            return report_connection_lost(w, payload.n > 2 ? str_skip_bytes(payload, 2) : STR(""));
        if (n && opcode == WS_PING)
            api_client_send_websocket_frame(w, WS_PONG, payload);
        if (n)
            continue;
        if (wait <= 0)
            return CLIENT_TIMEOUT;
        send_heartbeat_if_due(w, now);
        if (w->beat_ns && w->next_beat - now < wait)
            wait = w->next_beat - now;
        if (api_connection_receive(w->line, &w->in, wait / 1000000 + 1) < 0)
            return report_connection_lost(w, STR(""));
    }
}

/* --- messages ------------------------------------------------------------------------- */

static const struct field envelope_fields[] = {
    { FIELD(struct received_gateway_message, op), .type = &type_int },
    { FIELD(struct received_gateway_message, s), .type = &type_int, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct received_gateway_message, t), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct received_gateway_message, d), .type = &type_raw, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema envelope_schema = { .size = sizeof(struct received_gateway_message),
                                               .fields = envelope_fields };
const struct type type_wire_envelope = { .kind = KIND_OBJECT, .schema = &envelope_schema };

struct hello_or_ready_data {
    int64_t heartbeat_interval;
    struct opt_str session_id;
};
static const struct field hello_fields[] = {
    { FIELD(struct hello_or_ready_data, heartbeat_interval), .type = &type_int },
    { 0 },
};
static const struct field ready_fields[] = {
    { FIELD(struct hello_or_ready_data, session_id), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
static const struct schema hello_schema = { .size = sizeof(struct hello_or_ready_data),
                                            .fields = hello_fields };
static const struct schema ready_schema = { .size = sizeof(struct hello_or_ready_data),
                                            .fields = ready_fields };
static const struct type type_hello = { .kind = KIND_OBJECT, .schema = &hello_schema };
static const struct type type_ready = { .kind = KIND_OBJECT, .schema = &ready_schema };

/* Returns whether the event is READY. The event is not parsed, because READY of a user in very
 * large guilds may exceed the JSON reader's limit of values. */
static bool is_ready_event(struct str text)
{
    return memmem(text.p, text.n < 200 ? text.n : 200, "\"READY\"", 7) != NULL;
}

enum api_client_event_result api_client_wait_for_event(struct api_client *w, int64_t until,
                                                       struct api_client_event *ret)
{
    for (;;) {
        struct str text;
        enum api_client_event_result result = receive_text_message(w, until, w->arena, &text);

        if (result != CLIENT_EVENT)
            return result;
        const struct received_gateway_message *e =
            schema_decode_or_null(&type_wire_envelope, text, w->arena);
        if (!e && is_ready_event(text)) {
            *ret = (struct api_client_event){ STR("READY"), STR("{}") };
            return CLIENT_EVENT;
        }
        if (!e)
            continue;
        if (e->op == GATEWAY_HEARTBEAT)
            w->next_beat = 0;
        if (e->op == GATEWAY_RECONNECT)
            return report_connection_lost(w, STR("the server asks its clients to reconnect"));
        if (e->op == GATEWAY_INVALID_SESSION)
            return report_connection_lost(w, STR("the account starts sessions too fast; wait five "
                                                 "seconds, or use --rate-limits off for tests"));
        if (e->op != GATEWAY_DISPATCH || e->t.given != GIVEN)
            continue;
        w->seq = e->s.value;
        *ret = (struct api_client_event){ e->t.value, e->d.value };
        return CLIENT_EVENT;
    }
}

/* --- connecting ----------------------------------------------------------------------- */

bool api_client_send_websocket_handshake(struct api_client *w, const char *target)
{
    unsigned char nonce[16];
    char key[32];
    struct buf out;
    const char *end = NULL;
    int64_t until = clock_monotonic_ns() + CONNECT_TIMEOUT_S * NANOSECONDS_PER_SECOND;

    randombytes_buf(nonce, sizeof nonce);
    sodium_bin2base64(key, sizeof key, nonce, sizeof nonce, sodium_base64_VARIANT_ORIGINAL);
    buf_init(&out, 4096);
    buf_printf(&out,
               "GET %s HTTP/1.1\r\nHost: %.*s\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
               target, STR_ARGS(w->authority), key);
    bool ok = api_connection_send_all(w->line, buf_as_str(&out));
    buf_clear(&out);
    while (ok && !end) {
        ok = api_connection_receive(w->line, &w->in, CONNECT_TIMEOUT_S * 1000) >= 0 &&
             clock_monotonic_ns() < until;
        end = ok && w->in.n ? memmem(w->in.p, w->in.n, "\r\n\r\n", 4) : NULL;
    }
    ok = ok && str_starts_with(buf_as_str(&w->in), STR("HTTP/1.1 101"));
    if (ok)
        buf_drop_first_bytes(&w->in, (size_t)(end - w->in.p) + 4);
    else if (!w->quiet)
        fprintf(stderr, "guildhall: there is no gateway at %s:%s\n", w->host, w->port);
    return ok;
}

static bool receive_hello(struct api_client *w, int64_t until)
{
    struct str text;

    if (receive_text_message(w, until, w->arena, &text) != CLIENT_EVENT)
        return false;
    const struct received_gateway_message *e =
        schema_decode_or_null(&type_wire_envelope, text, w->arena);
    const struct hello_or_ready_data *hello =
        e && e->op == GATEWAY_HELLO ? schema_decode_or_null(&type_hello, e->d.value, w->arena)
                                    : NULL;
    if (!hello)
        return false;
    w->beat_ns = hello->heartbeat_interval * 1000000;
    w->next_beat = clock_monotonic_ns() + w->beat_ns;
    return true;
}

static bool send_identify(struct api_client *w)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 4096);
    json_begin_object(&j);
    json_write_name(&j, "op");
    json_write_int(&j, 2);
    json_write_name(&j, "d");
    json_begin_object(&j);
    json_write_name(&j, "token");
    bool bot = str_starts_with(str_of(w->token), STR("Bot "));
    json_write_text(&j, str_skip_bytes(str_of(w->token), bot ? 4 : 0));
    /* A bot with intents 0 receives only the events that need no intent. */
    json_write_key(&j, bot ? STR("intents") : STR("capabilities"));
    json_write_int(&j, 0);
    json_write_name(&j, "properties");
    json_begin_object(&j);
    json_write_name(&j, "browser");
    json_write_text(&j, STR("guildhall invoke"));
    json_end_object(&j);
    json_end_object(&j);
    json_end_object(&j);
    bool ok = api_client_send_websocket_frame(w, WS_TEXT, buf_as_str(&out));
    buf_clear(&out);
    return ok;
}

bool api_client_connect_gateway(struct api_client *w)
{
    int64_t until = clock_monotonic_ns() + CONNECT_TIMEOUT_S * NANOSECONDS_PER_SECOND;
    struct api_client_event e = { 0 };

    w->line = api_connection_open(w);
    if (!w->line || !api_client_send_websocket_handshake(w, "/?v=9&encoding=json") ||
        !receive_hello(w, until) || !send_identify(w))
        return false;
    while (!str_is(e.name, "READY"))
        if (api_client_wait_for_event(w, until, &e) != CLIENT_EVENT)
            return false;
    const struct hello_or_ready_data *ready = schema_decode_or_null(&type_ready, e.data, w->arena);
    if (ready && ready->session_id.given == GIVEN)
        w->session = ready->session_id.value;
    return true;
}

bool api_client_open_websocket(struct api_client *w, const char *target, struct str first)
{
    w->line = api_connection_open(w);
    return w->line && api_client_send_websocket_handshake(w, target) &&
           api_client_send_websocket_frame(w, WS_TEXT, first);
}

enum api_client_event_result api_client_wait_for_websocket_text(struct api_client *w, int64_t until,
                                                                struct arena *arena,
                                                                struct str *ret)
{
    return receive_text_message(w, until, arena, ret);
}

struct str api_client_get_session_id(const struct api_client *w)
{
    return w->session;
}
