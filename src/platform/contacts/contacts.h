/* contacts.h - finds users by an uploaded address book. Start with contacts.c. */
#ifndef PLATFORM_CONTACTS_CONTACTS_H
#define PLATFORM_CONTACTS_CONTACTS_H

#include "api/api.h"

extern const struct domain contacts_domain; /* /users/@me/connections/contacts */

#endif
