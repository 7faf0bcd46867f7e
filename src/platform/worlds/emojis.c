/* emojis.c - emoji and sounds of guilds, in and out of world files. */
#include "platform/worlds/internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/pictures.h"
#include "platform/accounts/accounts.h"

static const struct naming emoji_naming = {
    .word = "emoji",
    .by_name = "select min(id), count(*) from emojis where name = $1 and guild_id = $2",
    .by_id = "select min(id), count(*) from emojis where id = $1 and guild_id = $2",
    .any_id = "select min(id), count(*) from emojis where id = $1",
    .scoped = true,
};
static const struct naming sound_naming = {
    .word = "sound",
    .by_name = "select min(id), count(*) from sounds where name = $1 and guild_id = $2",
    .by_id = "select min(id), count(*) from sounds where id = $1 and guild_id = $2",
    .any_id = "select min(id), count(*) from sounds where id = $1",
    .scoped = true,
};

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
static const char SAVE_SOUND[] =
    "insert into sounds (id, guild_id, name, volume, emoji_id, emoji_name) "
    "values ($1, $2, $3, $4, $5, $6) on conflict (id) do update set name = excluded.name, "
    "volume = excluded.volume, emoji_id = excluded.emoji_id, emoji_name = excluded.emoji_name";

enum err world_place_of(struct importing *im, const struct naming *n, snowflake guild,
                        struct opt_id id, struct str name, const struct place *at, snowflake *ret)
{
    unsigned before = im->form->problems;
    enum err e = settle(im, n, guild, id, name, at, ret);

    if (!e && !*ret && im->form->problems == before)
        *ret = id.given == GIVEN ? id.value : snowflake_new();
    return e;
}

static const char NOTE_FILE[] =
    "insert into files (id, name, owner_id, size, created_at) values ($1, $2, 0, $3, $4)";

enum err world_note_picture(struct importing *im, const struct image *image, const char *area,
                            snowflake id, const char *set_image)
{
    snowflake upload = snowflake_new();
    struct str hash = image_hash(im->arena, image, upload);
    struct world_picture *p = list_add(im->arena, im->pictures, sizeof *p);

    snprintf(p->name, sizeof p->name, "%s/%llu/%.*s", area, (unsigned long long)id, STR_FMT(hash));
    p->bytes = image->bytes;
    enum err e = tx_exec(
        im->tx, NOTE_FILE,
        BIND(v_id(upload), v_text(str_of(p->name)), v_int((int64_t)p->bytes.n), v_int(clock_us())),
        NULL);
    return e ? e : tx_exec(im->tx, set_image, BIND(v_id(id), v_text(hash)), NULL);
}

static enum err find_emoji_roles(struct importing *im, const struct world_emoji *in,
                                 snowflake guild, const struct place *up, struct list *ret)
{
    struct place all = place_key(up, STR("roles"));
    const struct str *names = in->roles.value.items;
    enum err e = OK;

    for (size_t i = 0; i < in->roles.value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = refer(im, &role_naming, guild, names[i], &at,
                  list_add(im->arena, ret, sizeof(snowflake)));
    }
    return e;
}

static bool world_emoji_moves(const struct world_emoji *in)
{
    return in->image.given == GIVEN ? picture_is_animated(in->image.value.bytes)
                                    : in->animated.value;
}

enum err import_emoji(struct importing *im, const void *entry, const struct place *at,
                      snowflake guild)
{
    const struct world_emoji *in = entry;
    struct place by_at = place_key(at, STR("by"));
    unsigned before = im->form->problems;
    struct list roles = { 0 };
    snowflake id = 0, by = 0;
    struct rows row;
    bool found;
    enum err e = world_place_of(im, &emoji_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (!e)
        e = find_emoji_roles(im, in, guild, at, &roles);
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
                              "update emojis set image = $2 where id = $1");
}

static const struct naming application_emoji_naming = {
    .word = "emoji",
    .by_name =
        "select min(id), count(*) from application_emojis where name = $1 and application_id = $2",
    .by_id =
        "select min(id), count(*) from application_emojis where id = $1 and application_id = $2",
    .any_id = "select min(id), count(*) from application_emojis where id = $1",
    .scoped = true,
};

enum err import_application_emoji(struct importing *im, const void *entry, const struct place *at,
                                  snowflake application)
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
                              "update application_emojis set image = $2 where id = $1");
}

enum err import_sound(struct importing *im, const void *entry, const struct place *at,
                      snowflake guild)
{
    const struct world_sound *in = entry;
    struct place emoji_at = place_key(at, STR("emoji"));
    snowflake id = 0, emoji = 0;
    enum err e = world_place_of(im, &sound_naming, guild, in->id, in->name, at, &id);

    if (!e)
        e = refer_maybe(im, &emoji_naming, guild, &in->emoji, &emoji_at, &emoji);
    if (e || !id)
        return e;
    return tx_exec(im->tx, SAVE_SOUND,
                   BIND(v_id(id), v_id(guild), v_text(in->name),
                        v_real(in->volume.given == GIVEN ? in->volume.value : 1),
                        emoji ? v_id(emoji) : v_null(), v_opt_text(in->unicode_emoji)),
                   NULL);
}

/* --- out ------------------------------------------------------------------------------ */

static const char EMOJIS[] =
    "select e.id, e.name, e.animated, u.username, e.roles from emojis e "
    "left join users u on u.id = e.user_id where e.guild_id = $1 order by e.id";
static const char APPLICATION_EMOJIS[] =
    "select e.id, e.name, e.animated, u.username, '[]' from application_emojis e "
    "left join users u on u.id = e.user_id where e.application_id = $1 order by e.id";
static const char SOUNDS[] = "select s.id, s.name, s.volume, e.name, s.emoji_name from sounds s "
                             "left join emojis e on e.id = s.emoji_id "
                             "where s.guild_id = $1 order by s.id";

static struct opt_list shown_ids(struct tx *tx, struct str json)
{
    struct list ids = column_list(tx_arena(tx), &type_ids, json);
    struct opt_list out = { .given = ids.count ? GIVEN : ABSENT };

    for (size_t i = 0; i < ids.count; i++)
        *(struct str *)list_add(tx_arena(tx), &out.value, sizeof(struct str)) =
            str_printf(tx_arena(tx), "%llu", (unsigned long long)((snowflake *)ids.items)[i]);
    return out;
}

enum err export_emojis(struct tx *tx, snowflake owner, bool application, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, application ? APPLICATION_EMOJIS : EMOJIS, BIND(v_id(owner)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct world_emoji *)shown_item(tx, ret, sizeof(struct world_emoji)) =
            (struct world_emoji){
                .id = { GIVEN, row_id(&r, 0) },
                .name = row_text(&r, 1),
                .animated = shown_bool(&r, 2, false),
                .by = shown_text(&r, 3, NULL),
                .roles = shown_ids(tx, row_text(&r, 4)),
            };
    return rows_end(&r);
}

enum err export_sounds(struct tx *tx, snowflake guild, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, SOUNDS, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct world_sound *)shown_item(tx, ret, sizeof(struct world_sound)) =
            (struct world_sound){
                .id = { GIVEN, row_id(&r, 0) },
                .name = row_text(&r, 1),
                .volume = { row_real(&r, 2) == 1 ? ABSENT : GIVEN, row_real(&r, 2) },
                .emoji = shown_text(&r, 3, NULL),
                .unicode_emoji = shown_text(&r, 4, NULL),
            };
    return rows_end(&r);
}
