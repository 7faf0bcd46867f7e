/* operator.h - how the operator's own tools come in as anybody.
 *
 * Whoever has the server's key file may act for every account; a proof of having it is
 * exchanged for a token. */
#ifndef PLATFORM_ACCOUNTS_OPERATOR_H
#define PLATFORM_ACCOUNTS_OPERATOR_H

#include "api/auth.h"

enum { OPERATOR_PROOF = 64, OPERATOR_WINDOW_S = 60 };

/* For POST /auth/operator, good for a minute around `at` (seconds): hex. */
void operator_proof(const struct auth *auth, struct str username, int64_t at,
                    char out[OPERATOR_PROOF + 1]);

#endif
