/* migrations.h - the list of schema migrations, from an empty database to the current schema. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

#include "base/test_build.h"

struct migration {
    int number;       /* number of the migration: 1, 2, 3, …; 0 marks the end of the list */
    const char *name; /* "0001-accounts" */
    /* SQL with the placeholders {id} and {clustered}, which the engine replaces. SQL for one engine
     * follows a line "-- sqlite:" or "-- postgres:", until "-- both:". The first line gives the
     * phase, see enum migration_phase. */
    const char *sql;
};

extern const struct migration migrations[];

/* Whether the migration may run while servers of two versions share the database (rolling
 * upgrade). */
enum migration_phase {
    MIGRATION_ALONE,   /* the default: the migration runs only if no older server is running */
    MIGRATION_EXPAND,  /* "-- expand: why": servers of the previous version also work with the new
                        * schema */
    MIGRATION_CONTRACT /* "-- contract: why": applied later, when no older server is running */
};

/* Returns all migrations of this program. Test builds append the migrations in the folder
 * $GUILDHALL_TEST_MIGRATIONS, to simulate a later version (tests/inside/migrations_later.c). */
#if TEST_BUILD
const struct migration *get_known_migrations(void);
#else
static inline const struct migration *get_known_migrations(void)
{
    return migrations;
}
#endif

#endif
