/* signing.h - RSA keys, and what is signed with them (RFC 7515, RS256). */
#ifndef PLATFORM_OAUTH2_SIGNING_H
#define PLATFORM_OAUTH2_SIGNING_H

#include "base/arena.h"
#include "base/str.h"

struct signing_key {
    struct str kid;               /* its thumbprint (RFC 7638) */
    struct str modulus, exponent; /* base64url */
    struct str secret;            /* DER */
};

/* Takes up to a second: not on a loop, not in a transaction. False: OpenSSL would not. */
bool signing_key_new(struct arena *arena, struct signing_key *ret);
/* The claims (JSON) as a token that the key has signed; p == NULL: the key cannot be read. */
struct str signing_token(struct arena *arena, const struct signing_key *key, struct str claims);

#endif
