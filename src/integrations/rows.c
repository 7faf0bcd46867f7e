/* rows.c - SQL of integrations of guilds. */
#include "integrations/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"

#define COLUMNS                                                                                   \
    "i.id, i.guild_id, i.application_id, i.user_id, i.role_id, i.type, i.name, i.account_id, "    \
    "i.scopes, i.enabled, i.enable_emoticons, i.syncing, i.expire_behavior, "                     \
    "i.expire_grace_period, i.subscriber_count, i.round, i.created_at, i.synced_at, i.asked_at, " \
    "i.revoked_at "

static void integration_from_row(const struct rows *r, void *ret)
{
    struct str type = row_text(r, 5);
    enum platform p = platform_find_by_name(type);

    *(struct integration_row *)ret = (struct integration_row){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .application_id = row_id(r, 2),
        .user_id = row_id(r, 3),
        .role_id = row_id(r, 4),
        .type = type,
        .name = row_text(r, 6),
        .account_id = row_text(r, 7),
        .platform = p,
        .scopes = json_column_decode_list(tx_arena(r->tx), &type_texts, row_text(r, 8)),
        .enabled = row_bool(r, 9),
        .enable_emoticons = row_bool(r, 10),
        .syncing = row_bool(r, 11),
        .expire_behavior = row_int(r, 12),
        .expire_grace_period = row_int(r, 13),
        .subscriber_count = row_int(r, 14),
        .round = row_int(r, 15),
        .created_at = row_int(r, 16),
        .synced_at = row_int(r, 17),
        .asked_at = row_int(r, 18),
        .revoked_at = row_int(r, 19),
    };
}

/* --- finding -------------------------------------------------------------------------- */

/* SQL condition: neither the integration (integration_removal.c) nor its application is being
 * deleted. */
#define NOT_REMOVED "i.type <> 'removed' and " APP_NOT_REMOVED

static const char FIND[] = "select " COLUMNS "from integrations i where i.id = $1 and " NOT_REMOVED;
static const char FIND_ACCOUNT[] = "select " COLUMNS "from integrations i where i.guild_id = $1 "
                                   "and i.type = $2 and i.account_id = $3";

enum err read_integration(struct tx *tx, snowflake id, struct integration_row *ret)
{
    return tx_read_first(tx, FIND, BIND(v_id(id)), integration_from_row, ret,
                         ERR_UNKNOWN_INTEGRATION);
}

enum err read_integration_of_account(struct tx *tx, snowflake guild_id, struct str type,
                                     struct str account_id, struct integration_row *ret,
                                     bool *ret_found)
{
    return tx_find_first(tx, FIND_ACCOUNT, BIND(v_id(guild_id), v_text(type), v_text(account_id)),
                         integration_from_row, ret, ret_found);
}

static const char OF_GUILD[] = "select " COLUMNS "from integrations i where i.guild_id = $1 "
                               "and " NOT_REMOVED "order by i.id limit $2";
/* SQL condition: guild commands, or global commands that can be installed in guilds. */
#define USABLE_COMMANDS                                                        \
    "(select 1 from commands c where c.application_id = i.application_id and " \
    "(c.guild_id = i.guild_id or (c.guild_id = 0 and (c.integration_types & 1) <> 0)))"
static const char WITH_COMMANDS[] =
    "select " COLUMNS "from integrations i where i.guild_id = $1 and i.type = 'service' "
    "and i.scopes like '%\"applications.commands\"%' and exists " USABLE_COMMANDS
    " and " APP_NOT_REMOVED "order by i.id limit $2";

enum err read_integrations_of_guild(struct tx *tx, snowflake guild_id, bool with_commands,
                                    struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, with_commands ? SQL(WITH_COMMANDS) : SQL(OF_GUILD),
                        BIND(v_id(guild_id), v_int(MOST_INTEGRATIONS)),
                        sizeof(struct integration_row), integration_from_row, ret);
}

static const char READ_OF_USER_GUILDS[] =
    "select " COLUMNS "from members m join integrations i on i.guild_id = m.guild_id "
    "where m.user_id = $1 and i.type = $2 and i.enabled = 1 and i.revoked_at is null order by i.id";
static const char READ_OF_ACCOUNT[] = "select " COLUMNS "from integrations i where i.type = $1 "
                                      "and i.account_id = $2 order by i.id";

enum err read_integrations_of_user_guilds(struct tx *tx, snowflake user_id, struct str type,
                                          struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, READ_OF_USER_GUILDS, BIND(v_id(user_id), v_text(type)),
                        sizeof(struct integration_row), integration_from_row, ret);
}

enum err read_integrations_of_account(struct tx *tx, struct str type, struct str account_id,
                                      struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, READ_OF_ACCOUNT, BIND(v_text(type), v_text(account_id)),
                        sizeof(struct integration_row), integration_from_row, ret);
}

static const char COUNT[] =
    "select count(*) from integrations i where i.guild_id = $1 and " NOT_REMOVED;

enum err read_integration_count(struct tx *tx, snowflake guild_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT, BIND(v_id(guild_id)), ret);
}

/* --- writing -------------------------------------------------------------------------- */

static const char SAVE[] =
    "update integrations set name = $2, role_id = $3, user_id = $4, enabled = $5, "
    "enable_emoticons = $6, expire_behavior = $7, expire_grace_period = $8, syncing = $9, "
    "synced_at = $10, asked_at = $11, revoked_at = $12, subscriber_count = $13, round = $14 "
    "where id = $1";
static const char SAVE_SCOPES[] = "update integrations set scopes = $2 where id = $1";
static const char DELETE_ROW[] = "delete from integrations where id = $1";

