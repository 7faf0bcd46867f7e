/* operator.h - how the operator's own tools come in as anybody.
 *
 * Whoever may open files in the server's data folder may act for every person: they ask
 * the running server for a token through its control socket. */
#ifndef PLATFORM_ACCOUNTS_OPERATOR_H
#define PLATFORM_ACCOUNTS_OPERATOR_H

#include "api/auth.h"

/* Long enough for a tool that forgot to log out not to matter. */
enum { OPERATOR_TOKEN_S = 15 * 60 };

/* A new token of a person, good for a quarter of an hour. ERR_UNKNOWN_USER: no person has
 * that name. Waits for the store: not on a loop. */
enum err operator_token(struct store *store, struct auth *auth, struct str username,
                        struct arena *arena, struct str *ret);

#endif
