/* export.c - exports all data of the store as a world file. */
#include "json/read.h"
#include "platform/worlds/import_export.h"

struct export_output {
    const struct world_file_format *format;
    struct world_file_progress *progress;
    struct buf text;
};

/* The rows that most entries come from. */
static const char COUNT_ENTRIES[] =
    "select (select count(*) from users) + (select count(*) from members) + (select count(*) from "
    "channels where type >= 0) + (select count(*) from messages)";

static enum err count_entries(struct tx *tx, struct world_file_progress *progress)
{
    int64_t total = 0;
    enum err e = progress ? tx_read_int(tx, COUNT_ENTRIES, NO_BIND, &total) : OK;

    world_file_progress_begin(progress, "entries",
                              total < JSON_MAX_VALUES ? total : JSON_MAX_VALUES);
    return e;
}

static enum err export_in_transaction(struct tx *tx, void *arg)
{
    struct export_output *out = arg;
    struct world_file_exporter ex = { .format = out->format, .tx = tx, .progress = out->progress };
    void *file = arena_alloc(tx_arena(tx), world_file_entry_size(out->format, NULL));
    struct json_writer j = json_writer_to_buf(&out->text);
    enum err e = count_entries(tx, out->progress);

    if (!e)
        e = world_file_export_fields(&ex, NULL, 0, file, 1);
    if (e)
        return e;
    buf_reset(&out->text);
    schema_encode_object(&j, world_file_schema_type(out->format)->schema, file);
    return OK;
}

enum err world_file_export(struct store *store, const struct domain *const *domains,
                           struct world_file_progress *progress, struct buf *out,
                           bool *ret_importable)
{
    struct export_output compact = { .format = world_file_format_of_domains(domains),
                                     .progress = progress };

    buf_init(&compact.text, SIZE_MAX);
    enum err e = store_run(store, STORE_READ, NULL, export_in_transaction, &compact);
    if (e == ERR_ANSWER_TOO_LARGE) {
        *ret_importable = false;
        e = OK;
    } else if (!e) {
        *ret_importable = json_is_valid(buf_str(&compact.text));
        world_file_format_json(buf_str(&compact.text), out);
    }
    buf_clear(&compact.text);
    return e;
}
