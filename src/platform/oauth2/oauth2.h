/* oauth2.h - people letting applications act for them, and into their guilds. */
#ifndef PLATFORM_OAUTH2_OAUTH2_H
#define PLATFORM_OAUTH2_OAUTH2_H

#include "platform/accounts/accounts.h"

extern const struct domain oauth2_domain;

#endif
