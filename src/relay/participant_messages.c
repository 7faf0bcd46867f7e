/* participant_messages.c - applies committed voice-state changes and messages of clients to
 * participants. */
#include "relay/participants.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/mem.h"
#include "relay/webrtc/webrtc.h"

static bool participant_has_salt_of_state(const struct relay_participant *s,
                                          const struct relay_voice_state *f)
{
    return sodium_memcmp(s->voice_state.salt, f->salt, sizeof s->voice_state.salt) == 0;
}

/* --- committed voice-state changes ---------------------------------------------------- */

enum { SPEAKING_VOICE = 1, SPEAKING_SHARE = 2, SPEAKING_PRIORITY = 4, SPEAKING_PER_SECOND = 10 };

unsigned participant_visible_speaking_bits(const struct relay_participant *s)
{
    if (!s->permissions.can_speak)
        return 0;
    return s->permissions.has_priority ? s->speech.speaking
                                       : s->speech.speaking & ~(unsigned)SPEAKING_PRIORITY;
}

/* Sends op 5 at most SPEAKING_PER_SECOND times per second, because a room may have 10,000
 * participants. Above this rate, on_delayed_speaking_message_due sends the final bits later. */
static void send_speaking_or_delay(struct relay_participant *s)
{
    if (!request_is_within_rate_limit(&s->rate.speaking, clock_monotonic_ns() / 1000000,
                                      SPEAKING_PER_SECOND)) {
        if (!s->speech.late.link.next)
            deadline_restart(participants_of_same_worker(s)->speaking_deadlines, &s->speech.late);
        return;
    }
    s->speech.sent = participant_visible_speaking_bits(s);
    send_to_other_participants(s, create_speaking_message(s));
}

void on_delayed_speaking_message_due(struct deadline *d)
{
    struct relay_participant *s = container_of(d, struct relay_participant, speech.late);

    if (participant_visible_speaking_bits(s) != s->speech.sent)
        send_speaking_or_delay(s);
}

static void send_messages_about_new_participant(struct relay_participant *s)
{
    participant_outbox_send_ready(s);
    if (s->room->count > 1)
        participant_outbox_send_participant_list(s);
    send_to_other_participants(s, create_client_connect_message(s));
    exchange_client_flags(s);
}

static bool relay_room_is_full(const struct relay_participants *all, snowflake room_id)
{
    const struct relay_room *room = map_find_value(&all->rooms, room_id);
    size_t most = all->relay->options.room_max;

    return most && room && room->count >= most;
}

/* Refuses a client whose room is full. Its stored voice state is already marked as connected. So
 * the socket gets the key of the voice state by PEER_MESSAGE_IDENTIFIED, and marks it as
 * disconnected when it is closed. */
static void refuse_identify_of_full_room(struct relay_worker *w, struct pending_identify *c,
                                         const struct voice_state_key *location)
{
    peer_message_send_identified(w, c->loop, c->number, PEER_MESSAGE_IDENTIFIED, location);
    peer_message_send(c->relay, c->loop, c->number, PEER_MESSAGE_CLOSE, RELAY_RATE_LIMITED);
    mem_free(c);
}

/* Adds a participant whose IDENTIFY was accepted. A second socket with the same token replaces the
 * first socket. */
static void add_participant(struct relay_participants *all, const struct relay_voice_state *f,
                            struct pending_identify *c)
{
    struct relay_participant *before = find_participant_by_user(all, f->guild_id, f->user_id);

    if (before) {
        participant_close_socket(before,
                                 participant_has_salt_of_state(before, f) ? PEER_MESSAGE_REPLACED
                                                                          : PEER_MESSAGE_CLOSE,
                                 RELAY_DISCONNECTED);
        participant_remove(before);
    }
    if (relay_room_is_full(all, f->room_id)) {
        struct voice_state_key location = voice_state_key_of_relay_state(f);

        refuse_identify_of_full_room(all->worker, c, &location);
        return;
    }
    struct relay_participant *s = participant_new(all, c, f);
    mem_free(c);
    peer_message_send_identified(s->worker, s->loop, s->peer, PEER_MESSAGE_IDENTIFIED,
                                 &s->voice_state);
    send_messages_about_new_participant(s);
}

/* Applies a committed voice-state change. Every worker gets each change, but only the worker that
 * owns the room adds a participant. */
