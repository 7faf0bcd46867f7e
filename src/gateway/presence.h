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

/* The list of an account's sessions, as a JSON value. */
void sessions_write(struct gateway *g, snowflake user_id, struct json *j);
/* Tells the other sessions of the account. */
void sessions_changed(struct session *s);

#endif
