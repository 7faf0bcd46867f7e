/* export.c - exports all data of the store as a world file. */
#include "json/read.h"
#include "platform/worlds/import_export.h"

struct export_output {
    const struct world_file_format *format;
    struct world_file_progress *progress;
    struct buf text;
};

static enum err begin_export_progress(const struct export_output *out, struct tx *tx)
{
    int64_t total = 0;
    enum err e = out->progress ? world_file_estimate_entries(out->format, tx, &total) : OK;

    world_file_progress_begin(out->progress, "entries",
                              total < JSON_MAX_VALUES ? total : JSON_MAX_VALUES);
    return e;
}

static enum err export_world_in_transaction(struct tx *tx, void *arg)
{
    struct export_output *out = arg;
    struct world_file_exporter ex = { .format = out->format, .tx = tx, .progress = out->progress };
    void *file = arena_alloc(tx_arena(tx), world_file_entry_size(out->format, NULL));
    struct json_writer j = json_writer_to_buf(&out->text);
    enum err e = begin_export_progress(out, tx);

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
    enum err e = store_run_transaction_and_wait(store, STORE_READ, NULL,
                                                export_world_in_transaction, &compact);
    if (e == ERR_ANSWER_TOO_LARGE) {
        *ret_importable = false;
        e = OK;
    } else if (!e) {
        *ret_importable = json_is_valid(buf_as_str(&compact.text));
        world_file_format_json(buf_as_str(&compact.text), out);
    }
    buf_clear(&compact.text);
    return e;
}