enum err insert_integration(struct tx *tx, const struct integration_row *i)
{
    return integration_insert_row(tx, &(struct new_integration){ .id = i->id,
                                                                 .guild_id = i->guild_id,
                                                                 .type = i->type,
                                                                 .name = i->name,
                                                                 .account_id = i->account_id,
                                                                 .role_id = i->role_id,
                                                                 .user_id = i->user_id,
                                                                 .disabled = !i->enabled,
                                                                 .created_at = i->created_at });
}

enum err update_integration_row(struct tx *tx, const struct integration_row *i)
{
    return tx_exec(
        tx, SAVE,
        BIND(v_id(i->id), v_text(i->name), sql_value_of_int_or_null((int64_t)i->role_id),
             sql_value_of_int_or_null((int64_t)i->user_id), v_int(i->enabled),
             v_int(i->enable_emoticons), v_int(i->expire_behavior), v_int(i->expire_grace_period),
             v_int(i->syncing), sql_value_of_int_or_null(i->synced_at),
             sql_value_of_int_or_null(i->asked_at), sql_value_of_int_or_null(i->revoked_at),
             v_int(i->subscriber_count), v_int(i->round)),
        NULL);
}

enum err update_integration_scopes(struct tx *tx, const struct integration_row *i)
{
    return tx_exec(
        tx, SAVE_SCOPES,
        BIND(v_id(i->id), v_text(json_column_encode(tx_arena(tx), &type_texts, &i->scopes))), NULL);
}

enum err delete_integration_row(struct tx *tx, snowflake id)
{
    return tx_exec(tx, DELETE_ROW, BIND(v_id(id)), NULL);
}

static const char FIND_GUILD[] = "select 1 from guilds where id = $1 and removed = 0";
static const char FIND_SUBSCRIPTION[] =
    "select 1 from integrations where guild_id = $1 and type = 'guild_subscription'";

enum err insert_guild_subscription_integration(struct tx *tx, snowflake guild_id, bool *ret_new)
{
    struct integration_row i = {
        .id = snowflake_new(),
        .guild_id = guild_id,
        .type = STR("guild_subscription"),
        .name = STR("Server Subscriptions"),
        .enabled = true,
        .created_at = clock_us(),
    };
    int64_t count = 0;
    struct rows row;
    bool found;

    enum err e = tx_one_or(tx, FIND_GUILD, BIND(v_id(guild_id)), ERR_UNKNOWN_GUILD, &row);
    if (e)
        return e;
    e = tx_exists(tx, FIND_SUBSCRIPTION, BIND(v_id(guild_id)), &found);
    *ret_new = !found;
    if (e || found)
        return e;
    e = read_integration_count(tx, guild_id, &count);
    if (e || count >= MOST_INTEGRATIONS)
        return e ? e : ERR_MAX_INTEGRATIONS;
    return insert_integration(tx, &i);
}

/* --- building objects ----------------------------------------------------------------- */

static enum err read_app_integration(struct tx *tx, const struct integration_row *i,
                                     struct integration *ret)
{
    struct application *a = arena_alloc(tx_arena(tx), sizeof *a);
    enum err e = application_find(tx, i->application_id, a);

    if (e)
        return e;
    *ret = integration_from_application(tx_arena(tx), a, i->guild_id, i->id);
    ret->enabled = i->enabled;
    ret->scopes = (struct opt_list){ GIVEN, i->scopes };
    integration_set_displayed_type(ret);
    return OK;
}

static void set_platform_fields(const struct integration_row *i, struct integration *ret)
{
    ret->enabled = i->enabled && platform_is_enabled(i->platform);
    ret->syncing = opt_bool_present(i->syncing);
    ret->enable_emoticons = opt_bool_present(i->enable_emoticons);
    ret->revoked = opt_bool_present(i->revoked_at != 0);
    ret->role_id = opt_id_or_null(i->role_id);
    ret->expire_behavior = opt_int_present(i->expire_behavior);
    ret->expire_grace_period = opt_int_present(i->expire_grace_period);
    ret->subscriber_count = opt_int_present(i->subscriber_count);
    /* Clients require a timestamp, so before the first sync the creation time is sent. */
    ret->synced_at = opt_int_present(i->synced_at ? i->synced_at : i->created_at);
}

static const char GUILD_NAME[] = "select name from guilds where id = $1";

/* Reads the field `account` of a guild subscription: id and name of the guild. */
static enum err read_guild_as_account(struct tx *tx, const struct integration_row *i,
                                      struct integration_account *account)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, GUILD_NAME, BIND(v_id(i->guild_id)), &row, &found);

    if (e || !found)
        return e;
    account->id = str_printf(tx_arena(tx), "%llu", (unsigned long long)i->guild_id);
    account->name = row_text(&row, 0);
    return OK;
}

enum err read_application_and_build_integration(struct tx *tx, const struct integration_row *i,
                                                struct integration *ret)
{
    struct integration_account *account = arena_alloc(tx_arena(tx), sizeof *account);
    enum err e = OK;

    if (i->application_id)
        return read_app_integration(tx, i, ret);
    *account = (struct integration_account){ i->account_id, i->name };
    *ret = (struct integration){
        .id = i->id,
        .guild_id = i->guild_id,
        .name = i->name,
        .type = i->type,
        .enabled = i->enabled,
        .account = account,
    };
    if (i->platform != PLATFORM_NONE)
        set_platform_fields(i, ret);
    else
        e = read_guild_as_account(tx, i, account);
    integration_set_displayed_type(ret);
    return e;
}

enum err update_integration_and_emit(struct call *call, const struct integration_row *i)
{
    struct integration object;
    enum err e = update_integration_row(call->tx, i);

    if (!e)
        e = read_application_and_build_integration(call->tx, i, &object);
    if (!e)
        integration_emit_change(call, EVENT_INTEGRATION_UPDATE, &object);
    return e;
}
