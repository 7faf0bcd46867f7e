/* bans.h - IP address ranges banned by the operator.
 *
 * All API calls and gateway sessions of a banned address are refused. The rows are in address_bans.
 * Each node has a copy in memory, which it updates after the commit of a ban, on this or another
 * node. */
#ifndef API_BANS_H
#define API_BANS_H

#include "api/call.h"
#include "net/address.h"

enum { BANS_MAX = 1000 }; /* each call scans all banned ranges */

struct bans;

struct bans *bans_new(void);
void bans_free(struct bans *b);
/* Reads all banned ranges into memory. Blocks, so do not call it on a loop. */
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

/* ERR_STORE_CONFLICT: the range is already banned. ERR_RATE_LIMITED: there are BANS_MAX ranges. */
enum err ban_add(struct call *call, const struct network *n, struct str reason,
                 struct address_ban *ret);
/* ERR_NOT_FOUND */
enum err ban_lift(struct call *call, snowflake id, struct address_ban *ret);
enum err ban_list(struct tx *tx, snowflake after, int64_t limit, struct list *ret);

#endif
