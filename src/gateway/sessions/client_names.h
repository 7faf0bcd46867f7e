/* client_names.h - interned "os|browser|device" strings of clients. */
#ifndef GATEWAY_SESSIONS_CLIENT_NAMES_H
#define GATEWAY_SESSIONS_CLIENT_NAMES_H

#include "base/map.h"

enum { CLIENT_NAME = 64 }; /* "os|browser|device" and its NUL */

/* One per process, protected by the gateway's lock. */
struct client_names {
    struct map map; /* hash -> struct client_name */
};

void client_names_init(struct client_names *all);
void client_names_clear(struct client_names *all);
/* The text is freed when it was dropped as often as it was taken. */
const char *client_name_take(struct client_names *all, const char *text);
void client_name_drop(struct client_names *all, const char *text);

#endif
