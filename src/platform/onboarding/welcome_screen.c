/* welcome_screen.c - the welcome screen: channels that a guild recommends to new members. */
#include "api/deletion.h"
#include "base/emoji.h"
#include "model/fields/rows.h"
#include "model/welcome.h"
#include "platform/emojis/emojis.h"
#include "platform/onboarding/internal.h"

struct welcome_patch {
    struct opt_str description;
    struct opt_list welcome_channels;
    struct opt_bool enabled;
};
#define MAYBE (OPTIONAL | NULLABLE)
static const struct type type_welcome_description = { .kind = KIND_STRING, .max = 140 };
static const struct field patch_fields[] = {
    { FIELD(struct welcome_patch, description), .type = &type_welcome_description, .flags = MAYBE },
    { FIELD(struct welcome_patch, welcome_channels), .type = &type_welcome_channels,
      .flags = MAYBE },
    { FIELD(struct welcome_patch, enabled), .type = &type_bool, .flags = MAYBE },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "WelcomeScreenPatch",
    .size = sizeof(struct welcome_patch),
    .fields = patch_fields,
    .doc = "Fields of a welcome screen to change.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

/* --- rows ----------------------------------------------------------------------------- */

enum err welcome_screen_read_row(struct tx *tx, snowflake guild_id, struct welcome_screen_row *ret)
{
    struct rows r;
    enum err e = tx_one(tx,
                        "select enabled, description, channels from guild_welcome_screens "
                        "where guild_id = $1",
                        BIND(v_id(guild_id)), &r, &ret->known);

    *ret = (struct welcome_screen_row){ .known = !e && ret->known,
                                        .screen.description.given = GIVEN_NULL };
    if (e || !ret->known)
        return e;
    ret->enabled = row_bool(&r, 0);
    ret->screen.description = row_optional_text(&r, 1);
    ret->screen.welcome_channels =
        json_column_decode_list(tx_arena(tx), &type_welcome_channels, row_text(&r, 2));
    return OK;
}

static enum err channel_exists_in_guild(struct tx *tx, snowflake guild_id, snowflake id, bool *ret)
{
    return tx_exists(tx,
                     "select 1 from channels where id = $1 and guild_id = $2 and type >= 0 and "
                     "type <> 4",
                     BIND(v_id(id), v_id(guild_id)), ret);
}

static enum err remove_deleted_channels(struct tx *tx, snowflake guild_id, struct welcome_screen *s)
{
    struct welcome_channel *c = s->welcome_channels.items;
    size_t retained = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < s->welcome_channels.count; i++) {
        bool found;

        e = channel_exists_in_guild(tx, guild_id, c[i].channel_id, &found);
        if (!e && found)
            c[retained++] = c[i];
    }
    s->welcome_channels.count = retained;
    return e;
}

enum err welcome_screen_read_if_enabled(struct tx *tx, snowflake guild_id,
                                        const struct welcome_screen **ret)
{
    struct welcome_screen_row *row = arena_alloc(tx_arena(tx), sizeof *row);
    enum err e = welcome_screen_read_row(tx, guild_id, row);

    *ret = NULL;
    if (e || !row->enabled)
        return e;
    *ret = &row->screen;
    return remove_deleted_channels(tx, guild_id, &row->screen);
}

enum err welcome_screen_save_row(struct tx *tx, snowflake guild_id,
                                 const struct welcome_screen_row *row)
{
    return tx_exec(tx,
                   "insert into guild_welcome_screens (guild_id, enabled, description, channels) "
                   "values ($1, $2, $3, $4) on conflict (guild_id) do update set "
                   "enabled = excluded.enabled, description = excluded.description, "
                   "channels = excluded.channels",
                   BIND(v_id(guild_id), v_int(row->enabled),
                        sql_value_of_optional_text(row->screen.description),
                        v_text(json_column_encode(tx_arena(tx), &type_welcome_channels,
                                                  &row->screen.welcome_channels))),
                   NULL);
}

/* --- routes --------------------------------------------------------------------------- */

/* GET /guilds/{guild.id}/welcome-screen */
static enum err get_welcome_screen(struct call *call)
{
    snowflake guild_id = call->target.guild->id;
    struct welcome_screen_row row;
    enum err e = welcome_screen_read_row(call->tx, guild_id, &row);

    if (!e && !row.known)
        e = ERR_UNKNOWN_WELCOME_SCREEN;
    if (!e && !row.enabled && !(call->target.permissions & PERMISSION(MANAGE_GUILD)))
        e = call_get_missing_permissions_error(call, PERMISSION(MANAGE_GUILD));
    if (!e)
        e = remove_deleted_channels(call->tx, guild_id, &row.screen);
    return e ? e : call_reply_with_object(call, &row.screen);
}

