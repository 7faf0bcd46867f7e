/* steps.c - measures the minimal cost of reading rows: a prepared statement.
 *
 *   steps DATABASE SQL ID SECONDS
 *
 * Prints the processor time of one pass over the rows, reading every column. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reads all rows once and returns their number. */
static long pass(sqlite3_stmt *s, long long id)
{
    long rows = 0;

    sqlite3_bind_int64(s, 1, id);
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(s); i++)
            if (sqlite3_column_type(s, i) == SQLITE_TEXT)
                sqlite3_column_text(s, i);
            else
                sqlite3_column_int64(s, i);
        rows++;
    }
    sqlite3_reset(s);
    return rows;
}

int main(int argc, char **argv)
{
    sqlite3 *db;
    sqlite3_stmt *s;

    if (argc != 5) {
        fprintf(stderr, "usage: steps DATABASE SQL ID SECONDS\n");
        return 2;
    }
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, argv[2], -1, &s, NULL) != SQLITE_OK) {
        fprintf(stderr, "steps: %s\n", sqlite3_errmsg(db));
        return 1;
    }
    long long id = strtoll(argv[3], NULL, 10);
    double until = now(CLOCK_MONOTONIC) + strtod(argv[4], NULL);
    long rows = pass(s, id), passes = 0;
    double began = now(CLOCK_PROCESS_CPUTIME_ID);
    while (now(CLOCK_MONOTONIC) < until) {
        pass(s, id);
        passes++;
    }
    printf("{\"rows\":%ld,\"ns\":%.0f}\n", rows,
           (now(CLOCK_PROCESS_CPUTIME_ID) - began) / (double)passes * 1e9);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return 0;
}
