/* contacts.h - finds users by an uploaded address book. Owns the tables contact_lists and contacts.
 * May use webhooks/ and below. Entries are stored as digests. Start with contacts.c. */
#ifndef PLATFORM_CONTACTS_CONTACTS_H
#define PLATFORM_CONTACTS_CONTACTS_H

#include "api/api.h"

extern const struct domain contacts_domain; /* /users/@me/connections/contacts */

#endif
