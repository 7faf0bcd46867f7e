/* table_versions.h - versions of tables, to detect stale cached rows on PostgreSQL.
 *
 * A server that does not share its database is the only writer. It knows which tables each of its
 * statements reads and writes, from the words of the statement, and from the foreign keys and
 * triggers of the database. Rows that a read has cached are valid until a transaction that may have
 * written to one of their tables commits.
 *
 * The COMMIT takes effect at a time between its sending and its answer. In between, no cached rows
 * of the written tables are used or stored. Afterwards, their version is a new number. A read
 * remembers the last number from before its first query (postgres_row_cache.clock). It uses and
 * stores only rows of tables with no greater version and without a running COMMIT, so all its rows,
 * cached or not, are of one moment. If the answer to a COMMIT is lost, the transaction may take
 * effect at any later time, so rows of its tables are not cached any more. */
#ifndef STORE_POSTGRES_TABLE_VERSIONS_H
#define STORE_POSTGRES_TABLE_VERSIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum { POSTGRES_TABLES_MAX = 256 };

struct postgres_conn;

struct table_set {
    uint64_t bits[POSTGRES_TABLES_MAX / 64];
};

static inline void table_set_add(struct table_set *set, const struct table_set *more)
{
    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
        set->bits[i] |= more->bits[i];
}

static inline bool table_set_is_empty(const struct table_set *set)
{
    uint64_t all = 0;

    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
        all |= set->bits[i];
    return !all;
}

struct statement_tables {
    struct table_set reads, writes;
    bool is_cacheable; /* whether its rows depend only on the tables .reads and on parameters */
};

struct table_versions {
    atomic_bool is_known; /* whether rows may be cached */
    pthread_mutex_t lock;
    struct map by_statement; /* struct statement_tables by the address of the SQL text */
    _Atomic uint64_t clock;  /* number of commits that have written to tables */
    unsigned count;
    struct versioned_table {
        char name[64];
        bool is_cacheable; /* false for views, sequences and the event log */
        struct table_set
            written; /* the table, and those that its foreign keys and triggers write */
        _Atomic unsigned commits; /* number of running COMMITs of transactions that wrote to it */
        _Atomic uint64_t version;
    } tables[POSTGRES_TABLES_MAX];
};

void table_versions_init(struct table_versions *v);
void table_versions_clear(struct table_versions *v);
/* Reads the tables, after the migrations. If that fails, nothing is cached. */
void table_versions_load(struct table_versions *v, struct postgres_conn *c);
/* Returns v, or NULL if nothing is cached. */
struct table_versions *table_versions_or_null(struct table_versions *v);
/* Call it if a script with unknown statements runs: from now on nothing is cached. */
void table_versions_disable(struct table_versions *v);
/* Returns the tables of a statement; the result lives as long as v. */
const struct statement_tables *table_versions_find_statement(struct table_versions *v,
                                                             const char *sql);
/* Returns whether no table has changed since `clock`, nor is being changed. */
bool table_versions_are_unchanged(const struct table_versions *v, const struct table_set *tables,
                                  uint64_t clock);
/* Call them before a COMMIT is sent, and when its result is known. */
void table_versions_begin_commit(struct table_versions *v, const struct table_set *written);
void table_versions_end_commit(struct table_versions *v, const struct table_set *written);

#endif
