/* seats.h - participants of voice rooms (struct relay_seat), with lookup maps.
 *
 * Only the relay's thread uses them. A participant is created when its IDENTIFY is accepted. It is
 * removed when its stored voice state is deleted or gets another salt, or when its client has been
 * disconnected for VOICE_AWAY_MS. */
#ifndef RELAY_SEATS_H
#define RELAY_SEATS_H

#include "relay/internal.h"

struct relay_seats {
    struct relay *relay;
    struct map rooms;      /* channel or stream id -> struct relay_room */
    struct map by_ssrc;    /* this and the following maps contain struct relay_seat */
    struct map by_place;   /* by hash of guild and user */
    struct map by_token;   /* by the first bytes of the token */
    struct map by_peer;    /* by socket number, if connected */
    struct map by_address; /* by source address of media, if known */
    struct deadlines *away;
    struct deadlines *late; /* deadlines to send op 5 again after too many changes */
};

struct relay_seats *seats_of(const struct relay_seat *s);
/* Finds the participant of a user. Two users may have the same hash key, so the ids are
 * compared. */
struct relay_seat *seat_of_place(const struct relay_seats *all, snowflake guild_id,
                                 snowflake user_id);
struct relay_seat *seat_of_token(const struct relay_seats *all,
                                 const unsigned char token[RELAY_TOKEN]);
void seat_unmap(struct map *map, uint64_t key, const struct relay_seat *s);

struct relay_place relay_place_of(const struct voice_fact *f);
struct relay_seat *seat_new(struct relay_seats *all, const struct relay_claim *c,
                            const struct voice_fact *f);
/* Removes the participant and sends op 13 to the others. */
void relay_seat_leave(struct relay_seat *s);
/* Disconnects all participants of a room, without op 13. */
void room_end(struct relay_seats *all, snowflake id);
/* Callback of the deadlines in relay_seats.late. */
void seat_speaking_due(struct deadline *d);
void seat_close_socket(struct relay_seat *s, enum letter_kind kind, enum relay_close code);

#endif
