/* import_guilds.c - guilds with their roles, members, bans and apps. */
#include "platform/worlds/internal.h"

#include "base/clock.h"
#include "model/permissions.h"

/* --- roles ---------------------------------------------------------------------------- */

static const char ADD_ROLE[] =
    "insert into roles (id, guild_id, name, permissions) values ($1, $2, $3, $4)";
static const char DRESS_ROLE[] =
    "update roles set name = $2, permissions = coalesce($3, permissions), "
    "color = coalesce($4, color), secondary_color = coalesce($5, secondary_color), "
    "tertiary_color = coalesce($6, tertiary_color), position = coalesce($7, position), "
    "hoist = coalesce($8, hoist), mentionable = coalesce($9, mentionable), "
    "managed = coalesce($10, managed), flags = coalesce($11, flags), "
    "unicode_emoji = coalesce($12, unicode_emoji), bot_id = coalesce($13, bot_id) where id = $1";

static enum err dress_role(struct importing *im, const struct world_role *r, snowflake id,
                           struct opt_int position, snowflake bot)
{
    struct opt_bool managed = bot ? (struct opt_bool){ GIVEN, true } : r->managed;
    struct value rights = v_null();
    struct str wrong;
    uint64_t bits;

    if (r->permissions.given == GIVEN &&
        rights_read(r->permissions.value, im->arena, &bits, &wrong))
        rights = v_int((int64_t)bits);
    return tx_exec(im->tx, DRESS_ROLE,
                   BIND(v_id(id), v_text(r->name), rights, v_opt_int(r->color),
                        v_opt_int(r->secondary_color), v_opt_int(r->tertiary_color),
                        v_opt_int(position), v_opt_bool(r->hoist), v_opt_bool(r->mentionable),
                        v_opt_bool(managed), v_opt_int(r->flags), v_opt_text(r->unicode_emoji),
                        bot ? v_id(bot) : v_null()),
                   NULL);
}

static enum err import_role(struct importing *im, const struct world_role *r,
                            const struct place *at, snowflake guild, int64_t from_below)
{
    struct place bot_at = place_key(at, STR("bot"));
    struct opt_int position = r->position;
    unsigned before = im->form->problems;
    snowflake id = 0, bot;
    enum err e = settle(im, &role_naming, guild, r->id, r->name, at, &id);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &r->bot, &bot_at, &bot);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_ROLES, !id);
    if (!id) {
        id = r->id.given == GIVEN ? r->id.value : snowflake_new();
        e = tx_exec(im->tx, ADD_ROLE, BIND(v_id(id), v_id(guild), v_text(r->name), v_int(0)), NULL);
    }
    if (id == guild)
        position = (struct opt_int){ GIVEN, 0 };
    else if (position.given != GIVEN)
        position = (struct opt_int){ GIVEN, from_below };
    return e ? e : dress_role(im, r, id, position, bot);
}

/* The first one listed is the highest. */
static enum err import_roles(struct importing *im, const struct opt_list *list, snowflake guild,
                             const struct place *up)
{
    struct place all = place_key(up, STR("roles"));
    const struct world_role *roles = list->value.items;
    int64_t below = (int64_t)list->value.count;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count; i++)
        if (str_is(roles[i].name, "@everyone"))
            below--;
    for (size_t i = 0; i < list->value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = import_role(im, &roles[i], &at, guild, below);
        if (!str_is(roles[i].name, "@everyone"))
            below--;
    }
    return e;
}

/* --- members -------------------------------------------------------------------------- */

static const char ADD_MEMBER[] = "insert into members (guild_id, user_id, joined_at) "
                                 "values ($1, $2, $3) on conflict do nothing";
