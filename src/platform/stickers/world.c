/* world.c - import and export of stickers in world files (JSON data sets). */
#include "model/sticker.h"
#include "platform/emojis/emojis.h"
#include "platform/stickers/internal.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_sticker {
    struct opt_id id;
    struct str name, tags;
    struct opt_str description, format, by;
    struct opt_image image;
};

static const struct enum_choice sticker_formats[] = {
    { 0, "png", "PNG", "A picture" },
    { 0, "apng", "APNG", "A picture that moves" },
    { 0, "lottie", "LOTTIE", "A drawing that moves" },
    { 0, "gif", "GIF", "A picture that moves" },
    { 0 },
};
static const struct type type_sticker_format = { .kind = KIND_STRING, .choices = sticker_formats };
static const struct field sticker_fields[] = {
    MAYBE(struct world_sticker, id, type_id),
    MUST(struct world_sticker, name, type_world_name),
    MAYBE(struct world_sticker, description, type_world_name),
    MUST(struct world_sticker, tags, type_world_ref),
    MAYBE(struct world_sticker, format, type_sticker_format),
    MAYBE(struct world_sticker, by, type_world_ref),
    MAYBE(struct world_sticker, image, type_emoji_image),
    { 0 },
};

WORLD_OBJECT(sticker, sticker_fields, NULL);

const struct world_file_name_lookup sticker_naming =
    WORLD_NAME_LOOKUP("sticker", "stickers", "guild_id");

static const char *const format_words[] = { NULL, "png", "apng", "lottie", "gif" };

/* --- import --------------------------------------------------------------------------- */

/* Returns the format of the sticker in a world file; PNG if the file has none. */
static int64_t parse_sticker_format(const struct world_sticker *in)
{
    for (int64_t i = STICKER_PNG; i <= STICKER_GIF; i++)
        if (in->format.given == GIVEN && str_is(in->format.value, format_words[i]))
            return i;
    return STICKER_PNG;
}

static enum err import_sticker(struct world_file_importer *im, const void *entry,
                               const struct json_path *at, snowflake guild)
{
    const struct world_sticker *in = entry;
    unsigned before = im->form->problems;
    struct sticker s = { 0 };
    snowflake id = 0, by = 0;
    enum err e = world_file_resolve_entry_id(im, &sticker_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->by, at, "by", &by);
    if (e || !id || im->form->problems != before)
        return e;
    e = sticker_find(im->tx, id, &s);
    if (e && e != ERR_UNKNOWN_STICKER)
        return e;
    if (!s.id)
        s = (struct sticker){ .id = id,
                              .guild_id = guild,
                              .format_type = parse_sticker_format(in) };
    s.name = in->name;
    s.description = in->description;
    s.tags = in->tags;
    if (by)
        s.user_id = by;
    /* An import does not replace the image of an existing sticker. */
    e = in->image.given == GIVEN && s.image.given != GIVEN
            ? world_file_import_picture(im, &in->image.value, "stickers", id, &s.image)
            : OK;
    return e ? e : sticker_insert(im->tx, &s);
}

/* --- export --------------------------------------------------------------------------- */

static const char STICKERS[] =
    "select s.id, s.name, s.description, s.tags, s.format, u.username from stickers s "
    "left join users u on u.id = s.user_id where s.guild_id = $1 order by s.id";

static bool sticker_entry_from_row(struct world_file_exporter *ex, const struct rows *r,
                                   void *entry)
{
    struct world_sticker *s = entry;
    int64_t format = row_int(r, 4);

    *s = (struct world_sticker){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .description = export_nondefault_text(r, 2, NULL),
        .tags = row_text(r, 3),
        .by = export_nondefault_text(r, 5, NULL),
    };
    if (format > STICKER_PNG && format <= STICKER_GIF)
        s->format = opt_str_or_null(str_of(format_words[format]));
    (void)ex;
    return true;
}

const struct world_file_fields stickers_world = { (const struct world_file_field[]){
    { "guild", "stickers", &world_sticker_list, .order = 40, .import = import_sticker,
      .select = { &STICKERS }, .read = sticker_entry_from_row },
    { 0 },
} };
