/* address_bans.h - IP address ranges banned by the operator.
 *
 * All API calls and gateway sessions of a banned address are refused. The table address_bans stores
 * the ranges. Each node has a copy of all banned ranges in memory, and updates it when any node has
 * committed a change. */
#ifndef API_BANS_H
#define API_BANS_H

#include "api/call.h"
#include "net/address.h"

/* Maximum number of banned ranges; each call is compared with all of them. */
enum { ADDRESS_BANS_MAX = 1000 };

struct address_ban_set;

struct address_ban_set *address_ban_set_new(void);
void address_ban_set_free(struct address_ban_set *b);
/* Reads all banned ranges into memory. Blocks, so do not call it on a loop. */
enum err address_ban_set_read(struct address_ban_set *b, struct store *store);

/* May be called from any thread. */
bool address_ban_set_contains(struct address_ban_set *b, struct str address);
void address_ban_set_add(struct address_ban_set *b, const struct ip_network *n);
void address_ban_set_remove(struct address_ban_set *b, const struct ip_network *n);

/* --- in a call's transaction ----------------------------------------------------------- */

struct address_ban {
    snowflake id;
    struct str range; /* "192.0.2.0/24" */
    struct str reason;
    int64_t created_at;
};

/* Inserts a ban of an address range. Returns ERR_STORE_CONFLICT if the range is already banned, or
 * ERR_RATE_LIMITED if there are already ADDRESS_BANS_MAX ranges. */
enum err insert_address_ban(struct call *call, const struct ip_network *n, struct str reason,
                            struct address_ban *ret);
/* Deletes an address ban. Returns ERR_NOT_FOUND if there is no ban with this id. */
enum err delete_address_ban(struct call *call, snowflake id, struct address_ban *ret);
enum err list_address_bans(struct tx *tx, snowflake after, int64_t limit, struct list *ret);

#endif
