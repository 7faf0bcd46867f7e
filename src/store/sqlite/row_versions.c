/* row_versions.c - versions of rows and columns, to detect stale cache entries.
 *
 * A cache entry may depend on a row, on the rows of an owner (such as the members of a guild), or
 * on a column (query_dependencies.c). Each of these has a version slot. Before the writer changes
 * something, it stores the number of the coming commit in the slot. A cache entry lists its slots
 * and the number of commits that its snapshot had seen, and is valid while none of these slots has
 * a greater number. If two objects share a slot, a change of one only causes needless reads of the
 * other.
 *
 * SQLite's update hook reports each changed row to the writer's connection, including triggers and
 * cascades, but not for tables without a rowid. Tables without a rowid have temporary triggers that
 * report the owner. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static const char *const versioned_tables[] = {
    [VERSIONED_MESSAGES] = "messages",
    [VERSIONED_USERS] = "users",
    [VERSIONED_CHANNELS] = "channels",
    [VERSIONED_COMMANDS] = "commands",
};

uint16_t row_version_slot(enum versioned_row_kind rows, snowflake id)
{
    uint64_t of = id + rows * UINT64_C(0xd1b54a32d192ed03); /* spreads ids over the slots */

    return (uint16_t)((of * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SQLITE_VERSION_BITS));
}

/* Marks a row as changed by the next commit. If the transaction is rolled back, the mark remains,
 * so some cache entries become stale too early. */
static void mark_row_changed(struct sqlite *q, enum versioned_row_kind rows, uint64_t id)
{
    row_version_slots_mark_changed(q, &(uint16_t){ row_version_slot(rows, id) }, 1);
}

void row_version_slots_mark_changed(struct sqlite *q, const uint16_t *slots, unsigned count)
{
    uint64_t number = atomic_load_explicit(&q->store.commits, memory_order_relaxed) + 1;

    for (unsigned i = 0; i < count; i++)
        atomic_store_explicit(&q->versions.last[slots[i]], number, memory_order_relaxed);
}

bool row_version_slots_are_unchanged(struct sqlite *q, const uint16_t *slots, size_t count,
                                     uint64_t commits)
{
    for (size_t i = 0; i < count; i++)
        if (atomic_load_explicit(&q->versions.last[slots[i]], memory_order_relaxed) > commits)
            return false;
    return true;
}

/* --- changed rows --------------------------------------------------------------------- */

static void on_row_changed(void *arg, int what, const char *database, const char *table,
                           sqlite3_int64 id)
{
    (void)what;
    (void)database;
    for (size_t i = 0; i < COUNT_OF(versioned_tables); i++)
        if (strcmp(table, versioned_tables[i]) == 0)
            mark_row_changed(arg, (enum versioned_row_kind)i, (uint64_t)id);
}

void sqlite_mark_row_changed(struct tx *tx, enum versioned_row_kind rows, uint64_t id)
{
    if (work_item_is_write(tx->work))
        mark_row_changed((struct sqlite *)tx->store, rows, id);
}

/* Implements the SQL function noted(kind, id), by which triggers report that rows of an owner, such
 * as the members of a guild, have changed. */
static void sql_mark_owner_changed(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    mark_row_changed(sqlite3_user_data(context),
                     (enum versioned_row_kind)sqlite3_value_int(values[0]),
                     (uint64_t)sqlite3_value_int64(values[1]));
}

/* The tables without a rowid, each with the name of the column that contains the owner's id. */
static const struct {
    enum versioned_row_kind rows;
    const char *table, *owner;
} versioned_owners[] = {
    { VERSIONED_MEMBERS, "members", "guild_id" },
    { VERSIONED_MEMBERS, "member_roles", "guild_id" },
    { VERSIONED_RELATIONSHIPS, "relationships", "user_id" },
};

static bool create_version_trigger(sqlite3 *db, size_t i, const char *what, const char *row)
{
    char *sql =
        sqlite3_mprintf("create temp trigger %s_%s_%s after %s on main.%s begin "
                        "select noted(%d, %s.%s); end",
                        versioned_owners[i].table, what, row, what, versioned_owners[i].table,
                        (int)versioned_owners[i].rows, row, versioned_owners[i].owner);
    bool done = sql && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;

    sqlite3_free(sql);
    return done;
}

enum err sqlite_install_row_version_hooks(struct sqlite *q)
{
    sqlite3 *db = q->writer->db;
    bool done = sqlite3_create_function(db, "noted", 2, SQLITE_UTF8, q, sql_mark_owner_changed,
                                        NULL, NULL) == SQLITE_OK;

    sqlite3_update_hook(db, on_row_changed, q);
    for (size_t i = 0; i < COUNT_OF(versioned_owners) && done; i++)
        done = create_version_trigger(db, i, "insert", "new") &&
               create_version_trigger(db, i, "update", "old") &&
               create_version_trigger(db, i, "update", "new") &&
               create_version_trigger(db, i, "delete", "old");
    if (done)
        return OK;
    log_error("store: cannot install the hooks that track changed rows: %s", sqlite3_errmsg(db));
    return ERR_UNAVAILABLE;
}

/* --- validation by reads -------------------------------------------------------------- */

static bool may_validate_cached_result(const struct tx *tx)
{
    const struct sqlite_conn *c = tx->connection;

    return tx->work->mode == STORE_READ && c->in_view && ((struct sqlite *)tx->store)->writer;
}

bool sqlite_get_snapshot_version(struct tx *tx, struct snapshot_version *ret)
{
    struct sqlite_conn *c = tx->connection;

    /* Begin the snapshot before the versions are compared, so that all later rows of this read come
     * from the same snapshot as the cached result. */
    if (!may_validate_cached_result(tx) || tx->failed || sqlite_snapshot_begin(tx) ||
        !sqlite_cached_rows_are_consistent(c))
        return false;
    *ret = (struct snapshot_version){ c->number, c->seen };
    return true;
}

bool sqlite_row_version_slots_are_unchanged(struct tx *tx, const struct snapshot_version *since,
                                            const uint16_t *slots, size_t count)
{
    struct sqlite_conn *c = tx->connection;

    /* If the store was reopened, connections have other numbers, and commits are counted from 0. */
    return may_validate_cached_result(tx) && since->connection == c->number &&
           sqlite_cached_rows_are_consistent(c) &&
           row_version_slots_are_unchanged((struct sqlite *)tx->store, slots, count,
                                           since->commits);
}
