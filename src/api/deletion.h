/* deletion.h - the rows that are deleted together with an object, in steps.
 *
 * Each domain lists them in .deletions: rules for its own tables. A guild may have half a million
 * members, a channel a million messages. The folder that deletes such an object marks its row, so
 * that nothing finds it from then on, and calls deletion_walk, which applies the rules of all
 * domains until the step has deleted a few hundred rows. Most objects need one step, in the
 * transaction of the mark. For others a job repeats it. The rows that are left show how far the
 * deletion is, so it continues after a crash. scripts/check-tables finds tables without a rule. */
#ifndef API_DELETION_H
#define API_DELETION_H

#include "api/jobs/jobs.h"
#include "model/application.h"

enum { DELETION_ROWS = 300 }; /* of one step: a few milliseconds of the writer */

enum deletion_object {
    WITH_GUILD = 1,
    WITH_CHANNEL,  /* or thread */
    WITH_MESSAGES, /* the first messages of a channel; $1 is the channel, $2 limits both */
    WITH_ROLE,
    WITH_ACCOUNT, /* its row stays, without a name: others read what it wrote */
    WITH_APPLICATION,
};

/* Rules of an object are applied in this order, and those of a phase in the order of domains.c. */
enum deletion_phase {
    DELETE_FIRST = -2,
    DELETE_PARTS, /* parts with rules of their own, and rows whose end is announced */
    DELETE_REST,  /* a rule that says nothing */
    DELETE_LAST,  /* the row of the object */
};

/* What one step may still do. No room left: there may be more to delete. */
struct deletion_step {
    int64_t room;    /* rows */
    int64_t portion; /* rows of one statement */
    int64_t until;   /* clock_thread; hardly moves on PostgreSQL, where a step holds up nobody */
};

struct deletion_rule {
    enum deletion_object with; /* 0 ends a list */
    const char *table;
    /* Both take the id of the object and a number of rows, and read the same rows: the first marks
     * their files as deleted, the second deletes them. A text of NULL: none. */
    struct sql mark, remove;
    /* Instead of these. Takes what it writes from the room (deletion_count). */
    enum err (*run)(struct call *call, snowflake id, struct deletion_step *step);
    enum deletion_phase phase;
};

/* The members of a rule, as FIELD gives those of a field: { DELETE_FEW(WITH_GUILD, "templates",
 * "guild_id") }. Rows of one object, found by a column with its id; key: the other columns of the
 * primary key. */
#define DELETE_OF(object, name, column, key)                                                \
    .with = object, .table = name,                                                          \
    .remove = { &"delete from " name " where " column " = $1 and (" key ") in (select " key \
                 " from " name " where " column " = $1 limit $2)" }
/* Rows found by a condition; key: the primary key. */
#define DELETE_WHERE(object, name, key, condition)                                    \
    .with = object, .table = name,                                                    \
    .remove = { &"delete from " name " where (" key ") in (select " key " from " name \
                 " where " condition " limit $2)" }
/* All rows at once: there are few. */
#define DELETE_FEW(object, name, column) \
    .with = object, .table = name,       \
    .remove = { &"delete from " name " where " column " = $1 and cast($2 as bigint) > 0" }
/* Rows with a picture or sound, which is the file "area/<id>/<column>". */
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

struct deletion_step deletion_begin(void);
void deletion_count(struct deletion_step *step, int64_t rows);
/* Rows that the next statement may delete. */
int64_t deletion_portion(const struct deletion_step *step);

/* The rules of all domains for this object. A rule that leaves room has nothing left to delete. */
enum err deletion_walk(struct call *call, enum deletion_object with, snowflake id,
                       struct deletion_step *step);
/* One step: begins, walks, and leaves the rest to the job. */
enum err deletion_run(struct call *call, const struct job_kind *kind, enum deletion_object with,
                      snowflake id);
/* The statements of one rule, once. */
enum err deletion_apply(struct call *call, const struct deletion_rule *rule, snowflake id,
                        int64_t portion, int64_t *ret_gone);
/* Schedules the job if there is no room left. */
enum err deletion_continue(struct call *call, const struct job_kind *kind, snowflake id,
                           const struct deletion_step *step, struct str data);

/* WITH_APPLICATION: the step is the first member of this. */
struct application_deletion {
    struct deletion_step step;
    struct application application;
    /* The last direct channel with its bot that a rule has looked at: open ones come first. */
    int64_t closed;
    snowflake channel_id;
};

#endif
