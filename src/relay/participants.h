/* participants.h - participants of voice rooms (struct relay_participant), with lookup maps.
 *
 * Each worker has its own; only its thread uses them. A participant is created when its IDENTIFY is
 * accepted. It is removed when its stored voice state is deleted or gets another salt, or when its
 * client has been disconnected for VOICE_RESUME_TIMEOUT_MS. */
#ifndef RELAY_PARTICIPANTS_H
#define RELAY_PARTICIPANTS_H

#include "relay/internal.h"
#include "relay/ssrc_blocks.h"

struct relay_participants {
    struct relay *relay;
    struct relay_worker *worker;
    struct map rooms; /* rooms: channel or stream id -> struct relay_room */
    /* participants by SSRC; the next maps contain participants, too */
    struct map by_ssrc;
    struct map by_user;  /* by hash of guild and user */
    struct map by_token; /* participants, by the first bytes of their tokens */
    struct map by_peer;  /* by socket number, if connected */
    /* UDP clients, by the source address of their media, if it is known */
    struct map by_address;
    struct map browsers_by_address; /* browsers only, by the address of a valid STUN request */
    /* browsers only, by the ICE user name fragment of the relay's answer */
    struct map by_ufrag;
    struct dave_rooms *dave;
    struct ssrc_blocks ssrc_blocks;
    struct deadline_list *resume_deadlines;
    /* Times at which op 5 messages are sent that were delayed by their rate limit. */
    struct deadline_list *speaking_deadlines;
    struct deadline_list *consents, *handshake_checks; /* of browsers */
};

struct relay_participants *participants_of_same_worker(const struct relay_participant *s);
/* Finds the participant of a user. Users may have the same hash, so the ids are compared. */
struct relay_participant *find_participant_by_user(const struct relay_participants *all,
                                                   snowflake guild_id, snowflake user_id);
struct relay_participant *find_participant_by_token(const struct relay_participants *all,
                                                    const unsigned char token[RELAY_TOKEN_SIZE]);
void participant_clear_address(struct relay_participant *s);
void remove_participant_from_map(struct map *map, uint64_t key, const struct relay_participant *s);

struct voice_state_key voice_state_key_of_relay_state(const struct relay_voice_state *f);
struct relay_participant *participant_new(struct relay_participants *all,
                                          const struct pending_identify *c,
                                          const struct relay_voice_state *f);
/* Removes the participant, and sends op 13 (client disconnected) to the other participants. */
void participant_remove(struct relay_participant *s);
/* Disconnects all participants of a room, without sending op 13. */
void relay_room_disconnect_all_participants(struct relay_participants *all, snowflake id);
/* Callback of relay_participants.speaking_deadlines. */
void on_delayed_speaking_message_due(struct deadline *d);
void participant_close_socket(struct relay_participant *s, enum peer_message_kind kind,
                              enum relay_close_code code);

#endif
