/* client_names.h - what clients call themselves: one text for all sessions that say the same. */
#ifndef GATEWAY_SESSIONS_CLIENT_NAMES_H
#define GATEWAY_SESSIONS_CLIENT_NAMES_H

#include "base/map.h"

enum { CLIENT_NAME = 64 }; /* "os|browser|device" and its NUL */

/* Of one process, with the gateway's lock. */
struct client_names {
    struct map map; /* hash -> struct client_name */
};

void client_names_init(struct client_names *all);
void client_names_clear(struct client_names *all);
/* The text is kept until it was dropped as often as it was taken. */
const char *client_name_take(struct client_names *all, const char *text);
void client_name_drop(struct client_names *all, const char *text);

#endif
