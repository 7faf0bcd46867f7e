/* participant_video.c - video in rooms: layers that participants send and viewers get. */
#include "relay/internal.h"

#include "base/mem.h"
#include "json/write.h"
#include "relay/webrtc/webrtc.h"

/* --- codecs --------------------------------------------------------------------------- */

/* Chooses the room's codec and sends it to the participants. Clients without a codec list do not
 * get it, because they have no video. */
void relay_room_choose_video_codec(struct relay_room *room, const struct relay_participant *except)
{
    struct codec_votes count = { 0 };

    for (size_t i = 0; i < room->count; i++)
        codec_votes_add(&count, &room->participants[i]->offer.decodes);
    enum video_codec best = codec_votes_choose(&count);
    if (best == room->codec)
        return;
    room->codec = best;
    struct serialized_message *t = create_video_codec_message(best);
    for (size_t i = 0; i < room->count; i++)
        if (room->participants[i] != except && room->participants[i]->offer.decodes.given)
            participant_outbox_send_message(room->participants[i], t);
    serialized_message_unref(t);
}

/* Stores the codecs that a client supports. A client that has not received op 4 yet receives the
 * room's codec in op 4. */
void participant_set_codecs(struct relay_participant *s, const struct codec_offer *offer)
{
    bool counts = s->offer.decodes.given || offer->decodes.given;
    unsigned char opus = offer->numbers.opus ? offer->numbers.opus : s->offer.numbers.opus;

    s->offer = *offer;
    /* Op 14 may list only video codecs, so the payload type of Opus stays. */
    s->offer.numbers.opus = opus;
    if (counts)
        relay_room_choose_video_codec(s->room, s->described ? NULL : s);
}

/* --- video that is sent --------------------------------------------------------------- */

/* Returns whether the SSRCs of a video layer are in the sender's own block. */
static bool layer_ssrcs_are_in_sender_block(const struct relay_participant *s,
                                            const struct offered_video_layer *layer_in)
{
    int64_t at = layer_in->ssrc - (int64_t)s->media.ssrc;

    return at >= 1 && at < 2 * RELAY_LAYERS_MAX && at % 2 == 1 &&
           (!layer_in->rtx_ssrc || layer_in->rtx_ssrc == layer_in->ssrc + 1);
}

static bool video_ssrcs_are_in_sender_block(const struct relay_participant *s,
                                            const struct relay_message *n)
{
    int64_t at = n->video.ssrc - (int64_t)s->media.ssrc;

    if (n->video.ssrc && (at < 1 || at >= SSRCS_PER_PARTICIPANT))
        return false;
    for (unsigned i = 0; i < n->video.count; i++)
        if (!layer_ssrcs_are_in_sender_block(s, &n->video.shown[i]))
            return false;
    return true;
}

/* Updates the active video layers of a participant. A client that describes no layers has one.
 * Returns whether a layer is active. */
static bool update_video_layers(struct relay_participant *s, const struct relay_message *n)
{
    bool active = false;

    for (unsigned i = 0; i < RELAY_LAYERS_MAX; i++)
        s->camera.layers[i].active = false;
    if (n->video.ssrc && !n->video.count)
        s->camera.layers[0].active = active = true;
    for (unsigned i = 0; n->video.ssrc && i < n->video.count; i++) {
        const struct offered_video_layer *layer_in = &n->video.shown[i];
        struct relay_video_layer *layer =
            &s->camera.layers[video_layer_of_ssrc(s->media.ssrc, (uint32_t)layer_in->ssrc)];

        layer->active = layer_in->active;
        layer->quality = layer_in->quality ? layer_in->quality : layer->quality;
        active = active || layer_in->active;
    }
    return active;
}

/* Stores the SSRCs that a browser has chosen for itself. Replaces them by the SSRCs of the
 * participant's block in the message, which the other participants receive. */
