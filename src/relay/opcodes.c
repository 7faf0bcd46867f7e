/* opcodes.c - opcodes that clients send to the voice gateway, such as IDENTIFY and SPEAKING. */
#include "relay/peers.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/read.h"
#include "json/schema.h"
#include "model/fields/types.h"
#include "relay/webrtc/sdp.h"

enum {
    RATE_WINDOW_MS = 60 * 1000,
    RATE_MESSAGES = 600,
    /* Maximum number of op 1 (SELECT_PROTOCOL) per rate limit window, because op 1 changes the keys
     * of an encrypted room. */
    RATE_SELECTS = 30,
    NUMBER_TEXT_SIZE = 32
};

/* --- IDENTIFY and RESUME -------------------------------------------------------------- */

struct voice_identify {
    snowflake server_id, user_id;
    struct opt_id channel_id;
    struct str session_id, token;
    struct opt_int max_dave_protocol_version;
    bool video;
    struct list streams;
};
static const struct field identify_fields[] = {
    { FIELD(struct voice_identify, server_id), .type = &type_id },
    { FIELD(struct voice_identify, user_id), .type = &type_id },
    { FIELD(struct voice_identify, channel_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_identify, session_id), .type = &type_text },
    { FIELD(struct voice_identify, token), .type = &type_text },
    { FIELD(struct voice_identify, max_dave_protocol_version), .type = &type_int,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_identify, video), .type = &type_bool, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_identify, streams), .type = &type_voice_layers, .flags = OPTIONAL },
    { 0 },
};
static const struct schema identify_schema = { .size = sizeof(struct voice_identify),
                                               .fields = identify_fields };
static const struct type type_identify = { .kind = KIND_OBJECT, .schema = &identify_schema };

struct voice_resume {
    snowflake server_id;
    struct opt_id channel_id;
    struct str session_id, token;
    struct opt_int seq_ack;
};
static const struct field resume_fields[] = {
    { FIELD(struct voice_resume, server_id), .type = &type_id },
    { FIELD(struct voice_resume, channel_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_resume, session_id), .type = &type_text },
    { FIELD(struct voice_resume, token), .type = &type_text },
    { FIELD(struct voice_resume, seq_ack), .type = &type_int, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema resume_schema = { .size = sizeof(struct voice_resume),
                                             .fields = resume_fields };
static const struct type type_resume = { .kind = KIND_OBJECT, .schema = &resume_schema };

/* Parses a voice token. Returns false if it is not well-formed. */
static bool parse_voice_token(struct str hex, unsigned char out[RELAY_TOKEN_SIZE])
{
    size_t n;

    return hex.n == 2 * (size_t)RELAY_TOKEN_SIZE &&
           sodium_hex2bin(out, RELAY_TOKEN_SIZE, hex.p, hex.n, NULL, &n, NULL) == 0 &&
           n == RELAY_TOKEN_SIZE;
}

static bool parse_session_id(struct str text, char out[RELAY_SESSION_MAX])
{
    if (text.n >= RELAY_SESSION_MAX)
        return false;
    memcpy(out, text.p, text.n);
    out[text.n] = '\0';
    return true;
}

/* Closes the socket and returns false if channel_id is missing, which is required from gateway
 * version 9 on. */
static bool require_channel_id(struct voice_peer *p, const struct opt_id *channel_id)
{
    bool named = p->version < VOICE_CHANNEL_ID_VERSION || channel_id->given == GIVEN;

    if (!named)
        voice_peer_close(p, RELAY_BAD_REQUEST, "channel_id is required");
    return named;
}

static void handle_voice_identify(struct voice_peer *p, const void *d)
{
    const struct voice_identify *in = d;
    struct relay *r = p->loop_state->relay;

    if (!require_channel_id(p, &in->channel_id))
        return;
    struct pending_identify *c = mem_new(sizeof *c);
    bool token = parse_voice_token(in->token, c->token),
         session = parse_session_id(in->session_id, c->session_id);

    if (!token || !session) {
        voice_peer_close(p, token ? RELAY_INVALID_SESSION : RELAY_BAD_TOKEN,
                         "invalid token or session id");
        mem_free(c);
        return;
    }
    c->server_id = in->server_id;
    c->user_id = in->user_id;
    c->channel_id = in->channel_id.value;
    c->relay = r;
    c->loop = p->loop_state->loop;
    c->number = p->number;
    c->version = p->version;
    c->dave_version = in->max_dave_protocol_version.value >= DAVE_VERSION ? DAVE_VERSION : 0;
    c->layer_count = parse_video_layers(in->video, &in->streams, c->layers);
    p->state = VOICE_IDENTIFYING;
    pending_identify_add(c);
    r->options.source.identify(r->options.source.arg, c);
}

static void handle_voice_resume(struct voice_peer *p, const void *d)
{
    const struct voice_resume *in = d;

    if (!require_channel_id(p, &in->channel_id))
        return;
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_RESUME, 0);
    n->resume.channel_id = in->channel_id.value;
    n->resume.server_id = in->server_id;
    n->resume.seq_ack = in->seq_ack.given == GIVEN ? in->seq_ack.value : -1;
    if (!parse_voice_token(in->token, n->resume.token) ||
        !parse_session_id(in->session_id, n->resume.session_id)) {
        voice_peer_close(p, RELAY_INVALID_SESSION, "invalid token or session id");
        mem_free(n);
        return;
    }
    p->state = VOICE_IDENTIFYING;
    relay_message_send(n);
}

/* --- SELECT_PROTOCOL, SPEAKING and others --------------------------------------------- */

struct voice_protocol {
    struct str mode;
};
struct voice_select {
    /* SELECT_PROTOCOL: data is an object for "udp", and a string for "webrtc" */
    struct str protocol, data;
    struct str sdp;
    struct list codecs;
};
static const struct field protocol_fields[] = {
    { FIELD(struct voice_protocol, mode), .type = &type_text },
    { 0 },
};
static const struct schema protocol_schema = { .size = sizeof(struct voice_protocol),
                                               .fields = protocol_fields };
static const struct type type_protocol = { .kind = KIND_OBJECT, .schema = &protocol_schema };
static const struct field select_fields[] = {
    { FIELD(struct voice_select, protocol), .type = &type_text },
    { FIELD(struct voice_select, data), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_select, sdp), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_select, codecs), .type = &type_voice_codecs, .flags = OPTIONAL },
    { 0 },
};
static const struct schema select_schema = { .size = sizeof(struct voice_select),
                                             .fields = select_fields };