static void apply_voice_state_change(struct relay_participants *all,
                                     const struct relay_voice_state *f)
{
    struct relay_participant *s = find_participant_by_user(all, f->guild_id, f->user_id);
    bool owner = relay_get_worker_of_room(all->relay, f->room_id) == all->worker;
    struct pending_identify *c =
        f->claim && owner ? pending_identify_remove(all->relay, f->claim) : NULL;
    unsigned visible_before = s ? participant_visible_speaking_bits(s) : 0;

    if (!f->user_id) {
        relay_room_disconnect_all_participants(all, f->room_id);
        return;
    }
    if (c) {
        add_participant(all, f, c);
        return;
    }
    if (!s)
        return;
    if (!f->channel_id || !participant_has_salt_of_state(s, f)) {
        participant_disconnect(s, RELAY_DISCONNECTED);
        return;
    }
    s->permissions.can_speak = f->may_send_audio;
    s->permissions.can_receive = f->may_receive_audio;
    s->permissions.can_send_video = f->may_send_video;
    s->permissions.has_priority = f->priority;
    if (s->speech.announced && participant_visible_speaking_bits(s) != visible_before)
        send_speaking_or_delay(s);
    participant_update_flags(s, f->flags);
}

/* --- messages from clients ------------------------------------------------------------ */

void participant_set_speaking(struct relay_participant *s, unsigned speaking)
{
    unsigned bits = speaking & (SPEAKING_VOICE | SPEAKING_SHARE | SPEAKING_PRIORITY);
    bool known = s->speech.announced;
    unsigned visible_before = participant_visible_speaking_bits(s);

    s->speech.announced = true;
    s->speech.speaking = bits;
    if (!known || participant_visible_speaking_bits(s) != visible_before)
        send_speaking_or_delay(s);
}

static void handle_speaking_message(struct relay_participant *s, const struct relay_message *n)
{
    if (s->media.webrtc)
        webrtc_store_announced_ssrc(s, 0, n->speaking.ssrc);
    participant_set_speaking(s, n->speaking.bits);
}

/* Sends the SSRCs and videos of the other participants to a new participant. */
static void send_present_participants(struct relay_participant *s)
{
    const struct relay_room *room = s->room;

    for (size_t i = 0; i < room->count; i++) {
        const struct relay_participant *other = room->participants[i];

        if (other != s && other->speech.announced)
            participant_outbox_send_and_unref_message(s, create_speaking_message(other));
        if (other != s && other->camera.offers_video)
            participant_outbox_send_and_unref_message(s, create_video_message(other));
    }
}

static void free_media_transport(struct relay_participant *s, bool keep_address)
{
    if (!keep_address)
        participant_clear_address(s);
    media_cipher_free(s->media.cipher);
    webrtc_transport_free(s->media.webrtc);
    s->media.cipher = NULL;
    s->media.webrtc = NULL;
}

static bool start_udp_transport(struct relay_participant *s, const struct encryption_mode *mode)
{
    s->media.audio.has_new_sender = s->media.webrtc && s->media.audio.highest.begun;
    free_media_transport(s, !s->media.webrtc);
    randombytes_buf(s->media.key, sizeof s->media.key);
    s->media.cipher = media_cipher_new(mode, s->media.key, 0);
    if (s->media.has_found && !s->media.has_address)
        participant_set_address(s, &s->media.found);
    return true;
}

/* Creates the WebRTC transport. If there is no DTLS certificate, logs this and returns false. */
static bool start_webrtc_transport(struct relay_participant *s, const struct relay_message *n)
{
    free_media_transport(s, false);
    s->media.webrtc = webrtc_transport_new(s, str_slice(n->text, n->n));
    if (s->media.webrtc)
        s->media.webrtc->transport_cc_id = n->select.transport_cc_id;
    return s->media.webrtc;
}

/* Handles SELECT_PROTOCOL. Creates a new key each time, so that old packets cannot be replayed. */
static void handle_select_protocol(struct relay_participant *s, const struct relay_message *n)
{
    bool again = s->described, browser = !n->select.mode;

    enum relay_close_code refusal = participant_media_refusal_code(s);

    if (refusal && (browser || s->media.has_found)) {
        participant_disconnect(s, refusal);
        return;
    }
    s->described = false; /* false until op 4 was sent with the new key */
    if (!(browser ? start_webrtc_transport(s, n) : start_udp_transport(s, n->select.mode))) {
        participant_disconnect(s, RELAY_UNKNOWN_ERROR);
        return;
    }
    participant_set_codecs(s, &n->select.offer);
    s->described = true;
    unsigned dave_version = participant_join_dave_group(s);
    participant_outbox_send_session_description(s, dave_version);
    participant_on_session_description_sent(s, dave_version);
    if (!again)
        send_present_participants(s);
}

