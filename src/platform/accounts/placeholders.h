/* placeholders.h - accounts of people of a copied guild that nobody can log in to until they are
 * claimed with a code. */
#ifndef PLATFORM_ACCOUNTS_PLACEHOLDERS_H
#define PLATFORM_ACCOUNTS_PLACEHOLDERS_H

#include "store/store.h"

enum { CLAIM_CODE_DAYS = 30 };

/* Marks an account as a placeholder. */
enum err placeholder_account_insert(struct tx *tx, snowflake user_id);
/* Creates the code that claims an account, and invalidates an earlier one. ret->p is NULL if the
 * account cannot be claimed: it is not a placeholder, or is a bot, disabled or deleted. */
enum err placeholder_account_create_claim_code(struct tx *tx, snowflake user_id, struct str *ret);

#endif
