/* stickers.c - import and export of message stickers in world files (JSON data sets). */
#include "model/sticker.h"
#include "platform/stickers/stickers.h"
#include "platform/messages/world/world.h"

/* --- import from a world file -------------------------------------------------------- */

static const char FIND_ITEM[] = "select id, name, format from stickers where id = $1";
static const char GUILD_OF[] = "select guild_id from channels where id = $1";

static enum err append_sticker_of_message(struct world_file_importer *im, snowflake id,
                                          struct list *items)
{
    struct rows row;
    bool found = false;
    enum err e = id ? tx_one(im->tx, FIND_ITEM, BIND(v_id(id)), &row, &found) : OK;

    if (!e && found)
        *(struct sticker_item *)list_append(im->arena, items, sizeof(struct sticker_item)) =
            (struct sticker_item){ row_id(&row, 0), row_text(&row, 1), row_int(&row, 2) };
    return e;
}

enum err import_message_stickers(struct world_file_importer *im, const struct opt_list *stickers,
                                 const struct json_path *up, struct message *ret)
{
    struct json_path all = json_path_key(up, STR("stickers"));
    const struct str *names = stickers->value.items;
    struct list items = { 0 };
    snowflake guild;

    if (!stickers->value.count)
        return OK;
    enum err e = tx_read_id(im->tx, GUILD_OF, BIND(v_id(ret->channel_id)), &guild);
    for (size_t i = 0; !e && i < stickers->value.count; i++) {
        struct json_path at = json_path_index(&all, i);
        snowflake id = 0;

        e = world_file_resolve_reference(im, &sticker_naming, guild, names[i], &at, &id);
        if (!e)
            e = append_sticker_of_message(im, id, &items);
    }
    ret->sticker_items =
        opt_str_or_null(json_column_encode(im->arena, &type_sticker_items, &items));
    return e;
}

/* --- export to a world file ---------------------------------------------------------- */

static const char READ_STICKER_MESSAGES[] =
    "select m.id, m.sticker_items, c.guild_id from messages m join channels c on "
    "c.id = m.channel_id where m.channel_id = $1 and m.sticker_items is not null order by m.id";
static const char STICKER_EXISTS[] = "select 1 from stickers where id = $1 and guild_id = $2";

/* Omits deleted stickers and stickers of other guilds: an import could not resolve their names. */
static enum err export_sticker_items(struct tx *tx, struct str json, snowflake guild,
                                     struct opt_list *ret)
{
    struct list items = json_column_decode_list(tx_arena(tx), &type_sticker_items, json);
    const struct sticker_item *item = items.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < items.count; i++) {
        struct rows row;
        bool found;

        e = tx_one(tx, STICKER_EXISTS, BIND(v_id(item[i].id), v_id(guild)), &row, &found);
        if (!e && found)
            *(struct str *)export_add_list_item(tx, ret, sizeof(struct str)) =
                format_id_string(tx, item[i].id);
    }
    return e;
}

struct sticker_message {
    snowflake id, guild_id;
    struct str items;
};

static void sticker_message_from_row(const struct rows *r, void *ret)
{
    *(struct sticker_message *)ret =
        (struct sticker_message){ row_id(r, 0), row_id(r, 2), row_text(r, 1) };
}

enum err export_message_stickers(struct world_file_exporter *ex, struct world_file_entries to)
{
    struct list all = { 0 };
    enum err e = tx_read_list(ex->tx, READ_STICKER_MESSAGES, BIND(v_id(ex->channel)),
                              sizeof(struct sticker_message), sticker_message_from_row, &all);
    const struct sticker_message *s = all.items;

    to.member = offsetof(struct world_message, stickers);
    for (size_t i = 0; !e && i < all.count; i++) {
        struct opt_list *stickers = world_file_entry_find_field(&to, s[i].id);

        if (stickers)
            e = export_sticker_items(ex->tx, s[i].items, s[i].guild_id, stickers);
    }
    return e;
}
