/* video_opcodes.c - voice gateway opcodes about video: layers, codecs, op 12, op 14, op 15. */
#include "relay/peers.h"

#include "base/mem.h"
#include "json/read.h"
#include "model/fields/types.h"

enum { STREAMS_JSON_MAX = 2048, VIDEO_MESSAGES_PER_WINDOW = 60, CODEC_LISTS_PER_WINDOW = 60 };

static const struct type type_ssrc = { .kind = KIND_INT, .min = 0, .max = UINT32_MAX };
static const struct type type_quality = { .kind = KIND_INT, .min = 0, .max = 100 };

/* --- layers of IDENTIFY --------------------------------------------------------------- */

struct voice_layer {
    struct str type, rid;
    int64_t quality;
};
static const struct type type_rid = { .kind = KIND_STRING, .max = RELAY_RID_MAX - 1 };
static const struct field layer_fields[] = {
    { FIELD(struct voice_layer, type), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct voice_layer, rid), .type = &type_rid, .flags = OPTIONAL },
    { FIELD(struct voice_layer, quality), .type = &type_quality, .flags = OPTIONAL },
    { 0 },
};
static const struct schema layer_schema = { .size = sizeof(struct voice_layer),
                                            .fields = layer_fields };
static const struct type type_voice_layer = { .kind = KIND_OBJECT, .schema = &layer_schema };
const struct type type_voice_layers = { .kind = KIND_ARRAY,
                                        .of = &type_voice_layer,
                                        .max = RELAY_LAYERS_MAX };

unsigned parse_video_layers(bool video, const struct list *streams,
                            struct relay_video_layer ret[RELAY_LAYERS_MAX])
{
    const struct voice_layer *in = streams->items;

    for (size_t i = 0; i < streams->count; i++) {
        ret[i] = (struct relay_video_layer){ .quality = (unsigned char)in[i].quality };
        snprintf(ret[i].rid, sizeof ret[i].rid, "%.*s", STR_ARGS(in[i].rid));
    }
    if (streams->count || !video)
        return (unsigned)streams->count;
    ret[0] = (struct relay_video_layer){ .rid = "100", .quality = 100 };
    return 1;
}

/* --- codecs and payload types --------------------------------------------------------- */

struct voice_codec {
    struct str name, type;
    struct opt_int priority, payload_type, rtx_payload_type;
    struct opt_bool decode;
};
static const struct type type_payload_type = { .kind = KIND_INT, .min = 0, .max = 127 };
static const struct field codec_fields[] = {
    { FIELD(struct voice_codec, name), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct voice_codec, type), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct voice_codec, priority), .type = &type_int, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_codec, decode), .type = &type_bool, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_codec, payload_type), .type = &type_payload_type,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_codec, rtx_payload_type), .type = &type_payload_type,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema codec_schema = { .size = sizeof(struct voice_codec),
                                            .fields = codec_fields };
static const struct type type_voice_codec = { .kind = KIND_OBJECT, .schema = &codec_schema };
const struct type type_voice_codecs = { .kind = KIND_ARRAY, .of = &type_voice_codec, .max = 32 };

struct codec_offer parse_codec_list(const struct list *codecs)
{
    const struct voice_codec *in = codecs->items;
    struct codec_offer offer = { 0 };
    bool any = false;

    for (size_t i = 0; i < codecs->count; i++) {
        codec_payload_types_add(&offer.numbers, in[i].name, (unsigned)in[i].payload_type.value,
                                (unsigned)in[i].rtx_payload_type.value);
        if (!str_is(in[i].type, "video"))
            continue;
        any = true;
        if (in[i].payload_type.given == GIVEN)
            video_payload_type_add(&offer.types, (unsigned)in[i].payload_type.value);
        if (in[i].rtx_payload_type.given == GIVEN)
            video_payload_type_add(&offer.types, (unsigned)in[i].rtx_payload_type.value);
        if (in[i].decode.given != GIVEN || in[i].decode.value)
            video_codecs_add(&offer.decodes, in[i].name,
                             in[i].priority.given == GIVEN ? in[i].priority.value : -1);
    }
    if (!any)
        offer.types = video_payload_types_default();
    return offer;
}

