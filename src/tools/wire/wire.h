/* wire.h - a server, spoken to from outside: calls over HTTP, and its gateway.
 *
 * For tools that do what a client does. Everything waits; what goes wrong on the way is
 * said on stderr, once, by whoever notices. */
#ifndef TOOLS_WIRE_WIRE_H
#define TOOLS_WIRE_WIRE_H

#include "base/arena.h"
#include "base/str.h"

struct wire;

/* url: "http://host:port" or "https://…", maybe with "/api" or "/api/v10" behind it. NULL: it is
 * none; says why. What is read lives in the arena. */
struct wire *wire_new(const char *url, struct arena *arena);
void wire_free(struct wire *w);

/* With https: the certificate is the one of the server that runs on this folder, whatever name
 * stands in it. Otherwise it has to be one for the name, of an authority that the machine knows. */
void wire_trust_server_of(struct wire *w, const char *folder);

/* From now on nothing is said of what goes wrong. */
void wire_hush(struct wire *w);

/* "abc" for people, "Bot abc" for bots; copied. */
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

/* path is below /api/v9, or begins with /console/. body: JSON; p == NULL: none. With files it goes
 * as multipart, as payload_json. False: there was no answer. */
bool wire_call(struct wire *w, const char *method, const char *path, struct str body,
               const struct wire_file *files, size_t file_count, struct wire_answer *ret);
#define wire_get(w, path, ret) wire_call((w), "GET", (path), (struct str){ 0 }, NULL, 0, (ret))

/* Opens a session of the gateway as a person's client would, until READY. */
bool wire_connect(struct wire *w);
/* The session's id; empty when it is not known. */
struct str wire_session(const struct wire *w);

enum wire_news { WIRE_EVENT, WIRE_NOTHING, WIRE_LOST };
struct wire_event {
    struct str name, data; /* data: JSON */
};
/* The next event; WIRE_NOTHING: none came until that moment (of clock_mono). */
enum wire_news wire_next(struct wire *w, int64_t until, struct wire_event *ret);

/* Another WebSocket than the gateway's, and the first message to it. */
bool wire_open(struct wire *w, const char *target, struct str first);
/* The next message, copied to an arena. */
enum wire_news wire_next_text(struct wire *w, int64_t until, struct arena *arena, struct str *ret);

#endif
