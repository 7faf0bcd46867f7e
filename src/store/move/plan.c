/* plan.c - determines which tables are moved, in which order, from the schemas of both databases.
 *
 * Tables of one engine, and tables about running servers and sessions, are not moved. All other
 * tables must exist in both databases with the same columns. */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"

/* Tables that are not moved. An asterisk ends a prefix that stands for several tables. */
static const char *const excluded_tables[] = {
    "migrations", /* written by the migrations themselves */
    "expanded_steps",
    "blobs", /* copied separately, as files */
    "blob_parts",
    "object_uploads",
    "object_location", /* set for the target */
    "move_source",
    "move_tables",
    "message_author*", /* only on SQLite; filled at the end of a move */
    "message_index",
    "message_index_*",
    "gif_index",
    "gif_index_*", /* rebuilt in the target */
    "log",
    "log_*",
    "nodes", /* state of the cluster */
    /* Session rows are not moved; clients identify again after the move. */
    "parked_sessions",
    "parking",
    "session_homes",
    "past_servers",
};

static bool table_is_excluded_from_move(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(excluded_tables); i++) {
        size_t n = strlen(excluded_tables[i]);

        if (excluded_tables[i][n - 1] == '*' ? strncmp(name, excluded_tables[i], n - 1) == 0
                                             : strcmp(name, excluded_tables[i]) == 0)
            return true;
    }
    return false;
}

static void *grow_array_of_plan(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 16;
    return mem_resize(items, *room * size);
}

static struct moved_table *find_table_of_move_plan(const struct data_move_plan *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->tables[i].name, name) == 0)
            return &p->tables[i];
    return NULL;
}

struct moved_table *data_move_plan_find_or_add_table(struct data_move_plan *p, struct str name)
{
    const char *copy = str_dup_cstring(p->arena, name);
    struct moved_table *t = find_table_of_move_plan(p, copy);

    if (t)
        return t;
    p->tables = grow_array_of_plan(p->tables, p->count, &p->room, sizeof *p->tables);
    t = &p->tables[p->count++];
    *t = (struct moved_table){ .name = copy };
    return t;
}

void data_move_table_add_column(struct data_move_plan *p, struct moved_table *t,
                                struct moved_column column)
{
    column.name = str_dup_cstring(p->arena, str_of(column.name));
    t->columns = grow_array_of_plan(t->columns, t->count, &t->room, sizeof *t->columns);
    t->columns[t->count++] = column;
    t->keys += column.key != 0;
}

void data_move_table_add_reference(struct data_move_plan *p, struct moved_table *t,
                                   struct str parent)
{
    t->parents =
        grow_array_of_plan(t->parents, t->parent_count, &t->parent_room, sizeof *t->parents);
    t->parents[t->parent_count++] = str_dup_cstring(p->arena, parent);
}

void data_move_plan_clear(struct data_move_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        mem_free(p->tables[i].columns);
        mem_free(p->tables[i].parents);
    }
    mem_free(p->tables);
    arena_free(p->arena);
    *p = (struct data_move_plan){ 0 };
}

static enum err list_tables_of_database_in_transaction(struct tx *tx, void *arg)
{
    struct data_move_endpoint *s = ((void **)arg)[0];
    struct data_move_plan *p = ((void **)arg)[1];

    /* Clear the plan, because an earlier attempt of the transaction may have filled it. */
    data_move_plan_clear(p);
    p->arena = arena_new();
    return s->engine->list(tx, p);
}

static enum err list_tables_of_database(struct data_move_endpoint *s, struct data_move_plan *ret)
{
    void *both[] = { s, ret };

    return store_run_transaction_and_wait(s->store, STORE_READ, NULL,
                                          list_tables_of_database_in_transaction, both);
}

static enum err refuse_schema_difference(const char *table, const char *column, const char *why)
{
    log_error(
        "move: cannot move the data, because the table '%s'%s%s %s; both databases need the same schema",
        table, column ? ", column " : "", column ? column : "", why);
    return ERR_INTERNAL;
}

static const struct moved_column *find_column_of_moved_table(const struct moved_table *t,
                                                             const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return &t->columns[i];
    return NULL;
}

