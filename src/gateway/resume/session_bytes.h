/* session_bytes.h - a session as bytes, for another process that goes on with it. */
#ifndef GATEWAY_RESUME_SESSION_BYTES_H
#define GATEWAY_RESUME_SESSION_BYTES_H

#include "api/auth/auth.h"
#include "gateway/fanout/seen_channels.h"

struct hub;
struct ledger_entry;
struct session;

/* Where it sat: the guilds, and of a person what it saw there. */
struct session_places {
    snowflake *guilds;
    size_t count;
    struct seen_channels seen;
};

void session_places_read(const struct session *s, struct session_places *ret);
void session_places_clear(struct session_places *p);

/* Some of the newest dispatches go along, and all that its socket has not taken: no more of
 * the others than so many, and so many bytes. False: it cannot be moved. */
struct session_limits {
    uint32_t count;
    size_t bytes;
};
bool session_write(struct session *s, const struct session_places *places,
                   const struct session_limits *limits, struct buf *out);

/* The same of a session of a process that is gone, whose client has read up to a seq: what it saw
 * where it sat is not known. */
void session_write_recovered(const struct ledger_entry *entry, uint64_t seq,
                             const struct list *guilds, struct buf *out);

/* The number of the last event that it was told of. */
bool session_bytes_seen(struct str bytes, uint64_t *ret);

/* A session in no list and without seats, for session_attach; NULL: these are no such bytes, or
 * not of a session with this id of this account. */
struct session *session_read(struct hub *h, const struct caller *caller, const char *id,
                             struct str bytes, struct session_places *ret);

#endif
