/* seats.h - who is connected to voice, as the files share it that change it.
 *
 * All of it belongs to the relay's thread. A seat is made when a client's claim is found
 * good and goes when its state in the store goes or changes its salt, or when its client has
 * been away for too long. */
#ifndef RELAY_SEATS_H
#define RELAY_SEATS_H

#include "relay/internal.h"

struct relay_seats {
    struct relay *relay;
    struct map rooms;      /* channel or stream -> struct relay_room */
    struct map by_ssrc;    /* of all that follow: struct relay_seat */
    struct map by_place;   /* a state's key */
    struct map by_token;   /* its first bytes */
    struct map by_peer;    /* those with a socket */
    struct map by_address; /* those whose media comes from somewhere */
    struct deadlines *away;
    struct deadlines *late; /* whose speaking has changed more often than the others are told */
};

struct relay_seats *seats_of(const struct relay_seat *s);
/* Two places may share a key, however unlikely that is: whoever came last has it, and is asked
 * whether it is the one. */
struct relay_seat *seat_of_place(const struct relay_seats *all, snowflake guild_id,
                                 snowflake user_id);
struct relay_seat *seat_of_token(const struct relay_seats *all,
                                 const unsigned char token[RELAY_TOKEN]);
void seat_unmap(struct map *map, uint64_t key, const struct relay_seat *s);

struct relay_place relay_place_of(const struct voice_fact *f);
struct relay_seat *seat_new(struct relay_seats *all, const struct relay_claim *c,
                            const struct voice_fact *f);
/* The others are told that it is gone. */
void relay_seat_leave(struct relay_seat *s);
/* All of a room go, so nobody is told of the others. */
void room_end(struct relay_seats *all, snowflake id);
/* At the end of seats.late. */
void seat_speaking_due(struct deadline *d);
void seat_close_socket(struct relay_seat *s, enum letter_kind kind, enum relay_close code);

#endif
