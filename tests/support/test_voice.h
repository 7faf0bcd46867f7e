/* test_voice.h - a guild with voice channels, and users who connect to them. */
#ifndef TESTS_TEST_VOICE_H
#define TESTS_TEST_VOICE_H

#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"

/* Ada's guild with bob, two voice channels and a stage; both are connected to the gateway. */
struct test_voice {
    struct world *world;
    struct client *ada, *bob;
    const char *guild, *voice, *other, *stage;
};

struct test_voice world_test_voice(struct world *w);
/* Creates another guild with voice channels, for the same users. */
struct test_voice another_test_voice(const struct test_voice *h);
/* Adds a member with a gateway connection. */
struct client *test_voice_member(const struct test_voice *h, const char *name, uint64_t perms);
/* Adds a bot with a gateway connection. */
struct client *test_voice_bot(const struct test_voice *h, const char *name);

/* Adds `count` users with cameras, without gateway connections. */
void fill_with_cameras(const struct test_voice *h, const char *channel, int count);

/* Sends opcode 4. NULL stands for null; more is JSON such as ", 'self_mute': true". */
void ask_voice(struct client *c, const char *guild, const char *channel, const char *more);
/* Sends opcode 4 in another session. */
void ask_voice_by(struct client *c, struct gateway_conn *g, const char *guild, const char *channel);
/* Sends opcode 4 and expects both events; every listed connected client expects the voice state.
 * The list ends with NULL. */
void join_voice(const struct test_voice *h, struct client *c, const char *channel, ...);
/* Leaves the channel and expects the events. */
void leave_voice(const struct test_voice *h, struct client *c, ...);
/* Expects only VOICE_SERVER_UPDATE, after a moment. */
void expect_server(struct client *c);

/* Returns the next dispatch about voice; other events are skipped. */
const struct dom *next_voice(struct client *c);
/* Skips events until a self-mute arrives. */
void await_self_mute(struct client *c);
/* Expects this voice event with this data. */
#define expect_voice(c, e, ...) expect_voice_at(__FILE__, __LINE__, (c), (e), __VA_ARGS__)
void expect_voice_at(const char *file, int line, struct client *c, const char *event,
                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Expects that the server is idle and has sent this client no voice event. */
void expect_voice_silence(struct client *c);
void expect_no_voice(struct client *c, int wait_ms);

#endif
