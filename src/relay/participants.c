/* participants.c - participants and rooms: creation, lookup by SSRC, user, token, address, removal.
 */
#include "relay/participants.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/webrtc/webrtc.h"

static uint64_t user_key(snowflake guild_id, snowflake user_id)
{
    return hash_u64(guild_id) ^ user_id;
}

static uint64_t token_map_key(const unsigned char token[RELAY_TOKEN_SIZE])
{
    uint64_t key;

    memcpy(&key, token, sizeof key);
    return key;
}

uint64_t media_address_key(const union media_address *a)
{
    struct ip_address address = ip_address_from_sockaddr(a);
    unsigned char bytes[sizeof address.bytes + 2];
    unsigned port = media_address_port(a);

    memcpy(bytes, address.bytes, sizeof address.bytes);
    bytes[sizeof address.bytes] = (unsigned char)(port >> 8);
    bytes[sizeof address.bytes + 1] = (unsigned char)port;
    return hash_str(str_slice((const char *)bytes, sizeof bytes));
}

struct relay_participant *find_participant_by_ssrc(struct relay_participants *all, uint32_t ssrc)
{
    return map_find_value(&all->by_ssrc, ssrc / SSRCS_PER_PARTICIPANT);
}

struct relay_participant *find_participant_by_address(struct relay_participants *all,
                                                      const union media_address *a)
{
    return map_find_value(&all->by_address, media_address_key(a));
}

const struct relay_participant *get_next_participant(const struct relay_participants *all,
                                                     size_t *at)
{
    return map_next_value(&all->by_ssrc, at);
}

struct relay_participants *participants_of_same_worker(const struct relay_participant *s)
{
    return s->worker->participants;
}

void remove_participant_from_map(struct map *map, uint64_t key, const struct relay_participant *s)
{
    if (map_find_value(map, key) == s)
        map_remove_value(map, key);
}

struct relay_participant *find_browser_by_address(struct relay_participants *all,
                                                  const union media_address *a)
{
    return map_find_value(&all->browsers_by_address, media_address_key(a));
}

/* Returns the address map that contains this participant. Browsers have their own map, because the
 * addresses of other clients may come from requests that are not authenticated. */
static struct map *address_map_of_participant(const struct relay_participant *s)
{
    struct relay_participants *all = participants_of_same_worker(s);

    return s->media.webrtc ? &all->browsers_by_address : &all->by_address;
}

static enum address_kind address_kind_of_participant(const struct relay_participant *s)
{
    return s->media.webrtc ? ADDRESS_BROWSER : ADDRESS_CLIENT;
}

void participant_clear_address(struct relay_participant *s)
{
    uint64_t key = s->media.has_address ? media_address_key(&s->media.address) : 0;

    if (s->media.has_address && map_find_value(address_map_of_participant(s), key) == s) {
        map_remove_value(address_map_of_participant(s), key);
        address_route_clear(s->relay->routes, address_kind_of_participant(s), key,
                            s->worker->index);
    }
    s->media.has_address = false;
}

void participant_set_address(struct relay_participant *s, const union media_address *a)
{
    participant_clear_address(s);
    s->media.address = *a;
    s->media.has_address = true;
    map_set_value(address_map_of_participant(s), media_address_key(a), s);
    address_route_set(s->relay->routes, address_kind_of_participant(s), media_address_key(a),
                      s->worker->index, clock_monotonic_ns() / 1000000);
    participant_join_dave_group_after_description(s);
}

bool participant_can_receive_media(const struct relay_participant *s)
{
    return s->media.has_address && (s->media.cipher || (s->media.webrtc && s->media.webrtc->srtp));
}

bool participant_transport_carries_video(const struct relay_participant *s)
{
    return !s->media.cipher || !media_cipher_uses_header_as_nonce(s->media.cipher);
}

/* --- rooms ---------------------------------------------------------------------------- */

static void room_add_participant(struct relay_participants *all, const struct relay_voice_state *f,
                                 struct relay_participant *s)
{
    struct relay_room *room = map_find_value(&all->rooms, f->room_id);

    if (!room) {
        room = mem_new(sizeof *room);
        room->id = f->room_id;
        room->guild_id = f->guild_id;
        room->relay = all->relay;
        room->worker = all->worker;
        media_queue_room_init(&room->share);
        map_set_value(&all->rooms, room->id, room);
        atomic_fetch_add(&all->relay->count.rooms, 1);
        relay_room_begin_dave_encryption(room, f);
    }
    if (room->count == room->cap) {
        room->cap = room->cap ? 2 * room->cap : 4;
        room->participants = mem_resize(room->participants, room->cap * sizeof *room->participants);
    }
    s->room = room;
    s->sender.room = &room->share;
    s->index = room->count;
    room->participants[room->count++] = s;
}

