/* world.c - emoji of guilds and applications, in and out of world files. */
#include "base/emoji.h"
#include "base/pictures.h"
#include "model/emoji.h"
#include "platform/emojis/emojis.h"
#include "platform/emojis/world.h"
#include "platform/worlds/file.h"

/* --- rows ----------------------------------------------------------------------------- */

struct world_emoji {
    struct opt_id id;
    struct str name;
    struct opt_bool animated;
    struct opt_list roles; /* struct str; of guilds only */
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

/* --- in ------------------------------------------------------------------------------- */

/* What a file does not say stays as it is, and so does a picture that is there. */
static const char SAVE_EMOJI[] =
    "insert into emojis (id, guild_id, name, animated, user_id, roles) "
    "values ($1, $2, $3, $4, $5, coalesce($6, '[]')) "
    "on conflict (id) do update set name = excluded.name, animated = excluded.animated, "
    "user_id = coalesce($5, emojis.user_id), roles = coalesce($6, emojis.roles) returning image";
static const char SAVE_APPLICATION_EMOJI[] =
    "insert into application_emojis (id, application_id, name, animated, user_id) "
    "values ($1, $2, $3, $4, $5) on conflict (id) do update set name = excluded.name, "
    "animated = excluded.animated, user_id = coalesce($5, application_emojis.user_id) "
    "returning image";
static bool world_emoji_moves(const struct world_emoji *in)
{
    return in->image.given == GIVEN ? picture_is_animated(in->image.value.bytes)
                                    : in->animated.value;
}

static enum err import_emoji(struct importing *im, const void *entry, const struct place *at,
                             snowflake guild)
{
    const struct world_emoji *in = entry;
    struct place by_at = place_key(at, STR("by")), roles_at = place_key(at, STR("roles"));
    unsigned before = im->form->problems;
    struct list roles = { 0 };
    snowflake id = 0, by = 0;
    struct rows row;
    bool found;
    enum err e = world_place_of(im, &emoji_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (!e)
        e = refer_each(im, &role_naming, guild, &in->roles, &roles_at, &roles);
    if (e || !id || im->form->problems != before)
        return e;
    e = tx_one(im->tx, SAVE_EMOJI,
               BIND(v_id(id), v_id(guild), v_text(in->name), v_int(world_emoji_moves(in)),
                    by ? v_id(by) : v_null(),
                    in->roles.given == GIVEN ? v_text(column_encode(im->arena, &type_ids, &roles))
                                             : v_null()),
               &row, &found);
    if (e || in->image.given != GIVEN || !row_null(&row, 0))
        return e;
    return world_note_picture(im, &in->image.value, "emojis", id,
                              SQL("update emojis set image = $2 where id = $1"));
}

static const struct naming application_emoji_naming = {
    .word = "emoji",
    .by_name = SQL_TEXT(
        "select min(id), count(*) from application_emojis where name = $1 and application_id = $2"),
    .by_id = SQL_TEXT(
        "select min(id), count(*) from application_emojis where id = $1 and application_id = $2"),
    .any_id = SQL_TEXT("select min(id), count(*) from application_emojis where id = $1"),
    .scoped = true,
};

static enum err import_application_emoji(struct importing *im, const void *entry,
                                         const struct place *at, snowflake application)
{
    const struct world_emoji *in = entry;
    struct place by_at = place_key(at, STR("by"));
    snowflake id = 0, by = 0;
    struct rows row;
    bool found;
    enum err e =
        world_place_of(im, &application_emoji_naming, application, in->id, in->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (e || !id)
        return e;
    e = tx_one(im->tx, SAVE_APPLICATION_EMOJI,
               BIND(v_id(id), v_id(application), v_text(in->name), v_int(world_emoji_moves(in)),
                    by ? v_id(by) : v_null()),
               &row, &found);
    if (e || in->image.given != GIVEN || !row_null(&row, 0))
        return e;
    return world_note_picture(im, &in->image.value, "emojis", id,
                              SQL("update application_emojis set image = $2 where id = $1"));
}

/* --- emoji that others show ----------------------------------------------------------- */

static const char EMOJI_NAMED[] = "select name, animated from emojis where id = $1";

enum err refer_emoji(struct importing *im, snowflake guild, const struct opt_str *to,
                     const struct place *at, struct emoji_shown *ret)
{
    snowflake id = 0;
    struct rows row;
    bool found;

    *ret = (struct emoji_shown){ .id.given = GIVEN_NULL, .name.given = GIVEN_NULL };
    if (to->given != GIVEN)
        return OK;
    if (is_emoji(to->value)) {
        ret->name = *to;
        return OK;
    }
    enum err e = refer(im, &emoji_naming, guild, to->value, at, &id);
    if (!e && id)
        e = tx_one(im->tx, EMOJI_NAMED, BIND(v_id(id)), &row, &found);
    if (!e && id && found)
        *ret =
            (struct emoji_shown){ given_id(id), given_str(row_text(&row, 0)), row_bool(&row, 1) };
    return e;
}

struct opt_str shown_emoji(struct tx *tx, struct opt_id id, struct opt_str name)
{
    return id.given == GIVEN ? shown_maybe_id(tx, id) : shown_opt_text(name);
}

/* --- out ------------------------------------------------------------------------------ */

static const char EMOJIS[] =
    "select e.id, e.name, e.animated, u.username, e.roles from emojis e "
    "left join users u on u.id = e.user_id where e.guild_id = $1 order by e.id";
static const char APPLICATION_EMOJIS[] =
    "select e.id, e.name, e.animated, u.username, '[]' from application_emojis e "
    "left join users u on u.id = e.user_id where e.application_id = $1 order by e.id";

static enum err export_emojis(struct tx *tx, struct sql sql, snowflake owner, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, sql, BIND(v_id(owner)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct list roles = column_list(tx_arena(tx), &type_ids, row_text(&r, 4));

        *(struct world_emoji *)shown_item(tx, ret, sizeof(struct world_emoji)) =
            (struct world_emoji){
                .id = { GIVEN, row_id(&r, 0) },
                .name = row_text(&r, 1),
                .animated = shown_bool(&r, 2, false),
                .by = shown_text(&r, 3, NULL),
                .roles = shown_ids(tx, &roles),
            };
    }
    return rows_end(&r);
}

static enum err export_guild_emojis(struct exporting *ex, struct opt_list *ret)
{
    return export_emojis(ex->tx, SQL(EMOJIS), ex->guild, ret);
}

static enum err export_application_emojis(struct exporting *ex, struct opt_list *ret)
{
    return export_emojis(ex->tx, SQL(APPLICATION_EMOJIS), ex->application, ret);
}

const struct world_parts emojis_world = { (const struct world_part[]){
    { "guild", "emojis", &world_emoji_list, .order = 30, .import = import_emoji,
      .export = export_guild_emojis },
    { "application", "emojis", &world_application_emoji_list, .order = 10,
      .import = import_application_emoji, .export = export_application_emojis },
    { 0 },
} };
