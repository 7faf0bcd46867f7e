/* placeholders.c - accounts of people of a copied guild that nobody can log in to yet. */
#include "platform/accounts/internal.h"

static const char INSERT_PLACEHOLDER[] =
    "insert into placeholder_accounts (user_id) values ($1) on conflict do nothing";

enum err placeholder_insert(struct tx *tx, snowflake user_id)
{
    return tx_exec(tx, INSERT_PLACEHOLDER, BIND(v_id(user_id)), NULL);
}