static void room_remove_participant(struct relay_participants *all, struct relay_participant *s)
{
    struct relay_room *room = s->room;
    struct relay_participant *last = room->participants[--room->count];

    room->participants[s->index] = last;
    last->index = s->index;
    if (room->count)
        participant_leave_dave_group(s);
    if (room->count && s->offer.decodes.given)
        relay_room_choose_video_codec(room, s);
    if (room->count)
        return;
    relay_room_free_dave_encryption(room);
    media_queue_remove_room(&room->worker->queue, &room->share);
    map_remove_value(&all->rooms, room->id);
    atomic_fetch_sub(&all->relay->count.rooms, 1);
    mem_free(room->participants);
    mem_free(room);
}

/* --- participants --------------------------------------------------------------------- */

/* Chooses an unused block of SSRCs of the worker, and returns its first SSRC. */
static uint32_t choose_ssrc_block(struct relay_participants *all)
{
    uint32_t ssrc;

    do
        ssrc = ssrc_blocks_assign_next(&all->ssrc_blocks);
    while (map_find_value(&all->by_ssrc, ssrc / SSRCS_PER_PARTICIPANT) ||
           relay_get_worker_of_ssrc(all->relay, ssrc) != all->worker->index);
    return ssrc;
}

struct voice_state_key voice_state_key_of_relay_state(const struct relay_voice_state *f)
{
    struct voice_state_key p = { .guild_id = f->guild_id, .user_id = f->user_id };

    memcpy(p.salt, f->salt, sizeof p.salt);
    return p;
}

struct relay_participant *participant_new(struct relay_participants *all,
                                          const struct pending_identify *c,
                                          const struct relay_voice_state *f)
{
    struct relay_participant *s = mem_new(sizeof *s);

    s->relay = all->relay;
    s->worker = all->worker;
    s->voice_state = voice_state_key_of_relay_state(f);
    s->server_id = c->server_id;
    s->channel_id = f->channel_id;
    memcpy(s->session_id, c->session_id, sizeof s->session_id);
    memcpy(s->token, c->token, sizeof s->token);
    s->permissions.can_speak = f->may_send_audio;
    s->permissions.can_receive = f->may_receive_audio;
    s->permissions.can_send_video = f->may_send_video;
    s->permissions.has_priority = f->priority;
    s->flags = f->flags;
    s->platform = f->platform;
    s->loop = c->loop;
    s->peer = c->number;
    s->version = c->version;
    s->dave_version = c->dave_version;
    s->camera.layer_count = c->layer_count;
    memcpy(s->camera.layers, c->layers, sizeof s->camera.layers);
    s->media.ssrc = choose_ssrc_block(all);
    map_set_value(&all->by_ssrc, s->media.ssrc / SSRCS_PER_PARTICIPANT, s);
    map_set_value(&all->by_user, user_key(f->guild_id, f->user_id), s);
    map_set_value(&all->by_token, token_map_key(s->token), s);
    map_set_value(&all->by_peer, s->peer, s);
    room_add_participant(all, f, s);
    atomic_fetch_add(&all->relay->count.participants, 1);
    return s;
}

static void participant_free(struct relay_participant *s)
{
    struct relay_participants *all = participants_of_same_worker(s);

    deadline_cancel(&s->resume_deadline);
    deadline_cancel(&s->speech.late);
    participant_clear_address(s);
    participant_drop_queued_media(s);
    remove_participant_from_map(&all->by_ssrc, s->media.ssrc / SSRCS_PER_PARTICIPANT, s);
    remove_participant_from_map(&all->by_user,
                                user_key(s->voice_state.guild_id, s->voice_state.user_id), s);
    remove_participant_from_map(&all->by_token, token_map_key(s->token), s);
    remove_participant_from_map(&all->by_peer, s->peer, s);
    room_remove_participant(all, s);
    participant_outbox_clear(s);
    media_cipher_free(s->media.cipher);
    webrtc_transport_free(s->media.webrtc);
    participant_free_streams(s);
    sodium_memzero(s->media.key, sizeof s->media.key);
    mem_free((void *)(uintptr_t)s->camera.streams.p);
    mem_free(s->video_request);
    atomic_fetch_sub(&all->worker->count.jitter_ns, (uint64_t)s->quality.jitter_ns);
    atomic_fetch_sub(&all->relay->count.participants, 1);
    mem_free(s);
}

void participant_close_socket(struct relay_participant *s, enum peer_message_kind kind,
                              enum relay_close_code code)
{
    if (!s->peer)
        return;
    peer_message_send(s->relay, s->loop, s->peer, kind, code);
    remove_participant_from_map(&participants_of_same_worker(s)->by_peer, s->peer, s);
    s->peer = 0;
}

