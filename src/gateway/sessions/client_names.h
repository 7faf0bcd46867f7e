/* client_names.h - interned "os|browser|device" strings of clients. */
#ifndef GATEWAY_SESSIONS_CLIENT_NAMES_H
#define GATEWAY_SESSIONS_CLIENT_NAMES_H

#include "base/map.h"

enum { CLIENT_NAME_BYTES = 64 }; /* largest "os|browser|device" with its NUL */

/* Exists once per process, protected by the gateway's lock. */
struct client_names {
    struct map map; /* hash -> struct client_name */
};

void client_names_init(struct client_names *all);
void client_names_clear(struct client_names *all);
/* The names are reference-counted: take adds a reference, drop releases it. */
const char *client_name_ref(struct client_names *all, const char *text);
void client_name_unref(struct client_names *all, const char *text);

#endif