static struct relay_participant *find_participant_to_resume(const struct relay_participants *all,
                                                            const struct relay_message *n)
{
    struct relay_participant *s = find_participant_by_token(all, n->resume.token);

    if (!s || strcmp(s->session_id, n->resume.session_id) != 0 ||
        s->server_id != n->resume.server_id ||
        (n->resume.channel_id && n->resume.channel_id != s->channel_id) ||
        (s->version >= VOICE_SEQUENCE_VERSION) != (n->version >= VOICE_SEQUENCE_VERSION))
        return NULL;
    return s;
}

/* Forwards a RESUME to the next worker if this worker does not have the participant, because the
 * participant's worker is not known. Returns whether the RESUME was forwarded. */
static bool forward_resume_to_next_worker(const struct relay_participants *all,
                                          const struct relay_message *n)
{
    if (find_participant_by_token(all, n->resume.token) ||
        all->worker->index + 1 == all->relay->worker_count)
        return false;
    struct relay_message *copy = relay_message_new(n->relay, n->kind, 0);

    *copy = *n;
    copy->worker = all->worker->index + 1;
    relay_message_send(copy);
    return true;
}

static void resume_participant(struct relay_participants *all, const struct relay_message *n)
{
    struct relay_participant *s = find_participant_to_resume(all, n);

    if (!s && forward_resume_to_next_worker(all, n))
        return;
    if (!s || !participant_outbox_can_replay_after(s, n->resume.seq_ack)) {
        peer_message_send(all->relay, n->loop, n->peer, PEER_MESSAGE_CLOSE, RELAY_INVALID_SESSION);
        return;
    }
    participant_close_socket(s, PEER_MESSAGE_REPLACED, RELAY_DISCONNECTED);
    deadline_cancel(&s->resume_deadline);
    s->loop = n->loop;
    s->peer = n->peer;
    s->version = n->version;
    map_set_value(&all->by_peer, s->peer, s);
    peer_message_send_identified(s->worker, s->loop, s->peer, PEER_MESSAGE_RESUMED,
                                 &s->voice_state);
    participant_outbox_send_resumed(s);
    participant_outbox_replay_after(s, n->resume.seq_ack);
    participant_rejoin_dave_group(s);
}

static void start_resume_timeout(struct relay_participant *s)
{
    remove_participant_from_map(&participants_of_same_worker(s)->by_peer, s->peer, s);
    s->peer = 0;
    deadline_restart(participants_of_same_worker(s)->resume_deadlines, &s->resume_deadline);
}

void participants_handle_message(struct relay_participants *all, struct relay_message *n)
{
    struct relay_participant *s =
        n->kind == RELAY_MESSAGE_STATE_CHANGE ? NULL : map_find_value(&all->by_peer, n->peer);

    if (n->kind == RELAY_MESSAGE_STATE_CHANGE)
        apply_voice_state_change(all, &n->state_change);
    else if (n->kind == RELAY_MESSAGE_RESUME)
        resume_participant(all, n);
    else if (!s)
        return;
    else if (n->kind == RELAY_MESSAGE_SOCKET_CLOSED)
        start_resume_timeout(s);
    else if (n->kind == RELAY_MESSAGE_SELECT_PROTOCOL)
        handle_select_protocol(s, n);
    else if (n->kind == RELAY_MESSAGE_CODECS)
        participant_set_codecs(s, &n->offer);
    else if (n->kind == RELAY_MESSAGE_SPEAKING)
        handle_speaking_message(s, n);
    else if (n->kind == RELAY_MESSAGE_VIDEO)
        participant_handle_video_offer(s, n);
    else if (n->kind == RELAY_MESSAGE_VIDEO_REQUEST)
        participant_handle_video_request(s, &n->wants);
    else if (n->kind == RELAY_MESSAGE_ACK)
        participant_outbox_drop_acknowledged(s, n->seq_ack);
    else if (n->kind == RELAY_MESSAGE_VERSION)
        participant_outbox_send_voice_version(s);
    else if (n->kind == RELAY_MESSAGE_DAVE)
        participant_handle_dave_message(s, n);
}
