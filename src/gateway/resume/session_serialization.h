/* session_serialization.h - serialises a session for another process that continues it. */
#ifndef GATEWAY_RESUME_SESSION_SERIALIZATION_H
#define GATEWAY_RESUME_SESSION_SERIALIZATION_H

#include "api/auth/auth.h"
#include "gateway/fanout/visible_channels.h"

struct gateway_loop;
struct found_journal_session;
struct session;

/* The guilds of a session and, for a user, the channels that the user can view. */
struct session_guilds_and_channels {
    snowflake *guilds;
    size_t count;
    struct visible_channels visible_channels;
};

void collect_session_guilds_and_channels(const struct session *s,
                                         struct session_guilds_and_channels *ret);
void session_guilds_and_channels_clear(struct session_guilds_and_channels *p);

/* Limits of a serialised session. It contains all dispatches that were not sent, and as many of the
 * newest sent dispatches as these limits allow. serialize_session returns false if the session
 * cannot move. */
struct serialized_dispatch_limits {
    uint32_t count;
    size_t bytes;
};
bool serialize_session(struct session *s, const struct session_guilds_and_channels *positions,
                       const struct serialized_dispatch_limits *limits, struct buf *out);

/* Serialises a session of a crashed node, whose client has read up to `seq`, without the channels
 * that its user could view. */
void serialize_recovered_session(const struct found_journal_session *entry, uint64_t seq,
                                 const struct list *guilds, struct buf *out);

/* Reads from a serialised session the number of the last event that was sent to it. */
bool serialized_session_read_last_sent_event(struct str bytes, uint64_t *ret);

struct session_interest;
/* Sets ret, which the caller clears, to the interest of a serialised session of the account. */
void serialized_session_read_interest(struct str bytes, snowflake user_id,
                                      struct session_interest *ret);

/* Creates a session that is in no list and has no subscriptions; the caller must call
 * session_attach_to_loop next. Returns NULL if the bytes are malformed, or belong to another
 * session or account. */
struct session *deserialize_session(struct gateway_loop *h, const struct caller *caller,
                                    const char *id, struct str bytes,
                                    struct session_guilds_and_channels *ret);

#endif
