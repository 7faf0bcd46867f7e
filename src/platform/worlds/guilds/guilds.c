/* guilds.c - guilds and the table of what is in them, in and out of world files. */
#include "platform/worlds/guilds/guilds.h"

#include <stddef.h>

#include "model/guild.h"
#include "platform/invites/invites.h"
#include "platform/worlds/internal.h"

/* --- rows ----------------------------------------------------------------------------- */

static const struct type type_mfa_level = { .kind = KIND_INT, .min = 0, .max = 1 };

static const struct type type_filter_level = { .kind = KIND_INT, .min = 0, .max = 2 };

static const struct field guild_fields[] = {
    MAYBE(struct world_guild, id, type_id),
    MUST(struct world_guild, name, type_guild_name),
    MUST(struct world_guild, owner, type_world_ref),
    MAYBE(struct world_guild, description, type_text),
    MAYBE(struct world_guild, features, type_raw),
    MAYBE(struct world_guild, preferred_locale, type_locale),
    MAYBE(struct world_guild, afk_timeout, type_count),
    MAYBE(struct world_guild, system_channel_flags, type_count),
    MAYBE(struct world_guild, verification_level, type_count),
    MAYBE(struct world_guild, default_message_notifications, type_count),
    MAYBE(struct world_guild, explicit_content_filter, type_filter_level),
    MAYBE(struct world_guild, mfa_level, type_mfa_level),
    MAYBE(struct world_guild, premium_progress_bar_enabled, type_bool),
    MAYBE(struct world_guild, roles, world_role_list),
    MAYBE(struct world_guild, channels, world_channel_list),
    MAYBE(struct world_guild, members, world_member_list),
    MAYBE(struct world_guild, bans, world_ban_list),
    MAYBE(struct world_guild, applications, world_installed_list),
    MAYBE(struct world_guild, integrations, world_followed_list),
    MAYBE(struct world_guild, emojis, world_emoji_list),
    MAYBE(struct world_guild, sounds, world_sound_list),
    MAYBE(struct world_guild, stickers, world_sticker_list),
    MAYBE(struct world_guild, automod, world_rule_list),
    MAYBE(struct world_guild, webhooks, world_webhook_list),
    MAYBE(struct world_guild, join_requests, world_join_request_list),
    MAYBE(struct world_guild, scheduled_events, world_event_list),
    MAYBE(struct world_guild, stages, world_stage_list),
    MAYBE(struct world_guild, welcome_screen, world_welcome_screen_type),
    MAYBE(struct world_guild, widget, world_widget_type),
    MAYBE(struct world_guild, member_form, world_member_form_type),
    MAYBE(struct world_guild, onboarding, world_onboarding_type),
    MAYBE(struct world_guild, template, world_template_type),
    MAYBE(struct world_guild, vanity_code, type_vanity_code),
    MAYBE(struct world_guild, vanity_uses, type_count),
    MAYBE(struct world_guild, afk_channel, type_world_ref),
    MAYBE(struct world_guild, system_channel, type_world_ref),
    MAYBE(struct world_guild, rules_channel, type_world_ref),
    MAYBE(struct world_guild, public_updates_channel, type_world_ref),
    MAYBE(struct world_guild, safety_alerts_channel, type_world_ref),
    { 0 },
};

static void check_guild(struct form *form, const struct place *here, const void *object)
{
    world_check_texts(form, here, "features", &((const struct world_guild *)object)->features);
}

WORLD_OBJECT(guild, guild_fields, check_guild);

/* --- what is in one ------------------------------------------------------------------- */

struct guild_part {
    const char *name;
    size_t at, size; /* of the list in the guild's entry, and of one of its own */
    import_step *import;
    export_part *export;
};
#define PART(list_, struct_, import_, export_)                                                \
    {                                                                                         \
#list_, offsetof(struct world_guild, list_), sizeof(struct struct_), import_, export_ \
    }

/* In the order in which they are read: what refers to others comes after these. */
static const struct guild_part guild_parts[] = {
    PART(members, world_member, import_member, export_members),
    PART(emojis, world_emoji, import_emoji, export_guild_emojis),
    PART(stickers, world_sticker, import_sticker, export_stickers),
    PART(channels, world_channel, import_channel, NULL),
    PART(webhooks, world_webhook, import_webhook, export_webhooks),
    PART(channels, world_channel, dress_channel, NULL),
    PART(channels, world_channel, fill_thread, export_channels),
    PART(bans, world_ban, import_ban, export_bans),
    PART(applications, world_installed, import_installed, export_installed),
    PART(integrations, world_followed, import_followed, export_followed),
    PART(sounds, world_sound, import_sound, export_sounds),
    PART(automod, world_rule, import_rule, export_rules),
    PART(join_requests, world_join_request, import_join_request, export_join_requests),
    PART(scheduled_events, world_event, import_event, export_events),
    PART(stages, world_stage, import_stage, export_stages),
    { 0 },
};