static const char DRESS_MEMBER[] =
    "update members set nick = coalesce($3, nick), bio = coalesce($4, bio), "
    "joined_at = coalesce($5, joined_at), premium_since = coalesce($6, premium_since), "
    "timed_out_until = coalesce($7, timed_out_until), flags = coalesce($8, flags), "
    "mute = coalesce($9, mute), deaf = coalesce($10, deaf), pending = coalesce($11, pending) "
    "where guild_id = $1 and user_id = $2";
static const char DROP_MEMBER_ROLES[] =
    "delete from member_roles where guild_id = $1 and user_id = $2";
static const char ADD_MEMBER_ROLE[] = "insert into member_roles (guild_id, user_id, role_id) "
                                      "values ($1, $2, $3) on conflict do nothing";

static enum err add_member(struct importing *im, snowflake guild, snowflake user, bool *ret_new)
{
    int64_t changed = 0;
    enum err e =
        tx_exec(im->tx, ADD_MEMBER, BIND(v_id(guild), v_id(user), v_int(clock_us())), &changed);

    *ret_new = changed == 1;
    return e;
}

static enum err import_member_roles(struct importing *im, const struct opt_list *list,
                                    snowflake guild, snowflake user, const struct place *up)
{
    struct place all = place_key(up, STR("roles"));
    const struct str *roles = list->value.items;
    enum err e = tx_exec(im->tx, DROP_MEMBER_ROLES, BIND(v_id(guild), v_id(user)), NULL);

    for (size_t i = 0; i < list->value.count && !e; i++) {
        struct place at = place_index(&all, i);
        snowflake role = 0;

        e = refer(im, &role_naming, guild, roles[i], &at, &role);
        /* Everybody has @everyone; it is never listed. */
        if (!e && role && role != guild)
            e = tx_exec(im->tx, ADD_MEMBER_ROLE, BIND(v_id(guild), v_id(user), v_id(role)), NULL);
    }
    return e;
}

static enum err import_member(struct importing *im, const void *entry, const struct place *at,
                              snowflake guild)
{
    const struct world_member *m = entry;
    struct place user_at = place_key(at, STR("user"));
    snowflake user = 0;
    bool made;
    enum err e = refer(im, &user_naming, 0, m->user, &user_at, &user);

    if (e || !user)
        return e;
    e = add_member(im, guild, user, &made);
    if (e)
        return e;
    count(im, COUNT_MEMBERS, made);
    e = tx_exec(im->tx, DRESS_MEMBER,
                BIND(v_id(guild), v_id(user), v_opt_text(m->nick), v_opt_text(m->bio),
                     v_opt_int(m->joined_at), v_opt_int(m->premium_since),
                     v_opt_int(m->timed_out_until), v_opt_int(m->flags), v_opt_bool(m->mute),
                     v_opt_bool(m->deaf), v_opt_bool(m->pending)),
                NULL);
    if (e || m->roles.given != GIVEN)
        return e;
    return import_member_roles(im, &m->roles, guild, user, at);
}

/* --- bans and apps -------------------------------------------------------------------- */

static const char SAVE_BAN[] =
    "insert into bans (guild_id, user_id, reason) values ($1, $2, $3) "
    "on conflict (guild_id, user_id) do update set reason = excluded.reason";

static enum err import_ban(struct importing *im, const void *entry, const struct place *at,
                           snowflake guild)
{
    const struct world_ban *b = entry;
    struct place user_at = place_key(at, STR("user"));
    snowflake user = 0;
    enum err e = refer(im, &user_naming, 0, b->user, &user_at, &user);

    if (e || !user)
        return e;
    return tx_exec(im->tx, SAVE_BAN, BIND(v_id(guild), v_id(user), v_opt_text(b->reason)), NULL);
}

static const char FIND_INTEGRATION[] =
    "select id from integrations where guild_id = $1 and application_id = $2";
static const char ADD_INTEGRATION[] =
    "insert into integrations (id, guild_id, type, name, application_id, scopes, user_id, "
    "created_at) select cast($1 as bigint), cast($2 as bigint), 'service', a.name, a.id, "
    "cast($4 as text), cast($5 as bigint), cast($6 as bigint) from applications a "
    "where a.id = $3";

