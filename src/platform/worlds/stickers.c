/* stickers.c - stickers of guilds and of messages, in and out of world files. */
#include "platform/worlds/internal.h"

#include <inttypes.h>

#include "model/sticker.h"

static const struct naming sticker_naming = {
    .word = "sticker",
    .by_name = "select min(id), count(*) from stickers where name = $1 and guild_id = $2",
    .by_id = "select min(id), count(*) from stickers where id = $1 and guild_id = $2",
    .any_id = "select min(id), count(*) from stickers where id = $1",
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

enum err import_sticker(struct importing *im, const void *entry, const struct place *at,
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
                              "update stickers set image = $2 where id = $1");
}

static const char FIND_ITEM[] = "select id, name, format from stickers where id = $1";
static const char SET_ITEMS[] = "update messages set sticker_items = $2 where id = $1";
static const char GUILD_OF[] = "select guild_id from channels where id = $1";

static enum err add_item(struct importing *im, snowflake id, struct list *items)
{
    struct rows row;
    bool found = false;
    enum err e = id ? tx_one(im->tx, FIND_ITEM, BIND(v_id(id)), &row, &found) : OK;

    if (!e && found)
        *(struct sticker_item *)list_add(im->arena, items, sizeof(struct sticker_item)) =
            (struct sticker_item){ row_id(&row, 0), row_text(&row, 1), row_int(&row, 2) };
    return e;
}

enum err import_message_stickers(struct importing *im, const struct opt_list *stickers,
                                 snowflake channel, snowflake message, const struct place *up)
{
    struct place all = place_key(up, STR("stickers"));
    const struct str *names = stickers->value.items;
    struct list items = { 0 };
    struct rows row;
    bool found;

    if (!stickers->value.count)
        return OK;
    enum err e = tx_one(im->tx, GUILD_OF, BIND(v_id(channel)), &row, &found);
    snowflake guild = e || !found ? 0 : row_id(&row, 0);
    for (size_t i = 0; !e && i < stickers->value.count; i++) {
        struct place at = place_index(&all, i);
        snowflake id = 0;

        e = refer(im, &sticker_naming, guild, names[i], &at, &id);
        if (!e)
            e = add_item(im, id, &items);
    }
    return e ? e
             : tx_exec(im->tx, SET_ITEMS,
                       BIND(v_id(message),
                            v_text(column_encode(im->arena, &type_sticker_items, &items))),
                       NULL);
}

/* --- out ------------------------------------------------------------------------------ */

static const char STICKERS[] =
    "select s.id, s.name, s.description, s.tags, s.format, u.username from stickers s "
    "left join users u on u.id = s.user_id where s.guild_id = $1 order by s.id";

enum err export_stickers(struct tx *tx, snowflake guild, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, STICKERS, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_sticker *s = shown_item(tx, ret, sizeof *s);
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

static const char STUCK[] =
    "select m.id, m.sticker_items, c.guild_id from messages m join channels c on "
    "c.id = m.channel_id where m.channel_id = $1 and m.sticker_items is not null order by m.id";
static const char IS_THERE[] = "select 1 from stickers where id = $1 and guild_id = $2";

/* Those of other guilds, and those that are gone, an import could not find. */
static enum err export_items(struct tx *tx, struct str json, snowflake guild, struct opt_list *ret)
{
    struct list items = column_list(tx_arena(tx), &type_sticker_items, json);
    const struct sticker_item *item = items.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < items.count; i++) {
        struct rows row;
        bool found;

        e = tx_one(tx, IS_THERE, BIND(v_id(item[i].id), v_id(guild)), &row, &found);
        if (!e && found)
            *(struct str *)shown_item(tx, ret, sizeof(struct str)) =
                str_printf(tx_arena(tx), "%" PRIu64, item[i].id);
    }
    return e;
}

struct stuck_message {
    snowflake id, guild_id;
    struct str items;
};

static void read_stuck(const struct rows *r, void *ret)
{
    *(struct stuck_message *)ret =
        (struct stuck_message){ row_id(r, 0), row_id(r, 2), row_text(r, 1) };
}

enum err export_message_stickers(struct tx *tx, snowflake channel, struct opt_list *messages)
{
    struct world_message *m = messages->value.items, *end = m + messages->value.count;
    struct list all = { 0 };
    enum err e = messages->value.count ? tx_list(tx, STUCK, BIND(v_id(channel)),
                                                 sizeof(struct stuck_message), read_stuck, &all)
                                       : OK;
    const struct stuck_message *s = all.items;

    for (size_t i = 0; !e && i < all.count; i++) {
        while (m < end && m->id.value < s[i].id)
            m++;
        if (m < end && m->id.value == s[i].id)
            e = export_items(tx, s[i].items, s[i].guild_id, &m->stickers);
    }
    return e;
}
