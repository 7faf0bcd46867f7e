/* rows.c - SQL of guilds. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "base/clock.h"
#include "model/fields/rows.h"

#define GUILD_COLUMNS                                                                              \
    "id, name, owner_id, icon, banner, splash, discovery_splash, home_header, description, "       \
    "features, afk_channel_id, afk_timeout, system_channel_id, system_channel_flags, "             \
    "rules_channel_id, public_updates_channel_id, safety_alerts_channel_id, verification_level, "  \
    "default_message_notifications, explicit_content_filter, preferred_locale, "                   \
    "premium_progress_bar_enabled, member_count, widget_enabled, widget_channel_id, vanity_code, " \
    "invites_disabled_until, dms_disabled_until, mfa_level"

static struct opt_int time_or_null_if_past(struct opt_int until)
{
    return until.given == GIVEN && until.value > clock_us() ? until
                                                            : (struct opt_int){ GIVEN_NULL, 0 };
}

static const struct guild_incidents *incidents_from_row(const struct rows *r, int column)
{
    if (row_column_is_null(r, column) && row_column_is_null(r, column + 1))
        return NULL;
    struct guild_incidents *i = arena_alloc(tx_arena(r->tx), sizeof *i);
    i->invites_disabled_until = time_or_null_if_past(row_optional_int(r, column));
    i->dms_disabled_until = time_or_null_if_past(row_optional_int(r, column + 1));
    return i->invites_disabled_until.given == GIVEN || i->dms_disabled_until.given == GIVEN ? i
                                                                                            : NULL;
}

static void guild_from_row(const struct rows *r, void *ret)
{
    struct guild *g = ret;

    *g = (struct guild){
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .owner_id = row_id(r, 2),
        .icon = row_optional_text(r, 3),
        .banner = row_optional_text(r, 4),
        .splash = row_optional_text(r, 5),
        .discovery_splash = row_optional_text(r, 6),
        .home_header = row_optional_text(r, 7),
        .description = row_optional_text(r, 8),
        .features = row_text(r, 9),
        .afk_channel_id = row_optional_id(r, 10),
        .afk_timeout = row_int(r, 11),
        .system_channel_id = row_optional_id(r, 12),
        .system_channel_flags = row_int(r, 13),
        .rules_channel_id = row_optional_id(r, 14),
        .public_updates_channel_id = row_optional_id(r, 15),
        .safety_alerts_channel_id = row_optional_id(r, 16),
        .verification_level = row_int(r, 17),
        .default_message_notifications = row_int(r, 18),
        .explicit_content_filter = row_int(r, 19),
        .preferred_locale = row_text(r, 20),
        .premium_progress_bar_enabled = row_bool(r, 21),
        .member_count = row_int(r, 22),
        .widget_enabled = row_bool(r, 23),
        .widget_channel_id = row_optional_id(r, 24),
        .vanity_url_code = row_optional_text(r, 25),
        .incidents_data = incidents_from_row(r, 26),
        .mfa_level = row_int(r, 28),
        .region = STR("deprecated"),
        .max_members = 500000,
        .max_video_channel_users = 25,
        .max_stage_video_channel_users = 50,
    };
}

static const char FIND_GUILD[] =
    "select " GUILD_COLUMNS " from guilds where id = $1 and removed = 0";
static const char FIND_HIDDEN[] =
    "select " GUILD_COLUMNS " from guilds where id = $1 and removed = 1";

static enum err find_guild_with_sql(struct tx *tx, struct sql sql, snowflake id, struct guild *ret)
{
    return tx_read_first(tx, sql, BIND(v_id(id)), guild_from_row, ret, ERR_UNKNOWN_GUILD);
}

enum err guild_find(struct tx *tx, snowflake id, struct guild *ret)
{
    return find_guild_with_sql(tx, SQL(FIND_GUILD), id, ret);
}

enum err guild_find_hidden_from_users(struct tx *tx, snowflake id, struct guild *ret)
{
    return find_guild_with_sql(tx, SQL(FIND_HIDDEN), id, ret);
}

enum err guild_set_hidden_from_users(struct tx *tx, snowflake id, bool hidden)
{
    return tx_exec(tx, "update guilds set removed = $2 where id = $1",
                   BIND(v_id(id), v_int(hidden)), NULL);
}

enum err guild_read_roles(struct tx *tx, struct guild *g)
{
    return guild_roles_list(tx, g->id, &g->roles);
}

enum err guild_read_roles_emojis_and_other_lists(struct call *call, struct guild *g)
{
    enum err e = guild_read_roles(call->tx, g);

    return e ? e : hook_guild_object_fill(call, g);
}

static const char ADD_GUILD[] =
    "insert into guilds (id, name, owner_id, icon, afk_channel_id, afk_timeout, system_channel_id, "
    "system_channel_flags, verification_level, default_message_notifications, "
    "explicit_content_filter, preferred_locale) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

enum err guild_insert(struct tx *tx, const struct guild *g)
{
    return tx_exec(
        tx, ADD_GUILD,
        BIND(v_id(g->id), v_text(g->name), v_id(g->owner_id), sql_value_of_optional_text(g->icon),
             sql_value_of_optional_id(g->afk_channel_id), v_int(g->afk_timeout),
             sql_value_of_optional_id(g->system_channel_id), v_int(g->system_channel_flags),
             v_int(g->verification_level), v_int(g->default_message_notifications),
             v_int(g->explicit_content_filter), v_text(g->preferred_locale)),
        NULL);
}

static const char SAVE_GUILD[] =
    "update guilds set name = $2, owner_id = $3, icon = $4, banner = $5, splash = $6, "
    "discovery_splash = $7, home_header = $8, description = $9, features = $10, "
    "afk_channel_id = $11, afk_timeout = $12, system_channel_id = $13, "
    "system_channel_flags = $14, rules_channel_id = $15, public_updates_channel_id = $16, "
    "safety_alerts_channel_id = $17, verification_level = $18, "
    "default_message_notifications = $19, explicit_content_filter = $20, "
    "preferred_locale = $21, premium_progress_bar_enabled = $22, mfa_level = $23 where id = $1";

enum err guild_update(struct tx *tx, const struct guild *g)
{
    return tx_exec(
        tx, SAVE_GUILD,
        BIND(v_id(g->id), v_text(g->name), v_id(g->owner_id), sql_value_of_optional_text(g->icon),
             sql_value_of_optional_text(g->banner), sql_value_of_optional_text(g->splash),
             sql_value_of_optional_text(g->discovery_splash),
             sql_value_of_optional_text(g->home_header), sql_value_of_optional_text(g->description),
             v_text(g->features), sql_value_of_optional_id(g->afk_channel_id),
             v_int(g->afk_timeout), sql_value_of_optional_id(g->system_channel_id),
             v_int(g->system_channel_flags), sql_value_of_optional_id(g->rules_channel_id),
             sql_value_of_optional_id(g->public_updates_channel_id),
             sql_value_of_optional_id(g->safety_alerts_channel_id), v_int(g->verification_level),
             v_int(g->default_message_notifications), v_int(g->explicit_content_filter),
             v_text(g->preferred_locale), v_int(g->premium_progress_bar_enabled),
             v_int(g->mfa_level)),
        NULL);
}