/* The bot's own role says which app it came with. */
static const char MARK_ROLES[] =
    "update roles set integration_id = $2 where guild_id = $1 and managed = 1 and bot_id = "
    "(select bot_id from applications where id = $3)";

static enum err import_guilds_install(struct importing *im, const struct world_installed *in,
                                      snowflake guild, snowflake app, snowflake by)
{
    struct str scopes =
        in->scopes.given == GIVEN ? in->scopes.value : STR("[\"bot\",\"applications.commands\"]");
    snowflake id = in->id.given == GIVEN ? in->id.value : snowflake_new();
    enum err e =
        tx_exec(im->tx, ADD_INTEGRATION,
                BIND(v_id(id), v_id(guild), v_id(app), v_text(layout_compact(im->arena, scopes)),
                     by ? v_id(by) : v_null(), v_int(snowflake_ms(id) * 1000)),
                NULL);

    return e ? e : tx_exec(im->tx, MARK_ROLES, BIND(v_id(guild), v_id(id), v_id(app)), NULL);
}

static enum err import_installed(struct importing *im, const void *entry, const struct place *at,
                                 snowflake guild)
{
    const struct world_installed *in = entry;
    struct place app_at = place_key(at, STR("application")), by_at = place_key(at, STR("by"));
    snowflake app = 0, by = 0;
    struct rows row;
    bool known;
    enum err e = refer(im, &application_naming, 0, in->application, &app_at, &app);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (e || !app)
        return e;
    e = tx_one(im->tx, FIND_INTEGRATION, BIND(v_id(guild), v_id(app)), &row, &known);
    if (!e && !known)
        e = import_guilds_install(im, in, guild, app, by);
    return e ? e : import_commands(im, &in->commands, (struct world_scope){ app, guild }, at);
}

/* --- guilds --------------------------------------------------------------------------- */

static const char ADD_GUILD[] = "insert into guilds (id, name, owner_id) values ($1, $2, $3)";
static const char DRESS_GUILD[] =
    "update guilds set name = $2, owner_id = $3, description = coalesce($4, description), "
    "features = coalesce($5, features), preferred_locale = coalesce($6, preferred_locale), "
    "afk_timeout = coalesce($7, afk_timeout), "
    "system_channel_flags = coalesce($8, system_channel_flags), "
    "verification_level = coalesce($9, verification_level), "
    "default_message_notifications = coalesce($10, default_message_notifications), "
    "explicit_content_filter = coalesce($11, explicit_content_filter), "
    "premium_progress_bar_enabled = coalesce($12, premium_progress_bar_enabled) where id = $1";
static const char FINISH_GUILD[] =
    "update guilds set afk_channel_id = coalesce($2, afk_channel_id), "
    "system_channel_id = coalesce($3, system_channel_id), "
    "rules_channel_id = coalesce($4, rules_channel_id), "
    "public_updates_channel_id = coalesce($5, public_updates_channel_id), "
    "safety_alerts_channel_id = coalesce($6, safety_alerts_channel_id), "
    "member_count = (select count(*) from members where guild_id = $1) where id = $1";

static enum err add_guild(struct importing *im, const struct world_guild *g, snowflake id,
                          snowflake owner)
{
    enum err e = tx_exec(im->tx, ADD_GUILD, BIND(v_id(id), v_text(g->name), v_id(owner)), NULL);

    if (e)
        return e;
    return tx_exec(
        im->tx, ADD_ROLE,
        BIND(v_id(id), v_id(id), v_text(STR("@everyone")), v_int((int64_t)PERMISSIONS_DEFAULT)),
        NULL);
}

