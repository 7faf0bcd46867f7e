/* operator.h - how the operator's own tools come in as anybody.
 *
 * Whoever has the server's key file may act for every account; a proof of having it is
 * exchanged for a token, once, and the token is good for 15 minutes. */
#ifndef PLATFORM_ACCOUNTS_OPERATOR_H
#define PLATFORM_ACCOUNTS_OPERATOR_H

#include "api/auth.h"

enum {
    OPERATOR_PROOF = 64, /* characters */
    OPERATOR_NONCE = 32,
    OPERATOR_WINDOW_S = 60,
    OPERATOR_TOKEN_S = 15 * 60,
};

/* What a proof is about. */
struct operator_claim {
    struct str username;
    struct str nonce; /* OPERATOR_NONCE characters, never the same twice */
    int64_t at;       /* seconds since 1970 */
};

/* For POST /auth/operator, good once, for a minute around the claim's time: hex. */
void operator_proof(const struct auth *auth, const struct operator_claim *claim,
                    char out[OPERATOR_PROOF + 1]);

#endif
