/* internal.h - what the files of a move share: tables, states, and a side for each engine. */
#ifndef STORE_MOVE_INTERNAL_H
#define STORE_MOVE_INTERNAL_H

#include "store/internal.h"
#include "store/move/move.h"

/* --- tables, move_plan.c -------------------------------------------------------------- */

struct move_column {
    const char *name;
    enum value_kind kind; /* of its values; VALUE_NULL: one that nobody here knows */
    int width;            /* bytes of a number in PostgreSQL */
    int key;              /* its place in the primary key, from 1; 0: not a part of it */
};

struct move_table {
    const char *name;
    struct move_column *columns;
    size_t count, room;
    size_t keys;          /* columns of the primary key … */
    const size_t *key_at; /* … which of the columns they are, in its order */
    const char **parents; /* tables that its rows refer to */
    size_t parent_count, parent_room;
    bool is_planned;
};

struct move_plan {
    struct arena *arena;
    struct move_table *tables;
    size_t count, room;
};

struct move_side;

/* What is moved: tables that both have, those that others refer to first. Logs when the two do
 * not fit. The plan is of the target's tables. */
enum err move_plan_make(struct move_side *from, struct move_side *to, struct move_plan *ret);
void move_plan_clear(struct move_plan *p);

/* For the engines: the table of that name, made when it is not there. */
struct move_table *move_plan_table(struct move_plan *p, struct str name);
void move_table_add(struct move_plan *p, struct move_table *t, struct move_column column);
void move_table_refer(struct move_plan *p, struct move_table *t, struct str parent);
/* "a", "b" of all columns, or of the primary key in its order. */
void move_names(const struct move_table *t, bool keys, struct buf *out);
/* The statement that reads a table behind a key, or all of it. */
void move_select(const struct move_table *t, bool behind, struct buf *out);

/* --- values, move_values.c ------------------------------------------------------------ */

enum { MOVE_SUM = 16, MOVE_LONGEST_ROW = 1 << 30 };

/* How much of a table is there. */
struct move_state {
    int64_t rows;
    unsigned char sum[MOVE_SUM];
    struct buf last_key;
    bool was_there, checked;
};

void move_state_init(struct move_state *st);
void move_state_clear(struct move_state *st);
/* One more row. */
void move_state_add(struct move_state *st, const struct move_table *t, const struct value *row,
                    struct buf *scratch);
bool move_state_same(const struct move_state *a, const struct move_state *b);

/* The values of a key that was written down; false when it is none. They point into it. */
bool move_key_read(const struct move_table *t, struct str key, struct value *ret);

/* --- one side ------------------------------------------------------------------------- */

enum { MOVE_COLUMNS = 256 }; /* of a table, at most; compared when the plan is made */

struct move_engine {
    /* Is there a world? Before the store is opened, so that nothing of another one is touched. */
    enum err (*look)(const struct move_place *place, bool *ret);
    enum err (*open)(struct move_side *s, bool writes);
    void (*close)(struct move_side *s); /* accepts what was never opened */
    /* All tables of the schema with their columns, and for a target what they refer to. */
    enum err (*list)(struct tx *tx, struct move_plan *ret);
    /* The first column of the first row; "": there is none. */
    enum err (*ask)(struct move_side *s, const char *sql, char *out, size_t size);
    /* Commands, in a transaction that the caller begins and ends by the same way. */
    enum err (*script)(struct move_side *s, const char *sql);

    /* Rows in the order of the key, behind one that was written down if there is one. Values
     * last until the next row. *ret_more is false at the end. */
    enum err (*read)(struct move_side *s, const struct move_table *t, struct str behind);
    enum err (*next)(struct move_side *s, const struct move_table *t, struct value *row,
                     bool *ret_more);

    /* Rows into a table: begin, put as often as there are rows, then end. */
    enum err (*put_begin)(struct move_side *s, const struct move_table *t);
    enum err (*put)(struct move_side *s, const struct move_table *t, const struct value *row);
    enum err (*put_end)(struct move_side *s);

    const char *hex_before; /* of a literal of bytes */
    bool truncates;         /* all tables by one command; else each is deleted from */
    /* For a table %s: turns off and on what the engine does by itself when a row is written.
     * NULL: the connection has it off. */
    const char *quiet, *loud;
    const char *last; /* what is changed at the end, when the rows are compared */
};

extern const struct move_engine move_sqlite, move_postgres;

struct move_side {
    const struct move_engine *engine;
    struct move_place place;
    struct store *store;
    void *connection; /* the engine's */
};

/* --- files, move_files.c -------------------------------------------------------------- */

/* Copies what the target does not have, then compares all. */
enum err move_files(struct store *from, struct store *to, const struct move_options *o,
                    struct move_report *ret);

/* --- a move, move.c ------------------------------------------------------------------- */

struct move_run {
    const struct move_options *o;
    struct move_side from, to;
    char key[128];    /* digest of the key that the world's tokens were made with */
    char source[160]; /* what the target knows the source by */
    struct move_plan plan;
    struct move_state *states; /* one for each table of the plan */
    struct value *row;
    struct buf scratch, sql;
    int64_t done, total; /* rows; each is written and compared */
    struct move_report *report;
};

/* Runs what stands in .sql at the target, and empties it. */
enum err move_run_script(struct move_run *m);

/* --- its rows, move_tables.c ---------------------------------------------------------- */

enum err move_table_count(struct move_side *s, const struct move_table *t, int64_t *ret);
/* Those that an earlier run has copied have to be what they were. */
enum err move_tables(struct move_run *m);

#endif
