/* details.c - import of message fields that occur in world files (JSON data sets) only if the
 * messages were copied from another chat server: type, flags, replies, mentions, components and
 * attachments. */
#include "platform/messages/internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "platform/messages/world/world.h"

static const struct type type_duration = { .kind = KIND_REAL };
static const struct type type_long_name = { .kind = KIND_STRING, .max = 2000 };
static const struct field attachment_fields[] = {
    MUST(struct world_attachment, id, type_id),
    MUST(struct world_attachment, filename, type_long_name),
    MAYBE(struct world_attachment, description, type_text),
    MAYBE(struct world_attachment, content_type, type_world_name),
    MAYBE(struct world_attachment, title, type_text),
    MAYBE(struct world_attachment, waveform, type_text),
    MAYBE(struct world_attachment, width, type_count),
    MAYBE(struct world_attachment, height, type_count),
    MAYBE(struct world_attachment, flags, type_count),
    MAYBE(struct world_attachment, duration_secs, type_duration),
    { 0 },
};
static const struct field world_reference_fields[] = {
    MAYBE(struct world_reference, type, type_count),
    MAYBE(struct world_reference, message_id, type_id),
    MAYBE(struct world_reference, channel_id, type_id),
    MAYBE(struct world_reference, guild_id, type_id),
    { 0 },
};

WORLD_OBJECT(attachment, attachment_fields, NULL);
WORLD_SINGLE(reference, world_reference_fields, NULL);

void check_copied_message_fields(struct form *form, const struct json_path *here,
                                 const struct world_message *m)
{
    world_file_check_json_kind(form, here, "components", &m->components, JSON_ARRAY, JSON_OBJECT);
    world_file_check_json_kind(form, here, "sticker_items", &m->sticker_items, JSON_ARRAY,
                               JSON_OBJECT);
    world_file_check_json_kind(form, here, "interaction_metadata", &m->interaction_metadata,
                               JSON_OBJECT, JSON_OBJECT);
}

/* Omits attachments whose file is not in the archive of the copied guild. */
static enum err import_attachment(struct world_file_importer *im, const struct world_attachment *in,
                                  struct message *ret)
{
    char blob[64];
    enum err e;

    attachment_blob_name(in->id, blob);
    struct str name = str_of(blob), area = str_cut(&name, '/');
    struct world_file_attachment note = { .id = in->id,
                                          .area = str_dup_cstring(im->arena, area),
                                          .name = name };
    int64_t size;

    e = world_file_import_archived_file(im, "attachments",
                                        str_printf(im->arena, "%" PRIu64, in->id), &note, &size);
    if (e || size < 0)
        return e;
    *(struct attachment *)list_append(im->arena, &ret->attachments, sizeof(struct attachment)) =
        (struct attachment){ .id = in->id,
                             .filename = sanitize_filename(im->arena, in->filename),
                             .description = in->description,
                             .content_type = in->content_type,
                             .size = size,
                             .width = in->width,
                             .height = in->height,
                             .title = in->title,
                             .waveform = in->waveform,
                             .duration_secs = in->duration_secs,
                             .flags = in->flags };
    return OK;
}

static enum err import_message_mentions(struct world_file_importer *im,
                                        const struct world_message *m, const struct json_path *up,
                                        struct message *ret)
{
    struct list ids = { 0 };
    enum err e =
        world_file_resolve_references(im, &user_naming, 0, &m->mentions, up, "mentions", &ids);

    for (size_t i = 0; !e && i < ids.count; i++)
        *(struct mentioned_user *)list_append(im->arena, &ret->mentions,
                                              sizeof(struct mentioned_user)) =
            (struct mentioned_user){ .user.id = ((snowflake *)ids.items)[i] };
    ret->mention_roles = m->mention_roles.value;
    ret->mention_everyone = m->mention_everyone.value;
    return e;
}

static void import_message_reference(struct world_file_importer *im,
                                     const struct world_reference *in, struct message *ret)
{
    struct message_reference *to = arena_alloc(im->arena, sizeof *to);

    if (!in || in->channel_id.given != GIVEN)
        return;
    *to = (struct message_reference){ .type = in->type.value,
                                      .message_id = in->message_id,
                                      .channel_id = in->channel_id.value,
                                      .guild_id = in->guild_id };
    ret->message_reference = to;
}

enum err import_message_edit(struct world_file_importer *im, const struct world_message *m,
                             const struct json_path *up, struct message *ret)
{
    ret->content = m->content;
    ret->edited_timestamp = m->edited_at;
    if (m->embeds.given == GIVEN)
        ret->embeds = json_remove_white_space(im->arena, m->embeds.value);
    if (m->components.given == GIVEN)
        ret->components = json_remove_white_space(im->arena, m->components.value);
    ret->mentions = (struct list){ 0 };
    return import_message_mentions(im, m, up, ret);
}

enum err import_copied_message_fields(struct world_file_importer *im, const struct world_message *m,
                                      const struct json_path *up, struct message *ret)
{
    const struct world_attachment *files = m->attachments.value.items;
    enum err e = import_message_mentions(im, m, up, ret);

    for (size_t i = 0; !e && i < m->attachments.value.count; i++)
        e = import_attachment(im, &files[i], ret);
    WORLD_SET_IF_GIVEN(ret->type, m->type);
    if (m->flags.given == GIVEN)
        ret->flags |= m->flags.value & ~(int64_t)(MESSAGE_EPHEMERAL | MESSAGE_LOADING);
    ret->tts = m->tts.value;
    if (m->components.given == GIVEN)
        ret->components = json_remove_white_space(im->arena, m->components.value);
    WORLD_SET_OPT_IF_GIVEN(ret->sticker_items, m->sticker_items);
    WORLD_SET_OPT_IF_GIVEN(ret->interaction_metadata, m->interaction_metadata);
    WORLD_SET_OPT_IF_GIVEN(ret->application_id, m->application_id);
    if (!ret->message_reference)
        import_message_reference(im, m->reference.value, ret);
    return e;
}
