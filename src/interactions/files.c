/* files.c - files that are uploaded with an option or a modal. */
#include "interactions/invoke.h"

#include "model/fields/rows.h"
#include "platform/messages/uploads.h"

/* File type groups that a command option can require. */
static const struct {
    const char *name, *endings[8];
} groups[] = {
    { "image", { "png", "gif", "jpg", "jpeg", "jfif", "webp", "avif" } },
    { "video", { "mp4", "mov", "qt", "webm" } },
    { "audio", { "mp3", "m4a", "wav", "ogg", "opus", "flac" } },
};

static bool in_group(struct str group, struct str ending)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (size_t j = 0; str_is(group, groups[i].name) && groups[i].endings[j]; j++)
            if (str_is(ending, groups[i].endings[j]))
                return true;
    return false;
}

/* Returns the extension of a file name in lower case. */
static struct str ending_of(struct arena *arena, struct str name)
{
    size_t at = name.n;

    while (at > 0 && name.p[at - 1] != '.')
        at--;
    return at ? str_lower(arena, str_from(name, at)) : STR("");
}

static bool is_wanted(struct arena *arena, const struct list *file_types, struct str name)
{
    const struct str *wanted = file_types->items;
    struct str ending = ending_of(arena, name);

    for (size_t i = 0; i < file_types->count; i++)
        if (in_group(wanted[i], ending) ||
            (wanted[i].n && wanted[i].p[0] == '.' && str_eq_nocase(str_from(wanted[i], 1), ending)))
            return true;
    return file_types->count == 0;
}

static const struct attachment_in *words_about(const struct call *call, uint64_t number)
{
    const struct opt_list *list = &((const struct invocation *)call->body)->data->attachments;
    const struct attachment_in *in = list->value.items;

    for (size_t i = 0; i < list->value.count; i++)
        if (in[i].id == number)
            return &in[i];
    return NULL;
}

bool file_take(struct call *call, uint64_t number, const struct list *file_types,
               struct file_out **ret)
{
    struct invoking *v = invoking_of(call);
    const struct attachment_in *in = words_about(call, number);
    const struct part *part = upload_find(call, number);

    if (!in || !part)
        return false;
    struct str name = in->filename.given == GIVEN ? in->filename.value : str_of(part->filename);
    if (!is_wanted(call->arena, file_types, name))
        return false;
    *ret = list_add(call->arena, &v->files, sizeof **ret);
    **ret = (struct file_out){ .part = part, .words = *in, .kept.id = snowflake_new() };
    return true;
}

enum err files_keep(struct call *call)
{
    struct invoking *v = invoking_of(call);
    struct file_out *f = v->files.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < v->files.count; i++) {
        e = upload_keep(call, f[i].kept.id, f[i].part, &f[i].words, &f[i].kept);
        if (e)
            break;
        attachment_sign(call, v->it.channel_id, &f[i].kept);
        resolve_attachment(call, &f[i].kept);
    }
    return e;
}

enum err files_drop(struct call *call)
{
    const struct invoking *v = invoking_of(call);
    const struct file_out *f = v->files.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < v->files.count; i++)
        e = attachment_drop(call, f[i].kept.id);
    return e;
}

static const char ADD_FILE[] =
    "insert into interaction_files (id, interaction_id, channel_id, filename, description, "
    "content_type, size, width, height) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

enum err files_insert(struct call *call)
{
    const struct invoking *v = invoking_of(call);
    const struct file_out *f = v->files.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < v->files.count; i++) {
        const struct attachment *a = &f[i].kept;

        e = tx_exec(call->tx, ADD_FILE,
                    BIND(v_id(a->id), v_id(v->it.id), v_id(v->it.channel_id), v_text(a->filename),
                         v_opt_text(a->description), v_opt_text(a->content_type), v_int(a->size),
                         v_opt_int(a->width), v_opt_int(a->height)),
                    NULL);
    }
    return e;
}
