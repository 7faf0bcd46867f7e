/* contacts.h - finds users by an uploaded address book, which is stored as digests. The folder owns
 * the tables contact_lists and contacts and may use webhooks/ and the folders below it. Start with
 * contacts.c. */
#ifndef PLATFORM_CONTACTS_CONTACTS_H
#define PLATFORM_CONTACTS_CONTACTS_H

#include "api/api.h"

extern const struct domain contacts_domain; /* routes below /users/@me/connections/contacts */

#endif
