/* world.c - stickers of guilds, in and out of world files. */
#include "model/sticker.h"
#include "platform/emojis/emojis.h"
#include "platform/stickers/stickers.h"
#include "platform/worlds/file.h"

/* --- rows ----------------------------------------------------------------------------- */

struct world_sticker {
    struct opt_id id;
    struct str name, tags;
    struct opt_str description, format, by;
    struct opt_image image;
};

static const struct choice sticker_formats[] = {
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

const struct naming sticker_naming = {
    .word = "sticker",
    .by_name = SQL_TEXT("select min(id), count(*) from stickers where name = $1 and guild_id = $2"),
    .by_id = SQL_TEXT("select min(id), count(*) from stickers where id = $1 and guild_id = $2"),
    .any_id = SQL_TEXT("select min(id), count(*) from stickers where id = $1"),
    .scoped = true,
};

static const char *const format_words[] = { NULL, "png", "apng", "lottie", "gif" };

/* --- in ------------------------------------------------------------------------------- */

static const char SAVE_STICKER[] =
    "insert into stickers (id, guild_id, name, description, tags, format, user_id) "
    "values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do update set name = excluded.name, "
    "description = excluded.description, tags = excluded.tags, "
    "user_id = coalesce($7, stickers.user_id) returning image";

/* PNG where nothing is said. */
static int64_t format_of(const struct world_sticker *in)
{
    for (int64_t i = STICKER_PNG; i <= STICKER_GIF; i++)
        if (in->format.given == GIVEN && str_is(in->format.value, format_words[i]))
            return i;
    return STICKER_PNG;
}

static enum err import_sticker(struct importing *im, const void *entry, const struct place *at,
                               snowflake guild)
{
    const struct world_sticker *in = entry;
    struct place by_at = place_key(at, STR("by"));
    unsigned before = im->form->problems;
    snowflake id = 0, by = 0;
    struct rows row;
    bool found;
    enum err e = world_place_of(im, &sticker_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (e || !id || im->form->problems != before)
        return e;
    e = tx_one(im->tx, SAVE_STICKER,
               BIND(v_id(id), v_id(guild), v_text(in->name), v_opt_text(in->description),
                    v_text(in->tags), v_int(format_of(in)), by ? v_id(by) : v_null()),
               &row, &found);
    if (e || in->image.given != GIVEN || !row_null(&row, 0))
        return e;
    return world_note_picture(im, &in->image.value, "stickers", id,
                              SQL("update stickers set image = $2 where id = $1"));
}

/* --- out ------------------------------------------------------------------------------ */

static const char STICKERS[] =
    "select s.id, s.name, s.description, s.tags, s.format, u.username from stickers s "
    "left join users u on u.id = s.user_id where s.guild_id = $1 order by s.id";

static enum err export_stickers(struct exporting *ex, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(ex->tx, STICKERS, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_sticker *s = shown_item(ex->tx, ret, sizeof *s);
        int64_t format = row_int(&r, 4);

        *s = (struct world_sticker){
            .id = { GIVEN, row_id(&r, 0) },
            .name = row_text(&r, 1),
            .description = shown_text(&r, 2, NULL),
            .tags = row_text(&r, 3),
            .by = shown_text(&r, 5, NULL),
        };
        if (format > STICKER_PNG && format <= STICKER_GIF)
            s->format = given_str(str_of(format_words[format]));
    }
    return rows_end(&r);
}

const struct world_parts stickers_world = { (const struct world_part[]){
    { "guild", "stickers", &world_sticker_list, .order = 40, .import = import_sticker,
      .export = export_stickers },
    { 0 },
} };
