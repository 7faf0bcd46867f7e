/* world.c - import and export of guild and application emoji in world files (JSON data sets). */
#include "base/emoji.h"
#include "base/pictures/pictures.h"
#include "model/emoji.h"
#include "platform/emojis/emojis.h"
#include "platform/emojis/world.h"
#include "platform/worlds/import_export.h"

struct world_emoji {
    struct opt_id id;
    struct str name;
    struct opt_bool animated;
    struct opt_list roles; /* struct str; guild emoji only */
    struct opt_str by;
    struct opt_image image;
};

static const struct field emoji_fields[] = {
    MAYBE(struct world_emoji, id, type_id),
    MUST(struct world_emoji, name, type_emoji_name),
    MAYBE(struct world_emoji, animated, type_bool),
    MAYBE(struct world_emoji, roles, type_world_refs),
    MAYBE(struct world_emoji, by, type_world_ref),
    MAYBE(struct world_emoji, image, type_emoji_image),
    { 0 },
};
static const struct field application_emoji_fields[] = {
    MAYBE(struct world_emoji, id, type_id),
    MUST(struct world_emoji, name, type_emoji_name),
    MAYBE(struct world_emoji, animated, type_bool),
    MAYBE(struct world_emoji, by, type_world_ref),
    MAYBE(struct world_emoji, image, type_emoji_image),
    { 0 },
};

WORLD_OBJECT(emoji, emoji_fields, NULL);

static const struct schema application_emoji_rows = { .size = sizeof(struct world_emoji),
                                                      .fields = application_emoji_fields };
static const struct type application_emoji_type = { .kind = KIND_OBJECT,
                                                    .schema = &application_emoji_rows };
static const struct type world_application_emoji_list = { .kind = KIND_ARRAY,
                                                          .max = WORLD_MANY,
                                                          .of = &application_emoji_type };

/* --- import from a world file -------------------------------------------------------- */

static bool world_emoji_is_animated(const struct world_emoji *in)
{
    return in->image.given == GIVEN ? picture_is_animated(in->image.value.bytes)
                                    : in->animated.value;
}

/* Writes an imported emoji. An existing emoji keeps its picture, and the fields that the file
 * omits. */
static enum err write_imported_emoji(struct world_file_importer *im, const struct world_emoji *in,
                                     struct emoji made, const struct json_path *at)
{
    unsigned before = im->form->problems;
    struct list roles = { 0 };
    snowflake by = 0;
    enum err e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->by, at, "by", &by);

    if (!e)
        e = world_file_resolve_references(im, &role_naming, made.guild_id, &in->roles, at, "roles",
                                          &roles);
    if (e || !made.id || im->form->problems != before)
        return e;
    e = emoji_find(im->tx, made.id, &made);
    if (e && e != ERR_UNKNOWN_EMOJI)
        return e;
    made.name = in->name;
    made.animated = world_emoji_is_animated(in);
    if (by)
        made.user_id = by;
    if (in->roles.given == GIVEN)
        made.roles = roles;
    e = in->image.given == GIVEN && made.image.given != GIVEN
            ? world_file_import_picture(im, &in->image.value, "emojis", made.id, &made.image)
            : OK;
    return e ? e : emoji_insert(im->tx, &made);
}

static enum err import_emoji(struct world_file_importer *im, const void *entry,
                             const struct json_path *at, snowflake guild)
{
    const struct world_emoji *in = entry;
    struct emoji made = { .guild_id = guild };
    enum err e =
        world_file_resolve_entry_id(im, &emoji_naming, guild, in->id, in->name, at, &made.id);

    return e ? e : write_imported_emoji(im, in, made, at);
}

static const struct world_file_name_lookup application_emoji_naming =
    WORLD_NAME_LOOKUP("emoji", "application_emojis", "application_id");

static enum err import_application_emoji(struct world_file_importer *im, const void *entry,
                                         const struct json_path *at, snowflake application)
{
    const struct world_emoji *in = entry;
    struct emoji made = { .application_id = application };
    enum err e = world_file_resolve_entry_id(im, &application_emoji_naming, application, in->id,
                                             in->name, at, &made.id);

    return e ? e : write_imported_emoji(im, in, made, at);
}

/* --- references to emoji in world files ---------------------------------------------- */

static const char EMOJI_NAMED[] = "select name, animated from emojis where id = $1";

enum err world_file_resolve_emoji_ref(struct world_file_importer *im, snowflake guild,
                                      const struct opt_str *to, const struct json_path *at,
                                      struct world_emoji_ref *ret)
{
    snowflake id = 0;
    struct rows row;
    bool found;

    *ret = (struct world_emoji_ref){ .id.given = GIVEN_NULL, .name.given = GIVEN_NULL };
    if (to->given != GIVEN)
        return OK;
    if (is_emoji(to->value)) {
        ret->name = *to;
        return OK;
    }
    enum err e = world_file_resolve_reference(im, &emoji_naming, guild, to->value, at, &id);
    if (!e && id)
        e = tx_one(im->tx, EMOJI_NAMED, BIND(v_id(id)), &row, &found);
    if (!e && id && found)
        *ret = (struct world_emoji_ref){ opt_id_or_null(id), opt_str_or_null(row_text(&row, 0)),
                                         row_bool(&row, 1) };
    return e;
}

struct opt_str world_file_format_emoji_reference(struct tx *tx, struct opt_id id,
                                                 struct opt_str name)
{
    return id.given == GIVEN ? format_optional_id_string(tx, id) : export_optional_text(name);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char EMOJIS[] =
    "select e.id, e.name, e.animated, u.username, e.roles from emojis e "
    "left join users u on u.id = e.user_id where e.guild_id = $1 order by e.id";
static const char APPLICATION_EMOJIS[] =
    "select e.id, e.name, e.animated, u.username, '[]' from application_emojis e "
    "left join users u on u.id = e.user_id where e.application_id = $1 order by e.id";

static bool world_emoji_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    struct list roles = json_column_decode_list(tx_arena(ex->tx), &type_ids, row_text(r, 4));

    *(struct world_emoji *)entry = (struct world_emoji){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .animated = export_nondefault_bool(r, 2, false),
        .by = export_nondefault_text(r, 3, NULL),
        .roles = format_id_strings(ex->tx, &roles),
    };
    return true;
}

const struct world_file_fields emojis_world = { (const struct world_file_field[]){
    { "guild", "emojis", &world_emoji_list, .order = 30, .import = import_emoji,
      .select = { &EMOJIS }, .read = world_emoji_from_row },
    { "application", "emojis", &world_application_emoji_list, .order = 10,
      .import = import_application_emoji, .select = { &APPLICATION_EMOJIS },
      .read = world_emoji_from_row },
    { 0 },
} };
