/* export_guilds.c - guilds and all that is in them. */
#include "model/ids.h"
#include "platform/worlds/internal.h"

/* --- how things are referred to ------------------------------------------------------- */

struct named_row {
    snowflake id;
    struct str name;
};

/* By name where only one has it, else by id. Absent when there is no such thing. */
static struct opt_str export_guilds_reference(struct tx *tx, const struct list *things,
                                              snowflake id)
{
    const struct named_row *all = things->items, *found = NULL;
    size_t same = 0;

    for (size_t i = 0; i < things->count && !found; i++)
        if (all[i].id == id)
            found = &all[i];
    if (!found)
        return (struct opt_str){ .given = ABSENT };
    for (size_t i = 0; i < things->count; i++)
        same += str_eq(all[i].name, found->name);
    if (same == 1)
        return (struct opt_str){ GIVEN, found->name };
    return (struct opt_str){ GIVEN,
                             str_printf(tx_arena(tx), "%llu", (unsigned long long)found->id) };
}

static enum err load_names(struct tx *tx, const char *sql, const struct value *values, size_t count,
                           struct list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, sql, values, count, &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct named_row *)list_add(tx_arena(tx), ret, sizeof(struct named_row)) =
            (struct named_row){ row_id(&r, 0), row_text(&r, 1) };
    return rows_end(&r);
}

/* What the names of one guild's file entry come from. */
struct names {
    struct list roles, channels, applications;
};

static const char ROLE_NAMES[] = "select id, name from roles where guild_id = $1 and "
                                 "position >= 0 order by id";
static const char CHANNEL_NAMES[] = "select id, name from channels where guild_id = $1 order by id";
static const char APPLICATION_NAMES[] = "select id, name from applications order by id";

static enum err load_all_names(struct tx *tx, snowflake guild, struct names *ret)
{
    enum err e = load_names(tx, ROLE_NAMES, BIND(v_id(guild)), &ret->roles);

    if (!e)
        e = load_names(tx, CHANNEL_NAMES, BIND(v_id(guild)), &ret->channels);
    return e ? e : load_names(tx, APPLICATION_NAMES, NO_BIND, &ret->applications);
}

/* --- roles ---------------------------------------------------------------------------- */

static const char ROLES[] =
    "select r.id, r.name, r.permissions, r.color, r.secondary_color, r.tertiary_color, r.position, "
    "r.hoist, r.mentionable, r.managed, r.flags, r.unicode_emoji, b.username from roles r "
    "left join users b on b.id = r.bot_id where r.guild_id = $1 and r.position >= 0 "
    "order by r.position desc, r.id";

static enum err export_roles(struct tx *tx, snowflake guild, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, ROLES, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_role *x = shown_item(tx, ret, sizeof *x);

        *x = (struct world_role){
            .id = { GIVEN, row_id(&r, 0) },
            .name = row_text(&r, 1),
            .permissions = rights_write((uint64_t)row_int(&r, 2), tx_arena(tx)),
            .color = shown_int(&r, 3, 0),
            .secondary_color = shown_int(&r, 4, -1),
            .tertiary_color = shown_int(&r, 5, -1),
            .position = shown_int(&r, 6, -1),
            .hoist = shown_bool(&r, 7, false),
            .mentionable = shown_bool(&r, 8, false),
            .managed = shown_bool(&r, 9, false),
            .flags = shown_int(&r, 10, 0),
            .unicode_emoji = shown_text(&r, 11, NULL),
            .bot = shown_text(&r, 12, NULL),
        };
    }
    return rows_end(&r);
}

/* --- channels ------------------------------------------------------------------------- */

static const char OVERWRITES[] =
    "select o.target_id, o.type, o.allow, o.deny, u.username from overwrites o "
    "left join users u on u.id = o.target_id where o.channel_id = $1 order by o.target_id";

static enum err export_overwrites(struct tx *tx, const struct names *names, snowflake channel,
                                  struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, OVERWRITES, BIND(v_id(channel)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        bool role = row_int(&r, 1) == OVERWRITE_ROLE;
        struct opt_str to = role ? export_guilds_reference(tx, &names->roles, row_id(&r, 0))
                                 : shown_text(&r, 4, NULL);

        if (to.given != GIVEN)
            continue;
        struct world_overwrite *o = shown_item(tx, ret, sizeof *o);
        *(role ? &o->role : &o->member) = to;
        if (row_int(&r, 2))
            o->allow = rights_write((uint64_t)row_int(&r, 2), tx_arena(tx));
        if (row_int(&r, 3))
            o->deny = rights_write((uint64_t)row_int(&r, 3), tx_arena(tx));
    }
    return rows_end(&r);
}

