/* tables.c - copies the rows of a move table by table, and compares them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/move/internal.h"

enum {
    BATCH_ROWS = 10000,
    BATCH_BYTES = 4 * 1024 * 1024,
    TELL_EVERY = 1000, /* rows */
};

enum err move_table_count(struct move_side *s, const struct move_table *t, int64_t *ret)
{
    char sql[256], answer[32] = "";

    snprintf(sql, sizeof sql, "select count(*) from \"%s\"", t->name);
    enum err e = s->engine->ask(s, sql, answer, sizeof answer);
    *ret = strtoll(answer, NULL, 10);
    return e;
}

static enum err count_rows(struct move_run *m)
{
    int64_t rows = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < m->plan.count; i++) {
        e = move_table_count(&m->from, &m->plan.tables[i], &rows);
        m->total += 2 * rows;
    }
    return e;
}

static void tell_rows(struct move_run *m, int64_t more)
{
    m->done += more;
    if (m->o->tell)
        m->o->tell(m->o->arg, "rows", m->done < m->total ? m->done : m->total, m->total);
}

static void add_hex(struct move_run *m, struct str bytes)
{
    buf_add_str(&m->sql, str_of(m->to.engine->hex_before));
    for (size_t i = 0; i < bytes.n; i++)
        buf_printf(&m->sql, "%02x", (unsigned char)bytes.p[i]);
    buf_add_lit(&m->sql, "'");
}

static enum err keep_state(struct move_run *m, const struct move_table *t,
                           const struct move_state *st)
{
    buf_printf(&m->sql,
               "insert into move_tables (name, row_count, digest, last_key, checked) values "
               "('%s', %" PRId64 ", ",
               t->name, st->rows);
    add_hex(m, str_slice((const char *)st->sum, sizeof st->sum));
    buf_add_lit(&m->sql, ", ");
    add_hex(m, buf_str(&st->last_key));
    buf_printf(&m->sql,
               ", %d) on conflict (name) do update set row_count = excluded.row_count, "
               "digest = excluded.digest, last_key = excluded.last_key, "
               "checked = excluded.checked",
               st->checked);
    return move_run_script(m);
}

static enum err batch_begin(struct move_run *m, const struct move_table *t)
{
    enum err e = m->to.engine->script(&m->to, "begin");

    return e ? e : m->to.engine->put_begin(&m->to, t);
}

static enum err batch_end(struct move_run *m, const struct move_table *t,
                          const struct move_state *st)
{
    enum err e = m->to.engine->put_end(&m->to);

    if (!e)
        e = keep_state(m, t, st);
    return e ? e : m->to.engine->script(&m->to, "commit");
}

static enum err copy_table(struct move_run *m, const struct move_table *t, struct move_state *st)
{
    int64_t rows = 0;
    size_t bytes = 0;
    bool more = true;
    enum err e = m->from.engine->read(&m->from, t, buf_str(&st->last_key));

    while (!e && !(e = m->from.engine->next(&m->from, t, m->row, &more)) && more) {
        if (!rows)
            e = batch_begin(m, t);
        if (!e)
            e = m->to.engine->put(&m->to, t, m->row);
        move_state_add(st, t, m->row, &m->scratch);
        rows++;
        bytes += m->scratch.n;
        if (e || (rows < BATCH_ROWS && bytes < BATCH_BYTES))
            continue;
        e = batch_end(m, t, st);
        tell_rows(m, rows);
        rows = 0;
        bytes = 0;
    }
    if (!e && rows)
        e = batch_end(m, t, st);
    if (!e)
        tell_rows(m, rows);
    return e;
}

/* Computes the progress of the first `most` rows in key order; -1: of all rows. */
static enum err walk_table(struct move_run *m, struct move_side *s, const struct move_table *t,
                           int64_t most, struct move_state *ret)
{
    bool more = true, tells = s == &m->to;
    enum err e = s->engine->read(s, t, STR(""));

    move_state_init(ret);
    while (!e && !(e = s->engine->next(s, t, m->row, &more)) && more) {
        if (ret->rows == most)
            continue;
        move_state_add(ret, t, m->row, &m->scratch);
        if (tells && ret->rows % TELL_EVERY == 0)
            tell_rows(m, TELL_EVERY);
    }
    if (tells)
        tell_rows(m, ret->rows % TELL_EVERY);
    move_state_clear(ret);
    return e;
}

/* Invalidates the move, so that the next run starts from the beginning: rows read at two different
 * times would be inconsistent. */
static enum err void_move(struct move_run *m, const struct move_table *t, const char *which)
{
    log_error(
        "move: '%s' has changed in the %s since the move began; run the command again, and it "
        "starts from the beginning",
        t->name, which);
    buf_add_lit(&m->sql, "update move_source set void = 1");
    enum err e = move_run_script(m);
    return e ? e : ERR_UNAVAILABLE;
}

/* Compares the rows that an earlier run has copied with the source, because a server may have
 * changed the source between the runs. */
static enum err check_earlier(struct move_run *m)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < m->plan.count; i++) {
        const struct move_table *t = &m->plan.tables[i];
        const struct move_state *st = &m->states[i];
        struct move_state now;

        if (!st->was_there)
            continue;
        e = walk_table(m, &m->from, t, st->checked ? -1 : st->rows, &now);
        if (!e && !move_state_same(&now, st))
            e = void_move(m, t, "source");
        tell_rows(m, st->checked ? 2 * st->rows : st->rows);
    }
    return e;
}

static enum err compare_table(struct move_run *m, const struct move_table *t, struct move_state *st)
{
    struct move_state got;
    enum err e = walk_table(m, &m->to, t, -1, &got);

    if (e || !move_state_same(&got, st))
        return e ? e : void_move(m, t, "target");
    st->checked = true;
    return keep_state(m, t, st);
}

enum err move_tables(struct move_run *m)
{
    enum err e = count_rows(m);

    if (!e)
        e = check_earlier(m);
    for (size_t i = 0; !e && i < m->plan.count; i++) {
        const struct move_table *t = &m->plan.tables[i];
        struct move_state *st = &m->states[i];

        if (!st->checked)
            e = copy_table(m, t, st);
        if (!e && !st->checked)
            e = compare_table(m, t, st);
        m->report->tables++;
        m->report->rows += st->rows;
    }
    return e;
}
