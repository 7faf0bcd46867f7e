/* rows.c - SQL of stickers. */
#include "platform/stickers/internal.h"

#include "model/fields/rows.h"
#include "platform/members/members.h"

#define STICKERS \
    "select id, guild_id, name, description, tags, format, user_id, image from stickers "

static void sticker_from_row(const struct rows *r, void *ret)
{
    *(struct sticker *)ret = (struct sticker){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .name = row_text(r, 2),
        .description = row_optional_text(r, 3),
        .tags = row_text(r, 4),
        .type = STICKER_OF_GUILD,
        .format_type = row_int(r, 5),
        .available = true,
        .user_id = row_id(r, 6),
        .image = row_optional_text(r, 7),
    };
}

static const char STICKERS_OF_GUILD[] = STICKERS "where guild_id = $1 order by id";

enum err guild_stickers_read(struct tx *tx, snowflake guild_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, STICKERS_OF_GUILD, BIND(v_id(guild_id)), sizeof(struct sticker),
                        sticker_from_row, ret);
}

enum err sticker_find(struct tx *tx, snowflake id, struct sticker *ret)
{
    return tx_read_first(tx, STICKERS "where id = $1", BIND(v_id(id)), sticker_from_row, ret,
                         ERR_UNKNOWN_STICKER);
}

/* --- writing -------------------------------------------------------------------------- */

static const char ADD_STICKER[] =
    "insert into stickers (id, guild_id, name, description, tags, format, user_id, image) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do update set name = $3, "
    "description = $4, tags = $5, user_id = $7, image = $8";

enum err sticker_insert(struct tx *tx, const struct sticker *s)
{
    return tx_exec(tx, ADD_STICKER,
                   BIND(v_id(s->id), v_id(s->guild_id), v_text(s->name),
                        sql_value_of_optional_text(s->description), v_text(s->tags),
                        v_int(s->format_type), s->user_id ? v_id(s->user_id) : v_null(),
                        sql_value_of_optional_text(s->image)),
                   NULL);
}

enum err sticker_update(struct tx *tx, const struct sticker *s)
{
    return sticker_insert(tx, s);
}

enum err sticker_delete(struct call *call, const struct sticker *s)
{
    enum err e = delete_stored_picture(call, "stickers", s->id, &s->image);

    return e ? e : tx_exec(call->tx, "delete from stickers where id = $1", BIND(v_id(s->id)), NULL);
}

/* --- uploaders, and who may use a sticker --------------------------------------------- */

enum err read_sticker_uploaders(struct tx *tx, struct list *stickers)
{
    struct sticker *all = stickers->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < stickers->count; i++) {
        struct user *user = arena_alloc(tx_arena(tx), sizeof *user);

        e = all[i].user_id ? user_find(tx, all[i].user_id, user) : ERR_UNKNOWN_USER;
        if (!e)
            all[i].user = user;
        else if (e == ERR_UNKNOWN_USER)
            e = OK;
    }
    return e;
}

enum err sticker_find_usable(struct tx *tx, const struct emoji_use_context *who, snowflake id,
                             struct sticker *ret)
{
    struct sticker s;
    struct member_access there;
    enum err e = sticker_find(tx, id, &s);

    if (e)
        return e == ERR_UNKNOWN_STICKER ? ERR_INVALID_STICKER : e;
    if (s.guild_id != who->guild_id) {
        if (who->guild_id && !(who->permissions & PERMISSION(USE_EXTERNAL_STICKERS)))
            return ERR_STICKER_FORBIDDEN;
        e = member_access_find(tx, s.guild_id, who->user_id, &there);
        if (e)
            return e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_GUILD ? ERR_STICKER_FORBIDDEN : e;
    }
    *ret = s;
    return OK;
}
