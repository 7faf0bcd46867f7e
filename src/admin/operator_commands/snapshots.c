/* snapshots.c - operator commands that make, list, restore and delete database snapshots. */
#include "store/backup/snapshots.h"

#include "admin/operator_commands/internal.h"

static void add_snapshot_row(void *arg, const struct listed_snapshot *s)
{
    OPERATOR_ROW((struct running_operator_command *)arg, v_text(s->name), v_int(s->bytes),
                 v_int(s->made_at_us));
}

/* The JSON output also contains how many restores were tried and succeeded. */
enum err operator_snapshot_list(struct running_operator_command *o)
{
    int tried, restored;

    snapshot_list(api_get_options(o->api)->data, add_snapshot_row, o);
    if (o->as_json) {
        struct str rows = buf_move_to_arena(&o->out, o->arena);

        snapshot_get_restore_counts(&tried, &restored);
        buf_printf(&o->out, "{\"tried\":%d,\"restored\":%d,\"snapshots\":[%.*s]}", tried, restored,
                   STR_ARGS(rows));
    }
    return OK;
}

enum err operator_snapshot_count_restores(struct running_operator_command *o)
{
    int tried, restored;

    snapshot_get_restore_counts(&tried, &restored);
    OPERATOR_ROW(o, v_int(tried), v_int(restored));
    return OK;
}

/* Outputs a message about a snapshot as a row, or as an error if it begins with "error: ". */
static enum err reply_with_store_message(struct running_operator_command *o, struct buf *sentence)
{
    struct str text = buf_move_to_arena(sentence, o->arena);

    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (str_starts_with(text, STR("error: ")))
        return operator_command_set_error_sentence(
            o, ERR_BAD_REQUEST, str_dup_cstring(o->arena, str_skip_bytes(text, 7)));
    if (!o->as_json)
        OPERATOR_ROW(o, v_text(text));
    return OK;
}

enum err operator_snapshot_create(struct running_operator_command *o)
{
    struct buf out;

    buf_init(&out, 4096);
    snapshot_create(api_get_options(o->api)->store, api_get_options(o->api)->data, o->words[0],
                    &out);
    return reply_with_store_message(o, &out);
}

enum err operator_snapshot_restore(struct running_operator_command *o)
{
    struct buf out;

    buf_init(&out, 4096);
    snapshot_check_and_request_restore(api_get_options(o->api)->store,
                                       api_get_options(o->api)->data, o->words[0], &out);
    return reply_with_store_message(o, &out);
}

enum err operator_snapshot_delete(struct running_operator_command *o)
{
    struct buf out;

    buf_init(&out, 4096);
    snapshot_delete(api_get_options(o->api)->data, o->words[0], &out);
    return reply_with_store_message(o, &out);
}
