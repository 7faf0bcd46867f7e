/* seats.c - participants and rooms: creation, lookup by SSRC, user, token or address, removal. */
#include "relay/seats.h"

#include <sodium.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/address.h"

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

static uint64_t media_address_key(const union media_address *a)
{
    struct address address = address_from(a);
    unsigned char bytes[sizeof address.bytes + 2];
    unsigned port = media_address_port(a);

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

struct relay_seats *seats_of(const struct relay_seat *s)
{
    return s->relay->seats;
}

void seat_unmap(struct map *map, uint64_t key, const struct relay_seat *s)
{
    if (map_get(map, key) == s)
        map_remove(map, key);
}

static void seat_unbind(struct relay_seat *s)
{
    if (s->media.has_address)
        seat_unmap(&seats_of(s)->by_address, media_address_key(&s->media.address), s);
    s->media.has_address = false;
}

void seat_bind(struct relay_seat *s, const union media_address *a)
{
    seat_unbind(s);
    s->media.address = *a;
    s->media.has_address = true;
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
        atomic_fetch_add(&all->relay->count.rooms, 1);
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
    atomic_fetch_sub(&all->relay->count.rooms, 1);
    mem_free(room->seats);
    mem_free(room);
}

/* --- participants --------------------------------------------------------------------- */

/* Chooses a block of SSRCs that is unused and cannot be guessed. */
static uint32_t ssrc_choose(const struct relay_seats *all)
{
    uint32_t block;

    do
        block = 1 + randombytes_uniform(UINT32_MAX / SSRC_BLOCK - 1);
    while (map_get(&all->by_ssrc, block));
    return block * SSRC_BLOCK;
}

struct relay_place relay_place_of(const struct voice_fact *f)
{
    struct relay_place p = { .guild_id = f->guild_id, .user_id = f->user_id };

    memcpy(p.salt, f->salt, sizeof p.salt);
    return p;
}

struct relay_seat *seat_new(struct relay_seats *all, const struct relay_claim *c,
                            const struct voice_fact *f)
{
    struct relay_seat *s = mem_new(sizeof *s);

    s->relay = all->relay;
    s->place = relay_place_of(f);
    s->server_id = c->server_id;
    s->channel_id = f->channel_id;
    memcpy(s->session_id, c->session_id, sizeof s->session_id);
    memcpy(s->token, c->token, sizeof s->token);
    s->may.speaks = f->speaks;
    s->may.hears = f->hears;
    s->may.films = f->films;
    s->may.priority = f->priority;
    s->flags = f->flags;
    s->platform = f->platform;
    s->loop = c->loop;
    s->peer = c->number;
    s->version = c->version;
    s->camera.layer_count = c->layer_count;
    memcpy(s->camera.layers, c->layers, sizeof s->camera.layers);
    s->media.ssrc = ssrc_choose(all);
    map_put(&all->by_ssrc, s->media.ssrc / SSRC_BLOCK, s);
    map_put(&all->by_place, seat_place_key(f->guild_id, f->user_id), s);
    map_put(&all->by_token, token_key(s->token), s);
    map_put(&all->by_peer, s->peer, s);
    room_add(all, f->room_id, s);
    atomic_fetch_add(&all->relay->count.seated, 1);
    return s;
}

static void seat_free(struct relay_seat *s)
{
    struct relay_seats *all = seats_of(s);

    deadline_drop(&s->away);
    deadline_drop(&s->speech.late);
    seat_unbind(s);
    seat_unmap(&all->by_ssrc, s->media.ssrc / SSRC_BLOCK, s);
    seat_unmap(&all->by_place, seat_place_key(s->place.guild_id, s->place.user_id), s);
    seat_unmap(&all->by_token, token_key(s->token), s);
    seat_unmap(&all->by_peer, s->peer, s);
    room_remove(all, s);
    outbox_clear(s);
    seal_free(s->media.seal);
    seat_forget_streams(s);
    sodium_memzero(s->media.key, sizeof s->media.key);
    mem_free((void *)(uintptr_t)s->camera.streams.p);
    mem_free(s->wants);
    atomic_fetch_sub(&all->relay->count.jitter_ns, (uint64_t)s->quality.jitter_ns);
    atomic_fetch_sub(&all->relay->count.seated, 1);
    mem_free(s);
}

void seat_close_socket(struct relay_seat *s, enum letter_kind kind, enum relay_close code)
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
            outbox_broadcast(room->seats[i], t);
    broadcast_end(s->relay, t);
    relay_text_unref(t);
}

void relay_seat_leave(struct relay_seat *s)
{
    tell_others(s, text_gone(s));
    seat_free(s);
}

void seat_end(struct relay_seat *s, enum relay_close code)
{
    seat_close_socket(s, LETTER_CLOSE, code);
    relay_seat_leave(s);
}

void room_end(struct relay_seats *all, snowflake id)
{
    for (struct relay_room *room; (room = map_get(&all->rooms, id));) {
        struct relay_seat *s = room->seats[room->count - 1];

        s->offer.decodes.given = false; /* prevents the choice of a codec for the others */
        seat_close_socket(s, LETTER_CLOSE, RELAY_DISCONNECTED);
        seat_free(s);
    }
}

struct relay_seat *seat_of_token(const struct relay_seats *all,
                                 const unsigned char token[RELAY_TOKEN])
{
    struct relay_seat *s = map_get(&all->by_token, token_key(token));

    return s && sodium_memcmp(s->token, token, sizeof s->token) == 0 ? s : NULL;
}

struct relay_seat *seat_of_place(const struct relay_seats *all, snowflake guild_id,
                                 snowflake user_id)
{
    struct relay_seat *s = map_get(&all->by_place, seat_place_key(guild_id, user_id));

    return s && s->place.guild_id == guild_id && s->place.user_id == user_id ? s : NULL;
}

/* --- creation and timeouts ------------------------------------------------------------ */

static void seat_expired(struct deadline *d)
{
    relay_seat_leave(container_of(d, struct relay_seat, away));
}

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
    all->late = deadlines_new(relay_loop(r), VOICE_LATE_MS, false, seat_speaking_due);
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
    deadlines_free(all->late);
    map_clear(&all->rooms);
    map_clear(&all->by_ssrc);
    map_clear(&all->by_place);
    map_clear(&all->by_token);
    map_clear(&all->by_peer);
    map_clear(&all->by_address);
    mem_free(all);
}
