/* video_seats.c - video in rooms: layers that a participant sends and layers that viewers get. */
#include "relay/internal.h"

#include "base/mem.h"

/* --- codecs --------------------------------------------------------------------------- */

/* Chooses the room's codec. Clients without a codec list are not sent the codec, because they have
 * no video. */
void room_choose_codec(struct relay_room *room, const struct relay_seat *except)
{
    struct codec_count count = { 0 };

    for (size_t i = 0; i < room->count; i++)
        codec_count_add(&count, &room->seats[i]->offer.decodes);
    enum video_codec best = codec_count_best(&count);
    if (best == room->codec)
        return;
    room->codec = best;
    struct relay_text *t = text_codec(best);
    for (size_t i = 0; i < room->count; i++)
        if (room->seats[i] != except && room->seats[i]->offer.decodes.given)
            outbox_send(room->seats[i], t);
    relay_text_unref(t);
}

/* Stores a codec list. A client that has not received op 4 yet gets the codec with it. */
void seat_offers(struct relay_seat *s, const struct codec_offer *offer)
{
    bool counts = s->offer.decodes.given || offer->decodes.given;

    s->offer = *offer;
    if (counts)
        room_choose_codec(s->room, s->described ? NULL : s);
}

/* --- video that is sent --------------------------------------------------------------- */

/* Whether the SSRCs of a layer are in the sender's own block. */
static bool shown_is_own(const struct relay_seat *s, const struct video_shown *shown)
{
    int64_t at = shown->ssrc - (int64_t)s->media.ssrc;

    return at >= 1 && at < 2 * RELAY_LAYERS && at % 2 == 1 &&
           (!shown->rtx_ssrc || shown->rtx_ssrc == shown->ssrc + 1);
}

static bool video_is_own(const struct relay_seat *s, const struct relay_note *n)
{
    int64_t at = n->video.ssrc - (int64_t)s->media.ssrc;

    if (n->video.ssrc && (at < 1 || at >= SSRC_BLOCK))
        return false;
    for (unsigned i = 0; i < n->video.count; i++)
        if (!shown_is_own(s, &n->video.shown[i]))
            return false;
    return true;
}

/* Updates the active layers; a client that describes no layers has one. Returns whether a layer is
 * active. */
static bool layers_take(struct relay_seat *s, const struct relay_note *n)
{
    bool active = false;

    for (unsigned i = 0; i < RELAY_LAYERS; i++)
        s->camera.layers[i].active = false;
    if (n->video.ssrc && !n->video.count)
        s->camera.layers[0].active = active = true;
    for (unsigned i = 0; n->video.ssrc && i < n->video.count; i++) {
        const struct video_shown *shown = &n->video.shown[i];
        struct relay_layer *layer =
            &s->camera.layers[video_layer_of(s->media.ssrc, (uint32_t)shown->ssrc)];

        layer->active = shown->active;
        layer->quality = shown->quality ? shown->quality : layer->quality;
        active = active || shown->active;
    }
    return active;
}

static void streams_take(struct relay_seat *s, struct str streams)
{
    char *copy = mem_new(streams.n);

    memcpy(copy, streams.p, streams.n);
    mem_free((void *)(uintptr_t)s->camera.streams.p);
    s->camera.streams = str_slice(copy, streams.n);
}

/* Handles op 12; SSRC 0 ends the video. */
void seat_video(struct relay_seat *s, const struct relay_note *n)
{
    if (!video_is_own(s, n))
        return;
    streams_take(s, str_slice(n->text, n->n));
    s->camera.video_ssrc = (uint32_t)n->video.ssrc;
    s->camera.filmed = true;
    bool active = layers_take(s, n);
    tell_others(s, text_video(s));
    if (active) {
        struct relay_text *t = text_wanted();

        outbox_send(s, t);
        relay_text_unref(t);
    }
}

void seat_wants(struct relay_seat *s, const struct video_wants *wants)
{
    if (!s->wants)
        s->wants = mem_new(sizeof *s->wants);
    *s->wants = *wants;
}

/* Whether a video packet may be forwarded. Modes with a header nonce carry no video, because
 * seat_is_worn checks only audio headers for repetition. */
bool seat_shows(const struct relay_seat *s, const struct rtp_packet *p)
{
    int layer = video_layer_of(s->media.ssrc, p->ssrc);

    return layer >= 0 && s->may.films && s->camera.layers[layer].active &&
           video_type_is(&s->offer.types, p->type) && !seal_uses_header(s->media.seal);
}

bool seat_watches(const struct relay_seat *to, const struct relay_seat *from, uint32_t ssrc)
{
    if (to == from || !to->wants || !to->may.hears || !to->media.seal || !to->media.has_address ||
        seal_uses_header(to->media.seal))
        return false;
    int chosen = video_choose(from->camera.layers, RELAY_LAYERS, from->media.ssrc, to->wants);
    return chosen >= 0 &&
           (ssrc == from->media.ssrc || chosen == video_layer_of(from->media.ssrc, ssrc));
}
