/* table.c - what an order finds, as lines of cells. */
#include "admin/orders/internal.h"

void order_columns(struct order *o, const char *columns)
{
    buf_add_str(&o->out, str_of(columns));
    buf_add_char(&o->out, '\n');
}

/* What would break a line, or a terminal, becomes a space. */
void order_text(struct order *o, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        buf_add_char(&o->out, (unsigned char)text.p[i] < ' ' || text.p[i] == 127 ? ' ' : text.p[i]);
    buf_add_char(&o->out, '\t');
}

void order_id(struct order *o, snowflake id)
{
    buf_add_u64(&o->out, id);
    buf_add_char(&o->out, '\t');
}

void order_int(struct order *o, int64_t number)
{
    buf_add_i64(&o->out, number);
    buf_add_char(&o->out, '\t');
}

void order_bool(struct order *o, bool yes)
{
    order_text(o, yes ? STR("yes") : STR("no"));
}

void order_row_end(struct order *o)
{
    o->out.n--; /* the last tab */
    buf_add_char(&o->out, '\n');
}
