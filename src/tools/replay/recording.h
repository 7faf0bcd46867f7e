/* recording.h - a recording that `guildhall record` saved: the calls of a bot and its events. */
#ifndef TOOLS_REPLAY_RECORDING_H
#define TOOLS_REPLAY_RECORDING_H

#include "base/arena.h"
#include "base/str.h"

struct recorded_call {
    struct str method, path, query; /* path without /api and the version */
    struct str request, reply;      /* bodies; secrets are "***" */
    int64_t status, at_ms;
    bool request_is_cut;
    bool made; /* whether the bot has made this call, or the replay no longer waits for it */
    bool missing;
};

struct recorded_event {
    struct str name, data; /* data: JSON */
    int64_t at_ms;
    size_t calls_before; /* number of calls that were recorded before this event */
};

struct recorded_traffic {
    struct str authority; /* host and port of the server that was recorded */
    struct str bot;       /* name of the bot */
    struct recorded_call *calls;
    struct recorded_event *events; /* the first one is READY */
    size_t call_count, event_count;
    int64_t end_ms;       /* time of the last call or event in ms */
    int64_t moved_clocks; /* how often the server's clock was moved */
};

/* Reads a recording. Prints an error and returns false if the file cannot be replayed. */
bool recorded_traffic_read(const char *path, struct arena *arena, struct recorded_traffic *ret);

/* Removes "/api" and the version from a path. */
struct str remove_version_from_path(struct str path);
/* Returns whether the paths are equal; "***" in the recorded path matches any segment. */
bool recorded_path_matches(struct str recorded, struct str path);

#endif
