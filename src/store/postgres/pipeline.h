/* pipeline.h - libpq pipelines (several statements in one round trip), for query.c and commit.c. */
#ifndef STORE_POSTGRES_PIPELINE_H
#define STORE_POSTGRES_PIPELINE_H

#include "store/postgres/postgres.h"

struct postgres_statement {
    char name[16];
    const char *sql;
    bool prepared;
    const struct statement_tables *tables; /* NULL if they are not needed */
};

/* The first statement of a pipeline that failed; PostgreSQL skips the statements after it. */
struct pipeline_failure {
    bool happened;
    PGresult *result; /* NULL if the connection was lost */
    const char *sql;
    const struct work_item *work; /* work item to which the failed statement belongs, or NULL */
};

/* Returns the prepared statement of an SQL text. If it is not prepared yet, prepares it, which
 * takes a round trip. */
enum err find_or_prepare_postgres_statement(struct postgres_conn *c, const char *sql, size_t count,
                                            struct postgres_statement **ret);
/* Sends a statement in a pipeline. If it is not prepared yet, sends PREPARE before it. */
bool postgres_pipeline_send_statement(struct postgres_conn *c, struct queued_statement *e);
/* Discards prefetched queries and results of all work items. */
void discard_prefetched_queries(struct postgres_conn *c);

/* Enters pipeline mode; sends BEGIN, if it was not sent yet, and the queued statements. */
bool postgres_pipeline_begin(struct postgres_conn *c);
/* Sends COMMIT and the sync that ends the pipeline. */
bool postgres_pipeline_send_commit(struct postgres_conn *c);
/* Reads the results of BEGIN and the queued statements. */
void postgres_pipeline_read_queued_results(struct postgres_conn *c, bool sent,
                                           struct pipeline_failure *f);
/* Reads the result of one statement, and the NULL result that marks its end. */
PGresult *pipeline_read_result(struct postgres_conn *c);
/* Returns whether the result is a success; then the caller owns it. Otherwise stores the first
 * failed result in f and frees the later ones. */
bool postgres_pipeline_check_result(struct pipeline_failure *f, PGresult *result, const char *sql);
/* If the failure is an id conflict (tx_make_ids_visible_in_order), makes this process create ids
 * above the committed one (id_order.c). */
void postgres_skip_ids_after_order_conflict(struct postgres_conn *c,
                                            const struct pipeline_failure *f);
/* Leaves pipeline mode; if that fails, marks the connection as lost. */
void postgres_pipeline_end(struct postgres_conn *c, bool sent);

#endif
