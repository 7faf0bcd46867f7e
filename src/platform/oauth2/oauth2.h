/* oauth2.h - OAuth2 and OpenID Connect: users authorize applications. Owns the tables of
 * authorization codes, authorizations and the signing key. May include invites/ and lower layers.
 * Start with authorization_request.c, then authorize.c and token.c. */
#ifndef PLATFORM_OAUTH2_OAUTH2_H
#define PLATFORM_OAUTH2_OAUTH2_H

#include "platform/accounts/accounts.h"

extern const struct domain oauth2_domain;

#endif
