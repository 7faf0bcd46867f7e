/* files.c - files that users upload with a command option or a modal. */
#include "interactions/invoke.h"

#include "model/fields/rows.h"
#include "platform/messages/uploads.h"

/* Groups of file types; a command option can require one of these groups. */
static const struct {
    const char *name, *endings[8];
} file_type_groups[] = {
    { "image", { "png", "gif", "jpg", "jpeg", "jfif", "webp", "avif" } },
    { "video", { "mp4", "mov", "qt", "webm" } },
    { "audio", { "mp3", "m4a", "wav", "ogg", "opus", "flac", "weba" } },
};

static bool extension_is_in_file_type_group(struct str group, struct str ending)
{
    for (size_t i = 0; i < sizeof file_type_groups / sizeof *file_type_groups; i++)
        for (size_t j = 0;
             str_is(group, file_type_groups[i].name) && file_type_groups[i].endings[j]; j++)
            if (str_is(ending, file_type_groups[i].endings[j]))
                return true;
    return false;
}

/* Returns the extension of a file name in lower case. */
static struct str file_extension(struct arena *arena, struct str name)
{
    size_t at = name.n;

    while (at > 0 && name.p[at - 1] != '.')
        at--;
    return at ? str_lower(arena, str_skip_bytes(name, at)) : STR("");
}

static bool is_allowed_file_type(struct arena *arena, const struct list *file_types,
                                 struct str name)
{
    const struct str *wanted = file_types->items;
    struct str ending = file_extension(arena, name);

    for (size_t i = 0; i < file_types->count; i++)
        if (extension_is_in_file_type_group(wanted[i], ending) ||
            (wanted[i].n && wanted[i].p[0] == '.' &&
             str_eq_nocase(str_skip_bytes(wanted[i], 1), ending)))
            return true;
    return file_types->count == 0;
}

static const struct attachment_in_body *find_attachment_fields(const struct call *call,
                                                               uint64_t number)
{
    const struct opt_list *list =
        &((const struct interaction_request_body *)call->body)->data->attachments;
    const struct attachment_in_body *in = list->value.items;

    for (size_t i = 0; i < list->value.count; i++)
        if (in[i].id == number)
            return &in[i];
    return NULL;
}

bool accept_uploaded_interaction_file(struct call *call, uint64_t number,
                                      const struct list *file_types,
                                      struct submitted_interaction_file **ret)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct attachment_in_body *in = find_attachment_fields(call, number);
    const struct multipart_part *part = uploaded_part_find(call, number);

    if (!in || !part)
        return false;
    struct str name = in->filename.given == GIVEN ? in->filename.value : str_of(part->filename);
    if (!is_allowed_file_type(call->arena, file_types, name))
        return false;
    *ret = list_append(call->arena, &v->files, sizeof **ret);
    **ret = (struct submitted_interaction_file){ .part = part,
                                                 .description = *in,
                                                 .stored.id = snowflake_new() };
    return true;
}

enum err store_interaction_files(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct submitted_interaction_file *f = v->files.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < v->files.count; i++) {
        e = uploaded_part_store(call, f[i].stored.id, f[i].part, &f[i].description, &f[i].stored);
        if (e)
            break;
        attachment_sign_url(call, v->it.channel_id, &f[i].stored);
        add_resolved_attachment(call, &f[i].stored);
    }
    return e;
}

enum err delete_interaction_files(struct call *call)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    const struct submitted_interaction_file *f = v->files.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < v->files.count; i++)
        e = attachment_delete_file(call, f[i].stored.id);
    return e;
}

static const char ADD_FILE[] =
    "insert into interaction_files (id, interaction_id, channel_id, filename, description, "
    "content_type, size, width, height) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

enum err insert_interaction_files(struct call *call)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    const struct submitted_interaction_file *f = v->files.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < v->files.count; i++) {
        const struct attachment *a = &f[i].stored;

        e = tx_exec(call->tx, ADD_FILE,
                    BIND(v_id(a->id), v_id(v->it.id), v_id(v->it.channel_id), v_text(a->filename),
                         sql_value_of_optional_text(a->description),
                         sql_value_of_optional_text(a->content_type), v_int(a->size),
                         sql_value_of_optional_int(a->width), sql_value_of_optional_int(a->height)),
                    NULL);
    }
    return e;
}
