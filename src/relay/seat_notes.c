/* seat_notes.c - applies committed voice-state changes and messages of clients to participants. */
#include "relay/seats.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/mem.h"

static bool same_salt(const struct relay_seat *s, const struct voice_fact *f)
{
    return sodium_memcmp(s->place.salt, f->salt, sizeof s->place.salt) == 0;
}

/* --- committed voice-state changes ---------------------------------------------------- */

enum { SPEAKING_VOICE = 1, SPEAKING_SHARE = 2, SPEAKING_PRIORITY = 4, SPEAKING_A_SECOND = 10 };

unsigned seat_speaking(const struct relay_seat *s)
{
    if (!s->may.speaks)
        return 0;
    return s->may.priority ? s->speech.speaking : s->speech.speaking & ~(unsigned)SPEAKING_PRIORITY;
}

/* Sends op 5, at most SPEAKING_A_SECOND times per second, because a room may have 10,000
 * participants; the final state is sent by seat_speaking_due. */
static void tell_speaking(struct relay_seat *s)
{
    if (!questions_take(&s->rate.words, clock_mono() / 1000000, SPEAKING_A_SECOND)) {
        if (!s->speech.late.link.next)
            deadline_touch(seats_of(s)->late, &s->speech.late);
        return;
    }
    s->speech.shown = seat_speaking(s);
    tell_others(s, text_speaking(s));
}

void seat_speaking_due(struct deadline *d)
{
    struct relay_seat *s = container_of(d, struct relay_seat, speech.late);

    if (seat_speaking(s) != s->speech.shown)
        tell_speaking(s);
}

static void tell_arrival(struct relay_seat *s)
{
    outbox_ready(s);
    if (s->room->count > 1)
        outbox_clients(s);
    tell_others(s, text_client(s));
    seat_describe(s);
}

static bool room_is_full(const struct relay_seats *all, snowflake room_id)
{
    const struct relay_room *room = map_get(&all->rooms, room_id);
    size_t most = all->relay->options.room_max;

    return most && room && room->count >= most;
}

/* Refuses a client whose room is full, although its stored voice state says "connected":
 * LETTER_WELCOME gives the socket the key of that state, so that the close which follows marks the
 * state as disconnected. */
static void claim_turn_away(struct relay_claim *c, const struct relay_place *place)
{
    letter_send(c->relay, c->loop, c->number, LETTER_WELCOME, 0, place);
    letter_send(c->relay, c->loop, c->number, LETTER_CLOSE, RELAY_TOO_MANY, NULL);
    mem_free(c);
}

/* Adds a participant. A second socket with the same token replaces the first. */
static void seats_admit(struct relay_seats *all, const struct voice_fact *f, struct relay_claim *c)
{
    struct relay_seat *before = seat_of_place(all, f->guild_id, f->user_id);

    if (before) {
        seat_close_socket(before, same_salt(before, f) ? LETTER_REPLACED : LETTER_CLOSE,
                          RELAY_DISCONNECTED);
        relay_seat_leave(before);
    }
    if (room_is_full(all, f->room_id)) {
        struct relay_place place = relay_place_of(f);

        claim_turn_away(c, &place);
        return;
    }
    struct relay_seat *s = seat_new(all, c, f);
    mem_free(c);
    letter_send(s->relay, s->loop, s->peer, LETTER_WELCOME, 0, &s->place);
    tell_arrival(s);
}

static void seats_hear(struct relay_seats *all, const struct voice_fact *f)
{
    struct relay_seat *s = seat_of_place(all, f->guild_id, f->user_id);
    struct relay_claim *c = f->claim ? claim_take(all->relay, f->claim) : NULL;
    unsigned shown = s ? seat_speaking(s) : 0;

    if (!f->user_id) {
        room_end(all, f->room_id);
        return;
    }
    if (c) {
        seats_admit(all, f, c);
        return;
    }
    if (!s)
        return;
    if (!f->channel_id || !same_salt(s, f)) {
        seat_end(s, RELAY_DISCONNECTED);
        return;
    }
    s->may.speaks = f->speaks;
    s->may.hears = f->hears;
    s->may.films = f->films;
    s->may.priority = f->priority;
    if (s->speech.announced && seat_speaking(s) != shown)
        tell_speaking(s);
    seat_take_flags(s, f->flags);
}

