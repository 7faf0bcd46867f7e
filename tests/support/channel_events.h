/* channel_events.h - what is heard in one channel, and files that are sent to it. */
#ifndef TESTS_CHANNEL_EVENTS_H
#define TESTS_CHANNEL_EVENTS_H

#include "world.h"

/* A channel of a guild, or a private one, from now on. */
struct channel_events {
    struct world *world;
    char id[24];
    size_t heard; /* announcements already looked at */
};

struct channel_events world_channel_events(struct world *w, const char *channel_id);

/* The next announcement to those, and only those, who see the channel. */
#define expect_channel_event(r, e, ...) \
    expect_channel_event_at(__FILE__, __LINE__, (r), (e), __VA_ARGS__)
#define expect_channel_silence(r) expect_channel_silence_at(__FILE__, __LINE__, (r))

void expect_channel_event_at(const char *file, int line, struct channel_events *r,
                             const char *event, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void expect_channel_silence_at(const char *file, int line, struct channel_events *r);

/* Says something; the id of the message. */
const char *say_text(struct client *c, const char *channel, const char *text);

/* A part of a multipart body; filename NULL: a plain field. */
struct upload {
    const char *name, *filename;
    struct str bytes;
};

/* A multipart call; single quotes in json (may be NULL) become double. Ends with a part
 * without a name. */
struct answer client_upload(struct client *c, const char *method, const char *json,
                            const struct upload *uploads, const char *path, ...)
    __attribute__((format(printf, 5, 6)));

#endif
