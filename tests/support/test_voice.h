/* test_voice.h - a guild with voice channels, and people who ask for them. */
#ifndef TESTS_TEST_VOICE_H
#define TESTS_TEST_VOICE_H

#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"

/* ada's guild, with bob in it and two voice channels and a stage; both are connected. */
struct test_voice {
    struct world *world;
    struct client *ada, *bob;
    const char *guild, *voice, *other, *stage;
};

struct test_voice world_test_voice(struct world *w);
/* A guild like it, with the same people. */
struct test_voice another_test_voice(const struct test_voice *h);
/* One more member, connected. */
struct client *test_voice_member(const struct test_voice *h, const char *name, uint64_t rights);
/* A bot in the guild, connected. */
struct client *test_voice_bot(const struct test_voice *h, const char *name);

/* So many people, who show themselves and hear nothing. */
void fill_with_cameras(const struct test_voice *h, const char *channel, int count);

/* Op 4. NULL stands for null; more is JSON such as ", 'self_mute': true". */
void ask_voice(struct client *c, const char *guild, const char *channel, const char *more);
/* The same by another session. */
void ask_voice_by(struct client *c, struct gateway_conn *g, const char *guild, const char *channel);
/* Op 4, answered by both events; everybody else who is connected and named hears of the
 * state. The list ends with NULL. */
void join_voice(const struct test_voice *h, struct client *c, const char *channel, ...);
/* The same for leaving. */
void leave_voice(const struct test_voice *h, struct client *c, ...);
/* Nothing but VOICE_SERVER_UPDATE comes, a moment later. */
void expect_server(struct client *c);

/* The next dispatch about voice; everything else that comes is skipped. */
const struct dom *next_voice(struct client *c);
/* All that comes is passed over until it hears that somebody has muted itself. */
void await_self_mute(struct client *c);
/* It is this event, and its d holds this. */
#define expect_voice(c, e, ...) expect_voice_at(__FILE__, __LINE__, (c), (e), __VA_ARGS__)
void expect_voice_at(const char *file, int line, struct client *c, const char *event,
                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* No such thing comes for a while. */
/* The server is at rest, and has told this client nothing of voice. */
void expect_voice_silence(struct client *c);
void expect_no_voice(struct client *c, int wait_ms);

#endif
