/* bans.h - address ranges that the operator has banned from this server.
 *
 * Every call and every gateway session of such an address is refused. The rows are in
 * address_bans; each server has a copy in memory, which it changes when the transaction of an
 * order has committed, its own or another server's. */
#ifndef API_BANS_H
#define API_BANS_H

#include "api/call.h"
#include "net/address.h"

enum { BANS_MAX = 1000 }; /* each call looks through all of them */

struct bans;

struct bans *bans_new(void);
void bans_free(struct bans *b);
/* Reads the rows. Waits for the store: not on a loop. */
enum err bans_load(struct bans *b, struct store *store);

/* From any thread. */
bool bans_hold(struct bans *b, struct str address);
void bans_put(struct bans *b, const struct network *n);
void bans_drop(struct bans *b, const struct network *n);

/* --- in a call's transaction ----------------------------------------------------------- */

struct address_ban {
    snowflake id;
    struct str range; /* "192.0.2.0/24" */
    struct str reason;
    int64_t created_at;
};

/* ERR_STORE_CONFLICT: that range is banned. ERR_RATE_LIMITED: there are BANS_MAX. */
enum err ban_add(struct call *call, const struct network *n, struct str reason,
                 struct address_ban *ret);
/* ERR_NOT_FOUND */
enum err ban_lift(struct call *call, snowflake id, struct address_ban *ret);
enum err ban_list(struct tx *tx, snowflake after, int64_t limit, struct list *ret);

#endif
