/* rows.c - SQL of AutoMod rules, and of recent messages for the spam trigger. */
#include "platform/automod/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

#define COLUMNS                                                                           \
    "select id, guild_id, creator_id, name, event_type, trigger_type, actions, enabled, " \
    "exempt_roles, exempt_channels, "

static void automod_rule_from_row(const struct rows *r, void *ret)
{
    struct automod_rule *rule = ret;
    struct arena *arena = tx_arena(r->tx);

    *rule = (struct automod_rule){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .creator_id = row_id(r, 2),
        .name = row_text(r, 3),
        .event_type = row_int(r, 4),
        .trigger_type = row_int(r, 5),
        .actions = json_column_decode_list(arena, &type_automod_actions, row_text(r, 6)),
        .enabled = row_bool(r, 7),
        .exempt_roles = json_column_decode_list(arena, &type_ids, row_text(r, 8)),
        .exempt_channels = json_column_decode_list(arena, &type_ids, row_text(r, 9)),
        .trigger_metadata =
            (void *)json_column_decode(arena, &type_automod_metadata, row_text(r, 10)),
    };
    automod_rule_normalize(arena, rule);
}

enum err automod_rules_list(struct tx *tx, snowflake guild_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, COLUMNS "metadata from automod_rules where guild_id = $1 order by id",
                        BIND(v_id(guild_id)), sizeof(struct automod_rule), automod_rule_from_row,
                        ret);
}

enum err automod_rules_list_without_metadata(struct tx *tx, snowflake guild_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(
        tx, COLUMNS "'{}' from automod_rules where guild_id = $1 and enabled = 1 order by id",
        BIND(v_id(guild_id)), sizeof(struct automod_rule), automod_rule_from_row, ret);
}

enum err automod_rule_find(struct tx *tx, snowflake guild_id, snowflake id,
                           struct automod_rule *ret)
{
    struct list found = { 0 };
    enum err e =
        tx_read_list(tx, COLUMNS "metadata from automod_rules where guild_id = $1 and id = $2",
                     BIND(v_id(guild_id), v_id(id)), sizeof *ret, automod_rule_from_row, &found);

    if (e || !found.count)
        return e ? e : ERR_NOT_FOUND;
    *ret = *(struct automod_rule *)found.items;
    return OK;
}

enum err automod_count_rules_of_type(struct tx *tx, snowflake guild_id, int64_t trigger,
                                     int64_t *ret)
{
    return tx_read_int(
        tx, "select count(*) from automod_rules where guild_id = $1 and trigger_type = $2",
        BIND(v_id(guild_id), v_int(trigger)), ret);
}

enum err automod_read_matching_cost_of_other_rules(struct tx *tx, snowflake guild_id, snowflake id,
                                                   int64_t *ret)
{
    return tx_read_int(tx,
                       "select cast(coalesce(sum(pattern_cost), 0) as bigint) from automod_rules "
                       "where guild_id = $1 and id <> $2",
                       BIND(v_id(guild_id), v_id(id)), ret);
}

static const char ADD_RULE[] =
    "insert into automod_rules (id, guild_id, creator_id, name, event_type, trigger_type, "
    "actions, enabled, exempt_roles, exempt_channels, metadata, pattern_cost) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (id) do update set "
    "name = $4, event_type = $5, actions = $7, enabled = $8, exempt_roles = $9, "
    "exempt_channels = $10, metadata = $11, pattern_cost = $12";

/* Writes version number $2 of the guild's rules, or 0 if no rule is enabled. The messages of a
 * guild with version 0 are not checked. */
static const char RENEW[] =
    "update guilds set automod_version = case when exists (select 1 from automod_rules where "
    "guild_id = $1 and enabled = 1) then cast($2 as bigint) else 0 end where id = $1";

enum err automod_rules_renew_version(struct tx *tx, snowflake guild_id)
{
    return tx_exec(tx, RENEW, BIND(v_id(guild_id), v_id(snowflake_new())), NULL);
}

enum err automod_rule_insert(struct tx *tx, const struct automod_rule *r)
{
    struct arena *a = tx_arena(tx);
    enum err e =
        tx_exec(tx, ADD_RULE,
                BIND(v_id(r->id), v_id(r->guild_id), v_id(r->creator_id), v_text(r->name),
                     v_int(r->event_type), v_int(r->trigger_type),
                     v_text(json_column_encode(a, &type_automod_actions, &r->actions)),
                     v_int(r->enabled), v_text(json_column_encode(a, &type_ids, &r->exempt_roles)),
                     v_text(json_column_encode(a, &type_ids, &r->exempt_channels)),
                     v_text(json_column_encode(a, &type_automod_metadata, r->trigger_metadata)),
                     v_int(r->pattern_cost)),
                NULL);

    return e ? e : automod_rules_renew_version(tx, r->guild_id);
}

enum err automod_rule_update(struct tx *tx, const struct automod_rule *r)
{
    return automod_rule_insert(tx, r);
}

enum err automod_rule_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, "delete from automod_rules where id = $1", BIND(v_id(id)), NULL);
}

enum { REPEAT_WINDOW_US = 10 * 1000 * 1000 };

static const char DELETE_OLD_ECHOES[] =
    "delete from automod_echoes where guild_id = $1 and user_id = $2 and first_at < $3";
/* Stores the times of the last four messages of a user with the same text. A fifth such message is
 * spam if the first of the four is less than REPEAT_WINDOW_US old. */
static const char ADD_ECHO[] =
    "insert into automod_echoes (guild_id, user_id, hash, first_at, second_at, third_at, fourth_at) "
    "values ($1, $2, $3, $4, 0, 0, 0) on conflict (guild_id, user_id, hash) do update set "
    "fourth_at = automod_echoes.third_at, third_at = automod_echoes.second_at, "
    "second_at = automod_echoes.first_at, first_at = $4";
static const char FOURTH_ECHO[] = "select fourth_at from automod_echoes where guild_id = $1 and "
                                  "user_id = $2 and hash = $3";

/* Returns the FNV-1a hash of a text. All processes that share the store must use the same hash
 * function. */
static int64_t hash_message_text(struct str s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
    return (int64_t)(h >> 1);
}

enum err automod_count_repeated_text(struct tx *tx, snowflake guild_id, snowflake user_id,
                                     struct str text, bool *ret_spam)
{
    int64_t now = clock_us(), since = now - REPEAT_WINDOW_US;
    struct str folded = text_fold_case(tx_arena(tx), text).text;
    int64_t hash = hash_message_text(folded);
    struct rows row;
    bool found;

    *ret_spam = false;
    if (!folded.n)
        return OK;
    enum err e =
        tx_exec(tx, DELETE_OLD_ECHOES, BIND(v_id(guild_id), v_id(user_id), v_int(since)), NULL);
    if (!e)
        e = tx_one(tx, FOURTH_ECHO, BIND(v_id(guild_id), v_id(user_id), v_int(hash)), &row, &found);
    if (!e)
        *ret_spam = found && row_int(&row, 0) >= since;
    return e ? e
             : tx_exec(tx, ADD_ECHO, BIND(v_id(guild_id), v_id(user_id), v_int(hash), v_int(now)),
                       NULL);
}