/* Payload of SESSION_UPDATE (op 14): a connected client sends a new codec list. */
struct voice_session_update {
    struct opt_list codecs;
};
static const struct field session_fields[] = {
    { FIELD(struct voice_session_update, codecs), .type = &type_voice_codecs,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema session_schema = { .size = sizeof(struct voice_session_update),
                                              .fields = session_fields };
const struct type type_voice_session_update = { .kind = KIND_OBJECT, .schema = &session_schema };

void handle_voice_session_update(struct voice_peer *p, const void *d)
{
    const struct voice_session_update *in = d;

    if (in->codecs.given != GIVEN)
        return;
    if (++p->codec_lists > CODEC_LISTS_PER_WINDOW) {
        voice_peer_close(p, RELAY_RATE_LIMITED, "too many codec lists (op 14)");
        return;
    }
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_CODECS, 0);
    n->offer = parse_codec_list(&in->codecs.value);
    relay_message_send(n);
}

uint32_t parse_ssrc(struct str raw)
{
    int64_t ssrc;

    return json_parse_int_text(raw, &ssrc) && ssrc > 0 && ssrc <= UINT32_MAX ? (uint32_t)ssrc : 0;
}

/* --- VIDEO (op 12): video that a client sends ----------------------------------------- */

struct voice_stream {
    struct opt_int ssrc, rtx_ssrc;
    int64_t quality;
    bool active;
};
static const struct field stream_fields[] = {
    { FIELD(struct voice_stream, ssrc), .type = &type_ssrc, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_stream, rtx_ssrc), .type = &type_ssrc, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_stream, quality), .type = &type_quality, .flags = OPTIONAL },
    { FIELD(struct voice_stream, active), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema stream_schema = { .size = sizeof(struct voice_stream),
                                             .fields = stream_fields };
static const struct type type_voice_stream = { .kind = KIND_OBJECT, .schema = &stream_schema };
static const struct type type_voice_streams = { .kind = KIND_ARRAY,
                                                .of = &type_voice_stream,
                                                .max = RELAY_LAYERS_MAX };

/* Payload of op 12. Clients may send it without video_ssrc for audio; it is then ignored. */
struct voice_video {
    struct opt_int video_ssrc;
    struct str audio_ssrc, rtx_ssrc; /* only browsers choose them */
    struct str streams;
};
static const struct field video_fields[] = {
    { FIELD(struct voice_video, audio_ssrc), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_video, rtx_ssrc), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_video, video_ssrc), .type = &type_ssrc, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_video, streams), .type = &type_raw, .flags = OPTIONAL },
    { 0 },
};
static const struct schema video_schema = { .size = sizeof(struct voice_video),
                                            .fields = video_fields };
const struct type type_voice_video = { .kind = KIND_OBJECT, .schema = &video_schema };

/* Copies the streams to the message; skips streams without an SSRC. */
static void copy_streams_to_message(struct relay_message *n, const struct list *streams)
{
    const struct voice_stream *in = streams->items;

    for (size_t i = 0; i < streams->count; i++) {
        if (in[i].ssrc.given != GIVEN && !in[i].rtx_ssrc.value)
            continue;
        n->video.shown[n->video.count++] = (struct offered_video_layer){
            .ssrc = in[i].ssrc.value,
            .rtx_ssrc = in[i].rtx_ssrc.value,
            .quality = (unsigned char)in[i].quality,
            .active = in[i].active,
        };
    }
}

/* Handles op 12. Checks that the JSON contains only SSRCs of the client itself, then forwards the
 * JSON unchanged. The length of the JSON is limited, because a room may have 1,000 receivers. */
void handle_voice_video(struct voice_peer *p, const void *d)
{
    const struct voice_video *in = d;
    struct str streams = in->streams.n && in->streams.p[0] == '[' ? in->streams : STR("[]");
    struct form form = { .arena = p->loop_state->arena };
    void *decoded;

    if (in->video_ssrc.given != GIVEN)
        return;
    if (++p->videos > VIDEO_MESSAGES_PER_WINDOW) {
        voice_peer_close(p, RELAY_RATE_LIMITED, "too many video messages (op 12)");
        return;
    }
    if (streams.n > STREAMS_JSON_MAX ||
        schema_decode(&type_voice_streams, streams, &form, &decoded)) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "invalid streams");
        return;
    }
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_VIDEO, streams.n);
    n->video.audio_ssrc = parse_ssrc(in->audio_ssrc);
    n->video.ssrc = in->video_ssrc.value;
    n->video.rtx_ssrc = parse_ssrc(in->rtx_ssrc);
    copy_streams_to_message(n, decoded);
    memcpy(n->text, streams.p, streams.n);
    relay_message_send(n);
}

/* --- MEDIA_SINK_WANTS (op 15): video that a client requests --------------------------- */

/* Keys of op 15: SSRCs, "any", and "pixelCounts", which is ignored. */
const struct type type_voice_video_request = { .kind = KIND_MAP,
                                               .of = &type_raw,
                                               .max = 2 * VIDEO_REQUEST_MAX };

static bool parse_video_request_entry(struct video_request *wants, const struct string_pair *entry)
{
    uint64_t ssrc;
    int64_t quality;

    if (str_is(entry->key, "pixelCounts"))
        return true;
    if (!json_parse_int_text(entry->value, &quality) || quality < 0 || quality > 100)
        return false;
    if (str_is(entry->key, "any")) {
        wants->any = (unsigned char)quality;
        return true;
    }
    if (!str_to_u64(entry->key, &ssrc) || ssrc > UINT32_MAX || wants->count == VIDEO_REQUEST_MAX)
        return false;
    wants->named[wants->count++] =
        (struct requested_ssrc_quality){ (uint32_t)ssrc, (unsigned char)quality };
    return true;
}

bool parse_video_request(const struct list *entries, struct video_request *ret)
{
    const struct string_pair *in = entries->items;

    *ret = (struct video_request){ 0 };
    for (size_t i = 0; i < entries->count; i++)
        if (!parse_video_request_entry(ret, &in[i]))
            return false;
    return true;
}

void handle_voice_video_request(struct voice_peer *p, const void *d)
{
    struct video_request wants;

    if (!parse_video_request(d, &wants)) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "invalid media sink wants");
        return;
    }
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_VIDEO_REQUEST, 0);
    n->wants = wants;
    relay_message_send(n);
}
