/* rows.c - SQL of webhooks. */
#include "platform/webhooks/internal.h"

#include "model/fields/rows.h"
#include "platform/channels/deletion.h"

#define WEBHOOK_COLUMNS                                                                          \
    "id, guild_id, channel_id, user_id, application_id, name, avatar, salt, source_channel_id, " \
    "source_guild_id"

static void webhook_from_row(const struct rows *r, void *ret)
{
    struct webhook *h = ret;

    *h = (struct webhook){
        .id = row_id(r, 0),
        .type = row_column_is_null(r, 8) ? WEBHOOK_INCOMING : WEBHOOK_FOLLOWER,
        .guild_id = row_id(r, 1),
        .channel_id = row_id(r, 2),
        .user_id = row_id(r, 3),
        .application_id = row_optional_id(r, 4),
        .name = row_optional_text(r, 5),
        .avatar = row_optional_text(r, 6),
        .salt = row_bytes(r, 7),
        .source_channel_id = row_id(r, 8),
        .source_guild_id = row_id(r, 9),
    };
}

#define CHANNEL_STAYS " not" CHANNEL_BEING_DELETED("webhooks.channel_id")

static const char FIND_WEBHOOK[] =
    "select " WEBHOOK_COLUMNS " from webhooks where id = $1 and exists "
    "(select 1 from guilds g where g.id = webhooks.guild_id and g.removed = 0) and" CHANNEL_STAYS;

enum err webhook_find(struct tx *tx, snowflake id, struct webhook *ret)
{
    return tx_read_first(tx, FIND_WEBHOOK, BIND(v_id(id)), webhook_from_row, ret,
                         ERR_UNKNOWN_WEBHOOK);
}

static const char OF_CHANNEL[] =
    "select " WEBHOOK_COLUMNS " from webhooks where channel_id = $1 and" CHANNEL_STAYS
    " order by id";
static const char OF_GUILD[] =
    "select " WEBHOOK_COLUMNS " from webhooks where guild_id = $1 and" CHANNEL_STAYS " order by id";

static enum err read_webhooks_with_sql(struct tx *tx, struct sql sql, snowflake id,
                                       struct list *ret)
{
    return tx_read_list(tx, sql, BIND(v_id(id)), sizeof(struct webhook), webhook_from_row, ret);
}

enum err webhooks_read_of_channel(struct tx *tx, snowflake channel_id, struct list *ret)
{
    return read_webhooks_with_sql(tx, SQL(OF_CHANNEL), channel_id, ret);
}

enum err webhooks_read_of_guild(struct tx *tx, snowflake guild_id, struct list *ret)
{
    return read_webhooks_with_sql(tx, SQL(OF_GUILD), guild_id, ret);
}

static const char COUNT[] =
    "select count(*), coalesce(sum(case when channel_id = $2 then 1 else 0 end), 0) "
    "from webhooks where guild_id = $1";

enum err webhooks_count_in_channel(struct tx *tx, snowflake guild_id, snowflake channel_id,
                                   int64_t *ret_in_guild, int64_t *ret_in_channel)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT, BIND(v_id(guild_id), v_id(channel_id)), &row, &found);

    if (e)
        return e;
    *ret_in_guild = row_int(&row, 0);
    *ret_in_channel = row_int(&row, 1);
    return OK;
}

static const char ADD_WEBHOOK[] =
    "insert into webhooks (id, guild_id, channel_id, user_id, application_id, name, avatar, salt, "
    "source_channel_id, source_guild_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
    "on conflict (id) do update set channel_id = $3, user_id = $4, application_id = $5, name = $6, "
    "avatar = $7";

enum err webhook_insert(struct tx *tx, const struct webhook *h)
{
    return tx_exec(
        tx, ADD_WEBHOOK,
        BIND(v_id(h->id), v_id(h->guild_id), v_id(h->channel_id),
             h->user_id ? v_id(h->user_id) : v_null(), sql_value_of_optional_id(h->application_id),
             sql_value_of_optional_text(h->name), sql_value_of_optional_text(h->avatar),
             v_bytes(h->salt), h->source_channel_id ? v_id(h->source_channel_id) : v_null(),
             h->source_guild_id ? v_id(h->source_guild_id) : v_null()),
        NULL);
}

enum err webhook_update(struct tx *tx, const struct webhook *h)
{
    return webhook_insert(tx, h);
}

enum err webhook_row_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, "delete from webhooks where id = $1", BIND(v_id(id)), NULL);
}