static enum err dress_guild(struct importing *im, const struct world_guild *g, snowflake id,
                            snowflake owner)
{
    bool made;
    enum err e = tx_exec(
        im->tx, DRESS_GUILD,
        BIND(v_id(id), v_text(g->name), v_id(owner), v_opt_text(g->description),
             v_opt_json(im, g->features), v_opt_text(g->preferred_locale),
             v_opt_int(g->afk_timeout), v_opt_int(g->system_channel_flags),
             v_opt_int(g->verification_level), v_opt_int(g->default_message_notifications),
             v_opt_int(g->explicit_content_filter), v_opt_bool(g->premium_progress_bar_enabled)),
        NULL);

    /* Whoever owns a guild is in it, listed or not. */
    return e ? e : add_member(im, id, owner, &made);
}

/* What a guild refers to among its own channels. */
static enum err finish_guild(struct importing *im, const struct world_guild *g, snowflake id,
                             const struct place *up)
{
    const struct {
        const char *name;
        const struct opt_str *to;
    } refs[] = {
        { "afk_channel", &g->afk_channel },
        { "system_channel", &g->system_channel },
        { "rules_channel", &g->rules_channel },
        { "public_updates_channel", &g->public_updates_channel },
        { "safety_alerts_channel", &g->safety_alerts_channel },
    };
    struct value values[6] = { v_id(id) };

    for (size_t i = 0; i < 5; i++) {
        struct place at = place_key(up, str_of(refs[i].name));
        snowflake channel;
        enum err e = refer_maybe(im, &channel_naming, id, refs[i].to, &at, &channel);

        if (e)
            return e;
        values[i + 1] = channel ? v_id(channel) : v_null();
    }
    return tx_exec(im->tx, FINISH_GUILD, values, 6, NULL);
}

static enum err import_inside(struct importing *im, const struct world_guild *g, snowflake id,
                              const struct place *at)
{
    enum err e = import_roles(im, &g->roles, id, at);

    if (!e)
        e = import_each(im, &g->members, sizeof(struct world_member), "members", at, import_member,
                        id);
    if (!e)
        e = import_each(im, &g->emojis, sizeof(struct world_emoji), "emojis", at, import_emoji, id);
    if (!e)
        e = import_each(im, &g->stickers, sizeof(struct world_sticker), "stickers", at,
                        import_sticker, id);
    if (!e)
        e = import_each(im, &g->channels, sizeof(struct world_channel), "channels", at,
                        import_channel, id);
    if (!e)
        e = import_each(im, &g->channels, sizeof(struct world_channel), "channels", at,
                        dress_channel, id);
    if (!e)
        e = import_each(im, &g->bans, sizeof(struct world_ban), "bans", at, import_ban, id);
    if (!e)
        e = import_each(im, &g->applications, sizeof(struct world_installed), "applications", at,
                        import_installed, id);
    if (!e)
        e = import_each(im, &g->integrations, sizeof(struct world_followed), "integrations", at,
                        import_followed, id);
    if (!e)
        e = import_each(im, &g->sounds, sizeof(struct world_sound), "sounds", at, import_sound, id);
    if (!e)
        e = import_each(im, &g->automod, sizeof(struct world_rule), "automod", at, import_rule, id);
    return e ? e : finish_guild(im, g, id, at);
}

enum err import_guild(struct importing *im, const void *entry, const struct place *at,
                      snowflake unused)
{
    const struct world_guild *g = entry;
    struct place owner_at = place_key(at, STR("owner"));
    unsigned before = im->form->problems;
    snowflake id = 0, owner = 0;
    enum err e = settle(im, &guild_naming, unused, g->id, g->name, at, &id);

    if (!e)
        e = refer(im, &user_naming, 0, g->owner, &owner_at, &owner);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_GUILDS, !id);
    if (!id) {
        id = g->id.given == GIVEN ? g->id.value : snowflake_new_guild();
        e = add_guild(im, g, id, owner);
    }
    if (!e)
        e = dress_guild(im, g, id, owner);
    return e ? e : import_inside(im, g, id, at);
}
