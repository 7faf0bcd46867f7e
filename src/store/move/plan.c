/* plan.c - determines which tables are moved, and in which order, from the schemas of both sides.
 *
 * Tables of one engine only, and tables about running servers and sessions, are not moved. All
 * other tables must exist on both sides with the same columns. */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"

/* Tables that are not moved. A name that ends with * is a prefix. */
static const char *const stay_behind[] = {
    "migrations", /* written by the migrations themselves */
    "expanded_steps",
    "blobs", /* copied separately, as files */
    "blob_parts",
    "move_source",
    "move_tables",
    "message_index",
    "message_index_*",
    "gif_index",
    "gif_index_*", /* rebuilt in the target */
    "log",
    "log_*",
    "nodes", /* state of the cluster */
    /* Sessions are not moved: clients identify again. */
    "parked_sessions",
    "parking",
    "session_homes",
    "past_servers",
};

static bool stays_behind(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(stay_behind); i++) {
        size_t n = strlen(stay_behind[i]);

        if (stay_behind[i][n - 1] == '*' ? strncmp(name, stay_behind[i], n - 1) == 0
                                         : strcmp(name, stay_behind[i]) == 0)
            return true;
    }
    return false;
}

static void *plan_grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 16;
    return mem_resize(items, *room * size);
}

static struct move_table *plan_find(const struct move_plan *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->tables[i].name, name) == 0)
            return &p->tables[i];
    return NULL;
}

struct move_table *move_plan_table(struct move_plan *p, struct str name)
{
    const char *copy = str_dupz(p->arena, name);
    struct move_table *t = plan_find(p, copy);

    if (t)
        return t;
    p->tables = plan_grow(p->tables, p->count, &p->room, sizeof *p->tables);
    t = &p->tables[p->count++];
    *t = (struct move_table){ .name = copy };
    return t;
}

void move_table_add(struct move_plan *p, struct move_table *t, struct move_column column)
{
    column.name = str_dupz(p->arena, str_of(column.name));
    t->columns = plan_grow(t->columns, t->count, &t->room, sizeof *t->columns);
    t->columns[t->count++] = column;
    t->keys += column.key != 0;
}

void move_table_refer(struct move_plan *p, struct move_table *t, struct str parent)
{
    t->parents = plan_grow(t->parents, t->parent_count, &t->parent_room, sizeof *t->parents);
    t->parents[t->parent_count++] = str_dupz(p->arena, parent);
}

void move_plan_clear(struct move_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        mem_free(p->tables[i].columns);
        mem_free(p->tables[i].parents);
    }
    mem_free(p->tables);
    arena_free(p->arena);
    *p = (struct move_plan){ 0 };
}

static enum err run_list(struct tx *tx, void *arg)
{
    struct move_side *s = ((void **)arg)[0];
    struct move_plan *p = ((void **)arg)[1];

    /* Clears the plan, because the transaction may be retried. */
    move_plan_clear(p);
    p->arena = arena_new();
    return s->engine->list(tx, p);
}

static enum err plan_list(struct move_side *s, struct move_plan *ret)
{
    void *both[] = { s, ret };

    return store_run(s->store, STORE_READ, NULL, run_list, both);
}

static enum err plan_differs(const char *table, const char *column, const char *why)
{
    log_error("move: the table '%s'%s%s %s; this program does not know how to move it", table,
              column ? ", column " : "", column ? column : "", why);
    return ERR_INTERNAL;
}

static const struct move_column *find_column(const struct move_table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return &t->columns[i];
    return NULL;
}

static enum err compare_tables(const struct move_table *from, const struct move_table *to)
{
    if (!from || !to)
        return plan_differs((from ? from : to)->name, NULL, "exists in one database only");
    if (from->count != to->count)
        return plan_differs(to->name, NULL, "has different columns in the two databases");
    if (!to->keys || to->count > MOVE_COLUMNS)
        return plan_differs(to->name, NULL, "has no primary key, or too many columns");
    for (size_t i = 0; i < to->count; i++) {
        const struct move_column *c = &to->columns[i], *other = find_column(from, c->name);

        if (!other || other->key != c->key)
            return plan_differs(to->name, c->name, "differs between the two databases");
        if (c->kind == VALUE_NULL || c->kind != other->kind)
            return plan_differs(to->name, c->name, "has different types in the two databases");
    }
    return OK;
}

static enum err compare_plans(const struct move_plan *from, const struct move_plan *to)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < from->count; i++)
        if (!stays_behind(from->tables[i].name))
            e = compare_tables(&from->tables[i], plan_find(to, from->tables[i].name));
    for (size_t i = 0; !e && i < to->count; i++)
        if (!stays_behind(to->tables[i].name))
            e = compare_tables(plan_find(from, to->tables[i].name), &to->tables[i]);
    return e;
}

static bool parents_are_planned(const struct move_plan *all, const struct move_table *t)
{
    for (size_t i = 0; i < t->parent_count; i++) {
        const struct move_table *parent = plan_find(all, t->parents[i]);

        if (parent && !parent->is_planned)
            return false;
    }
    return true;
}

static void find_keys(struct move_plan *p, struct move_table *t)
{
    size_t *at = arena_array(p->arena, size_t, t->keys);

    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i].key)
            at[t->columns[i].key - 1] = i;
    t->key_at = at;
}

/* Repeatedly moves tables to the front whose referenced tables are at the front already. */
static enum err plan_order(struct move_plan *p)
{
    size_t done = 0;

    for (size_t before = SIZE_MAX; done < p->count && before != done;) {
        before = done;
        for (size_t i = done; i < p->count; i++) {
            struct move_table t = p->tables[i];

            if (!parents_are_planned(p, &t))
                continue;
            t.is_planned = true;
            p->tables[i] = p->tables[done];
            p->tables[done++] = t;
        }
    }
    return done == p->count
               ? OK
               : plan_differs(p->tables[done].name, NULL, "is part of a cycle of foreign keys");
}

static void drop_behind(struct move_plan *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (!stays_behind(p->tables[i].name)) {
            p->tables[kept++] = p->tables[i];
            continue;
        }
        mem_free(p->tables[i].columns);
        mem_free(p->tables[i].parents);
    }
    p->count = kept;
}

enum err move_plan_make(struct move_side *from, struct move_side *to, struct move_plan *ret)
{
    struct move_plan source = { 0 };
    enum err e = plan_list(from, &source);

    *ret = (struct move_plan){ 0 };
    if (!e)
        e = plan_list(to, ret);
    if (!e)
        e = compare_plans(&source, ret);
    move_plan_clear(&source);
    if (e)
        return e;
    drop_behind(ret);
    e = plan_order(ret);
    for (size_t i = 0; i < ret->count; i++)
        find_keys(ret, &ret->tables[i]);
    return e;
}

void move_names(const struct move_table *t, bool keys, struct buf *out)
{
    size_t count = keys ? t->keys : t->count;

    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s\"%s\"", i ? ", " : "", t->columns[keys ? t->key_at[i] : i].name);
}

void move_select(const struct move_table *t, bool behind, struct buf *out)
{
    buf_add_lit(out, "select ");
    move_names(t, false, out);
    buf_printf(out, " from \"%s\"", t->name);
    if (behind) {
        buf_add_lit(out, " where (");
        move_names(t, true, out);
        buf_add_lit(out, ") > (");
        for (size_t i = 0; i < t->keys; i++)
            buf_printf(out, "%s$%zu", i ? ", " : "", i + 1);
        buf_add_lit(out, ")");
    }
    buf_add_lit(out, " order by ");
    move_names(t, true, out);
}
