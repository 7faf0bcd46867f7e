/* instance.h - what this server is, for web clients that are told nothing but its address.
 *
 * Everything here can be read by anybody and says nothing of anybody. */
#ifndef PLATFORM_INSTANCE_INSTANCE_H
#define PLATFORM_INSTANCE_INSTANCE_H

#include "api/api.h"

extern const struct domain instance_domain;       /* below /api */
extern const struct domain instance_pages_domain; /* below /.well-known */

#endif
