/* world.c - import and export of soundboard sounds in world files (JSON data sets). */
#include "platform/sounds/internal.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_sound {
    struct opt_id id;
    struct str name;
    struct opt_real volume;
    struct opt_str emoji, unicode_emoji, by;
    struct opt_str sound; /* sound file as a data URI */
};

static const struct type type_short_name = { .kind = KIND_STRING, .min = 2, .max = 32 };
static const struct type type_sound_file = { .kind = KIND_STRING,
                                             .max = 1024 * 1024,
                                             .doc = "A data URI" };
static const struct field sound_fields[] = {
    MAYBE(struct world_sound, id, type_id),
    MUST(struct world_sound, name, type_short_name),
    MAYBE(struct world_sound, volume, type_volume),
    MAYBE(struct world_sound, emoji, type_world_ref),
    MAYBE(struct world_sound, unicode_emoji, type_world_name),
    MAYBE(struct world_sound, by, type_world_ref),
    MAYBE(struct world_sound, sound, type_sound_file),
    { 0 },
};

static void check_sound_entry(struct form *form, const struct json_path *here, const void *object)
{
    const struct world_sound *s = object;

    if (s->emoji.given == GIVEN && s->unicode_emoji.given == GIVEN)
        form_add_error(form, here, "WORLD_ONE_OF",
                       "A sound has an emoji of the guild or of Unicode.");
}

WORLD_OBJECT(sound, sound_fields, check_sound_entry);

/* --- import --------------------------------------------------------------------------- */

static const struct world_file_name_lookup sound_naming =
    WORLD_NAME_LOOKUP("sound", "sounds", "guild_id");

static enum err import_sound_file(struct world_file_importer *im, const struct opt_str *uri,
                                  snowflake id, const struct json_path *at, struct opt_str *ret)
{
    snowflake upload = snowflake_new();
    struct world_file_attachment note = { .id = upload,
                                          .owner = id,
                                          .area = "sounds",
                                          .name = str_printf(im->arena, "%llx",
                                                             (unsigned long long)upload) };

    if (!soundboard_sound_decode_data_uri(im->arena, uri->value, &note.bytes)) {
        *ret = opt_str_or_null(note.name);
        return world_file_import_attachment(im, &note);
    }
    form_add_error(im->form, at, "WORLD_NO_SOUND",
                   "not an MP3 or Ogg file of at most 5.2 seconds and 512 KiB, as a data URI");
    return OK;
}

static enum err import_sound(struct world_file_importer *im, const void *entry,
                             const struct json_path *at, snowflake guild)
{
    const struct world_sound *in = entry;
    struct json_path sound_at = json_path_key(at, STR("sound"));
    unsigned before = im->form->problems;
    snowflake id = 0, emoji = 0, by = 0;
    struct soundboard_sound s = { 0 };
    enum err e = world_file_resolve_entry_id(im, &sound_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = world_file_resolve_optional_reference(im, &emoji_naming, guild, &in->emoji, at, "emoji",
                                                  &emoji);
    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->by, at, "by", &by);
    if (e || !id || im->form->problems != before)
        return e;
    e = soundboard_sound_find(im->tx, id, &s);
    if (e && e != ERR_UNKNOWN_SOUND)
        return e;
    s.sound_id = id;
    s.guild_id = opt_id_or_null(guild);
    s.name = in->name;
    s.volume = in->volume.given == GIVEN ? in->volume.value : 1;
    s.emoji_id = (struct opt_id){ emoji ? GIVEN : GIVEN_NULL, emoji };
    s.emoji_name = in->unicode_emoji;
    if (by)
        s.user_id = by;
    /* The file of an existing sound is not replaced by an import. */
    e = in->sound.given == GIVEN && s.file.given != GIVEN
            ? import_sound_file(im, &in->sound, id, &sound_at, &s.file)
            : OK;
    return e ? e : soundboard_sound_insert(im->tx, &s);
}

/* --- export --------------------------------------------------------------------------- */

static const char SOUNDS[] =
    "select s.id, s.name, s.volume, s.emoji_id, s.emoji_name, u.username from sounds s "
    "left join users u on u.id = s.user_id "
    "where s.guild_id = $1 order by s.id";

static bool sound_entry_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    *(struct world_sound *)entry = (struct world_sound){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .volume = { row_real(r, 2) == 1 ? ABSENT : GIVEN, row_real(r, 2) },
        .emoji = world_file_export_reference(ex->tx, &ex->emojis, row_id(r, 3)),
        .unicode_emoji = export_nondefault_text(r, 4, NULL),
        .by = export_nondefault_text(r, 5, NULL),
    };
    return true;
}

const struct world_file_fields sounds_world = { (const struct world_file_field[]){
    { "guild", "sounds", &world_sound_list, .order = 120, .import = import_sound,
      .select = { &SOUNDS }, .read = sound_entry_from_row },
    { 0 },
} };
