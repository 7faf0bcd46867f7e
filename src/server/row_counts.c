/* row_counts.c - numbers of accounts, guilds and messages, and the database size, for /metrics.
 *
 * Counting rows of large tables is slow, so a request for /metrics returns the last result. If the
 * result is old, the request starts a new count in the background. The pause between two counts is
 * a hundred times the duration of a count. */
#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/clock_watch.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/guildhall_internal.h"

enum { MIN_PAUSE_S = 60, PAUSE_PER_COUNT_TIME = 100, MAX_ROWS_TO_COUNT = 100000 };

static const struct sql counts[INVENTORY_TABLES] = {
    [INVENTORY_ACCOUNTS] = SQL_TEXT("select count(*) from users"),
    [INVENTORY_GUILDS] = SQL_TEXT("select count(*) from guilds where removed = 0"),
    [INVENTORY_MESSAGES] = SQL_TEXT("select count(*) from messages"),
};
static const char *const tables[INVENTORY_TABLES] = {
    [INVENTORY_ACCOUNTS] = "users",
    [INVENTORY_GUILDS] = "guilds",
    [INVENTORY_MESSAGES] = "messages",
};

struct inventory_count {
    int64_t rows[INVENTORY_TABLES];
    int64_t bytes; /* size of the PostgreSQL database in bytes; -1 for SQLite */
    int64_t vacuum[VACUUM_NUMBERS];
};

static enum err query_single_number(struct tx *tx, struct sql sql, const struct value *values,
                                    size_t n, int64_t *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, sql, values, n, &row, &found);

    *ret = !e && found && !row_column_is_null(&row, 0) ? row_int(&row, 0) : -1;
    return e;
}

/* Counts the rows of a table; for a large table on PostgreSQL, uses the database's estimate. */
static enum err count_table_rows(struct tx *tx, bool postgres, int table, int64_t *ret)
{
    static const char ESTIMATE[] =
        "select cast(reltuples as bigint) from pg_class where oid = to_regclass($1)";
    enum err e = OK;

    *ret = -1;
    if (postgres)
        e = query_single_number(tx, SQL(ESTIMATE), BIND(v_text(str_of(tables[table]))), ret);
    return e || *ret > MAX_ROWS_TO_COUNT ? e : query_single_number(tx, counts[table], NO_BIND, ret);
}

static enum err read_newest_id(struct tx *tx, void *arg)
{
    static const char NEWEST[] = "select max(id) from (select max(id) as id from messages "
                                 "union all select max(id) from users) newest";
    int64_t *newest = arg;

    return query_single_number(tx, SQL(NEWEST), NO_BIND, newest);
}

void check_clock_against_store(struct guildhall *g)
{
    int64_t newest = 0;
    enum err e =
        store_run_transaction_and_wait(g->store, STORE_READ, NULL, read_newest_id, &newest);

    /* Ignore the error, which the store has logged: damaged tables must not prevent the start. */
    if (e)
        newest = 0;
    clock_watch_start(newest > 0 ? (snowflake)newest : 0);
}

/* Reads how many rows vacuum must remove, and the age of the oldest transaction, which prevents
 * vacuum from removing them. The transaction may belong to another program. */
static enum err read_vacuum_state(struct tx *tx, int64_t ret[VACUUM_NUMBERS])
{
    static const char STATE[] =
        "select cast(coalesce(sum(n_dead_tup), 0) as bigint), "
        "cast(coalesce(sum(n_live_tup), 0) as bigint), (select cast(coalesce(max(extract(epoch "
        "from clock_timestamp() - xact_start)), 0) as bigint) from pg_stat_activity "
        "where datname = current_database() and pid <> pg_backend_pid()), (select "
        "cast(age(datfrozenxid) as bigint) from pg_database where datname = current_database()) "
        "from pg_stat_user_tables where schemaname = current_schema()";
    struct rows row;
    bool found;
    enum err e = tx_one(tx, STATE, NO_BIND, &row, &found);

    if (e)
        return e;
    for (int i = 0; i < VACUUM_NUMBERS; i++)
        ret[i] = row_int(&row, i);
    return OK;
}

static enum err read_row_counts(struct call *call)
{
    static const char SIZE[] = "select pg_database_size(current_database())";
    struct inventory_count *c = call_get_stage_data(call, "inventory_count");
    bool postgres =
        str_is(str_of(store_engine_name(api_get_options(call->api)->store)), "postgres");
    enum err e = OK;

