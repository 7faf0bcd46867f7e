/* features.c - guild settings and features that other folders control. */
#include "model/fields/rows.h"
#include "platform/guilds/internal.h"

/* Adds a feature to a list or removes it. The list is a JSON array of names that need no
 * escapes. */
static struct str set_feature_in_list(struct arena *arena, struct str old, const char *feature,
                                      bool on)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 64 * 1024);
    json_begin_array(&j);
    for (str_cut(&old, '"'); old.n; str_cut(&old, '"')) {
        struct str name = str_cut(&old, '"');

        if (!str_is(name, feature))
            json_write_text(&j, name);
    }
    if (on)
        json_write_text(&j, str_of(feature));
    json_end_array(&j);
    return buf_move_to_arena(&out, arena);
}

enum err guild_emit_update(struct call *call, snowflake id)
{
    struct guild g;
    enum err e = guild_find(call->tx, id, &g);

    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &g);
    if (!e)
        call_emit_event(call, EVENT_GUILD_UPDATE, audience_of_guild(id), &guild_schema, &g);
    return e;
}

enum err guild_set_feature_and_emit(struct call *call, snowflake id, const char *feature, bool on)
{
    struct guild g;
    enum err e = guild_find(call->tx, id, &g);

    if (!e)
        g.features = set_feature_in_list(call->arena, g.features, feature, on);
    if (!e)
        e = guild_update(call->tx, &g);
    return e ? e : guild_emit_update(call, id);
}

enum err guild_add_feature_without_event(struct tx *tx, snowflake id, const char *feature)
{
    struct guild g;
    enum err e = guild_find(tx, id, &g);

    if (e || guild_has_feature(&g, feature))
        return e;
    g.features = set_feature_in_list(tx_arena(tx), g.features, feature, true);
    return guild_update(tx, &g);
}

enum err guild_update_widget_settings(struct tx *tx, snowflake id, bool enabled,
                                      struct opt_id channel_id)
{
    return tx_exec(tx,
                   "update guilds set widget_enabled = $2, widget_channel_id = $3 where id = $1",
                   BIND(v_id(id), v_int(enabled), sql_value_of_optional_id(channel_id)), NULL);
}

enum err guild_update_vanity_code(struct tx *tx, snowflake id, struct opt_str code)
{
    bool taken = false;
    enum err e = tx_exists(tx, "select 1 from guilds where vanity_code = $1 and id <> $2",
                           BIND(sql_value_of_optional_text(code), v_id(id)), &taken);

    if (e || taken)
        return e ? e : ERR_INVITE_CODE_INVALID;
    return tx_exec(tx, "update guilds set vanity_code = $2, vanity_uses = 0 where id = $1",
                   BIND(v_id(id), sql_value_of_optional_text(code)), NULL);
}

enum err guild_update_incident_restrictions(struct tx *tx, snowflake id,
                                            const struct guild_incidents *i)
{
    return tx_exec(tx,
                   "update guilds set invites_disabled_until = $2, dms_disabled_until = $3 "
                   "where id = $1",
                   BIND(v_id(id), sql_value_of_optional_int(i->invites_disabled_until),
                        sql_value_of_optional_int(i->dms_disabled_until)),
                   NULL);
}
