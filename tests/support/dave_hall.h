/* dave_hall.h - a DAVE room with scripted clients that behave like @discordjs/voice. */
#ifndef TESTS_SUPPORT_DAVE_HALL_H
#define TESTS_SUPPORT_DAVE_HALL_H

#include "relay/dave/group.h"
#include "support/dave.h"

enum { DAVE_CLIENTS = 128, DAVE_QUEUE = 1 << 16, DAVE_OPS = 32 };
#define DAVE_GROUP UINT64_C(900)

struct dave_client {
    struct dave_identity id;
    struct buf package;
    bool here;
    unsigned version;              /* version of its media */
    unsigned next_version;         /* after the transition */
    unsigned transition, executed; /* latest ids */
    bool silent, slow, damaged;    /* never commits; never ready; next message is invalid */
    bool uses_path, reverses;      /* how it commits */
    unsigned received[DAVE_OPS];   /* messages by opcode */
    bool in_group;                 /* by opcodes 29 and 30 */
    struct dave_received proposals[2 * DAVE_CLIENTS];
    size_t proposal_count;
};

struct dave_queued {
    snowflake user;
    struct dave_message message;
};

struct dave_hall {
    struct dave_room *room;
    struct mls_key *key;
    struct dave_counters counters;
    int64_t now;
    struct dave_client clients[DAVE_CLIENTS]; /* by user id */
    struct dave_queued queue[DAVE_QUEUE];
    size_t first, count;
    snowflake leaves[DAVE_CLIENTS]; /* model of the tree; 0: free */
    size_t leaf_count;
    uint64_t epoch;
    bool established;
    int64_t proposed_at[64]; /* times of opcodes 27 to user 1 */
    size_t proposed_count;
};
extern struct dave_hall dave_hall;

uint32_t dave_leaf_of(snowflake user);
enum dave_message_result dave_client_send_package(struct dave_client *c);
enum dave_message_result dave_client_commit(struct dave_client *c);
void dave_hall_open_with(unsigned version);
int dave_hall_open(void **state);
void dave_hall_deliver_one(void);
void dave_hall_deliver(void);
/* Delivers messages and runs timers until that many milliseconds have passed. */
void dave_hall_settle(int64_t ms);
int dave_hall_close(void **state);
/* Joins, but does not send a key package. */
struct dave_client *dave_client_enter(snowflake user, unsigned version);
struct dave_client *dave_client_join(snowflake user, unsigned version);
void dave_client_leave(snowflake user);
/* Joins where the key package may be outdated. */
void dave_client_join_any(snowflake user, unsigned version);
void dave_client_range_join(snowflake from, snowflake to);
void dave_hall_forget_received(void);
/* All present clients, and no others, are in the group. */
void expect_dave_group(void);
void expect_dave_received(snowflake user, enum dave_opcode op, unsigned count);

#define DAVE_TEST(name) cmocka_unit_test_setup_teardown(name, dave_hall_open, dave_hall_close)

#endif
