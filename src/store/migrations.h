/* migrations.h - the steps from an empty database to the present one. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

#include "base/test_build.h"

struct migration {
    int number;       /* 1, 2, 3 …; 0 ends the list */
    const char *name; /* "0001-accounts" */
    /* Without the lines for scripts/check-tables. With the words {id} and {clustered}. What only
     * one engine can do stands below a line "-- sqlite:" or "-- postgres:", until "-- both:". The
     * first line says who can live with it, see enum migration_phase. */
    const char *sql;
};

extern const struct migration migrations[];

/* Servers of two versions share a PostgreSQL while it is upgraded, one after the other. */
enum migration_phase {
    MIGRATION_ALONE,   /* no server of an older version may run: it was never said that one can */
    MIGRATION_EXPAND,  /* "-- expand: why": those of the version before can live with it */
    MIGRATION_CONTRACT /* "-- contract: why": this program can live without it; applied when no
                        * server is left that does not know it */
};

/* The migrations of this program. Builds with tests add those in the folder that the environment
 * names (GUILDHALL_TEST_MIGRATIONS), as if this were a later version:
 * tests/inside/migrations_later.c. */
#if TEST_BUILD
const struct migration *migrations_known(void);
#else
static inline const struct migration *migrations_known(void)
{
    return migrations;
}
#endif

#endif
