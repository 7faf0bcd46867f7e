/* statements.c - measures the work of SQLite for statements of the server in this process. */
#include "support/statements.h"

#include <sqlite3.h>
#include <string.h>

enum { MOST = 2048, LONGEST = 2048 };

static struct {
    pthread_mutex_t lock;
    struct noted_statement {
        char text[LONGEST];
        struct statement_seen seen;
    } list[MOST];
    size_t count;
} noted = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct noted_statement *statement_find(const char *text)
{
    for (size_t i = 0; i < noted.count; i++)
        if (strncmp(noted.list[i].text, text, LONGEST - 1) == 0)
            return &noted.list[i];
    if (noted.count == MOST)
        return NULL;
    struct noted_statement *n = &noted.list[noted.count++];

    memset(n, 0, sizeof *n);
    strncpy(n->text, text, LONGEST - 1);
    return n;
}

static int statement_ended(unsigned kind, void *arg, void *stmt, void *ns)
{
    const char *text = sqlite3_sql(stmt);

    (void)kind, (void)arg, (void)ns;
    pthread_mutex_lock(&noted.lock);
    struct noted_statement *n = text ? statement_find(text) : NULL;
    if (n) {
        n->seen.runs++;
        n->seen.thread = pthread_self();
        n->seen.scanned += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
        n->seen.sorted += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_SORT, 1);
        n->seen.indexed += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_AUTOINDEX, 1);
    }
    pthread_mutex_unlock(&noted.lock);
    return 0;
}

static int connection_opened(sqlite3 *db)
{
    return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, statement_ended, NULL);
}

void statements_watch(void)
{
    pthread_mutex_lock(&noted.lock);
    noted.count = 0;
    pthread_mutex_unlock(&noted.lock);
    sqlite3_auto_extension((void (*)(void))connection_opened);
}

struct statement_seen statements_seen(const char *part)
{
    struct statement_seen seen = { 0 };

    sqlite3_cancel_auto_extension((void (*)(void))connection_opened);
    pthread_mutex_lock(&noted.lock);
    for (size_t i = 0; i < noted.count; i++)
        if (strstr(noted.list[i].text, part))
            seen = noted.list[i].seen;
    pthread_mutex_unlock(&noted.lock);
    return seen;
}
