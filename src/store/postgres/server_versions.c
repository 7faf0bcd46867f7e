/* server_versions.c - servers of two versions on one database, during a rolling upgrade.
 *
 * The view server_connections lists the connected servers; a server's row in the table nodes has
 * the last migration that it knows. A connected server without such a row is exclusive, has just
 * started, or runs a version without that table: it counts as older. */
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "store/postgres/postgres.h"

/* A server holds this lock while it starts (postgres.c). So while a check holds the lock, no server
 * can start. */
static const char TRY_START_LOCK[] = "select pg_try_advisory_xact_lock(7166182019423)";
static const char FIND_TABLES[] = "select to_regclass('server_connections') is not null, "
                                  "to_regclass('expanded_steps') is not null";
static const char FIND_ANY_SERVER[] = "select 1 from server_connections limit 1";
static const char FIND_OLDER_SERVER[] =
    "select 1 from server_connections s where not exists (select 1 from nodes n "
    "where n.identity = s.identity and n.schema >= $1) limit 1";
/* Finds older servers that were connected in the last minute. A server that lost its connections
 * for a moment, or was just killed, may reconnect at once, so it counts as running for a minute. */
static const char FIND_RECENT_OLDER_SERVER[] =
    "select 1 from nodes where schema < $1 and seen_at > "
    "clock_timestamp() - interval '1 minute' limit 1";
static const char TERMINATE_OLDER_SERVERS[] =
    "select count(pg_terminate_backend(pid)) from server_connections s where not exists "
    "(select 1 from nodes n where n.identity = s.identity and n.schema >= $1)";

/* Sets ret to whether any server is connected. Used if the schema has no table expanded_steps yet,
 * so that every connected server counts as older. */
static enum err read_whether_any_server_is_connected(struct tx *tx, bool *ret)
{
    struct rows r;

    return tx_one(tx, FIND_ANY_SERVER, NO_BIND, &r, ret);
}

static enum err try_acquire_start_lock(struct tx *tx, bool *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, TRY_START_LOCK, NO_BIND, &r, &found);

    *ret = !e && row_bool(&r, 0);
    return e;
}

enum err postgres_read_whether_older_servers_run(struct tx *tx, int64_t step, bool lately,
                                                 bool *ret)
{
    struct rows r;
    bool found, has_lock;
    enum err e = try_acquire_start_lock(tx, &has_lock);

    *ret = !has_lock;
    if (e || !has_lock)
        return e;
    e = tx_one(tx, FIND_TABLES, NO_BIND, &r, &found);
    if (e || !row_bool(&r, 0))
        return e;
    if (!row_bool(&r, 1))
        return read_whether_any_server_is_connected(tx, ret);
    e = tx_one(tx, FIND_OLDER_SERVER, BIND(v_int(step)), &r, ret);
    if (!e && !*ret && lately)
        e = tx_one(tx, FIND_RECENT_OLDER_SERVER, BIND(v_int(step)), &r, ret);
    return e;
}

enum err postgres_terminate_older_servers(struct tx *tx, int64_t step)
{
    struct rows r;
    bool found;

    return tx_one(tx, TERMINATE_OLDER_SERVERS, BIND(v_int(step)), &r, &found);
}

static const char FIND_UNKNOWN_MIGRATION[] =
    "select name from migrations where number > %" PRId64
    " and number not in (select number from expanded_steps) order by number limit 1";

bool postgres_schema_is_usable(struct postgres_conn *c, struct postgres *p)
{
    char sql[sizeof FIND_UNKNOWN_MIGRATION + 24], step[128] = "";

    snprintf(sql, sizeof sql, FIND_UNKNOWN_MIGRATION, store_schema_number());
    if (postgres_conn_query_text(c, sql, step, sizeof step))
        return false;
    if (!step[0])
        return true;
    if (!atomic_exchange(&p->store.outgrown, true))
        log_error(
            "store: a newer server has applied the migration %s, so this program cannot use the "
            "database any more; use the newer program",
            step);
    return false;
}
