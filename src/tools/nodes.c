/* nodes.c - `guildhall nodes`: lists the nodes that share a database. */
#include <stddef.h>
#include <stdio.h>

#include "server/guildhall.h"
#include "tools/tools.h"

/* Lists the nodes. A node without a heartbeat for 5 seconds is shown as silent, even if no other
 * node has declared it dead. */
static const char SELECT_NODES[] =
    "select node, name, address, case when state = 3 or seen_at < clock_timestamp() - "
    "interval '5 seconds' then 'silent' when state = 2 then 'drains' else 'serves' end, "
    "cast(extract(epoch from clock_timestamp() - seen_at) * 1000 as bigint), position, "
    "(select case when is_called then last_value else 0 end from log_position) - position, "
    "sessions, schema, (select count(*) from voice_homes h where h.identity = nodes.identity), "
    "version from nodes order by node";

static void print_node(const struct rows *r)
{
    printf("%-4lld  %-20.*s  %-21.*s  %-6.*s  %7lld  %10lld  %7lld  %8lld  %4lld  %5lld  %.*s\n",
           (long long)row_int(r, 0), STR_ARGS(row_text(r, 1)), STR_ARGS(row_text(r, 2)),
           STR_ARGS(row_text(r, 3)), (long long)row_int(r, 4), (long long)row_int(r, 5),
           (long long)row_int(r, 6), (long long)row_int(r, 7), (long long)row_int(r, 8),
           (long long)row_int(r, 9), STR_ARGS(row_text(r, 10)));
}

static enum err read_and_print_nodes(struct tx *tx, void *arg)
{
    struct rows r;
    enum err e = tx_query(tx, SELECT_NODES, NO_BIND, &r);

    (void)arg;
    if (e)
        return e;
    printf("%-4s  %-20s  %-21s  %-6s  %7s  %10s  %7s  %8s  %4s  %5s  %s\n", "node", "machine",
           "address", "state", "seen ms", "position", "behind", "sessions", "step", "rooms",
           "version");
    while (rows_next(&r))
        print_node(&r);
    return rows_end(&r);
}

int run_command_nodes(const struct command_settings *s, char **arguments)
{
    struct store *store;

    (void)arguments;
    if (!s->config.store)
        return print_usage_error(
            "nodes needs --store: only servers on PostgreSQL can form a cluster");
    if (guildhall_open_store(&s->config, true, &store))
        return 1;
    enum err e =
        store_run_transaction_and_wait(store, STORE_READ, NULL, read_and_print_nodes, NULL);
    store_close(store);
    return e ? 1 : 0;
}
