/* export.c - exports the store as a world file. */
#include "json/read.h"
#include "platform/worlds/file.h"

struct export_text {
    const struct world_format *format;
    struct buf text;
};

static enum err export_all(struct tx *tx, void *arg)
{
    struct export_text *out = arg;
    struct exporting ex = { .format = out->format, .tx = tx };
    void *file = arena_alloc(tx_arena(tx), world_entry_size(out->format, NULL));
    struct json j = json_to(&out->text);
    enum err e = world_export_parts(&ex, NULL, 0, file, 1);

    if (e)
        return e;
    buf_reset(&out->text);
    schema_encode_object(&j, world_type(out->format)->schema, file);
    return OK;
}

enum err world_export(struct store *store, const struct domain *const *domains, struct buf *out,
                      bool *ret_importable)
{
    struct export_text compact = { .format = world_format_of(domains) };

    buf_init(&compact.text, SIZE_MAX);
    enum err e = store_run(store, STORE_READ, NULL, export_all, &compact);
    if (!e) {
        *ret_importable = json_valid(buf_str(&compact.text));
        layout_json(buf_str(&compact.text), out);
    }
    buf_clear(&compact.text);
    return e;
}
