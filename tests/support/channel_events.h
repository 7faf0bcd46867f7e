/* channel_events.h - expects the events of one channel, and uploads files to it. */
#ifndef TESTS_CHANNEL_EVENTS_H
#define TESTS_CHANNEL_EVENTS_H

#include "world.h"

/* The events of a guild channel or a private channel from now on. */
struct channel_events {
    struct world *world;
    char id[24];
    size_t arrivals; /* number of events already checked */
};

struct channel_events world_channel_events(struct world *w, const char *channel_id);

/* Expects the next event for exactly those who can view the channel. */
#define expect_channel_event(r, e, ...) \
    expect_channel_event_at(__FILE__, __LINE__, (r), (e), __VA_ARGS__)
#define expect_channel_silence(r) expect_channel_silence_at(__FILE__, __LINE__, (r))

void expect_channel_event_at(const char *file, int line, struct channel_events *r,
                             const char *event, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void expect_channel_silence_at(const char *file, int line, struct channel_events *r);

/* Sends a message and returns its id. */
const char *say_text(struct client *c, const char *channel, const char *text);

/* A part of a multipart body; filename NULL: a plain field. */
struct upload {
    const char *name, *filename;
    struct str bytes;
};

/* Sends a multipart request; single quotes in json (may be NULL) become double quotes. The list
 * ends with a part without a name. */
struct answer client_upload(struct client *c, const char *method, const char *json,
                            const struct upload *uploads, const char *path, ...)
    __attribute__((format(printf, 5, 6)));

#endif
