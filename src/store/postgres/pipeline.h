/* pipeline.h - what travels together on a connection to PostgreSQL: for the files that ask
 * and that commit. */
#ifndef STORE_POSTGRES_PIPELINE_H
#define STORE_POSTGRES_PIPELINE_H

#include "store/postgres/postgres.h"

struct postgres_statement {
    char name[16];
    bool prepared;
};

/* The first command of a pipeline that failed; those after it were not tried. */
struct postgres_failure {
    bool happened;
    PGresult *result; /* NULL: the connection is lost */
    const char *sql;
    const struct work *work; /* whose errand it was, or NULL */
};

/* Prepares it, unless it is; on a loop that goes with its first use. */
enum err postgres_find_statement(struct postgres_conn *c, const char *sql, size_t count,
                                 struct postgres_statement **ret);
bool postgres_send_statement(struct postgres_conn *c, const struct postgres_statement *st,
                             size_t count, const struct postgres_values *p);
/* Of all works. */
void postgres_forget_prefetched(struct postgres_conn *c);

/* Sends the beginning, if it was not sent yet, and what was put off. */
bool pipeline_open(struct postgres_conn *c);
/* With the end of the pipeline. */
bool pipeline_send_commit(struct postgres_conn *c);
/* The answers to what pipeline_open sent. */
void pipeline_answers(struct postgres_conn *c, bool sent, struct postgres_failure *f);
/* Each query of a pipeline has a result and an end. */
PGresult *pipeline_take_result(struct postgres_conn *c);
/* Takes the result, which has to be a good one; true if so, and it is the caller's again. */
bool pipeline_look_at(struct postgres_failure *f, PGresult *result, const char *sql);
/* A connection that cannot leave the pipeline is of no more use. */
void pipeline_close(struct postgres_conn *c, bool sent);

#endif