static const struct type type_select = { .kind = KIND_OBJECT, .schema = &select_schema };

/* Decodes a JSON string. If `raw` is not a JSON string, the result has p == NULL. */
static struct str decode_json_string(struct voice_peer *p, struct str raw)
{
    const struct str *text = raw.n && raw.p[0] == '"'
                                 ? schema_decode_or_null(&type_text, raw, p->loop_state->arena)
                                 : NULL;

    return text ? *text : (struct str){ 0 };
}

/* Handles a SELECT_PROTOCOL for WebRTC. Browsers put the SDP into the fields data and sdp; some
 * libraries use only one of the two fields. */
static void handle_select_webrtc(struct voice_peer *p, const struct voice_select *in)
{
    struct str data = decode_json_string(p, in->data),
               text = data.p ? data : decode_json_string(p, in->sdp);
    struct codec_offer codecs = parse_codec_list(&in->codecs);
    struct sdp_offer offer;

    if (!text.p || !sdp_parse_offer(text, &offer)) {
        voice_peer_close(p, RELAY_BAD_REQUEST,
                         "the SDP needs ice-ufrag, ice-pwd and a fingerprint (sha-256)");
        return;
    }
    if (!codecs.numbers.opus && offer.opus_type > 0)
        codecs.numbers.opus = (unsigned char)offer.opus_type;
    if (!codecs.numbers.opus) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "the SDP needs a payload type of opus");
        return;
    }
    struct str fingerprints = str_of(offer.fingerprints);
    struct relay_message *n =
        voice_peer_new_message(p, RELAY_MESSAGE_SELECT_PROTOCOL, fingerprints.n);
    n->select.offer = codecs;
    n->select.transport_cc_id = offer.transport_cc_id;
    memcpy(n->text, fingerprints.p, fingerprints.n);
    relay_message_send(n);
}

static void handle_voice_select_protocol(struct voice_peer *p, const void *d)
{
    const struct voice_select *in = d;
    const struct voice_protocol *data =
        in->data.n && in->data.p[0] == '{'
            ? schema_decode_or_null(&type_protocol, in->data, p->loop_state->arena)
            : NULL;
    const struct encryption_mode *mode = data ? encryption_mode_find(data->mode) : NULL;

    if (++p->selects > RATE_SELECTS) {
        voice_peer_close(p, RELAY_RATE_LIMITED, "too many protocol selections (op 1)");
        return;
    }
    if (str_is(in->protocol, "webrtc")) {
        handle_select_webrtc(p, in);
        return;
    }
    if (!str_is(in->protocol, "udp")) {
        voice_peer_close(p, RELAY_BAD_PROTOCOL, "unknown protocol");
        return;
    }
    if (in->data.n && !data) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "malformed payload");
        return;
    }
    if (!mode || !relay_offers_encryption_mode(p->loop_state->relay, mode)) {
        voice_peer_close(p, RELAY_BAD_MODE, "unknown encryption mode");
        return;
    }
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_SELECT_PROTOCOL, 0);
    n->select.mode = mode;
    n->select.offer = parse_codec_list(&in->codecs);
    relay_message_send(n);
}

