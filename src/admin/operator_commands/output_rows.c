/* output_rows.c - writes output rows of operator commands as tab-separated lines or as JSON
 * objects. */
#include <stdio.h>

#include "base/timestamp.h"
#include "json/write.h"
#include "admin/operator_commands/internal.h"

static struct str format_column_value(char kind, const struct value *v,
                                      char room[TIMESTAMP_TEXT_SIZE])
{
    if (v->kind == VALUE_TEXT)
        return v->s;
    int64_t n = v->kind == VALUE_REAL ? (int64_t)v->d : v->kind == VALUE_INT ? v->i : 0;
    if (kind == '?')
        return n ? STR("yes") : STR("no");
    if (kind == '@')
        return n ? str_slice(room, timestamp_format(n, room)) : STR("");
    if (v->kind == VALUE_NULL && kind == '$')
        return STR("");
    return str_slice(room, (size_t)snprintf(room, TIMESTAMP_TEXT_SIZE,
                                            kind == '&' ? "%llu" : "%lld", (long long)n));
}

/* Appends a value. Control characters become spaces, because they would break the line or the
 * terminal. */
static void append_printable_cell(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        buf_add_char(out, (unsigned char)text.p[i] < ' ' || text.p[i] == 127 ? ' ' : text.p[i]);
}

static void append_column_json_field(struct json_writer *j, struct str column,
                                     const struct value *v)
{
    char room[TIMESTAMP_TEXT_SIZE], kind = column.p[0];
    struct str text = format_column_value(kind, v, room);

    json_write_key(j, str_skip_bytes(column, 1));
    if (v->kind == VALUE_NULL)
        json_write_null(j);
    else if (kind == '?')
        json_write_bool(j, str_is(text, "yes"));
    else if (kind == '#')
        json_write_raw(j, text);
    else
        json_write_text(j, text);
}

void operator_command_write_output_row(struct buf *out, const char *names, bool as_json,
                                       const struct value *values)
{
    struct json_writer j = json_writer_to_buf(out);
    struct str columns = str_of(names);
    char room[TIMESTAMP_TEXT_SIZE];

    if (as_json && out->n)
        buf_add_char(out, ',');
    if (as_json)
        json_begin_object(&j);
    for (const struct value *v = values; columns.n; v++) {
        struct str column = str_cut(&columns, '\t');

        if (as_json) {
            append_column_json_field(&j, column, v);
        } else {
            append_printable_cell(out, format_column_value(column.p[0], v, room));
            buf_add_char(out, columns.n ? '\t' : '\n');
        }
    }
    if (as_json)
        json_end_object(&j);
}

void operator_command_add_output_row(struct running_operator_command *o, const struct value *values)
{
    operator_command_write_output_row(&o->out, o->row->columns, o->as_json, values);
}

enum err operator_command_set_error_sentence(struct running_operator_command *o, enum err e,
                                             const char *problem)
{
    o->problem = problem;
    return e;
}

enum err operator_command_run_query(struct call *call, struct running_operator_command *o)
{
    const struct operator_command_row *row = o->row;
    struct rows rows;
    snowflake id;
    bool found = row->is_list;
    enum err e = OK;

    if (row->is_list)
        e = tx_query(call->tx, row->query, BIND(v_id(o->after), v_int(o->limit)), &rows);
    else if (!snowflake_parse(o->words[0], &id))
        return operator_command_set_error_sentence(o, ERR_NOT_FOUND, row->unknown);
    else
        e = tx_query(call->tx, row->query, BIND(v_id(id)), &rows);
    if (e)
        return e;
    for (; rows_next(&rows); found = true)
        operator_command_add_output_row(o, rows.row);
    e = rows_end(&rows);
    return e || found ? e : operator_command_set_error_sentence(o, ERR_NOT_FOUND, row->unknown);
}
