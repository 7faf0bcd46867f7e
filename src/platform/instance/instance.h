/* instance.h - server discovery for web clients that know only the server's address.
 *
 * Routes are public and reveal no user data. Owns no table; may use api/. Start with routes.c. */
#ifndef PLATFORM_INSTANCE_INSTANCE_H
#define PLATFORM_INSTANCE_INSTANCE_H

#include "api/api.h"

extern const struct domain instance_domain;       /* below /api */
extern const struct domain instance_pages_domain; /* below /.well-known */

#endif
