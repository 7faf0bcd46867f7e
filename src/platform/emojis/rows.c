/* rows.c - SQL of emoji. */
#include "platform/emojis/internal.h"

#include "model/fields/rows.h"

#define OF_GUILDS "select id, name, animated, roles, user_id, image, guild_id, 0 from emojis "
#define OF_APPLICATIONS                                                        \
    "select id, name, animated, '[]', user_id, image, 0, application_id from " \
    "application_emojis "

static void emoji_from_row(const struct rows *r, void *ret)
{
    struct emoji *e = ret;

    struct str roles = row_text(r, 3);

    *e = (struct emoji){
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .animated = row_bool(r, 2),
        .user_id = row_id(r, 4),
        .image = row_optional_text(r, 5),
        .guild_id = row_id(r, 6),
        .application_id = row_id(r, 7),
        .require_colons = true,
        .available = true,
    };
    if (!str_is(roles, "[]"))
        e->roles = json_column_decode_list(tx_arena(r->tx), &type_ids, roles);
}

static enum err list_emojis_with_sql(struct tx *tx, struct sql sql, snowflake owner,
                                     struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, sql, BIND(v_id(owner)), sizeof(struct emoji), emoji_from_row, ret);
}

static const char EMOJIS_OF_GUILD[] = OF_GUILDS "where guild_id = $1 order by id";

enum err guild_emojis_list(struct tx *tx, snowflake guild_id, struct list *ret)
{
    return list_emojis_with_sql(tx, SQL(EMOJIS_OF_GUILD), guild_id, ret);
}

enum err application_emojis_list(struct tx *tx, snowflake application_id, struct list *ret)
{
    return list_emojis_with_sql(tx, SQL(OF_APPLICATIONS "where application_id = $1 order by id"),
                                application_id, ret);
}

static const char FIND_EMOJI[] =
    OF_GUILDS "where id = $1 union all " OF_APPLICATIONS "where id = $1";

enum err emoji_find(struct tx *tx, snowflake id, struct emoji *ret)
{
    return tx_read_first(tx, FIND_EMOJI, BIND(v_id(id)), emoji_from_row, ret, ERR_UNKNOWN_EMOJI);
}

static const char ADD_TO_GUILD[] =
    "insert into emojis (id, guild_id, name, animated, user_id, image, roles) "
    "values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do update set name = $3, "
    "animated = $4, user_id = $5, image = $6, roles = $7";
static const char ADD_TO_APPLICATION[] =
    "insert into application_emojis (id, application_id, name, animated, user_id, image) "
    "values ($1, $2, $3, $4, $5, $6) on conflict (id) do update set name = $3, animated = $4, "
    "user_id = $5, image = $6";

enum err emoji_insert(struct tx *tx, const struct emoji *e)
{
    const struct value values[] = {
        v_id(e->id),
        v_id(e->guild_id ? e->guild_id : e->application_id),
        v_text(e->name),
        v_int(e->animated),
        e->user_id ? v_id(e->user_id) : v_null(),
        sql_value_of_optional_text(e->image),
        v_text(json_column_encode(tx_arena(tx), &type_ids, &e->roles)),
    };

    return e->guild_id ? tx_exec(tx, ADD_TO_GUILD, values, 7, NULL)
                       : tx_exec(tx, ADD_TO_APPLICATION, values, 6, NULL);
}

enum err emoji_update(struct tx *tx, const struct emoji *e)
{
    return emoji_insert(tx, e);
}

enum err emoji_delete(struct call *call, const struct emoji *e)
{
    enum err err = delete_stored_picture(call, "emojis", e->id, &e->image);

    if (err)
        return err;
    return tx_exec(call->tx,
                   e->application_id ? SQL("delete from application_emojis where id = $1")
                                     : SQL("delete from emojis where id = $1"),
                   BIND(v_id(e->id)), NULL);
}

/* --- users who uploaded the emoji ---------------------------------------------------- */

static const struct user *find_uploader_in_earlier_emojis(const struct emoji *all, size_t before,
                                                          snowflake id)
{
    for (size_t i = before; i-- > 0;)
        if (all[i].user && all[i].user_id == id)
            return all[i].user;
    return NULL;
}

enum err emojis_read_uploaders(struct tx *tx, struct list *emojis)
{
    struct emoji *all = emojis->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < emojis->count; i++) {
        struct user *user;

        if (!all[i].user_id ||
            (all[i].user = find_uploader_in_earlier_emojis(all, i, all[i].user_id)))
            continue;
        user = arena_alloc(tx_arena(tx), sizeof *user);
        e = user_find(tx, all[i].user_id, user);
        if (!e)
            all[i].user = user;
        else if (e == ERR_UNKNOWN_USER)
            e = OK;
    }
    return e;
}
