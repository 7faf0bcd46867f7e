/* bot_session.h - a bot's gateway session that continues after lost connections.
 *
 * The functions block. After a lost connection, the next call connects again and resumes the
 * session; if the server refuses to resume, a new session begins with READY, and the caller has to
 * fetch the data of the events that it missed. */
#ifndef TOOLS_WIRE_BOT_SESSION_H
#define TOOLS_WIRE_BOT_SESSION_H

#include "base/arena.h"
#include "base/str.h"

struct bot_session;

struct bot_session_options {
    const char *url;   /* URL of the gateway, for example wss://gateway.discord.gg */
    const char *token; /* without "Bot " */
    int64_t intents;
    /* Refuse gateways with private addresses: the server that names its gateway is public, and must
     * not be able to make this machine connect to others in its private network. */
    bool public_only;
};
/* The point from which a session can be resumed; .id is empty if there is none. */
struct gateway_resume_point {
    char id[200], url[300];
    int64_t seq;
};

/* Copies the options. */
struct bot_session *bot_session_new(const struct bot_session_options *options,
                                    const struct gateway_resume_point *from);
void bot_session_free(struct bot_session *s);

enum bot_session_result {
    SESSION_EVENT,
    SESSION_TIMEOUT,
    SESSION_LOST, /* the connection was lost or could not be opened; try again after a pause */
    /* The server refuses the token or the intents, or its gateway is refused; ret->data is a
     * sentence about it. */
    SESSION_REFUSED,
};
struct bot_session_event {
    struct str name, data; /* data: JSON */
    /* Resume point after this event. The session may be resumed from it when all events up to this
     * event were handled. */
    struct gateway_resume_point after;
};
/* Waits until the time `until` (clock_monotonic_ns) for the next event, which may be READY or
 * RESUMED. The event is allocated in the arena. */
enum bot_session_result bot_session_wait_for_event(struct bot_session *s, int64_t until,
                                                   struct arena *arena,
                                                   struct bot_session_event *ret);
/* Drops the resume point of the session, so that the next session begins with READY. */
void bot_session_drop_resume_point(struct bot_session *s);

#endif
