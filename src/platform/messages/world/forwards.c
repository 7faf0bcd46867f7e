/* forwards.c - import and export of forwarded snapshots, without files, in world files (JSON data
 * sets). */
#include "base/mem.h"
#include "model/fields/rows.h"
#include "model/message.h"
#include "platform/message_parts/column_json.h"
#include "platform/messages/world/world.h"

/* Stored fields of a snapshot, in the order of the API object. */
/* clang-format off */
#define SNAPSHOT_FIELDS                                                                               \
    MAYBE(struct world_forward, type, type_count),                                                 \
    MUST(struct world_forward, content, type_text),                                                \
    MUST(struct world_forward, timestamp, type_time),                                              \
    MAYBE(struct world_forward, edited_timestamp, type_time),                                      \
    MAYBE(struct world_forward, flags, type_count),                                                \
    MAYBE(struct world_forward, mentions, type_raw),                                               \
    MAYBE(struct world_forward, mention_roles, type_ids),                                          \
    MAYBE(struct world_forward, embeds, type_raw),                                                 \
    MAYBE(struct world_forward, components, type_raw),                                             \
    MAYBE(struct world_forward, sticker_items, type_raw)
/* clang-format on */

static const struct field snapshot_fields[] = { SNAPSHOT_FIELDS, { 0 } };
static const struct schema snapshot_rows = { .size = sizeof(struct world_forward),
                                             .fields = snapshot_fields };
static const struct type snapshot_type = { .kind = KIND_OBJECT, .schema = &snapshot_rows };

static const struct field forward_fields[] = {
    MAYBE(struct world_forward, message_id, type_id),
    MUST(struct world_forward, channel_id, type_id),
    MAYBE(struct world_forward, guild_id, type_id),
    SNAPSHOT_FIELDS,
    { 0 },
};

static void check_forward_of_world_message(struct form *form, const struct json_path *here,
                                           const void *object)
{
    const struct world_forward *f = object;

    world_file_check_json_kind(form, here, "mentions", &f->mentions, JSON_ARRAY, JSON_OBJECT);
    world_file_check_json_kind(form, here, "embeds", &f->embeds, JSON_ARRAY, JSON_OBJECT);
    world_file_check_json_kind(form, here, "components", &f->components, JSON_ARRAY, JSON_OBJECT);
    world_file_check_json_kind(form, here, "sticker_items", &f->sticker_items, JSON_ARRAY,
                               JSON_OBJECT);
}

WORLD_SINGLE(forward, forward_fields, check_forward_of_world_message);

/* --- import from a world file -------------------------------------------------------- */

static struct opt_str remove_white_space_of_json_list(const struct world_file_importer *im,
                                                      struct opt_str json)
{
    return opt_str_or_null(json.given == GIVEN ? json_remove_white_space(im->arena, json.value)
                                               : STR("[]"));
}

/* Returns the JSON of a snapshot as the message's row stores it: up to the key "attachments". */
static struct str encode_forward(const struct world_file_importer *im,
                                 const struct world_forward *in)
{
    struct world_forward f = *in;

    f.type = opt_int_present(in->type.value);
    f.flags = opt_int_present(in->flags.value);
    if (in->edited_timestamp.given != GIVEN)
        f.edited_timestamp.given = GIVEN_NULL;
    f.mentions = remove_white_space_of_json_list(im, in->mentions);
    f.mention_roles.given = GIVEN;
    f.embeds = remove_white_space_of_json_list(im, in->embeds);
    f.components = remove_white_space_of_json_list(im, in->components);
    if (in->sticker_items.given == GIVEN)
        f.sticker_items = remove_white_space_of_json_list(im, in->sticker_items);
    else
        f.sticker_items.given = ABSENT;
    struct str text = encode_json_for_database_column(im->arena, &snapshot_type, &f);
    return STR_CONCAT(im->arena, str_slice(text.p, text.n - 1), STR(",\"attachments\":"));
}

void import_forwarded_snapshot(struct world_file_importer *im, const struct world_forward *in,
                               struct message *ret)
{
    struct message_reference *to = arena_alloc(im->arena, sizeof *to);

    if (!in)
        return;
    *to = (struct message_reference){ .message_id = in->message_id,
                                      .channel_id = in->channel_id,
                                      .guild_id = in->guild_id };
    ret->message_reference = to;
    ret->snapshot = opt_str_or_null(encode_forward(im, in));
    ret->flags |= MESSAGE_HAS_SNAPSHOT;
}

/* --- export to a world file ---------------------------------------------------------- */

static const char READ_FORWARDS[] =
    "select id, snapshot, reference_message_id, reference_channel_id, reference_guild_id from "
    "messages where channel_id = $1 and snapshot is not null order by id";

/* Sets fields whose value is the default of an import to absent, so that the exported file does not
 * contain them. */
static void omit_default_fields_of_forward(struct world_forward *f)
{
    struct opt_str *const lists[] = { &f->mentions, &f->embeds, &f->components };

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (str_is(lists[i]->value, "[]"))
            lists[i]->given = ABSENT;
    if (f->edited_timestamp.given != GIVEN)
        f->edited_timestamp.given = ABSENT;
    if (!f->type.value)
        f->type.given = ABSENT;
    if (!f->flags.value)
        f->flags.given = ABSENT;
    if (!f->mention_roles.value.count)
        f->mention_roles.given = ABSENT;
}

static void forward_from_row(const struct rows *r, struct opt_object *ret)
{
    struct arena *arena = tx_arena(r->tx);
    struct form form = { .arena = arena };
    void *taken;

    if (schema_decode(&snapshot_type, STR_CONCAT(arena, row_text(r, 1), STR("[]}")), &form, &taken))
        return;
    struct world_forward *f = taken;
    f->message_id = row_id_or_absent(r, 2);
    f->channel_id = row_id(r, 3);
    f->guild_id = row_id_or_absent(r, 4);
    omit_default_fields_of_forward(f);
    *ret = (struct opt_object){ GIVEN, f };
}

enum err export_forwarded_snapshots(struct world_file_exporter *ex, struct world_file_entries to)
{
    struct rows r;
    enum err e = tx_query(ex->tx, READ_FORWARDS, BIND(v_id(ex->channel)), &r);

    if (e)
        return e;
    to.member = offsetof(struct world_message, forward);
    while (rows_next(&r)) {
        struct opt_object *forward = world_file_entry_find_field(&to, row_id(&r, 0));

        if (forward)
            forward_from_row(&r, forward);
    }
    return rows_end(&r);
}