/* Payload of op 5. `speaking` is a bit set; old clients send true or false. */
struct voice_speaking {
    struct str speaking, ssrc;
};
static const struct field speaking_fields[] = {
    { FIELD(struct voice_speaking, speaking), .type = &type_raw },
    { FIELD(struct voice_speaking, ssrc), .type = &type_raw, .flags = OPTIONAL },
    { 0 },
};
static const struct schema speaking_schema = { .size = sizeof(struct voice_speaking),
                                               .fields = speaking_fields };
static const struct type type_speaking = { .kind = KIND_OBJECT, .schema = &speaking_schema };

static void handle_voice_speaking(struct voice_peer *p, const void *d)
{
    const struct voice_speaking *in = d;
    int64_t bits = str_is(in->speaking, "true");

    if (!bits && !str_is(in->speaking, "false") &&
        (!json_parse_int_text(in->speaking, &bits) || bits < 0)) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "invalid speaking bits");
        return;
    }
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_SPEAKING, 0);
    n->speaking.bits = (unsigned)(bits & UINT32_MAX);
    n->speaking.ssrc = parse_ssrc(in->ssrc);
    relay_message_send(n);
}

/* Asks the relay's OS thread to send the version, because the reply has a sequence number. */
static void handle_voice_version(struct voice_peer *p, struct str raw)
{
    (void)raw;
    relay_message_send(voice_peer_new_message(p, RELAY_MESSAGE_VERSION, 0));
}

/* Handles a client's report that its media does not arrive: logs it once per socket. */
static void handle_voice_media_unreachable_report(struct voice_peer *p, struct str raw)
{
    (void)raw;
    if (!p->lost_route)
        log_info("voice: a client reports that it cannot reach the UDP port for media; "
                 "check voice-address and firewalls");
    p->lost_route = true;
}

/* --- heartbeats ----------------------------------------------------------------------- */

struct voice_heartbeat {
    struct str t;
    struct opt_int seq_ack;
};
static const struct field heartbeat_fields[] = {
    { FIELD(struct voice_heartbeat, t), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_heartbeat, seq_ack), .type = &type_int, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema heartbeat_schema = { .size = sizeof(struct voice_heartbeat),
                                                .fields = heartbeat_fields };
static const struct type type_heartbeat = { .kind = KIND_OBJECT, .schema = &heartbeat_schema };

static bool is_json_number(struct str raw)
{
    return raw.n && raw.n <= NUMBER_TEXT_SIZE &&
           (raw.p[0] == '-' || (raw.p[0] >= '0' && raw.p[0] <= '9'));
}

static void forward_sequence_acknowledgement(struct voice_peer *p, int64_t seq_ack)
{
    if (p->state != VOICE_IDENTIFIED || seq_ack == p->seq_ack)
        return;
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_ACK, 0);

    p->seq_ack = n->seq_ack = seq_ack;
    relay_message_send(n);
}

/* Answers a heartbeat: with an object from gateway version 8 on, with a number before. */
static void handle_voice_heartbeat(struct voice_peer *p, struct str raw)
{
    struct form form = { .arena = p->loop_state->arena };
    struct str t = raw;
    char ack[NUMBER_TEXT_SIZE + 16];
    void *d;

    if (raw.n && raw.p[0] == '{') {
        if (schema_decode(&type_heartbeat, raw, &form, &d)) {
            voice_peer_close(p, RELAY_BAD_REQUEST, "invalid heartbeat");
            return;
        }
        const struct voice_heartbeat *in = d;
        t = in->t;
        if (in->seq_ack.given == GIVEN)
            forward_sequence_acknowledgement(p, in->seq_ack.value);
    }
    if (!is_json_number(t))
        t = STR("null");
    int n = snprintf(ack, sizeof ack,
                     p->version >= VOICE_SEQUENCE_VERSION ? "{\"t\":%.*s}" : "%.*s", STR_ARGS(t));
    voice_peer_send(p, VOICE_HEARTBEAT_ACK, str_slice(ack, (size_t)n));
    if (p->state == VOICE_IDENTIFIED)
        deadline_restart(p->loop_state->overdue, &p->deadline);
}

static const struct field envelope_fields[] = {
    { FIELD(struct voice_gateway_envelope, op), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_gateway_envelope, d), .type = &type_raw, .flags = OPTIONAL },
    { 0 },
};
static const struct schema envelope_schema = { .size = sizeof(struct voice_gateway_envelope),
                                               .fields = envelope_fields };
