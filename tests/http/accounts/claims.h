/* claims.h - placeholder accounts of a copied guild, and claims with a code. */
#ifndef TESTS_CLAIMS_H
#define TESTS_CLAIMS_H

#include "world.h"

#define CLEO  "1500000000000000001"
#define ROBOT "1500000000000000002"

/* Imports a guild of ada with cleo, whose account is a placeholder, and a bot. */
void import_placeholders(struct world *w);
/* Returns a new code as the bot of a copy sends it; "" if the account cannot be claimed. */
const char *new_code(struct world *w, const char *id);
struct answer claim(struct world *w, const char *code);
void expect_claim_with_code_refused(struct world *w, const char *code);

#endif
