/* session_bytes.h - serialises a session for another process that continues it. */
#ifndef GATEWAY_RESUME_SESSION_BYTES_H
#define GATEWAY_RESUME_SESSION_BYTES_H

#include "api/auth/auth.h"
#include "gateway/fanout/seen_channels.h"

struct hub;
struct journal_entry;
struct session;

/* The guilds of a session and, for a user, the channels that it can view. */
struct session_places {
    snowflake *guilds;
    size_t count;
    struct seen_channels seen;
};

void session_places_read(const struct session *s, struct session_places *ret);
void session_places_clear(struct session_places *p);

/* Limits of the sent dispatches in the bytes, newest first; unsent dispatches are always
 * included. session_write returns false if the session cannot move. */
struct session_limits {
    uint32_t count;
    size_t bytes;
};
bool session_write(struct session *s, const struct session_places *places,
                   const struct session_limits *limits, struct buf *out);

/* Serialises a session of a dead process, whose client has read up to a seq. The channels that
 * its user could view are not known. */
void session_write_recovered(const struct journal_entry *entry, uint64_t seq,
                             const struct list *guilds, struct buf *out);

/* Reads the number of the last event that the session was sent. */
bool session_bytes_seen(struct str bytes, uint64_t *ret);

/* Creates a session that is in no list and has no subscriptions, for session_attach. Returns
 * NULL if the bytes are malformed, or of another session or account. */
struct session *session_read(struct hub *h, const struct caller *caller, const char *id,
                             struct str bytes, struct session_places *ret);

#endif
