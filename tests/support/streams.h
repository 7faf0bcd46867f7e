/* streams.h - people who show something in voice, and who watch it. */
#ifndef TESTS_STREAMS_H
#define TESTS_STREAMS_H

#include "test_voice.h"

/* For TEST_WITH: eu and us, each with a host of its own. */
void with_two_regions(struct config *c);

/* "guild:…" of a stream in the hall. */
const char *stream_key(const struct test_voice *h, const char *channel, const struct client *owner);

/* Op 18 in a guild, op 19 to 21 about a key, op 22. */
void ask_stream(struct client *c, const char *guild, const char *channel, const char *more);
void ask_about_stream(struct client *c, int op, const char *key);
void ask_pause(struct client *c, const char *key, bool paused);

/* A hall with ada and bob in `voice`, where ada streams; its key. Everything that was told
 * about it has been read. */
struct test_voice world_show(struct world *w, const char **ret_key);
/* The same, and bob watches. */
struct test_voice world_audience(struct world *w, const char **ret_key);

/* The next dispatch about streams is this; voice states before it are skipped. */
#define expect_stream(c, e, ...) expect_stream_at(__FILE__, __LINE__, (c), (e), __VA_ARGS__)
const struct dom *expect_stream_at(const char *file, int line, struct client *c, const char *event,
                                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* No such thing comes before a heartbeat is answered. */
void expect_no_stream(struct client *c);

#endif
