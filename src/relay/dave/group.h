/* group.h - state machine of the encrypted group of one voice room (DAVE).
 *
 * Its input are events of participants; its output are messages to participants, through a
 * callback. It uses no sockets, threads or clocks: the time is a parameter (milliseconds of a
 * steady clock). Functions of one room must not be called by two OS threads at a time, or from the
 * callback.
 *
 * The version of a room is the minimum over its participants, 0 (plain media) or 1. At version 1
 * the participants form an MLS group. The group is established by the first valid commit. After
 * that it changes in rounds: the server proposes all outstanding changes in one message, every
 * member commits, and the first valid commit wins. A round starts when no proposals are outstanding
 * and no transition is running. Each winning commit starts a transition, which ends when all
 * recipients are ready or after 2 s.
 *
 * If a participant has left or could not process a commit, its leaf is removed in the next round; a
 * participant without a leaf is added in the next round after its key package arrived. */
#ifndef RELAY_DAVE_GROUP_H
#define RELAY_DAVE_GROUP_H

#include "relay/dave/mls.h"

enum {
    DAVE_VERSION = 1,       /* highest supported version */
    DAVE_MEMBERS_MAX = 100, /* maximum number of participants of an encrypted room */
    /* An unencrypted room is encrypted again when it has at most this many members. */
    DAVE_MEMBERS_AGAIN = 80,
    /* A room with more members waits DAVE_BATCH_MS between two rounds of proposals. */
    DAVE_BATCH_MEMBERS = 20,
    /* Minimum time between rounds (opcode 27) in rooms with more than DAVE_BATCH_MEMBERS. */
    DAVE_BATCH_MS = 1000,
    DAVE_TRANSITION_MS = 2000,  /* longest wait for opcode 23 */
    DAVE_COMMIT_MS = 2000,      /* longest wait for a commit ... */
    DAVE_COMMIT_MEMBER_MS = 50, /* time added to the wait for a commit, for each proposal */
    /* Each reset without a commit doubles the wait for a commit, at most this many times. */
    DAVE_COMMIT_DOUBLINGS = 5,
    DAVE_READD_MS = 100,    /* time to wait for a key package after opcode 31 */
    DAVE_KEY_PACKAGES = 10, /* limit of unrequested key packages of a participant per minute */
    DAVE_KEY_PACKAGES_MS = 60000,
    DAVE_COMMIT_BYTES = 64 * 1024, /* most bytes of opcode 28 */
};

enum dave_opcode {
    DAVE_PREPARE_TRANSITION = 21,
    DAVE_EXECUTE_TRANSITION = 22,
    DAVE_TRANSITION_READY = 23,
    DAVE_PREPARE_EPOCH = 24,
    DAVE_EXTERNAL_SENDER = 25,
    DAVE_KEY_PACKAGE = 26,
    DAVE_PROPOSALS = 27,
    DAVE_COMMIT_WELCOME = 28,
    DAVE_ANNOUNCE_COMMIT = 29,
    DAVE_WELCOME = 30,
    DAVE_INVALID_COMMIT_WELCOME = 31,
};

/* A message to a participant. Opcodes 21, 22 and 24 are JSON, the others are binary. */
struct dave_message {
    enum dave_opcode op;
    unsigned version;    /* JSON: protocol_version */
    unsigned transition; /* JSON: transition_id */
    unsigned epoch;      /* JSON: epoch */
    /* Bytes after the opcode of a binary message; valid only during the callback. */
    struct str payload;
};
bool dave_message_is_json(const struct dave_message *m);
/* Writes the "d" object of a JSON message. */
void dave_message_write_json(const struct dave_message *m, struct buf *out);

typedef void dave_send_message_to_participant(void *context, snowflake user,
                                              const struct dave_message *m);

/* Counters of all rooms of one event loop. */
struct dave_counters {
    uint64_t epochs;      /* winning commits */
    uint64_t transitions; /* started */
    /* Invalid commits received; a commit for an old state of the group is not counted. */
    uint64_t refused_commits;
    uint64_t refused_key_packages; /* invalid or too many */
    uint64_t downgrades;           /* from version 1 to 0 */
    /* Number of times that a new group was created because no member sent a valid commit. */
    uint64_t resets;
};

struct dave_config {
    snowflake group; /* MLS group id: the channel id; for a stream, rtc_server_id - 1 */
    /* highest DAVE version; 0 for stage channels and if encryption is turned off */
    unsigned version;
    const struct mls_key *key; /* external sender's; one per process */
    dave_send_message_to_participant *send;
    void *context;
    struct dave_counters *counters;
};

struct dave_room;
struct dave_room *dave_room_new(const struct dave_config *config);
void dave_room_free(struct dave_room *room); /* accepts NULL; sends nothing */

unsigned dave_room_get_protocol_version(const struct dave_room *room);
/* Returns whether the room would become unencrypted if one more participant joined. */
bool dave_room_is_full(const struct dave_room *room);
/* Returns whether a transition to plain media or a new epoch waits for participants to be ready. */
bool dave_room_is_in_transition(const struct dave_room *room);

/* Adds a participant, which sends and receives media. Observers must not be added, because they
 * would lower the version. Returns the version for the session description (opcode 4). If the user
 * is already a participant of the room, the earlier participant is removed first. */
unsigned dave_room_join(struct dave_room *room, snowflake user, unsigned max_version, int64_t now);
/* Must be called after opcode 4 (session description) with this version was sent to the user,
 * because clients drop DAVE messages that arrive before opcode 4. */
void dave_room_on_session_description_sent(struct dave_room *room, snowflake user, unsigned version,
                                           int64_t now);
/* Removes a participant. Called only when its voice session can no longer be resumed. */
void dave_room_leave(struct dave_room *room, snowflake user, int64_t now);

enum dave_message_result {
    DAVE_ACCEPTED,
    /* The message is ignored, but is no error: another commit won, or the room has changed. */
    DAVE_OUTDATED,
    DAVE_REFUSED,  /* invalid */
    DAVE_TOO_MANY, /* key packages */
};

/* Handle opcodes 26, 28, 23 and 31 of a participant. If the user is not a participant of the room,
 * they return DAVE_OUTDATED. */
enum dave_message_result dave_room_handle_key_package(struct dave_room *room, snowflake user,
                                                      struct str payload, int64_t now);
enum dave_message_result dave_room_handle_commit(struct dave_room *room, snowflake user,
                                                 struct str payload, int64_t now);
void dave_room_handle_transition_ready(struct dave_room *room, snowflake user, unsigned transition,
                                       int64_t now);
void dave_room_handle_invalid_commit(struct dave_room *room, snowflake user, int64_t now);

/* Returns the time at which dave_room_handle_timeouts must be called next, or INT64_MAX for never.
 * Each function that changes the room can change this time. */
int64_t dave_room_next_timeout(const struct dave_room *room);
void dave_room_handle_timeouts(struct dave_room *room, int64_t now);

#endif
