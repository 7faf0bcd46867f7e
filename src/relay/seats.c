/* seats.c - who is connected to voice: rooms, what happens in them, what the store says.
 *
 * All of it belongs to the relay's thread. A seat is made when a client's claim is found
 * good and goes when its state in the store goes or changes its salt, or when its client has
 * been away for too long. */
#include "relay/internal.h"

#include <sodium.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/address.h"

struct relay_seats {
    struct relay *relay;
    struct map rooms;      /* channel or stream -> struct relay_room */
    struct map by_ssrc;    /* of all that follow: struct relay_seat */
    struct map by_place;   /* a state's key */
    struct map by_token;   /* its first bytes */
    struct map by_peer;    /* those with a socket */
    struct map by_address; /* those whose media comes from somewhere */
    struct deadlines *away;
};

/* --- keys ----------------------------------------------------------------------------- */

static uint64_t seat_place_key(snowflake guild_id, snowflake user_id)
{
    return hash_u64(guild_id) ^ user_id;
}

static uint64_t token_key(const unsigned char token[RELAY_TOKEN])
{
    uint64_t key;

    memcpy(&key, token, sizeof key);
    return key;
}

static unsigned address_port(const union media_address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

static uint64_t media_address_key(const union media_address *a)
{
    struct address address = address_from(a);
    unsigned char bytes[sizeof address.bytes + 2];
    unsigned port = address_port(a);

    memcpy(bytes, address.bytes, sizeof address.bytes);
    bytes[sizeof address.bytes] = (unsigned char)(port >> 8);
    bytes[sizeof address.bytes + 1] = (unsigned char)port;
    return hash_str(str_slice((const char *)bytes, sizeof bytes));
}

struct relay_seat *seats_by_ssrc(struct relay_seats *all, uint32_t ssrc)
{
    return map_get(&all->by_ssrc, ssrc / SSRC_BLOCK);
}

struct relay_seat *seats_by_address(struct relay_seats *all, const union media_address *a)
{
    return map_get(&all->by_address, media_address_key(a));
}

const struct relay_seat *seats_next(const struct relay_seats *all, size_t *at)
{
    return map_next(&all->by_ssrc, at);
}

static struct relay_seats *seats_of(const struct relay_seat *s)
{
    return s->relay->seats;
}

/* Two places, or two addresses, may have one key: whoever came last has it. */
static void seat_unmap(struct map *map, uint64_t key, const struct relay_seat *s)
{
    if (map_get(map, key) == s)
        map_remove(map, key);
}

static void seat_unbind(struct relay_seat *s)
{
    if (s->has_address)
        seat_unmap(&seats_of(s)->by_address, media_address_key(&s->address), s);
    s->has_address = false;
}

void seat_bind(struct relay_seat *s, const union media_address *a)
{
    seat_unbind(s);
    s->address = *a;
    s->has_address = true;
    map_put(&seats_of(s)->by_address, media_address_key(a), s);
}

/* --- rooms ---------------------------------------------------------------------------- */

static void room_add(struct relay_seats *all, snowflake room_id, struct relay_seat *s)
{
    struct relay_room *room = map_get(&all->rooms, room_id);

    if (!room) {
        room = mem_new(sizeof *room);
        room->id = room_id;
        map_put(&all->rooms, room_id, room);
        atomic_fetch_add(&all->relay->rooms, 1);
    }
    if (room->count == room->cap) {
        room->cap = room->cap ? 2 * room->cap : 4;
        room->seats = mem_resize(room->seats, room->cap * sizeof *room->seats);
    }
    s->room = room;
    s->index = room->count;
    room->seats[room->count++] = s;
}

static void room_remove(struct relay_seats *all, struct relay_seat *s)
{
    struct relay_room *room = s->room;
    struct relay_seat *last = room->seats[--room->count];

    room->seats[s->index] = last;
    last->index = s->index;
    if (room->count && s->offer.decodes.given)
        room_choose_codec(room, s);
    if (room->count)
        return;
    map_remove(&all->rooms, room->id);
    atomic_fetch_sub(&all->relay->rooms, 1);
    mem_free(room->seats);
    mem_free(room);
}

/* --- seats ---------------------------------------------------------------------------- */

/* Numbers that nobody has and that nobody can guess. */
static uint32_t ssrc_choose(const struct relay_seats *all)
{
    uint32_t block;

    do
        block = 1 + randombytes_uniform(UINT32_MAX / SSRC_BLOCK - 1);
    while (map_get(&all->by_ssrc, block));
    return block * SSRC_BLOCK;
}

static struct relay_seat *seat_new(struct relay_seats *all, const struct relay_claim *c,
                                   const struct voice_fact *f)
{
    struct relay_seat *s = mem_new(sizeof *s);

    s->relay = all->relay;
    s->place = (struct relay_place){ .guild_id = f->guild_id, .user_id = f->user_id };
    memcpy(s->place.salt, f->salt, sizeof s->place.salt);
    s->server_id = c->server_id;
    s->channel_id = f->channel_id;
    memcpy(s->session_id, c->session_id, sizeof s->session_id);
    memcpy(s->token, c->token, sizeof s->token);
    s->speaks = f->speaks;
    s->hears = f->hears;
    s->films = f->films;
    s->priority = f->priority;
    s->loop = c->loop;
    s->peer = c->number;
    s->version = c->version;
    s->layer_count = c->layer_count;
    memcpy(s->layers, c->layers, sizeof s->layers);
    s->ssrc = ssrc_choose(all);
    map_put(&all->by_ssrc, s->ssrc / SSRC_BLOCK, s);
    map_put(&all->by_place, seat_place_key(f->guild_id, f->user_id), s);
    map_put(&all->by_token, token_key(s->token), s);
    map_put(&all->by_peer, s->peer, s);
    room_add(all, f->room_id, s);
    atomic_fetch_add(&all->relay->seated, 1);
    return s;
}

static void seat_free(struct relay_seat *s)
{
    struct relay_seats *all = seats_of(s);

    deadline_drop(&s->away);
    seat_unbind(s);
    seat_unmap(&all->by_ssrc, s->ssrc / SSRC_BLOCK, s);
    seat_unmap(&all->by_place, seat_place_key(s->place.guild_id, s->place.user_id), s);
    seat_unmap(&all->by_token, token_key(s->token), s);
    seat_unmap(&all->by_peer, s->peer, s);
    room_remove(all, s);
    outbox_clear(s);
    seal_free(s->seal);
    sodium_memzero(s->key, sizeof s->key);
    mem_free((void *)(uintptr_t)s->streams.p);
    mem_free(s->wants);
    atomic_fetch_sub(&all->relay->jitter_ns, (uint64_t)s->quality.jitter_ns);
    atomic_fetch_sub(&all->relay->seated, 1);
    mem_free(s);
}

static void seat_close_socket(struct relay_seat *s, enum letter_kind kind, enum relay_close code)
{
    if (!s->peer)
        return;
    letter_send(s->relay, s->loop, s->peer, kind, code, NULL);
    seat_unmap(&seats_of(s)->by_peer, s->peer, s);
    s->peer = 0;
}

void tell_others(const struct relay_seat *s, struct relay_text *t)
{
    const struct relay_room *room = s->room;

    for (size_t i = 0; i < room->count; i++)
        if (room->seats[i] != s)
            outbox_send(room->seats[i], t);
    relay_text_unref(t);
}

static void seat_leave(struct relay_seat *s)
{
    tell_others(s, text_gone(s));
    seat_free(s);
}

void seat_end(struct relay_seat *s, enum relay_close code)
{
    seat_close_socket(s, LETTER_CLOSE, code);
    seat_leave(s);
}

/* Two places may share a key, however unlikely that is. */
static struct relay_seat *seat_of_place(const struct relay_seats *all, snowflake guild_id,
                                        snowflake user_id)
{
    struct relay_seat *s = map_get(&all->by_place, seat_place_key(guild_id, user_id));

    return s && s->place.guild_id == guild_id && s->place.user_id == user_id ? s : NULL;
}

static bool same_salt(const struct relay_seat *s, const struct voice_fact *f)
{
    return sodium_memcmp(s->place.salt, f->salt, sizeof s->place.salt) == 0;
}

/* --- what the store says -------------------------------------------------------------- */

enum { SPEAKING_VOICE = 1, SPEAKING_SHARE = 2, SPEAKING_PRIORITY = 4 };

unsigned seat_speaking(const struct relay_seat *s)
{
    if (!s->speaks)
        return 0;
    return s->priority ? s->speaking : s->speaking & ~(unsigned)SPEAKING_PRIORITY;
}

static void tell_arrival(struct relay_seat *s)
{
    outbox_ready(s);
    if (s->room->count > 1)
        outbox_clients(s);
    tell_others(s, text_client(s));
}

/* A second socket with the same token takes the place of the first. */
static void seats_admit(struct relay_seats *all, const struct voice_fact *f, struct relay_claim *c)
{
    struct relay_seat *before = seat_of_place(all, f->guild_id, f->user_id);

    if (before) {
        seat_close_socket(before, same_salt(before, f) ? LETTER_REPLACED : LETTER_CLOSE,
                          RELAY_DISCONNECTED);
        seat_leave(before);
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
    s->speaks = f->speaks;
    s->hears = f->hears;
    s->films = f->films;
    s->priority = f->priority;
    if (s->announced && seat_speaking(s) != shown)
        tell_others(s, text_speaking(s));
}

/* --- what clients say ----------------------------------------------------------------- */

void seat_announce(struct relay_seat *s, unsigned speaking)
{
    unsigned bits = speaking & (SPEAKING_VOICE | SPEAKING_SHARE | SPEAKING_PRIORITY);
    bool known = s->announced;
    unsigned shown = seat_speaking(s);

    s->announced = true;
    s->speaking = bits;
    if (!known || seat_speaking(s) != shown)
        tell_others(s, text_speaking(s));
}

static void tell_one(struct relay_seat *s, struct relay_text *t)
{
    outbox_send(s, t);
    relay_text_unref(t);
}

/* Who comes late is told whose SSRCs it will receive. */
static void tell_present(struct relay_seat *s)
{
    const struct relay_room *room = s->room;

    for (size_t i = 0; i < room->count; i++) {
        const struct relay_seat *other = room->seats[i];

        if (other != s && other->announced)
            tell_one(s, text_speaking(other));
        if (other != s && other->filmed)
            tell_one(s, text_video(other));
    }
}

/* A new key each time: nothing that was sealed before can come again. */
static void seat_select(struct relay_seat *s, const struct seal_mode *mode,
                        const struct codec_offer *offer)
{
    bool again = s->described;

    seal_free(s->seal);
    randombytes_buf(s->key, sizeof s->key);
    s->seal = seal_new(mode, s->key, SEAL_OURS);
    s->counters = (struct replay_window){ 0 };
    if (s->has_found && !s->has_address)
        seat_bind(s, &s->found);
    seat_offers(s, offer);
    s->described = true;
    outbox_description(s);
    if (!again)
        tell_present(s);
}

static struct relay_seat *seat_of_resume(const struct relay_seats *all, const struct relay_note *n)
{
    struct relay_seat *s = map_get(&all->by_token, token_key(n->resume.token));

    if (!s || sodium_memcmp(s->token, n->resume.token, sizeof s->token) != 0 ||
        strcmp(s->session_id, n->resume.session_id) != 0 || s->server_id != n->resume.server_id ||
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

static void seat_expired(struct deadline *d)
{
    seat_leave(container_of(d, struct relay_seat, away));
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
}

/* --- life ----------------------------------------------------------------------------- */

struct relay_seats *seats_new(struct relay *r)
{
    struct relay_seats *all = mem_new(sizeof *all);

    all->relay = r;
    map_init(&all->rooms);
    map_init(&all->by_ssrc);
    map_init(&all->by_place);
    map_init(&all->by_token);
    map_init(&all->by_peer);
    map_init(&all->by_address);
    all->away = deadlines_new(relay_loop(r), VOICE_AWAY_MS, true, seat_expired);
    return all;
}

void seats_free(struct relay_seats *all)
{
    size_t at = 0;
    const struct relay_seat *s;

    if (!all)
        return;
    while ((s = map_next(&all->by_ssrc, &at))) {
        seat_free((struct relay_seat *)(uintptr_t)s);
        at = 0;
    }
    deadlines_free(all->away);
    map_clear(&all->rooms);
    map_clear(&all->by_ssrc);
    map_clear(&all->by_place);
    map_clear(&all->by_token);
    map_clear(&all->by_peer);
    map_clear(&all->by_address);
    mem_free(all);
}
