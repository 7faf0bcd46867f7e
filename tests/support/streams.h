/* streams.h - video streams in voice channels, for tests. */
#ifndef TESTS_STREAMS_H
#define TESTS_STREAMS_H

#include "test_voice.h"

/* For TEST_WITH: regions eu and us, each with its own host. */
void with_two_regions(struct config *c);

/* Returns the stream key "guild:…" of a stream in the test guild. */
const char *stream_key(const struct test_voice *h, const char *channel, const struct client *owner);

/* Sends opcode 18 in a guild, opcodes 19 to 21 for a stream key, opcode 22. */
void ask_stream(struct client *c, const char *guild, const char *channel, const char *more);
void ask_about_stream(struct client *c, int op, const char *key);
void ask_pause(struct client *c, const char *key, bool paused);

/* Creates a guild with ada and bob in `voice`, where ada streams; returns the stream key. All
 * events were read. */
struct test_voice world_show(struct world *w, const char **ret_key);
/* Creates a guild in which ada streams in `voice` and bob watches; returns the stream key. */
struct test_voice world_audience(struct world *w, const char **ret_key);

/* Expects the next dispatch about streams; voice states before it are skipped. */
#define expect_stream(c, e, ...) expect_stream_at(__FILE__, __LINE__, (c), (e), __VA_ARGS__)
const struct dom *expect_stream_at(const char *file, int line, struct client *c, const char *event,
                                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Expects no stream event before a heartbeat is acknowledged. */
void expect_no_stream(struct client *c);

#endif
