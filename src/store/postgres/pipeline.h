/* pipeline.h - libpq pipelines: several statements in one round trip. For query.c and commit.c. */
#ifndef STORE_POSTGRES_PIPELINE_H
#define STORE_POSTGRES_PIPELINE_H

#include "store/postgres/postgres.h"

struct postgres_statement {
    char name[16];
    bool prepared;
};

/* The first command of a pipeline that failed; PostgreSQL skips those after it. */
struct postgres_failure {
    bool happened;
    PGresult *result; /* NULL: the connection was lost */
    const char *sql;
    const struct work *work; /* work item of the statement that failed, or NULL */
};

/* Returns the prepared statement; prepares it if needed (on a loop, together with its first
 * use). */
enum err postgres_find_statement(struct postgres_conn *c, const char *sql, size_t count,
                                 struct postgres_statement **ret);
bool postgres_send_statement(struct postgres_conn *c, const struct postgres_statement *st,
                             size_t count, const struct postgres_values *p);
/* Discards prefetched queries and results of all work items. */
void postgres_forget_prefetched(struct postgres_conn *c);

/* Enters pipeline mode; sends BEGIN, if it is pending, and the queued statements. */
bool pipeline_open(struct postgres_conn *c);
/* Sends COMMIT and the end of the pipeline. */
bool pipeline_send_commit(struct postgres_conn *c);
/* Reads the results of BEGIN and the queued statements. */
void pipeline_answers(struct postgres_conn *c, bool sent, struct postgres_failure *f);
/* Reads the result of one query and the end marker after it. */
PGresult *pipeline_take_result(struct postgres_conn *c);
/* Returns whether the result is a success; then the caller owns it. Otherwise stores the first
 * failed result in f and frees later ones. */
bool pipeline_look_at(struct postgres_failure *f, PGresult *result, const char *sql);
/* Leaves pipeline mode; if that fails, the connection is lost. */
void pipeline_close(struct postgres_conn *c, bool sent);

#endif