static void translate_announced_ssrcs(struct relay_participant *s, struct relay_message *n,
                                      struct buf *streams)
{
    struct json_writer j = json_writer_to_buf(streams);

    webrtc_store_announced_ssrc(s, 0, n->video.audio_ssrc);
    if (!n->video.count && n->video.ssrc) {
        webrtc_store_announced_ssrc(s, 1, (uint32_t)n->video.ssrc);
        webrtc_store_announced_ssrc(s, 2, n->video.rtx_ssrc);
    }
    json_begin_array(&j);
    for (unsigned i = 0; i < n->video.count; i++) {
        struct offered_video_layer *layer = &n->video.shown[i];
        uint32_t ssrc = video_layer_ssrc(s->media.ssrc, i);

        webrtc_store_announced_ssrc(s, 1 + 2 * i, (uint32_t)layer->ssrc);
        webrtc_store_announced_ssrc(s, 2 + 2 * i, (uint32_t)layer->rtx_ssrc);
        layer->ssrc = ssrc;
        layer->rtx_ssrc = (int64_t)ssrc + 1;
        write_video_layer_json(&j, s, i, layer);
    }
    json_end_array(&j);
    n->video.ssrc = n->video.ssrc ? video_layer_ssrc(s->media.ssrc, 0) : 0;
}

static void store_camera_streams_json(struct relay_participant *s, struct str streams)
{
    char *copy = mem_new(streams.n);

    memcpy(copy, streams.p, streams.n);
    mem_free((void *)(uintptr_t)s->camera.streams.p);
    s->camera.streams = str_slice(copy, streams.n);
}

/* Handles op 12 (video that a client sends). SSRC 0 means that the video has ended. */
void participant_handle_video_offer(struct relay_participant *s, struct relay_message *n)
{
    struct buf translated;
    struct str streams = str_slice(n->text, n->n);

    buf_init(&translated, SIZE_MAX);
    if (s->media.webrtc) {
        translate_announced_ssrcs(s, n, &translated);
        streams = buf_as_str(&translated);
    }
    bool own = video_ssrcs_are_in_sender_block(s, n);
    if (own)
        store_camera_streams_json(s, streams);
    buf_clear(&translated);
    if (!own)
        return;
    s->camera.video_ssrc = (uint32_t)n->video.ssrc;
    s->camera.offers_video = true;
    bool active = update_video_layers(s, n);
    send_to_other_participants(s, create_video_message(s));
    if (active) {
        struct serialized_message *t = create_message_that_requests_all_video();

        participant_outbox_send_message(s, t);
        serialized_message_unref(t);
    }
}

void participant_handle_video_request(struct relay_participant *s,
                                      const struct video_request *wants)
{
    if (!s->video_request)
        s->video_request = mem_new(sizeof *s->video_request);
    *s->video_request = *wants;
}

/* Returns whether a video packet may be forwarded. The encryption mode with the RTP header as nonce
 * carries no video, because media.c checks only headers of audio packets for repetition. */
bool participant_may_send_video(const struct relay_participant *s, const struct rtp_packet *p)
{
    int layer = video_layer_of_ssrc(s->media.ssrc, p->ssrc);

    return layer >= 0 && s->permissions.can_send_video && s->camera.layers[layer].active &&
           video_payload_type_is_set(&s->offer.types, p->type) &&
           participant_transport_carries_video(s);
}

bool participant_receives_video(const struct relay_participant *to,
                                const struct relay_participant *from, uint32_t ssrc)
{
    if (to == from || !to->video_request || !to->permissions.can_receive ||
        !participant_can_receive_media(to) || !participant_transport_carries_video(to))
        return false;
    int chosen = video_choose_layer(from->camera.layers, RELAY_LAYERS_MAX, from->media.ssrc,
                                    to->video_request);
    return chosen >= 0 &&
           (ssrc == from->media.ssrc || chosen == video_layer_of_ssrc(from->media.ssrc, ssrc));
}