static const char CHANNELS[] =
    "select c.id, c.name, c.type, c.parent_id, c.topic, c.position, c.nsfw, c.rate_limit_per_user, "
    "c.bitrate, c.user_limit, c.rtc_region, c.video_quality_mode, c.flags, "
    "c.default_auto_archive_duration, u.username, c.thread_archived, c.thread_archived_at, "
    "c.thread_archive_minutes, c.thread_locked from channels c "
    "left join users u on u.id = c.owner_id where c.guild_id = $1 order by c.id";

static void read_channel(const struct rows *r, const struct names *names, struct world_channel *c)
{
    const char *type = channel_type_word(row_int(r, 2));

    *c = (struct world_channel){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .type = str_of(type ? type : "text"),
        .parent = export_guilds_reference(r->tx, &names->channels, row_id(r, 3)),
        .topic = shown_text(r, 4, NULL),
        .position = shown_int(r, 5, -1),
        .nsfw = shown_bool(r, 6, false),
        .rate_limit_per_user = shown_int(r, 7, 0),
        .bitrate = shown_int(r, 8, 64000),
        .user_limit = shown_int(r, 9, 0),
        .rtc_region = shown_text(r, 10, NULL),
        .video_quality_mode = shown_int(r, 11, 1),
        .flags = shown_int(r, 12, 0),
        .default_auto_archive_duration = shown_int(r, 13, -1),
        .owner = shown_text(r, 14, NULL),
        .archived = shown_bool(r, 15, false),
        .archived_at = shown_int(r, 16, -1),
        .auto_archive_duration = shown_int(r, 17, 1440),
        .locked = shown_bool(r, 18, false),
    };
}

static enum err export_channels(struct tx *tx, const struct names *names, snowflake guild,
                                struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, CHANNELS, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        read_channel(&r, names, shown_item(tx, ret, sizeof(struct world_channel)));
    e = rows_end(&r);
    struct world_channel *all = ret->value.items;
    for (size_t i = 0; i < ret->value.count && !e; i++) {
        e = export_overwrites(tx, names, all[i].id.value, &all[i].overwrites);
        if (!e)
            e = export_messages(tx, all[i].id.value, &all[i].messages);
    }
    return e;
}

/* --- members -------------------------------------------------------------------------- */

static const char MEMBERS[] =
    "select m.user_id, u.username, m.nick, m.bio, m.joined_at, m.premium_since, "
    "m.timed_out_until, m.flags, m.mute, m.deaf, m.pending from members m "
    "join users u on u.id = m.user_id where m.guild_id = $1 and u.deleting = 0 order by m.user_id";
static const char MEMBER_ROLES[] =
    "select user_id, role_id from member_roles where guild_id = $1 order by user_id, role_id";

/* Both come by account: who has no role is passed over. */
static enum err export_member_roles(struct tx *tx, const struct names *names, snowflake guild,
                                    const snowflake *users, struct world_member *members,
                                    size_t count)
{
    struct rows r;
    size_t i = 0;
    enum err e = tx_query(tx, MEMBER_ROLES, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        while (i < count && users[i] < row_id(&r, 0))
            i++;
        if (i < count && users[i] == row_id(&r, 0))
            *(struct str *)shown_item(tx, &members[i].roles, sizeof(struct str)) =
                export_guilds_reference(tx, &names->roles, row_id(&r, 1)).value;
    }
    return rows_end(&r);
}

static enum err export_members(struct tx *tx, const struct names *names, snowflake guild,
                               struct opt_list *ret)
{
    struct list users = { 0 };
    struct rows r;
    enum err e = tx_query(tx, MEMBERS, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_member *m = shown_item(tx, ret, sizeof *m);

        ids_add(tx_arena(tx), &users, row_id(&r, 0));
        *m = (struct world_member){
            .user = row_text(&r, 1),
            .nick = shown_text(&r, 2, NULL),
            .bio = shown_text(&r, 3, NULL),
            .joined_at = shown_int(&r, 4, -1),
            .premium_since = shown_int(&r, 5, -1),
            .timed_out_until = shown_int(&r, 6, -1),
            .flags = shown_int(&r, 7, 0),
            .mute = shown_bool(&r, 8, false),
            .deaf = shown_bool(&r, 9, false),
            .pending = shown_bool(&r, 10, false),
        };
    }
    e = rows_end(&r);
    return e ? e
             : export_member_roles(tx, names, guild, users.items, ret->value.items, users.count);
}

/* --- bans and apps -------------------------------------------------------------------- */

static const char BANS[] =
    "select u.username, b.reason from bans b join users u on u.id = b.user_id "
    "where b.guild_id = $1 order by b.user_id";
static const char INSTALLED[] =
    "select i.id, i.application_id, u.username, i.scopes from integrations i "
    "left join users u on u.id = i.user_id "
    "where i.guild_id = $1 and i.application_id is not null order by i.id";

static enum err export_bans(struct tx *tx, snowflake guild, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, BANS, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_ban *b = shown_item(tx, ret, sizeof *b);

        b->user = row_text(&r, 0);
        b->reason = shown_text(&r, 1, NULL);
    }
    return rows_end(&r);
}

