/* signing.h - RSA keys and signed JSON Web Tokens (RFC 7515, RS256). */
#ifndef PLATFORM_OAUTH2_SIGNING_H
#define PLATFORM_OAUTH2_SIGNING_H

#include "base/arena.h"
#include "base/str.h"

struct signing_key {
    struct str kid;               /* thumbprint of the key (RFC 7638) */
    struct str modulus, exponent; /* base64url */
    struct str secret;            /* private key in DER format */
};

/* Creates an RSA key, which takes up to a second: do not call it on an event loop or in a
 * transaction. Returns false on an error. */
bool openid_signing_key_new(struct arena *arena, struct signing_key *ret);
/* Returns a signed token with these claims (JSON). p is NULL if the key is invalid. */
struct str jwt_sign(struct arena *arena, const struct signing_key *key, struct str claims);

#endif
