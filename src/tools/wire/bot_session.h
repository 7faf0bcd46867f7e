/* bot_session.h - a bot's gateway session that continues after lost connections.
 *
 * The functions block. After a lost connection, the next call connects again and resumes the
 * session; if the server does not accept that, a new session begins with READY, and the caller has
 * to fetch what it missed. */
#ifndef TOOLS_WIRE_BOT_SESSION_H
#define TOOLS_WIRE_BOT_SESSION_H

#include "base/arena.h"
#include "base/str.h"

struct bot_session;

struct bot_session_options {
    const char *url;   /* URL of the gateway, such as wss://gateway.discord.gg */
    const char *token; /* without "Bot " */
    int64_t intents;
};
/* Where a session continues; .id is empty if there is none. */
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
    SESSION_LOST,    /* the connection was lost, or there is none; try again after a pause */
    SESSION_REFUSED, /* the server refuses the token or the intents; ret->data is a sentence */
};
struct bot_session_event {
    struct str name, data; /* data: JSON */
    /* After this event. A session whose events until here were handled may resume from it. */
    struct gateway_resume_point after;
};
/* Waits until a time (clock_monotonic_ns) for the next event, also READY and RESUMED. The event is
 * in the arena. */
enum bot_session_result bot_session_next(struct bot_session *s, int64_t until, struct arena *arena,
                                         struct bot_session_event *ret);
/* Forgets the session, so that the next one begins with READY. */
void bot_session_forget(struct bot_session *s);

#endif
