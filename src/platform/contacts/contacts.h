/* contacts.h - finding people by an address book. */
#ifndef PLATFORM_CONTACTS_CONTACTS_H
#define PLATFORM_CONTACTS_CONTACTS_H

#include "api/api.h"

extern const struct domain contacts_domain; /* /users/@me/connections/contacts */

#endif
