/* world.c - the soundboard of guilds, in and out of world files. */
#include "platform/sounds/sounds.h"
#include "platform/worlds/file.h"

/* --- rows ----------------------------------------------------------------------------- */

struct world_sound {
    struct opt_id id;
    struct str name;
    struct opt_real volume;
    struct opt_str emoji, unicode_emoji, by;
    struct opt_str sound; /* a data URI */
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

static void check_sound(struct form *form, const struct place *here, const void *object)
{
    const struct world_sound *s = object;

    if (s->emoji.given == GIVEN && s->unicode_emoji.given == GIVEN)
        form_fail(form, here, "WORLD_ONE_OF", "A sound shows the guild's emoji or a common one.");
}

WORLD_OBJECT(sound, sound_fields, check_sound);

/* --- in ------------------------------------------------------------------------------- */

static const struct naming sound_naming = {
    .word = "sound",
    .by_name = SQL_TEXT("select min(id), count(*) from sounds where name = $1 and guild_id = $2"),
    .by_id = SQL_TEXT("select min(id), count(*) from sounds where id = $1 and guild_id = $2"),
    .any_id = SQL_TEXT("select min(id), count(*) from sounds where id = $1"),
    .scoped = true,
};

/* What a file does not say stays as it is, and so does a sound that is there. */
static const char SAVE_SOUND[] =
    "insert into sounds (id, guild_id, name, volume, emoji_id, emoji_name, user_id) "
    "values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do update set name = excluded.name, "
    "volume = excluded.volume, emoji_id = excluded.emoji_id, emoji_name = excluded.emoji_name, "
    "user_id = coalesce($7, sounds.user_id) returning file";

static enum err keep_world_sound(struct importing *im, const struct opt_str *uri, snowflake id,
                                 const struct place *at)
{
    snowflake upload = snowflake_new();
    struct world_file_note note = { .id = upload,
                                    .owner = id,
                                    .area = "sounds",
                                    .name =
                                        str_printf(im->arena, "%llx", (unsigned long long)upload),
                                    .set_name =
                                        SQL_TEXT("update sounds set file = $2 where id = $1") };
    enum err e = sound_read(im->arena, uri->value, &note.bytes);

    if (!e)
        return world_note_file(im, &note);
    form_fail(im->form, at, "WORLD_NO_SOUND",
              "not an MP3 or Ogg file of at most 5.2 seconds and 512 KiB, as a data URI");
    return OK;
}

static enum err import_sound(struct importing *im, const void *entry, const struct place *at,
                             snowflake guild)
{
    const struct world_sound *in = entry;
    struct place emoji_at = place_key(at, STR("emoji")), by_at = place_key(at, STR("by")),
                 sound_at = place_key(at, STR("sound"));
    unsigned before = im->form->problems;
    snowflake id = 0, emoji = 0, by = 0;
    struct rows row;
    bool found;
    enum err e = world_place_of(im, &sound_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = refer_maybe(im, &emoji_naming, guild, &in->emoji, &emoji_at, &emoji);
    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (e || !id || im->form->problems != before)
        return e;
    e = tx_one(im->tx, SAVE_SOUND,
               BIND(v_id(id), v_id(guild), v_text(in->name),
                    v_real(in->volume.given == GIVEN ? in->volume.value : 1),
                    emoji ? v_id(emoji) : v_null(), v_opt_text(in->unicode_emoji),
                    by ? v_id(by) : v_null()),
               &row, &found);
    if (e || in->sound.given != GIVEN || !row_null(&row, 0))
        return e;
    return keep_world_sound(im, &in->sound, id, &sound_at);
}

/* --- out ------------------------------------------------------------------------------ */

static const char SOUNDS[] =
    "select s.id, s.name, s.volume, s.emoji_id, s.emoji_name, u.username from sounds s "
    "left join users u on u.id = s.user_id "
    "where s.guild_id = $1 order by s.id";

static enum err export_sounds(struct exporting *ex, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(ex->tx, SOUNDS, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct world_sound *)shown_item(ex->tx, ret, sizeof(struct world_sound)) =
            (struct world_sound){
                .id = { GIVEN, row_id(&r, 0) },
                .name = row_text(&r, 1),
                .volume = { row_real(&r, 2) == 1 ? ABSENT : GIVEN, row_real(&r, 2) },
                .emoji = shown_reference(ex->tx, &ex->emojis, row_id(&r, 3)),
                .unicode_emoji = shown_text(&r, 4, NULL),
                .by = shown_text(&r, 5, NULL),
            };
    return rows_end(&r);
}

const struct world_parts sounds_world = { (const struct world_part[]){
    { "guild", "sounds", &world_sound_list, .order = 120, .import = import_sound,
      .export = export_sounds },
    { 0 },
} };
