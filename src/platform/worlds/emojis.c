/* emojis.c - emoji and sounds of guilds, in and out of world files. */
#include "platform/worlds/internal.h"

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

static const char SAVE_EMOJI[] =
    "insert into emojis (id, guild_id, name, animated) values ($1, $2, $3, $4) "
    "on conflict (id) do update set name = excluded.name, animated = excluded.animated";
static const char SAVE_SOUND[] =
    "insert into sounds (id, guild_id, name, volume, emoji_id, emoji_name) "
    "values ($1, $2, $3, $4, $5, $6) on conflict (id) do update set name = excluded.name, "
    "volume = excluded.volume, emoji_id = excluded.emoji_id, emoji_name = excluded.emoji_name";

/* The id under which an entry is saved; 0: there was a problem. */
static enum err place_of(struct importing *im, const struct naming *n, snowflake guild,
                         struct opt_id id, struct str name, const struct place *at, snowflake *ret)
{
    unsigned before = im->form->problems;
    enum err e = settle(im, n, guild, id, name, at, ret);

    if (!e && !*ret && im->form->problems == before)
        *ret = id.given == GIVEN ? id.value : snowflake_new();
    return e;
}

enum err import_emoji(struct importing *im, const void *entry, const struct place *at,
                      snowflake guild)
{
    const struct world_emoji *in = entry;
    snowflake id = 0;
    enum err e = place_of(im, &emoji_naming, guild, in->id, in->name, at, &id);

    if (e || !id)
        return e;
    return tx_exec(im->tx, SAVE_EMOJI,
                   BIND(v_id(id), v_id(guild), v_text(in->name), v_int(in->animated.value)), NULL);
}

enum err import_sound(struct importing *im, const void *entry, const struct place *at,
                      snowflake guild)
{
    const struct world_sound *in = entry;
    struct place emoji_at = place_key(at, STR("emoji"));
    snowflake id = 0, emoji = 0;
    enum err e = place_of(im, &sound_naming, guild, in->id, in->name, at, &id);

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
    "select id, name, animated from emojis where guild_id = $1 order by id";
static const char SOUNDS[] = "select s.id, s.name, s.volume, e.name, s.emoji_name from sounds s "
                             "left join emojis e on e.id = s.emoji_id "
                             "where s.guild_id = $1 order by s.id";

enum err export_emojis(struct tx *tx, snowflake guild, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, EMOJIS, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct world_emoji *)shown_item(tx, ret, sizeof(struct world_emoji)) =
            (struct world_emoji){
                .id = { GIVEN, row_id(&r, 0) },
                .name = row_text(&r, 1),
                .animated = shown_bool(&r, 2, false),
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