const struct type type_voice_envelope = { .kind = KIND_OBJECT, .schema = &envelope_schema };

const struct voice_opcode_declaration voice_op_rows[] = {
    { VOICE_IDENTIFY, "voice_identify", true, &type_identify, handle_voice_identify, NULL },
    { VOICE_RESUME, "voice_resume", true, &type_resume, handle_voice_resume, NULL },
    { VOICE_SELECT_PROTOCOL, "voice_select", false, &type_select, handle_voice_select_protocol,
      NULL },
    { VOICE_SPEAKING, "voice_speaking", false, &type_speaking, handle_voice_speaking, NULL },
    { VOICE_HEARTBEAT, "voice_heartbeat", false, NULL, NULL, handle_voice_heartbeat },
    { VOICE_VIDEO, "voice_video", false, &type_voice_video, handle_voice_video, NULL },
    { VOICE_SESSION_UPDATE, "voice_session", false, &type_voice_session_update,
      handle_voice_session_update, NULL },
    { VOICE_MEDIA_SINK_WANTS, "voice_wants", false, &type_voice_video_request,
      handle_voice_video_request, NULL },
    { VOICE_VERSION, "voice_version", false, NULL, NULL, handle_voice_version },
    { VOICE_TRANSITION_READY, "voice_transition_ready", false, &type_voice_transition,
      handle_voice_transition_ready, NULL },
    { VOICE_INVALID_COMMIT, "voice_invalid_commit", false, &type_voice_transition,
      handle_voice_invalid_commit, NULL },
    { VOICE_NO_ROUTE, "voice_no_route", false, NULL, NULL, handle_voice_media_unreachable_report },
    { 0 },
};

static const struct voice_opcode_declaration *find_voice_op_row(int64_t op)
{
    for (const struct voice_opcode_declaration *r = voice_op_rows; r->name; r++)
        if (r->op == (enum voice_gateway_opcode)op)
            return r;
    return NULL;
}

static bool socket_is_within_rate_limit(struct voice_peer *p)
{
    int64_t now = clock_steady_ms();

    if (now - p->window_ms >= RATE_WINDOW_MS) {
        p->window_ms = now;
        p->messages = p->videos = p->selects = p->codec_lists = 0;
    }
    return ++p->messages <= RATE_MESSAGES;
}

static void decode_and_handle_op(struct voice_peer *p, const struct voice_opcode_declaration *row,
                                 struct str raw)
{
    struct form form = { .arena = p->loop_state->arena };
    void *d;

    loop_set_measured_activity(row->name);
    if (row->handle_raw) {
        row->handle_raw(p, raw);
        return;
    }
    if (!raw.n || raw.p[0] != '{' || schema_decode(row->type, raw, &form, &d))
        voice_peer_close(p, RELAY_BAD_REQUEST, "malformed payload");
    else
        row->handle(p, d);
}

/* Handles an opcode. Ignores it while the client's IDENTIFY or RESUME is being checked. */
static void handle_voice_op(struct voice_peer *p, int64_t op, struct str raw)
{
    const struct voice_opcode_declaration *row = find_voice_op_row(op);
    bool beats = op == VOICE_HEARTBEAT, begins = row && row->begins;

    if (!beats && begins && p->state != VOICE_UNAUTHENTICATED)
        voice_peer_close(p, RELAY_ALREADY_IDENTIFIED, "already identified");
    else if (!beats && !begins && p->state == VOICE_UNAUTHENTICATED)
        voice_peer_close(p, RELAY_NOT_IDENTIFIED, "not identified");
    else if (row && (beats || begins || p->state == VOICE_IDENTIFIED))
        decode_and_handle_op(p, row, raw);
}

void on_voice_socket_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    struct voice_peer *p = websocket_get_data(ws);
    struct form form = { .arena = p->loop_state->arena };
    void *decoded;
    int64_t op;

    if (p->closing)
        return;
    arena_reset(p->loop_state->arena);
    if (!socket_is_within_rate_limit(p)) {
        voice_peer_close(p, RELAY_RATE_LIMITED, "too many messages");
        return;
    }
    if (opcode == WS_BINARY) {
        handle_voice_binary_message(p, payload);
        return;
    }
    if (payload.n == 0 || payload.n > VOICE_MAX_MESSAGE ||
        schema_decode(&type_voice_envelope, payload, &form, &decoded)) {
        voice_peer_close(p, RELAY_BAD_PAYLOAD, "the payload is not a valid message");
        return;
    }
    const struct voice_gateway_envelope *e = decoded;
    if (!json_parse_int_text(e->op, &op) || op < 0 || op > VOICE_OP_MAX)
        voice_peer_close(p, RELAY_BAD_OPCODE, "unknown opcode");
    else
        handle_voice_op(p, op, e->d);
}