/* --- messages from clients ------------------------------------------------------------ */

void seat_announce(struct relay_seat *s, unsigned speaking)
{
    unsigned bits = speaking & (SPEAKING_VOICE | SPEAKING_SHARE | SPEAKING_PRIORITY);
    bool known = s->speech.announced;
    unsigned shown = seat_speaking(s);

    s->speech.announced = true;
    s->speech.speaking = bits;
    if (!known || seat_speaking(s) != shown)
        tell_speaking(s);
}

static void tell_one(struct relay_seat *s, struct relay_text *t)
{
    outbox_send(s, t);
    relay_text_unref(t);
}

/* Sends the SSRCs and video of the present participants to a new one. */
static void tell_present(struct relay_seat *s)
{
    const struct relay_room *room = s->room;

    for (size_t i = 0; i < room->count; i++) {
        const struct relay_seat *other = room->seats[i];

        if (other != s && other->speech.announced)
            tell_one(s, text_speaking(other));
        if (other != s && other->camera.filmed)
            tell_one(s, text_video(other));
    }
}

/* Each SELECT_PROTOCOL creates a new key, so that earlier packets cannot be replayed. */
static void seat_select(struct relay_seat *s, const struct seal_mode *mode,
                        const struct codec_offer *offer)
{
    bool again = s->described;

    seal_free(s->media.seal);
    randombytes_buf(s->media.key, sizeof s->media.key);
    s->media.seal = seal_new(mode, s->media.key, 0);
    if (s->media.has_found && !s->media.has_address)
        seat_bind(s, &s->media.found);
    seat_offers(s, offer);
    s->described = true;
    outbox_description(s);
    if (!again)
        tell_present(s);
}

static struct relay_seat *seat_of_resume(const struct relay_seats *all, const struct relay_note *n)
{
    struct relay_seat *s = seat_of_token(all, n->resume.token);

    if (!s || strcmp(s->session_id, n->resume.session_id) != 0 ||
        s->server_id != n->resume.server_id ||
        (n->resume.channel_id && n->resume.channel_id != s->channel_id) ||
        (s->version >= VOICE_NUMBERED) != (n->version >= VOICE_NUMBERED))
        return NULL;
    return s;
}

static void seats_resume(struct relay_seats *all, const struct relay_note *n)
{
    struct relay_seat *s = seat_of_resume(all, n);

    if (!s || !outbox_holds(s, n->resume.seq_ack)) {
        letter_send(all->relay, n->loop, n->peer, LETTER_CLOSE, RELAY_NO_SESSION, NULL);
        return;
    }
    seat_close_socket(s, LETTER_REPLACED, RELAY_DISCONNECTED);
    deadline_drop(&s->away);
    s->loop = n->loop;
    s->peer = n->peer;
    s->version = n->version;
    map_put(&all->by_peer, s->peer, s);
    letter_send(s->relay, s->loop, s->peer, LETTER_WELCOME_BACK, 0, &s->place);
    outbox_resumed(s);
    outbox_replay(s, n->resume.seq_ack);
}

static void seat_away(struct relay_seat *s)
{
    seat_unmap(&seats_of(s)->by_peer, s->peer, s);
    s->peer = 0;
    deadline_touch(seats_of(s)->away, &s->away);
}

void seats_take(struct relay_seats *all, const struct relay_note *n)
{
    struct relay_seat *s = n->kind == NOTE_FACT ? NULL : map_get(&all->by_peer, n->peer);

    if (n->kind == NOTE_FACT)
        seats_hear(all, &n->fact);
    else if (n->kind == NOTE_RESUME)
        seats_resume(all, n);
    else if (!s)
        return;
    else if (n->kind == NOTE_GONE)
        seat_away(s);
    else if (n->kind == NOTE_SELECT)
        seat_select(s, n->select.mode, &n->select.offer);
    else if (n->kind == NOTE_CODECS)
        seat_offers(s, &n->offer);
    else if (n->kind == NOTE_SPEAKING)
        seat_announce(s, n->speaking);
    else if (n->kind == NOTE_VIDEO)
        seat_video(s, n);
    else if (n->kind == NOTE_WANTS)
        seat_wants(s, &n->wants);
    else if (n->kind == NOTE_ACK)
        outbox_trim(s, n->seq_ack);
    else if (n->kind == NOTE_VERSION)
        outbox_version(s);
}
