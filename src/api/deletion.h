/* deletion.h - deletes the rows that belong to a deleted object, in steps.
 *
 * Each domain (feature folder) lists deletion rules for its own tables in .deletions. A guild may
 * have half a million members, a channel a million messages. The folder that deletes such an object
 * marks its row, so that no query finds it any more, and calls deletion_apply_all_rules, which
 * applies the rules of all domains to a few hundred rows. Most objects need one such step, in the
 * transaction that marks the row; for larger ones a job repeats the step. The rows that remain are
 * the only state of a deletion, so it continues after a crash. scripts/check-tables finds tables
 * without a rule. */
#ifndef API_DELETION_H
#define API_DELETION_H

#include "api/jobs/jobs.h"
#include "model/application.h"

/* Maximum number of rows that one step deletes, which takes the writer a few milliseconds. */
enum { DELETION_ROWS = 300 };

enum deletion_object_kind {
    WITH_GUILD = 1,
    WITH_CHANNEL,  /* channel or thread */
    WITH_MESSAGES, /* deletes the oldest messages of a channel; in SQL, $1 is the channel, $2 the
                    * maximum number */
    WITH_ROLE,
    WITH_ACCOUNT, /* deletes an account; its row remains without a name, so that its messages stay
                   * visible */
    WITH_APPLICATION,
};

/* Order in which the deletion rules of an object are applied. Within a phase, the rules run in the
 * order in which src/server/domains.c lists their feature folders. */
enum deletion_phase {
    DELETE_FIRST = -2,
    DELETE_PARTS, /* rows that have deletion rules of their own, and rows whose deletion emits
                   * events */
    DELETE_REST,  /* the default */
    DELETE_LAST,  /* the row of the object itself */
};

/* The limits of one deletion step. If rows_left is 0 after a step, the object may have more rows to
 * delete. */
struct deletion_step_limits {
    int64_t rows_left;          /* number of rows that this step may still delete */
    int64_t rows_per_statement; /* maximum rows per statement */
    int64_t until; /* time at which the step ends (clock_thread_cpu_ns); on PostgreSQL steps rarely
                    * take that long */
};

struct deletion_rule {
    enum deletion_object_kind with; /* 0 ends the list */
    const char *table;
    /* Both statements take the id of the object ($1) and a maximum number of rows ($2), and select
     * the same rows. `mark` marks the files of these rows as deleted; `remove` deletes the rows. A
     * statement that is not needed is NULL. */
    struct sql mark, remove;
    /* A function that is called instead of the statements mark and remove. It must call
     * deletion_step_subtract_deleted_rows with the number of rows that it deletes or changes. */
    enum err (*run)(struct call *call, snowflake id, struct deletion_step_limits *step);
    enum deletion_phase phase;
};

/* The DELETE_ macros below expand to the members of struct deletion_rule: { DELETE_FEW(WITH_GUILD,
 * "templates", "guild_id") }. DELETE_OF deletes rows with the object's id in `column`; key names
 * the other columns of the primary key. */
#define DELETE_OF(object, name, column, key)                                                \
    .with = object, .table = name,                                                          \
    .remove = { &"delete from " name " where " column " = $1 and (" key ") in (select " key \
                 " from " name " where " column " = $1 limit $2)" }
/* Expands to a rule that deletes rows for which a condition is true; key names the columns of the
 * primary key. */
#define DELETE_WHERE(object, name, key, condition)                                    \
    .with = object, .table = name,                                                    \
    .remove = { &"delete from " name " where (" key ") in (select " key " from " name \
                 " where " condition " limit $2)" }
/* Expands to a rule that deletes all rows of the object with one statement, for tables that have
 * few rows per object. */
#define DELETE_FEW(object, name, column) \
    .with = object, .table = name,       \
    .remove = { &"delete from " name " where " column " = $1 and cast($2 as bigint) > 0" }
/* Expands to a rule that deletes rows that have an image or sound, stored in the file
 * "area/<id>/<column>". */
#define DELETE_WITH_FILE(object, name, area, column, condition)                 \
    .with = object, .table = name,                                              \
    .mark = MARK_FILES(area, "id", column, FILE_ROWS(name, column, condition)), \
    .remove = { &"delete from " name                                            \
                 " where id in (select id from (" FILE_ROWS(name, column, condition) ") x)" }
#define FILE_ROWS(name, column, condition) \
    "select id, " column " from " name " where " condition " order by id limit $2"
#define MARK_FILES(area, owner, column, rows)                                    \
    {                                                                            \
        &"update files set gone = 1 where name in (select '" area "/' || " owner \
         " || '/' || " column " from (" rows ") x where " column " is not null)" \
    }

struct deletion_step_limits deletion_step_begin(void);
void deletion_step_subtract_deleted_rows(struct deletion_step_limits *step, int64_t rows);
/* Returns the number of rows that the next statement may delete. */
int64_t deletion_step_batch_size(const struct deletion_step_limits *step);

/* Applies the deletion rules of all feature folders to this object. If step->rows_left is not 0
 * afterwards, all rows of the object are deleted. */
enum err deletion_apply_all_rules(struct call *call, enum deletion_object_kind with, snowflake id,
                                  struct deletion_step_limits *step);
/* Runs one deletion step: calls deletion_step_begin, deletion_apply_all_rules and
 * deletion_schedule_next_step. */
enum err deletion_run_step(struct call *call, const struct job_kind *kind,
                           enum deletion_object_kind with, snowflake id);
/* Runs both statements of a rule (mark and remove) once, for at most `portion` rows. */
enum err deletion_rule_apply(struct call *call, const struct deletion_rule *rule, snowflake id,
                             int64_t portion, int64_t *ret_gone);
/* Schedules the job that repeats the deletion step, if step->rows_left is 0. */
enum err deletion_schedule_next_step(struct call *call, const struct job_kind *kind, snowflake id,
                                     const struct deletion_step_limits *step, struct str data);

/* State of the deletion of an application: the limits of the current step, and the application.
 * Deletion rules of WITH_APPLICATION cast the step to this struct. */
struct application_deletion {
    struct deletion_step_limits step;
    struct application application;
    /* The last direct-message channel of the bot that was handled, as its position in the order:
     * closed flag, then channel id. The next step continues after it. */
    int64_t closed;
    snowflake channel_id;
};

#endif
