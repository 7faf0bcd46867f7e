/* installed.c - reads where an app is installed for a user: guild, account, group DM. */
#include "commands/internal.h"

#include "commands/index/index_invalidation.h"
#include "platform/accounts/settings/settings.h"

static const char IN_GUILD[] =
    "select 1 from integrations i where i.guild_id = $2 and i.application_id = $1 and "
    "i.type = 'service' and " INTEGRATION_HAS_COMMANDS("i");
/* Starts from the user's guilds, because a user is in few guilds, but an app may be in many. */
static const char IN_USER_GUILDS[] =
    "select 1 from members m cross join integrations i where m.user_id = $2 and "
    "i.guild_id = m.guild_id and i.application_id = $1 and i.type = 'service' "
    "and " INTEGRATION_HAS_COMMANDS("i") " limit 1";
static const char ON_ACCOUNT[] =
    "select 1 from authorizations where application_id = $1 and user_id = $2 and installed = 1";
static const char IN_GROUP[] =
    "select 1 from channel_integrations where application_id = $1 and channel_id = $2";

static enum err read_whether_app_is_installed(struct tx *tx, struct sql sql,
                                              snowflake application_id, snowflake where, bool *ret)
{
    return tx_exists(tx, sql, BIND(v_id(application_id), v_id(where)), ret);
}

static enum err read_app_install_type_bit(struct tx *tx, struct sql sql, snowflake application_id,
                                          snowflake where, enum integration_type type,
                                          unsigned *installed)
{
    bool found;
    enum err e = read_whether_app_is_installed(tx, sql, application_id, where, &found);

    if (!e && found)
        *installed |= 1u << type;
    return e;
}

enum err read_whether_app_is_in_guild(struct tx *tx, snowflake application_id, snowflake guild_id,
                                      unsigned *installed)
{
    return read_app_install_type_bit(tx, SQL(IN_GUILD), application_id, guild_id, INSTALL_GUILD,
                                     installed);
}

enum err read_whether_app_is_in_user_guilds(struct tx *tx, snowflake application_id,
                                            snowflake user_id, unsigned *installed)
{
    return read_app_install_type_bit(tx, SQL(IN_USER_GUILDS), application_id, user_id,
                                     INSTALL_GUILD, installed);
}

enum err read_whether_app_is_installed_on_account(struct tx *tx, snowflake application_id,
                                                  snowflake user_id, unsigned *installed)
{
    return read_app_install_type_bit(tx, SQL(ON_ACCOUNT), application_id, user_id, INSTALL_USER,
                                     installed);
}

enum err read_whether_app_is_in_group(struct tx *tx, snowflake application_id, snowflake channel_id,
                                      bool *ret)
{
    return read_whether_app_is_installed(tx, SQL(IN_GROUP), application_id, channel_id, ret);
}

enum err read_user_allows_age_restricted_commands(struct tx *tx, snowflake user_id, bool *ret)
{
    struct user_settings settings;
    enum err e = user_settings_find(tx, user_id, &settings);

    *ret = !e && settings.view_nsfw_commands.value;
    return e;
}
