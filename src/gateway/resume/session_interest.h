/* session_interest.h - the guilds and the account of a session that resumes. They decide which
 * entries of the event log are read for it. */
#ifndef GATEWAY_RESUME_SESSION_INTEREST_H
#define GATEWAY_RESUME_SESSION_INTEREST_H

#include "base/map.h"
#include "cluster/log_address.h"
#include "gateway/wire/gateway_event.h"

/* A set of parts of the log entries: bit `part % 8` of byte `part / 8`. */
struct log_part_set {
    unsigned char bits[LOG_PARTS / 8];
};

struct session_interest {
    struct map keys; /* log_address_key of the guilds and the account */
    struct log_part_set parts;
};

void session_interest_init(struct session_interest *i, snowflake user_id);
void session_interest_clear(struct session_interest *i);
void session_interest_add_guild(struct session_interest *i, snowflake guild_id);
/* Returns whether the session may need an event, or an unread entry (unread_log_entry_new). */
bool session_interest_includes(const struct session_interest *i, const struct gateway_event *n);
/* Adds the parts of an unread entry in which the session is interested. */
void session_interest_add_parts_of_entry(const struct session_interest *i,
                                         const struct gateway_event *n, struct log_part_set *to);

#endif
