/* presence.h - presences (online status) in responses. */
#ifndef MODEL_PRESENCE_H
#define MODEL_PRESENCE_H

#include "model/user.h"

struct presence {
    const struct user *user;
    struct str status, client_status;
    struct list activities;
};

extern const struct schema presence_schema; /* payload of PRESENCE_UPDATE */

#endif
