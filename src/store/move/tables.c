/* tables.c - copies the rows of a move table by table, and compares them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/move/internal.h"

enum {
    BATCH_ROWS = 10000,
    BATCH_BYTES = 4 * 1024 * 1024,
    PROGRESS_INTERVAL_ROWS = 1000, /* rows */
};

enum err data_move_count_rows(struct data_move_endpoint *s, const struct moved_table *t,
                              int64_t *ret)
{
    char sql[256], answer[32] = "";

    snprintf(sql, sizeof sql, "select count(*) from \"%s\"", t->name);
    enum err e = s->engine->query_text(s, sql, answer, sizeof answer);
    *ret = strtoll(answer, NULL, 10);
    return e;
}

static enum err count_source_rows(struct data_move_in_progress *m)
{
    int64_t rows = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < m->plan.count; i++) {
        e = data_move_count_rows(&m->from, &m->plan.tables[i], &rows);
        m->total += 2 * rows;
    }
    return e;
}

static void report_row_progress(struct data_move_in_progress *m, int64_t more)
{
    m->done += more;
    if (m->o->on_progress)
        m->o->on_progress(m->o->arg, "rows", m->done < m->total ? m->done : m->total, m->total);
}

static void append_hex_literal(struct data_move_in_progress *m, struct str bytes)
{
    buf_add_str(&m->sql, str_of(m->to.engine->hex_before));
    for (size_t i = 0; i < bytes.n; i++)
        buf_printf(&m->sql, "%02x", (unsigned char)bytes.p[i]);
    buf_add_lit(&m->sql, "'");
}

static enum err save_table_progress(struct data_move_in_progress *m, const struct moved_table *t,
                                    const struct data_move_table_progress *st)
{
    buf_printf(&m->sql,
               "insert into move_tables (name, row_count, digest, last_key, checked) values "
               "('%s', %" PRId64 ", ",
               t->name, st->rows);
    append_hex_literal(m, str_slice((const char *)st->sum, sizeof st->sum));
    buf_add_lit(&m->sql, ", ");
    append_hex_literal(m, buf_as_str(&st->last_key));
    buf_printf(&m->sql,
               ", %d) on conflict (name) do update set row_count = excluded.row_count, "
               "digest = excluded.digest, last_key = excluded.last_key, "
               "checked = excluded.checked",
               st->checked);
    return data_move_run_sql_on_target(m);
}

static enum err begin_row_batch(struct data_move_in_progress *m, const struct moved_table *t)
{
    enum err e = m->to.engine->script(&m->to, "begin");

    return e ? e : m->to.engine->put_begin(&m->to, t);
}

static enum err commit_row_batch(struct data_move_in_progress *m, const struct moved_table *t,
                                 const struct data_move_table_progress *st)
{
    enum err e = m->to.engine->put_end(&m->to);

    if (!e)
        e = save_table_progress(m, t, st);
    return e ? e : m->to.engine->script(&m->to, "commit");
}

static enum err copy_table(struct data_move_in_progress *m, const struct moved_table *t,
                           struct data_move_table_progress *st)
{
    int64_t rows = 0;
    size_t bytes = 0;
    bool more = true;
    enum err e = m->from.engine->read(&m->from, t, buf_as_str(&st->last_key));

    while (!e && !(e = m->from.engine->next(&m->from, t, m->row, &more)) && more) {
        if (!rows)
            e = begin_row_batch(m, t);
        if (!e)
            e = m->to.engine->put(&m->to, t, m->row);
        data_move_progress_add_row(st, t, m->row, &m->scratch);
        rows++;
        bytes += m->scratch.n;
        if (e || (rows < BATCH_ROWS && bytes < BATCH_BYTES))
            continue;
        e = commit_row_batch(m, t, st);
        report_row_progress(m, rows);
        rows = 0;
        bytes = 0;
    }
    if (!e && rows)
        e = commit_row_batch(m, t, st);
    if (!e)
        report_row_progress(m, rows);
    return e;
}

/* Computes row count and sum of digests of the first `most` rows in key order; if `most` is -1, of
 * all rows. */
static enum err compute_table_digest(struct data_move_in_progress *m, struct data_move_endpoint *s,
                                     const struct moved_table *t, int64_t most,
                                     struct data_move_table_progress *ret)
{
    bool more = true, reports = s == &m->to;
    enum err e = s->engine->read(s, t, STR(""));

    data_move_progress_init(ret);
    while (!e && !(e = s->engine->next(s, t, m->row, &more)) && more) {
        if (ret->rows == most)
            continue;
        data_move_progress_add_row(ret, t, m->row, &m->scratch);
        if (reports && ret->rows % PROGRESS_INTERVAL_ROWS == 0)
            report_row_progress(m, PROGRESS_INTERVAL_ROWS);
    }
    if (reports)
        report_row_progress(m, ret->rows % PROGRESS_INTERVAL_ROWS);
    data_move_progress_clear(ret);
    return e;
}

/* Marks the move as invalid, so that the next run starts from the beginning: rows that were read at
 * two different times would be inconsistent. */
static enum err invalidate_move_of_changed_table(struct data_move_in_progress *m,
                                                 const struct moved_table *t, const char *which)
{
    log_error(
        "move: the table '%s' has changed in the %s since the move began; run the command again, and it "
        "starts from the beginning",
        t->name, which);
    buf_add_lit(&m->sql, "update move_source set void = 1");
    enum err e = data_move_run_sql_on_target(m);
    return e ? e : ERR_UNAVAILABLE;
}

/* Compares the rows that an earlier run has copied with the source, because a server may have
 * changed the source between the runs. */
static enum err check_rows_of_earlier_run(struct data_move_in_progress *m)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < m->plan.count; i++) {
        const struct moved_table *t = &m->plan.tables[i];
        const struct data_move_table_progress *st = &m->states[i];
        struct data_move_table_progress now;

        if (!st->resumed)
            continue;
        e = compute_table_digest(m, &m->from, t, st->checked ? -1 : st->rows, &now);
        if (!e && !data_move_progress_is_equal(&now, st))
            e = invalidate_move_of_changed_table(m, t, "source");
        report_row_progress(m, st->checked ? 2 * st->rows : st->rows);
    }
    return e;
}

static enum err compare_copied_table_with_source(struct data_move_in_progress *m,
                                                 const struct moved_table *t,
                                                 struct data_move_table_progress *st)
{
    struct data_move_table_progress got;
    enum err e = compute_table_digest(m, &m->to, t, -1, &got);

    if (e || !data_move_progress_is_equal(&got, st))
        return e ? e : invalidate_move_of_changed_table(m, t, "target");
    st->checked = true;
    return save_table_progress(m, t, st);
}

enum err copy_and_compare_moved_tables(struct data_move_in_progress *m)
{
    enum err e = count_source_rows(m);

    if (!e)
        e = check_rows_of_earlier_run(m);
    for (size_t i = 0; !e && i < m->plan.count; i++) {
        const struct moved_table *t = &m->plan.tables[i];
        struct data_move_table_progress *st = &m->states[i];

        if (!st->checked)
            e = copy_table(m, t, st);
        if (!e && !st->checked)
            e = compare_copied_table_with_source(m, t, st);
        m->report->tables++;
        m->report->rows += st->rows;
    }
    return e;
}
