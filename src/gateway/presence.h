/* presence.h - what others see of somebody's sessions. */
#ifndef GATEWAY_PRESENCE_H
#define GATEWAY_PRESENCE_H

#include "gateway/internal.h"

enum presence_status {
    PRESENCE_ONLINE,
    PRESENCE_IDLE,
    PRESENCE_DND,
    PRESENCE_INVISIBLE,
};

/* What a client calls it; fallback when it says nothing we know. */
enum presence_status presence_status(struct opt_str word, enum presence_status fallback);

/* Tells of a change that is due, when its time has come. */
void presence_tell(struct session *s);
/* A session began (friends: of its account, ids; NULL for bots), faded, came back or, with
 * `ending`, ends: tells who may see it when that changes what they see. */
void presence_begin(struct session *s, const struct list *friends);
void presence_change(struct session *s, bool ending);
/* Tells a guild that the session has only now a seat in. */
void presence_arrive(struct session *s, snowflake guild_id);
/* Those of some accounts that are not offline, as a JSON list. */
void presences_write(struct gateway *g, const struct list *ids, struct json *j);

/* The list of an account's sessions, as a JSON value. */
void sessions_write(struct gateway *g, snowflake user_id, struct json *j);
/* Tells the other sessions of the account. */
void sessions_changed(struct session *s);

#endif
