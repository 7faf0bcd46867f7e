/* web_push.h - web push: notifications for browsers in which no page of this server is open. A
 * browser gives the server a URL of its vendor's push service and a key; the server sends messages
 * to the URL, encrypted for the browser. Off unless the operator sets web-push-contact.
 *
 * Direct messages and messages that mention the user are sent, subject to the user's notification
 * settings. A subscription belongs to one login (token) and ends with it. Owns the table
 * web_push_subscriptions. May include guild_settings/, read_states/ and lower layers. Start with
 * delivery.c. */
#ifndef PLATFORM_WEB_PUSH_WEB_PUSH_H
#define PLATFORM_WEB_PUSH_WEB_PUSH_H

#include "api/route.h"

extern const struct domain web_push_domain;

/* Sets the operator's address that push services receive, for the whole process; NULL switches web
 * push off. Returns false and the reason in *ret_problem if it is no mailto: or https: URL. */
bool web_push_configure(const char *contact, const char **ret_problem);

#endif
