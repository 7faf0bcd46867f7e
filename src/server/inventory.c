/* inventory.c - numbers of accounts, guilds and messages, and the database size, for /metrics.
 *
 * Counting rows of large tables is slow, so a scrape returns the last result and, if that is old,
 * starts a new count in the background. The pause between counts is a hundred times the duration of
 * a count. */
#include "api/jobs/errand.h"
#include "base/clock.h"
#include "base/clock_watch.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/parts.h"

enum { LEAST_PAUSE_S = 60, PAUSES_A_COUNT = 100, FEW_ROWS = 100000 };

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
    int64_t bytes; /* size of the PostgreSQL database; -1: SQLite */
};

static enum err inventory_read(struct tx *tx, struct sql sql, const struct value *values, size_t n,
                               int64_t *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, sql, values, n, &row, &found);

    *ret = !e && found && !row_null(&row, 0) ? row_int(&row, 0) : -1;
    return e;
}

/* Counts the rows of a table; for large tables PostgreSQL's estimate is used. */
static enum err count_table(struct tx *tx, bool postgres, int table, int64_t *ret)
{
    static const char ESTIMATE[] =
        "select cast(reltuples as bigint) from pg_class where oid = to_regclass($1)";
    enum err e = OK;

    *ret = -1;
    if (postgres)
        e = inventory_read(tx, SQL(ESTIMATE), BIND(v_text(str_of(tables[table]))), ret);
    return e || *ret > FEW_ROWS ? e : inventory_read(tx, counts[table], NO_BIND, ret);
}

static enum err newest_read(struct tx *tx, void *arg)
{
    static const char NEWEST[] = "select max(id) from (select max(id) as id from messages "
                                 "union all select max(id) from users) newest";
    int64_t *newest = arg;

    return inventory_read(tx, SQL(NEWEST), NO_BIND, newest);
}

void parts_check_clock(struct guildhall *g)
{
    int64_t newest = 0;
    enum err e = store_run(g->store, STORE_READ, NULL, newest_read, &newest);

    /* A damaged table must not prevent the start; the store has already logged the error. */
    if (e)
        newest = 0;
    clock_watch_begin(newest > 0 ? (snowflake)newest : 0);
}

static enum err inventory_run(struct call *call)
{
    static const char SIZE[] = "select pg_database_size(current_database())";
    struct inventory_count *c = call_passed(call, "inventory_count");
    bool postgres = str_is(str_of(store_engine(api_options(call->api)->store)), "postgres");
    enum err e = OK;

    for (int i = 0; !e && i < INVENTORY_TABLES; i++)
        e = count_table(call->tx, postgres, i, &c->rows[i]);
    return e || !postgres ? e : inventory_read(call->tx, SQL(SIZE), NO_BIND, &c->bytes);
}

static void inventory_done(struct call *call, enum err e, void *arg)
{
    const struct inventory_count *c = call_passed(call, "inventory_count");
    struct inventory *v = arg;
    int64_t now = clock_mono(), took = now - v->began;
    int64_t pause = took * PAUSES_A_COUNT, least = LEAST_PAUSE_S * INT64_C(1000000000);

    if (e)
        log_warn("metrics: could not count the rows of tables: %s", error_info(e)->message);
    for (int i = 0; !e && i < INVENTORY_TABLES; i++)
        v->rows[i] = c->rows[i];
    if (!e)
        v->bytes = c->bytes;
    v->known = v->known || !e;
    v->again_at = now + (pause > least ? pause : least);
    v->counting = false;
}

static void inventory_begin(struct post *p)
{
    struct inventory *v = container_of(p, struct inventory, post);
    struct inventory_count c = { .bytes = -1 };

    if (api_draining(v->api)) {
        v->counting = false;
        return;
    }
    v->began = clock_mono();
    errand_start(v->api, v->loop,
                 &(struct errand){ .name = "inventory",
                                   .store = ROUTE_STORE_READ,
                                   .run = inventory_run,
                                   .done = inventory_done,
                                   .type = "inventory_count",
                                   .data = &c,
                                   .size = sizeof c,
                                   .arg = v });
}

static void inventory_refresh(struct guildhall *g)
{
    struct inventory *v = &g->inventory;

    if (v->again_at > clock_mono() || api_draining(g->api) || atomic_exchange(&v->counting, true))
        return;
    v->api = g->api;
    v->loop = loops_at(g->loops, 0);
    v->post.run = inventory_begin;
    loop_post(v->loop, &v->post);
}

void parts_inventory_metrics(struct guildhall *g, struct buf *out)
{
    static const struct {
        const char *name, *help;
    } shown[INVENTORY_TABLES] = {
        [INVENTORY_ACCOUNTS] = { "guildhall_accounts", "Accounts of users and bots." },
        [INVENTORY_GUILDS] = { "guildhall_guilds", "Guilds." },
        [INVENTORY_MESSAGES] = { "guildhall_messages", "Messages." },
    };
    const struct inventory *v = &g->inventory;

    inventory_refresh(g);
    if (!v->known)
        return;
    for (int i = 0; i < INVENTORY_TABLES; i++)
        api_metric(out, shown[i].name, "gauge", shown[i].help, (uint64_t)v->rows[i]);
    if (v->bytes >= 0)
        api_metric(out, "guildhall_store_bytes", "gauge",
                   "Size of the PostgreSQL database in bytes.", (uint64_t)v->bytes);
}
