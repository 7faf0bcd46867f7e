/* snapshots.c - operator commands that make, list, restore and delete database snapshots. */
#include "store/backup/snapshots.h"

#include "admin/orders/internal.h"

static void snapshot_row_add(void *arg, const struct snapshot *s)
{
    ORDER_ROW((struct order *)arg, v_text(s->name), v_int(s->bytes), v_int(s->made_at_us));
}

/* JSON output also has the counts. */
enum err order_snapshot_list(struct order *o)
{
    int tried, restored;

    snapshot_each(api_options(o->api)->data, snapshot_row_add, o);
    if (o->as_json) {
        struct str rows = buf_take(&o->out, o->arena);

        snapshot_count(&tried, &restored);
        buf_printf(&o->out, "{\"tried\":%d,\"restored\":%d,\"snapshots\":[%.*s]}", tried, restored,
                   STR_FMT(rows));
    }
    return OK;
}

enum err order_snapshot_count(struct order *o)
{
    int tried, restored;

    snapshot_count(&tried, &restored);
    ORDER_ROW(o, v_int(tried), v_int(restored));
    return OK;
}

/* Turns a sentence of the store into a row or an error. */
static enum err answer_sentence(struct order *o, struct buf *sentence)
{
    struct str text = buf_take(sentence, o->arena);

    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (str_starts(text, STR("error: ")))
        return order_refuse(o, ERR_BAD_REQUEST, str_dupz(o->arena, str_from(text, 7)));
    if (!o->as_json)
        ORDER_ROW(o, v_text(text));
    return OK;
}

enum err order_snapshot_make(struct order *o)
{
    struct buf out;

    buf_init(&out, 4096);
    snapshot_make(api_options(o->api)->store, api_options(o->api)->data, o->words[0], &out);
    return answer_sentence(o, &out);
}

enum err order_snapshot_restore(struct order *o)
{
    struct buf out;

    buf_init(&out, 4096);
    snapshot_ask_back(api_options(o->api)->store, api_options(o->api)->data, o->words[0], &out);
    return answer_sentence(o, &out);
}

enum err order_snapshot_delete(struct order *o)
{
    struct buf out;

    buf_init(&out, 4096);
    snapshot_drop(api_options(o->api)->data, o->words[0], &out);
    return answer_sentence(o, &out);
}
