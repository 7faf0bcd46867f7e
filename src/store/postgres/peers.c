/* peers.c - an advisory lock per connection shows which servers use the database.
 *
 * The identity of a server contains an exclusive flag, its node number and a random process number.
 * Each of its connections holds a shared advisory lock with the identity. So PostgreSQL knows which
 * servers are connected, and the locks of a killed process disappear at once. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "store/postgres/postgres.h"

enum {
    NUMBER_SHIFT = 21, /* number of bits of the process number; the node number is above them */
    NUMBERS = 1 << 10,
    ROOM = 256,
    PATIENCE_MS = 3000, /* wait for a server that has just stopped but is still listed */
};
#define ALONE UINT32_C(0x80000000)

uint32_t postgres_identity(bool alone)
{
    return (alone ? ALONE : 0) | snowflake_node() << NUMBER_SHIFT |
           randombytes_uniform(1 << NUMBER_SHIFT);
}

unsigned store_identity_node(uint32_t identity)
{
    return identity >> NUMBER_SHIFT & (NUMBERS - 1);
}

/* Finds a connected server that cannot share the database with this one: one of the two is
 * exclusive, or both have the same node number. "": none. */
static enum err find_stranger(struct postgres_conn *c, uint32_t me, char *out, size_t size)
{
    char sql[ROOM];

    snprintf(sql, sizeof sql,
             "select identity from server_connections where identity <> %" PRIu32
             " and (%d = 1 or identity >= %" PRIu32 " or identity >> %d = %" PRIu32 ") limit 1",
             me, (me & ALONE) != 0, ALONE, NUMBER_SHIFT, me >> NUMBER_SHIFT);
    return postgres_conn_ask(c, sql, out, size);
}

static void tell_stranger(uint32_t me, struct str stranger)
{
    uint64_t identity = 0;

    str_to_u64(stranger, &identity);
    unsigned number = store_identity_node((uint32_t)identity);
    if (!(me & ALONE) && !(identity & ALONE))
        log_error("store: another server with node number %u uses this database; "
                  "start this one with another "
                  "--node",
                  number);
    else
        log_error(
            "store: another server (node %u) runs on this database, and one of the two is not "
            "configured for a cluster",
            number);
}

bool postgres_alone(struct postgres_conn *c, uint32_t me)
{
    char stranger[32] = "";
    int wait_ms = 1;

    for (int waited = 0; waited < PATIENCE_MS; waited += wait_ms) {
        if (waited) {
            wait_ms = wait_ms < 100 ? 2 * wait_ms : 100;
            nanosleep(&(struct timespec){ .tv_nsec = wait_ms * 1000000L }, NULL);
        }
        if (find_stranger(c, me, stranger, sizeof stranger))
            return false;
        if (!stranger[0])
            return true;
    }
    tell_stranger(me, str_of(stranger));
    return false;
}
