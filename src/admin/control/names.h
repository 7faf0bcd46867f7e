/* names.h - lines about accounts, with the names that people know them by. */
#ifndef ADMIN_CONTROL_NAMES_H
#define ADMIN_CONTROL_NAMES_H

#include "base/buf.h"
#include "store/store.h"

/* Lines of JSON that begin with {"user_id":"…", to out, with the account's "name" behind that;
 * empty where there is no such account any more. Waits for the store: not on a loop. */
enum err control_name_accounts(struct store *store, struct str lines, struct buf *out);

#endif