static enum err check_table_columns_are_equal(const struct moved_table *from,
                                              const struct moved_table *to)
{
    if (!from || !to)
        return refuse_schema_difference((from ? from : to)->name, NULL,
                                        "exists in one database only");
    if (from->count != to->count)
        return refuse_schema_difference(to->name, NULL,
                                        "has different columns in the two databases");
    if (!to->keys || to->count > MOVE_MAX_COLUMNS)
        return refuse_schema_difference(to->name, NULL, "has no primary key, or too many columns");
    for (size_t i = 0; i < to->count; i++) {
        const struct moved_column *c = &to->columns[i],
                                  *other = find_column_of_moved_table(from, c->name);

        if (!other || other->key != c->key)
            return refuse_schema_difference(to->name, c->name, "differs between the two databases");
        if (c->kind == VALUE_NULL || c->kind != other->kind)
            return refuse_schema_difference(to->name, c->name,
                                            "has different types in the two databases");
    }
    return OK;
}

static enum err check_source_and_target_schemas(const struct data_move_plan *from,
                                                const struct data_move_plan *to)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < from->count; i++)
        if (!table_is_excluded_from_move(from->tables[i].name))
            e = check_table_columns_are_equal(&from->tables[i],
                                              find_table_of_move_plan(to, from->tables[i].name));
    for (size_t i = 0; !e && i < to->count; i++)
        if (!table_is_excluded_from_move(to->tables[i].name))
            e = check_table_columns_are_equal(find_table_of_move_plan(from, to->tables[i].name),
                                              &to->tables[i]);
    return e;
}

static bool referenced_tables_are_planned(const struct data_move_plan *all,
                                          const struct moved_table *t)
{
    for (size_t i = 0; i < t->parent_count; i++) {
        const struct moved_table *parent = find_table_of_move_plan(all, t->parents[i]);

        if (parent && !parent->is_planned)
            return false;
    }
    return true;
}

static void collect_primary_key_columns(struct data_move_plan *p, struct moved_table *t)
{
    size_t *at = arena_array(p->arena, size_t, t->keys);

    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i].key)
            at[t->columns[i].key - 1] = i;
    t->key_at = at;
}

/* Sorts the tables: repeatedly moves to the front all tables whose referenced tables are there. */
static enum err sort_tables_by_references(struct data_move_plan *p)
{
    size_t done = 0;

    for (size_t before = SIZE_MAX; done < p->count && before != done;) {
        before = done;
        for (size_t i = done; i < p->count; i++) {
            struct moved_table t = p->tables[i];

            if (!referenced_tables_are_planned(p, &t))
                continue;
            t.is_planned = true;
            p->tables[i] = p->tables[done];
            p->tables[done++] = t;
        }
    }
    return done == p->count ? OK
                            : refuse_schema_difference(p->tables[done].name, NULL,
                                                       "is part of a cycle of foreign keys");
}

static void remove_excluded_tables(struct data_move_plan *p)
{
    size_t retained = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (!table_is_excluded_from_move(p->tables[i].name)) {
            p->tables[retained++] = p->tables[i];
            continue;
        }
        mem_free(p->tables[i].columns);
        mem_free(p->tables[i].parents);
    }
    p->count = retained;
}

enum err data_move_plan_build(struct data_move_endpoint *from, struct data_move_endpoint *to,
                              struct data_move_plan *ret)
{
    struct data_move_plan source = { 0 };
    enum err e = list_tables_of_database(from, &source);

    *ret = (struct data_move_plan){ 0 };
    if (!e)
        e = list_tables_of_database(to, ret);
    if (!e)
        e = check_source_and_target_schemas(&source, ret);
    data_move_plan_clear(&source);
    if (e)
        return e;
    remove_excluded_tables(ret);
    e = sort_tables_by_references(ret);
    for (size_t i = 0; i < ret->count; i++)
        collect_primary_key_columns(ret, &ret->tables[i]);
    return e;
}

void append_moved_column_names(const struct moved_table *t, bool keys, struct buf *out)
{
    size_t count = keys ? t->keys : t->count;

    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s\"%s\"", i ? ", " : "", t->columns[keys ? t->key_at[i] : i].name);
}

void append_select_of_moved_table(const struct moved_table *t, bool behind, struct buf *out)
{
    buf_add_lit(out, "select ");
    append_moved_column_names(t, false, out);
    buf_printf(out, " from \"%s\"", t->name);
    if (behind) {
        buf_add_lit(out, " where (");
        append_moved_column_names(t, true, out);
        buf_add_lit(out, ") > (");
        for (size_t i = 0; i < t->keys; i++)
            buf_printf(out, "%s$%zu", i ? ", " : "", i + 1);
        buf_add_lit(out, ")");
    }
    buf_add_lit(out, " order by ");
    append_moved_column_names(t, true, out);
}
