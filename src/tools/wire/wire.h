/* wire.h - blocking client of a server's HTTP API and gateway, for tools.
 *
 * All functions block. Errors are printed to stderr once, where they occur. */
#ifndef TOOLS_WIRE_WIRE_H
#define TOOLS_WIRE_WIRE_H

#include "base/arena.h"
#include "base/str.h"

struct wire;

/* Creates a client. url: "http://host:port" or "https://…", optionally with "/api" or "/api/v10".
 * Returns NULL and prints why if the URL is invalid. Received data is stored in the arena. */
struct wire *wire_new(const char *url, struct arena *arena);
void wire_free(struct wire *w);

/* For https: expects the certificate of the server that runs on this folder, whatever its names
 * are. Otherwise the certificate must be valid for the host and signed by a CA of the system. */
void wire_trust_server_of(struct wire *w, const char *folder);

/* Stops printing errors. */
void wire_hush(struct wire *w);

/* Sets the token: "abc" for users, "Bot abc" for bots; it is copied. */
void wire_set_token(struct wire *w, const char *token);
const char *wire_token(const struct wire *w);

struct wire_file {
    const char *filename;
    struct str bytes;
};
struct wire_answer {
    int status;
    struct str body;
};

/* Sends a request. path: below /api/v9, or starting with /console/. body: JSON; p == NULL: none.
 * With files the request is multipart with payload_json. Returns false if there is no response. */
bool wire_call(struct wire *w, const char *method, const char *path, struct str body,
               const struct wire_file *files, size_t file_count, struct wire_answer *ret);
#define wire_get(w, path, ret) wire_call((w), "GET", (path), (struct str){ 0 }, NULL, 0, (ret))

/* Opens a gateway session as a user's client, and waits for READY. */
bool wire_connect(struct wire *w);
struct str wire_session(const struct wire *w);

enum wire_news { WIRE_EVENT, WIRE_NOTHING, WIRE_LOST };
struct wire_event {
    struct str name, data; /* data: JSON */
};
/* Waits for the next event; WIRE_NOTHING: none arrived before `until` (clock_mono). */
enum wire_news wire_next(struct wire *w, int64_t until, struct wire_event *ret);

/* Opens a WebSocket other than the gateway and sends a first message. */
bool wire_open(struct wire *w, const char *target, struct str first);
enum wire_news wire_next_text(struct wire *w, int64_t until, struct arena *arena, struct str *ret);

#endif
