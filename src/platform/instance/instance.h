/* instance.h - server discovery for web clients that know only the server's address.
 *
 * The routes are public and reveal no user data. The folder owns no table. Start with routes.c. */
#ifndef PLATFORM_INSTANCE_INSTANCE_H
#define PLATFORM_INSTANCE_INSTANCE_H

#include "api/api.h"

extern const struct domain instance_domain;       /* routes below /api */
extern const struct domain instance_pages_domain; /* routes below /.well-known */

#endif