static enum err resolve_welcome_channel_emoji(struct call *call, struct welcome_channel *c,
                                              const struct json_path *here)
{
    struct json_path id_at = json_path_key(here, STR("emoji_id")),
                     name_at = json_path_key(here, STR("emoji_name"));
    struct emoji emoji;

    if (c->emoji_id.given != GIVEN) {
        c->emoji_id.given = GIVEN_NULL;
        if (c->emoji_name.given != GIVEN || !c->emoji_name.value.n)
            c->emoji_name.given = GIVEN_NULL;
        else if (!is_emoji(c->emoji_name.value))
            form_add_error(&call->form, &name_at, FORM_CHOICES, "Not an emoji.");
        return OK;
    }
    enum err e = emoji_find(call->tx, c->emoji_id.value, &emoji);
    if (e == ERR_UNKNOWN_EMOJI || (!e && emoji.guild_id != call->target.guild->id)) {
        form_add_error(&call->form, &id_at, FORM_CHOICES, "Value must be an emoji of the guild.");
        return OK;
    }
    c->emoji_name = opt_str_or_null(emoji.name);
    return e;
}

static enum err check_welcome_channels(struct call *call, const struct list *in, struct list *ret)
{
    const struct welcome_channel *given = in->items;
    struct json_path all = json_path_key(NULL, STR("welcome_channels"));
    enum err e = OK;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < in->count; i++) {
        struct welcome_channel *c = list_append(call->arena, ret, sizeof *c);
        struct json_path item = json_path_index(&all, i),
                         at = json_path_key(&item, STR("channel_id"));
        bool found = false;

        *c = given[i];
        e = channel_exists_in_guild(call->tx, call->target.guild->id, c->channel_id, &found);
        if (!e && !found)
            form_add_error(&call->form, &at, FORM_CHOICES, "Value must be a channel of the guild.");
        if (!e)
            e = resolve_welcome_channel_emoji(call, c, &item);
    }
    return e;
}

static const struct field audited_welcome[] = {
    { FIELD_AS(struct welcome_screen_row, screen.description, "description"), .type = &type_text },
    { FIELD_AS(struct welcome_screen_row, screen.welcome_channels, "welcome_channels"),
      .type = &type_welcome_channels },
    { FIELD(struct welcome_screen_row, enabled), .type = &type_bool },
    { 0 },
};

/* PATCH /guilds/{guild.id}/welcome-screen */
static enum err modify_welcome_screen(struct call *call)
{
    const struct welcome_patch *in = call->body;
    snowflake guild_id = call->target.guild->id;
    struct welcome_screen_row row, before;
    enum err e = welcome_screen_read_row(call->tx, guild_id, &row);

    before = row;
    if (!e && in->welcome_channels.given != ABSENT)
        e = check_welcome_channels(call, &in->welcome_channels.value, &row.screen.welcome_channels);
    if (!e && form_has_errors(&call->form))
        e = ERR_INVALID_FORM_BODY;
    if (e)
        return e;
    if (in->description.given != ABSENT)
        row.screen.description = in->description;
    if (in->enabled.given == GIVEN)
        row.enabled = in->enabled.value;
    e = welcome_screen_save_row(call->tx, guild_id, &row);
    if (!e)
        e = audit_log_record_object_change(call, guild_id, AUDIT_GUILD_UPDATE, guild_id,
                                           audited_welcome, &before, &row);
    if (!e)
        e = guild_set_feature_and_emit(call, guild_id, "WELCOME_SCREEN_ENABLED", row.enabled);
    if (!e)
        e = remove_deleted_channels(call->tx, guild_id, &row.screen);
    return e ? e : call_reply_with_object(call, &row.screen);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/welcome-screen",
        .name = "get_welcome_screen",
        .doc = "The welcome screen of a guild; needs MANAGE_GUILD if it is not enabled.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_welcome_screen,
        .handle = get_welcome_screen,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/welcome-screen",
        .name = "modify_welcome_screen",
        .doc = "Change the welcome screen. Enabling it adds the feature WELCOME_SCREEN_ENABLED.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &patch_body,
        .reply = &type_welcome_screen,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .handle = modify_welcome_screen,
    },
    { 0 },
};

const struct domain welcome_domain = {
    .name = "Welcome screens",
    .doc = "Screens that guilds show to new members.",
    .routes = routes,
    .world = &welcome_world,
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_FEW(WITH_GUILD, "guild_welcome_screens", "guild_id") }, { 0 } },
};