/* What there is one of; the template, which has all of it, is the last. */
struct guild_single {
    const char *name;
    size_t at;
    import_step *import;
    export_single *export;
};
#define SINGLE(member_, import_, export_)                                 \
    {                                                                     \
#member_, offsetof(struct world_guild, member_), import_, export_ \
    }
static const struct guild_single guild_singles[] = {
    SINGLE(welcome_screen, import_welcome_screen, export_welcome_screen),
    SINGLE(widget, import_widget, export_widget),
    SINGLE(member_form, import_member_form, export_member_form),
    SINGLE(onboarding, import_onboarding, export_onboarding),
    SINGLE(template, import_template, export_template),
    { 0 },
};

/* --- in ------------------------------------------------------------------------------- */

static const char ADD_GUILD[] = "insert into guilds (id, name, owner_id) values ($1, $2, $3)";
static const char DRESS_GUILD[] =
    "update guilds set name = $2, owner_id = $3, description = coalesce($4, description), "
    "features = coalesce($5, features), preferred_locale = coalesce($6, preferred_locale), "
    "afk_timeout = coalesce($7, afk_timeout), "
    "system_channel_flags = coalesce($8, system_channel_flags), "
    "verification_level = coalesce($9, verification_level), "
    "default_message_notifications = coalesce($10, default_message_notifications), "
    "explicit_content_filter = coalesce($11, explicit_content_filter), "
    "premium_progress_bar_enabled = coalesce($12, premium_progress_bar_enabled), "
    "mfa_level = coalesce($13, mfa_level) where id = $1";
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

    return e ? e : add_everyone(im, id);
}

static enum err dress_guild(struct importing *im, const struct world_guild *g, snowflake id,
                            snowflake owner)
{
    bool made;
    enum err e =
        tx_exec(im->tx, DRESS_GUILD,
                BIND(v_id(id), v_text(g->name), v_id(owner), v_opt_text(g->description),
                     v_opt_json(im, g->features), v_opt_text(g->preferred_locale),
                     v_opt_int(g->afk_timeout), v_opt_int(g->system_channel_flags),
                     v_opt_int(g->verification_level), v_opt_int(g->default_message_notifications),
                     v_opt_int(g->explicit_content_filter),
                     v_opt_bool(g->premium_progress_bar_enabled), v_opt_int(g->mfa_level)),
                NULL);

    /* Whoever owns a guild is in it, listed or not. */
    return e ? e : add_member(im, id, owner, &made);
}

static const char CODE_TAKEN[] =
    "select 1 from guilds where vanity_code = $1 and id <> $2 union all "
    "select 1 from invites where code = $1";
static const char SAVE_VANITY[] =
    "update guilds set vanity_code = $2, vanity_uses = coalesce($3, vanity_uses) where id = $1";

static enum err import_vanity(struct importing *im, const struct world_guild *g, snowflake id,
                              const struct place *up)
{
    struct place at = place_key(up, STR("vanity_code"));
    struct rows row;
    bool taken;

    if (g->vanity_code.given != GIVEN)
        return OK;
    enum err e =
        tx_one(im->tx, CODE_TAKEN, BIND(v_text(g->vanity_code.value), v_id(id)), &row, &taken);
    if (!e && taken)
        form_fail(im->form, &at, "WORLD_TAKEN", "another guild or an invite has this code");
    if (e || taken)
        return e;
    e = tx_exec(im->tx, SAVE_VANITY,
                BIND(v_id(id), v_text(g->vanity_code.value), v_opt_int(g->vanity_uses)), NULL);
    return e ? e : world_add_feature(im, id, "VANITY_URL");
}

static const char FEATURES_OF[] = "select features from guilds where id = $1";
static const char SET_FEATURES[] = "update guilds set features = $2 where id = $1";

enum err world_add_feature(struct importing *im, snowflake guild, const char *name)
{
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, FEATURES_OF, BIND(v_id(guild)), &row, &found);
    struct guild g = { .features = e || !found ? STR("[]") : row_text(&row, 0) };

    if (e || guild_has_feature(&g, name))
        return e;
    struct str before = str_slice(g.features.p, g.features.n - 1);
    return tx_exec(im->tx, SET_FEATURES,
                   BIND(v_id(guild), v_text(str_printf(im->arena, "%.*s%s\"%s\"]", STR_FMT(before),
                                                       before.n > 1 ? "," : "", name))),
                   NULL);
}

static const char NOTE_JOB[] = "insert into jobs (kind, key, due, data) values ($1, $2, $3, '') "
                               "on conflict do nothing";

