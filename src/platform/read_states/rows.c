/* rows.c - SQL of read states. */
#include "platform/read_states/internal.h"

#include "model/fields/rows.h"

#define STATE_COLUMNS "entity_id, kind, guild_id, last_id, mentions, pins_at, flags, last_viewed"

static void read_state_from_row(const struct rows *r, void *ret)
{
    *(struct read_state *)ret = (struct read_state){
        .id = row_id(r, 0),
        .kind = row_int(r, 1),
        .guild_id = row_id(r, 2),
        .last_id = row_id(r, 3),
        .mentions = row_int(r, 4),
        .pins_at = row_int_or_absent(r, 5),
        .flags = row_int_or_absent(r, 6),
        .last_viewed = row_int_or_absent(r, 7),
    };
}

static const char FIND_STATE[] = "select " STATE_COLUMNS " from read_states "
                                 "where user_id = $1 and kind = $2 and entity_id = $3";

enum err find_read_state(struct tx *tx, snowflake user_id, int64_t kind, snowflake id,
                         struct read_state *ret, bool *ret_found)
{
    struct rows row;
    enum err e =
        tx_one(tx, FIND_STATE, BIND(v_id(user_id), v_int(kind), v_id(id)), &row, ret_found);

    *ret = (struct read_state){ .id = id, .kind = kind };
    if (!e && *ret_found)
        read_state_from_row(&row, ret);
    return e;
}

static const char PUT_STATE[] =
    "insert into read_states (user_id, kind, entity_id, guild_id, last_id, mentions, pins_at, "
    "flags, last_viewed) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
    "on conflict (user_id, kind, entity_id) do update set last_id = excluded.last_id, "
    "mentions = excluded.mentions, pins_at = coalesce(excluded.pins_at, read_states.pins_at), "
    "flags = coalesce(excluded.flags, read_states.flags), "
    "last_viewed = coalesce(excluded.last_viewed, read_states.last_viewed)";

enum err read_state_save(struct tx *tx, snowflake user_id, const struct read_state *s)
{
    return tx_exec(tx, PUT_STATE,
                   BIND(v_id(user_id), v_int(s->kind), v_id(s->id), v_id(s->guild_id),
                        v_id(s->last_id), v_int(s->mentions), sql_value_of_optional_int(s->pins_at),
                        sql_value_of_optional_int(s->flags),
                        sql_value_of_optional_int(s->last_viewed)),
                   NULL);
}

enum err read_state_delete(struct tx *tx, snowflake user_id, int64_t kind, snowflake id)
{
    return tx_exec(tx,
                   "delete from read_states where user_id = $1 and kind = $2 and entity_id = $3",
                   BIND(v_id(user_id), v_int(kind), v_id(id)), NULL);
}

static const char NEXT_VERSION[] =
    "insert into read_versions (user_id, version) values ($1, 1) on conflict (user_id) "
    "do update set version = read_versions.version + 1 returning version";

enum err read_state_increment_version(struct tx *tx, snowflake user_id, int64_t *ret)
{
    return tx_read_int(tx, NEXT_VERSION, BIND(v_id(user_id)), ret);
}

enum err read_state_read_version(struct tx *tx, snowflake user_id, int64_t *ret)
{
    return tx_read_int(tx, "select version from read_versions where user_id = $1",
                       BIND(v_id(user_id)), ret);
}

static const char READ_STATES[] =
    "select " STATE_COLUMNS " from read_states where user_id = $1 order by kind, entity_id";

enum err read_states_list_of_account(struct tx *tx, snowflake user_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, READ_STATES, BIND(v_id(user_id)), sizeof(struct read_state),
                        read_state_from_row, ret);
}
