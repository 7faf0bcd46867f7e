/* client_names.h - one shared copy of each "os|browser|device" string of clients. */
#ifndef GATEWAY_SESSIONS_CLIENT_NAMES_H
#define GATEWAY_SESSIONS_CLIENT_NAMES_H

#include "base/map.h"

enum { CLIENT_NAME_BYTES = 64 }; /* maximum size, with the NUL byte */

/* All client names of the process, protected by the gateway's lock. */
struct client_name_table {
    struct map map; /* hash of the name -> struct client_name */
};

void client_name_table_init(struct client_name_table *all);
void client_name_table_clear(struct client_name_table *all);
/* Client names are reference-counted: client_name_ref adds, client_name_unref releases a reference.
 */
const char *client_name_ref(struct client_name_table *all, const char *text);
void client_name_unref(struct client_name_table *all, const char *text);

#endif