enum err world_note_job(struct importing *im, const char *kind, snowflake key, int64_t due)
{
    return tx_exec(im->tx, NOTE_JOB, BIND(v_text(str_of(kind)), v_id(key), v_int(due)), NULL);
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
    enum err e = tx_exec(im->tx, FINISH_GUILD, values, 6, NULL);
    return e ? e : import_vanity(im, g, id, up);
}

static enum err import_inside(struct importing *im, const struct world_guild *g, snowflake id,
                              const struct place *at)
{
    enum err e = import_roles(im, &g->roles, id, at);

    for (const struct guild_part *p = guild_parts; p->name && !e; p++)
        if (p->import)
            e = import_each(im, (const struct opt_list *)((const char *)g + p->at), p->size,
                            p->name, at, p->import, id);
    if (!e)
        e = finish_guild(im, g, id, at);
    for (const struct guild_single *s = guild_singles; s->name && !e; s++) {
        struct place here = place_key(at, str_of(s->name));
        const struct opt_object *entry = (const void *)((const char *)g + s->at);

        e = s->import(im, entry->value, &here, id);
    }
    return e;
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

/* --- how things are referred to ------------------------------------------------------- */

struct opt_str shown_reference(struct tx *tx, const struct list *things, snowflake id)
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

struct opt_list shown_references(struct tx *tx, const struct list *things, const struct list *ids)
{
    const snowflake *id = ids->items;
    struct opt_list out = { 0 };

    for (size_t i = 0; i < ids->count; i++) {
        struct opt_str to = shown_reference(tx, things, id[i]);

        if (to.given == GIVEN)
            *(struct str *)shown_item(tx, &out, sizeof(struct str)) = to.value;
    }
    return out;
}

static enum err load_names(struct tx *tx, struct sql sql, const struct value *values, size_t count,
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

static const char ROLE_NAMES[] = "select id, name from roles where guild_id = $1 and "
                                 "position >= 0 order by id";
static const char CHANNEL_NAMES[] = "select id, name from channels where guild_id = $1 order by id";
static const char EMOJI_NAMES[] = "select id, name from emojis where guild_id = $1 order by id";
static const char APPLICATION_NAMES[] = "select id, name from applications order by id";

static enum err load_all_names(struct exporting *ex)
{
    enum err e = load_names(ex->tx, SQL(ROLE_NAMES), BIND(v_id(ex->guild)), &ex->roles);

    if (!e)
        e = load_names(ex->tx, SQL(CHANNEL_NAMES), BIND(v_id(ex->guild)), &ex->channels);
    if (!e)
        e = load_names(ex->tx, SQL(EMOJI_NAMES), BIND(v_id(ex->guild)), &ex->emojis);
    return e ? e : load_names(ex->tx, SQL(APPLICATION_NAMES), NO_BIND, &ex->applications);
}

/* --- out ------------------------------------------------------------------------------ */

static const char ALL_GUILDS[] =
    "select g.id, g.name, u.username, g.description, g.features, g.preferred_locale, "
    "g.afk_timeout, g.system_channel_flags, g.verification_level, g.default_message_notifications, "
    "g.explicit_content_filter, g.premium_progress_bar_enabled, g.afk_channel_id, "
    "g.system_channel_id, g.rules_channel_id, g.public_updates_channel_id, "
    "g.safety_alerts_channel_id, g.vanity_code, g.vanity_uses, g.mfa_level from guilds g "
    "join users u on u.id = g.owner_id where g.removed = 0 order by g.id";

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
        .vanity_code = shown_text(r, 17, NULL),
        .vanity_uses = shown_int(r, 18, 0),
        .mfa_level = shown_int(r, 19, 0),
    };
    for (int i = 0; i < 5; i++)
        p->channels[i] = row_id(r, 12 + i);
}

static enum err export_inside(struct tx *tx, const struct world_parts *parts, struct world_guild *g,
                              const struct pointed *p)
{
    struct exporting ex = { .tx = tx, .parts = parts, .guild = g->id.value };
    enum err e = load_all_names(&ex);

    if (!e)
        e = export_roles(&ex, &g->roles);
    for (const struct guild_part *part = guild_parts; part->name && !e; part++)
        if (part->export)
            e = part->export(&ex, (struct opt_list *)((char *)g + part->at));
    for (const struct guild_single *s = guild_singles; s->name && !e; s++)
        e = s->export(&ex, (struct opt_object *)((char *)g + s->at));
    g->afk_channel = shown_reference(tx, &ex.channels, p->channels[0]);
    g->system_channel = shown_reference(tx, &ex.channels, p->channels[1]);
    g->rules_channel = shown_reference(tx, &ex.channels, p->channels[2]);
    g->public_updates_channel = shown_reference(tx, &ex.channels, p->channels[3]);
    g->safety_alerts_channel = shown_reference(tx, &ex.channels, p->channels[4]);
    return e;
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
