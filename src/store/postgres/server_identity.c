/* server_identity.c - an advisory lock per connection shows which servers use the database.
 *
 * The identity of a server contains an exclusive flag, its node number and a random process number.
 * Each connection of the server holds a shared advisory lock with the identity. So PostgreSQL knows
 * which servers are connected, and the locks of a killed process disappear at once. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "store/postgres/postgres.h"

enum {
    NODE_SHIFT = 21, /* number of bits of the process number; the node number is in the bits
                      * above */
    NODE_COUNT = 1 << 10,
    SQL_SIZE = 256,
};
#define EXCLUSIVE_FLAG UINT32_C(0x80000000)

uint32_t postgres_identity_new(bool alone)
{
    return (alone ? EXCLUSIVE_FLAG : 0) | snowflake_get_node() << NODE_SHIFT |
           randombytes_uniform(1 << NODE_SHIFT);
}

unsigned node_number_of_process_identity(uint32_t identity)
{
    return identity >> NODE_SHIFT & (NODE_COUNT - 1);
}

/* Finds a connected server that cannot share the database with this server, because one of the two
 * is exclusive or both have the same node number. The result is "" if there is no such server. */
static enum err find_incompatible_server(struct postgres_conn *c, uint32_t me, char *out,
                                         size_t size)
{
    char sql[SQL_SIZE];

    snprintf(sql, sizeof sql,
             "select identity from server_connections where identity <> %" PRIu32
             " and (%d = 1 or identity >= %" PRIu32 " or identity >> %d = %" PRIu32 ") limit 1",
             me, (me & EXCLUSIVE_FLAG) != 0, EXCLUSIVE_FLAG, NODE_SHIFT, me >> NODE_SHIFT);
    return postgres_conn_query_text(c, sql, out, size);
}

static void log_incompatible_server(uint32_t me, struct str other_server)
{
    uint64_t identity = 0;

    str_to_u64(other_server, &identity);
    unsigned number = node_number_of_process_identity((uint32_t)identity);
    if (!(me & EXCLUSIVE_FLAG) && !(identity & EXCLUSIVE_FLAG))
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

bool postgres_check_other_servers(struct postgres_conn *c, uint32_t me, int most_ms)
{
    char other_server[32] = "";
    int wait_ms = 1;

    for (int waited = 0;; waited += wait_ms) {
        if (find_incompatible_server(c, me, other_server, sizeof other_server))
            return false;
        if (!other_server[0])
            return true;
        if (waited >= most_ms)
            break;
        wait_ms = wait_ms < 100 ? 2 * wait_ms : 100;
        nanosleep(&(struct timespec){ .tv_nsec = wait_ms * 1000000L }, NULL);
    }
    log_incompatible_server(me, str_of(other_server));
    return false;
}