void send_to_other_participants(const struct relay_participant *s, struct serialized_message *t)
{
    const struct relay_room *room = s->room;

    for (size_t i = 0; i < room->count; i++)
        if (room->participants[i] != s)
            participant_outbox_add_to_broadcast(room->participants[i], t);
    relay_broadcast_send_to_receivers(s->worker, t);
    serialized_message_unref(t);
}

/* Frees what browsers in the room store about this participant as a sender. Otherwise the memory
 * would grow with each participant that comes and leaves. */
static void room_forget_streams_of_participant(const struct relay_participant *s)
{
    const struct relay_room *room = s->room;
    unsigned count = s->media.video ? MEDIA_SSRCS : 1;
    bool has_sent = s->media.video || s->media.audio.highest.begun;

    for (size_t i = 0; has_sent && i < room->count; i++) {
        const struct webrtc_transport *t = room->participants[i]->media.webrtc;

        if (t && t->srtp)
            srtp_forget_sent_streams(t->srtp, s->media.ssrc, count);
    }
}

void participant_remove(struct relay_participant *s)
{
    room_forget_streams_of_participant(s);
    send_to_other_participants(s, create_client_disconnect_message(s));
    participant_free(s);
}

void participant_disconnect(struct relay_participant *s, enum relay_close_code code)
{
    participant_close_socket(s, PEER_MESSAGE_CLOSE, code);
    participant_remove(s);
}

void relay_room_disconnect_all_participants(struct relay_participants *all, snowflake id)
{
    for (struct relay_room *room; (room = map_find_value(&all->rooms, id));) {
        struct relay_participant *s = room->participants[room->count - 1];

        relay_room_free_dave_encryption(room);
        /* choose no new codec for participants that are disconnected next */
        s->offer.decodes.given = false;
        participant_close_socket(s, PEER_MESSAGE_CLOSE, RELAY_DISCONNECTED);
        participant_free(s);
    }
}

struct relay_participant *find_participant_by_token(const struct relay_participants *all,
                                                    const unsigned char token[RELAY_TOKEN_SIZE])
{
    struct relay_participant *s = map_find_value(&all->by_token, token_map_key(token));

    return s && sodium_memcmp(s->token, token, sizeof s->token) == 0 ? s : NULL;
}

struct relay_participant *find_participant_by_user(const struct relay_participants *all,
                                                   snowflake guild_id, snowflake user_id)
{
    struct relay_participant *s = map_find_value(&all->by_user, user_key(guild_id, user_id));

    return s && s->voice_state.guild_id == guild_id && s->voice_state.user_id == user_id ? s : NULL;
}

/* --- creation and timeouts ------------------------------------------------------------ */

static void on_resume_timeout(struct deadline *d)
{
    participant_remove(container_of(d, struct relay_participant, resume_deadline));
}

struct relay_participants *participants_new(struct relay_worker *w)
{
    struct relay_participants *all = mem_new(sizeof *all);

    all->relay = w->relay;
    all->worker = w;
    map_init(&all->rooms);
    map_init(&all->by_ssrc);
    map_init(&all->by_user);
    map_init(&all->by_token);
    map_init(&all->by_peer);
    map_init(&all->by_address);
    all->dave = dave_rooms_new(w);
    ssrc_blocks_init(&all->ssrc_blocks);
    map_init(&all->browsers_by_address);
    map_init(&all->by_ufrag);
    all->resume_deadlines =
        deadline_list_new(w->loop, VOICE_RESUME_TIMEOUT_MS, true, on_resume_timeout);
    all->speaking_deadlines =
        deadline_list_new(w->loop, VOICE_SPEAKING_DELAY_MS, false, on_delayed_speaking_message_due);
    all->consents = deadline_list_new(w->loop, WEBRTC_CONSENT_MS, true, on_ice_consent_expired);
    all->handshake_checks =
        deadline_list_new(w->loop, WEBRTC_HANDSHAKE_CHECK_MS, false, on_webrtc_handshake_check_due);
    return all;
}

void participants_free(struct relay_participants *all)
{
    size_t at = 0;
    const struct relay_participant *s;

    if (!all)
        return;
    while ((s = map_next_value(&all->by_ssrc, &at))) {
        relay_room_free_dave_encryption(s->room);
        participant_free((struct relay_participant *)(uintptr_t)s);
        at = 0;
    }
    deadline_list_free(all->resume_deadlines);
    deadline_list_free(all->speaking_deadlines);
    dave_rooms_free(all->dave);
    deadline_list_free(all->consents);
    deadline_list_free(all->handshake_checks);
    map_clear(&all->rooms);
    map_clear(&all->by_ssrc);
    map_clear(&all->by_user);
    map_clear(&all->by_token);
    map_clear(&all->by_peer);
    map_clear(&all->by_address);
    map_clear(&all->browsers_by_address);
    map_clear(&all->by_ufrag);
    mem_free(all);
}