static enum err export_installed(struct tx *tx, const struct names *names,
                                 const struct world_parts *parts, snowflake guild,
                                 struct opt_list *ret)
{
    struct list scopes = { 0 }; /* struct world_scope, of each entry */
    struct rows r;
    enum err e = tx_query(tx, INSTALLED, BIND(v_id(guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct opt_str app = export_guilds_reference(tx, &names->applications, row_id(&r, 1));

        if (app.given != GIVEN)
            continue;
        struct world_installed *i = shown_item(tx, ret, sizeof *i);
        *i = (struct world_installed){
            .id = { GIVEN, row_id(&r, 0) },
            .application = app.value,
            .by = shown_text(&r, 2, NULL),
            .scopes = { GIVEN, row_text(&r, 3) },
        };
        *(struct world_scope *)list_add(tx_arena(tx), &scopes, sizeof(struct world_scope)) =
            (struct world_scope){ row_id(&r, 1), guild };
    }
    e = rows_end(&r);
    struct world_installed *all = ret->value.items;
    const struct world_scope *scope = scopes.items;
    for (size_t i = 0; i < scopes.count && !e && parts && parts->export_commands; i++)
        e = parts->export_commands(tx, scope[i], &all[i].commands);
    return e;
}

/* --- guilds --------------------------------------------------------------------------- */

static const char ALL_GUILDS[] =
    "select g.id, g.name, u.username, g.description, g.features, g.preferred_locale, "
    "g.afk_timeout, g.system_channel_flags, g.verification_level, g.default_message_notifications, "
    "g.explicit_content_filter, g.premium_progress_bar_enabled, g.afk_channel_id, "
    "g.system_channel_id, g.rules_channel_id, g.public_updates_channel_id, "
    "g.safety_alerts_channel_id from guilds g join users u on u.id = g.owner_id "
    "where g.removed = 0 order by g.id";

/* The channels that a guild points to, until their names are known. */
struct pointed {
    snowflake channels[5];
};

static void read_guild(const struct rows *r, struct world_guild *g, struct pointed *p)
{
    *g = (struct world_guild){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .owner = row_text(r, 2),
        .description = shown_text(r, 3, NULL),
        .features = shown_text(r, 4, "[]"),
        .preferred_locale = shown_text(r, 5, "en-US"),
        .afk_timeout = shown_int(r, 6, 300),
        .system_channel_flags = shown_int(r, 7, 0),
        .verification_level = shown_int(r, 8, 0),
        .default_message_notifications = shown_int(r, 9, 0),
        .explicit_content_filter = shown_int(r, 10, 0),
        .premium_progress_bar_enabled = shown_bool(r, 11, false),
    };
    for (int i = 0; i < 5; i++)
        p->channels[i] = row_id(r, 12 + i);
}

static enum err export_inside(struct tx *tx, const struct world_parts *parts, struct world_guild *g,
                              const struct pointed *p)
{
    struct names names = { 0 };
    snowflake id = g->id.value;
    enum err e = load_all_names(tx, id, &names);

    if (!e)
        e = export_roles(tx, id, &g->roles);
    if (!e)
        e = export_channels(tx, &names, id, &g->channels);
    if (!e)
        e = export_members(tx, &names, id, &g->members);
    if (!e)
        e = export_bans(tx, id, &g->bans);
    if (!e)
        e = export_installed(tx, &names, parts, id, &g->applications);
    if (!e)
        e = export_followed(tx, id, &g->integrations);
    if (!e)
        e = export_emojis(tx, id, false, &g->emojis);
    if (!e)
        e = export_sounds(tx, id, &g->sounds);
    if (!e)
        e = export_stickers(tx, id, &g->stickers);
    if (!e)
        e = export_rules(tx, id, &g->automod);
    if (e)
        return e;
    g->afk_channel = export_guilds_reference(tx, &names.channels, p->channels[0]);
    g->system_channel = export_guilds_reference(tx, &names.channels, p->channels[1]);
    g->rules_channel = export_guilds_reference(tx, &names.channels, p->channels[2]);
    g->public_updates_channel = export_guilds_reference(tx, &names.channels, p->channels[3]);
    g->safety_alerts_channel = export_guilds_reference(tx, &names.channels, p->channels[4]);
    return OK;
}

enum err export_guilds(struct tx *tx, const struct world_parts *parts, struct opt_list *ret)
{
    struct list pointed = { 0 };
    struct rows r;
    enum err e = tx_query(tx, ALL_GUILDS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r))
        read_guild(&r, shown_item(tx, ret, sizeof(struct world_guild)),
                   list_add(tx_arena(tx), &pointed, sizeof(struct pointed)));
    e = rows_end(&r);
    struct world_guild *all = ret->value.items;
    const struct pointed *points = pointed.items;
    for (size_t i = 0; points && i < ret->value.count && !e; i++)
        e = export_inside(tx, parts, &all[i], &points[i]);
    return e;
}