    for (int i = 0; !e && i < INVENTORY_TABLES; i++)
        e = count_table_rows(call->tx, postgres, i, &c->rows[i]);
    if (!e && postgres)
        e = query_single_number(call->tx, SQL(SIZE), NO_BIND, &c->bytes);
    return e || !postgres ? e : read_vacuum_state(call->tx, c->vacuum);
}

static void on_row_counts_done(struct call *call, enum err e, void *arg)
{
    const struct inventory_count *c = call_get_stage_data(call, "inventory_count");
    struct server_row_counts *v = arg;
    int64_t now = clock_monotonic_ns(), took = now - v->began;
    int64_t pause = took * PAUSE_PER_COUNT_TIME, least = MIN_PAUSE_S * INT64_C(1000000000);

    if (e)
        log_warn("metrics: could not count the rows of tables: %s", error_info(e)->message);
    for (int i = 0; !e && i < INVENTORY_TABLES; i++)
        v->rows[i] = c->rows[i];
    for (int i = 0; !e && i < VACUUM_NUMBERS; i++)
        v->vacuum[i] = c->vacuum[i];
    if (!e)
        v->bytes = c->bytes;
    v->known = v->known || !e;
    v->again_at = now + (pause > least ? pause : least);
    v->counting = false;
}

static void start_row_counts(struct loop_message *p)
{
    struct server_row_counts *v = container_of(p, struct server_row_counts, post);
    struct inventory_count c = { .bytes = -1 };

    if (api_is_draining(v->api)) {
        v->counting = false;
        return;
    }
    v->began = clock_monotonic_ns();
    internal_call_start(v->api, v->loop,
                        &(struct internal_call){ .name = "inventory",
                                                 .store = ROUTE_STORE_READ,
                                                 .run = read_row_counts,
                                                 .done = on_row_counts_done,
                                                 .type = "inventory_count",
                                                 .data = &c,
                                                 .size = sizeof c,
                                                 .arg = v });
}

static void refresh_row_counts_if_old(struct guildhall *g)
{
    struct server_row_counts *v = &g->inventory;

    if (v->again_at > clock_monotonic_ns() || api_is_draining(g->api) ||
        atomic_exchange(&v->counting, true))
        return;
    v->api = g->api;
    v->loop = loops_get_loop_at(g->loops, 0);
    v->post.run = start_row_counts;
    loop_post_message(v->loop, &v->post);
}

static void append_postgres_metrics(const struct server_row_counts *v, struct buf *out)
{
    static const struct {
        const char *name, *help;
    } metrics[VACUUM_NUMBERS] = {
        [VACUUM_DEAD_ROWS] = { "guildhall_store_dead_rows",
                               "Deleted or replaced rows that PostgreSQL's vacuum has not removed "
                               "yet." },
        [VACUUM_LIVE_ROWS] = { "guildhall_store_live_rows",
                               "Rows of all tables, as PostgreSQL's statistics estimate them." },
        [VACUUM_OLDEST_TRANSACTION] = { "guildhall_store_oldest_transaction_seconds",
                                        "Age of the oldest transaction of any program on the "
                                        "PostgreSQL database; vacuum removes no rows that it can "
                                        "still see." },
        [VACUUM_ID_AGE] = { "guildhall_store_transaction_id_age",
                            "Transactions since the oldest transaction id of the PostgreSQL "
                            "database was frozen; at two billion PostgreSQL refuses writes." },
    };

    api_append_metric(out, "guildhall_store_bytes", "gauge",
                      "Size of the PostgreSQL database in bytes.", (uint64_t)v->bytes);
    for (int i = 0; i < VACUUM_NUMBERS; i++)
        api_append_metric(out, metrics[i].name, "gauge", metrics[i].help,
                          v->vacuum[i] > 0 ? (uint64_t)v->vacuum[i] : 0);
}

void append_row_count_metrics(struct guildhall *g, struct buf *out)
{
    static const struct {
        const char *name, *help;
    } metrics[INVENTORY_TABLES] = {
        [INVENTORY_ACCOUNTS] = { "guildhall_accounts", "Accounts of users and bots." },
        [INVENTORY_GUILDS] = { "guildhall_guilds", "Guilds." },
        [INVENTORY_MESSAGES] = { "guildhall_messages", "Messages." },
    };
    const struct server_row_counts *v = &g->inventory;

    refresh_row_counts_if_old(g);
    if (!v->known)
        return;
    for (int i = 0; i < INVENTORY_TABLES; i++)
        api_append_metric(out, metrics[i].name, "gauge", metrics[i].help, (uint64_t)v->rows[i]);
    if (v->bytes >= 0)
        append_postgres_metrics(v, out);
}
