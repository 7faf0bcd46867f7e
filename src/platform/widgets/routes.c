/* routes.c - routes of guild widgets: settings and widget.json. */
#include "gateway/gateway.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/invites/invites.h"
#include "platform/members/members.h"
#include "platform/widgets/internal.h"

/* --- schemas -------------------------------------------------------------------------- */

struct widget_settings {
    bool enabled;
    struct opt_id channel_id;
};
struct widget_patch {
    struct opt_bool enabled;
    struct opt_id channel_id;
};
struct widget_channel {
    snowflake id;
    struct str name;
    int64_t position;
};
struct widget_member {
    struct str id, username, discriminator, status, avatar_url;
    struct opt_str avatar;
    struct opt_id channel_id;
    struct opt_bool deaf, mute, self_deaf, self_mute, suppress;
};
struct widget {
    snowflake id;
    struct str name;
    struct opt_str instant_invite;
    struct list channels, members; /* struct widget_channel, struct widget_member */
    int64_t presence_count;
};

static const struct field settings_fields[] = {
    { FIELD(struct widget_settings, enabled), .type = &type_bool },
    { FIELD(struct widget_settings, channel_id), .type = &type_id, .flags = NULLABLE },
    { 0 },
};
static const struct schema settings_schema = {
    .name = "WidgetSettings",
    .size = sizeof(struct widget_settings),
    .fields = settings_fields,
    .doc = "Whether a guild has a widget, and the channel of its invite.",
};
static const struct type settings_reply = { .kind = KIND_OBJECT, .schema = &settings_schema };
static const struct field patch_fields[] = {
    { FIELD(struct widget_patch, enabled), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct widget_patch, channel_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "WidgetPatch",
    .size = sizeof(struct widget_patch),
    .fields = patch_fields,
    .doc = "Fields of a widget to change.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field channel_fields[] = {
    { FIELD(struct widget_channel, id), .type = &type_id },
    { FIELD(struct widget_channel, name), .type = &type_text },
    { FIELD(struct widget_channel, position), .type = &type_count },
    { 0 },
};
static const struct schema widget_channel_schema = {
    .name = "WidgetChannel",
    .size = sizeof(struct widget_channel),
    .fields = channel_fields,
    .doc = "A voice channel that @everyone can connect to.",
};
static const struct type type_widget_channel = { .kind = KIND_OBJECT,
                                                 .schema = &widget_channel_schema };
static const struct type type_widget_channels = { .kind = KIND_ARRAY, .of = &type_widget_channel };

#define IN_VOICE(member_, type_)                                                  \
    {                                                                             \
        FIELD(struct widget_member, member_), .type = &(type_), .flags = OPTIONAL \
    }
static const struct field member_fields[] = {
    { FIELD(struct widget_member, id), .type = &type_text,
      .doc = "A number, not the account's id" },
    { FIELD(struct widget_member, username), .type = &type_text },
    { FIELD(struct widget_member, discriminator), .type = &type_text },
    { FIELD(struct widget_member, avatar), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct widget_member, status), .type = &type_text },
    { FIELD(struct widget_member, avatar_url), .type = &type_text },
    IN_VOICE(channel_id, type_id),
    IN_VOICE(deaf, type_bool),
    IN_VOICE(mute, type_bool),
    IN_VOICE(self_deaf, type_bool),
    IN_VOICE(self_mute, type_bool),
    IN_VOICE(suppress, type_bool),
    { 0 },
};
static const struct schema widget_member_schema = {
    .name = "WidgetMember",
    .size = sizeof(struct widget_member),
    .fields = member_fields,
    .doc = "An online member.",
};
static const struct type type_widget_member = { .kind = KIND_OBJECT,
                                                .schema = &widget_member_schema };
static const struct type type_widget_members = { .kind = KIND_ARRAY, .of = &type_widget_member };

static const struct field widget_fields[] = {
    { FIELD(struct widget, id), .type = &type_id },
    { FIELD(struct widget, name), .type = &type_text },
    { FIELD(struct widget, instant_invite), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct widget, channels), .type = &type_widget_channels },
    { FIELD(struct widget, members), .type = &type_widget_members },
    { FIELD(struct widget, presence_count), .type = &type_count },
    { 0 },
};
static const struct schema widget_schema = {
    .name = "Widget",
    .size = sizeof(struct widget),
    .fields = widget_fields,
    .doc = "Widget of a guild, for other web pages.",
};
static const struct type widget_reply = { .kind = KIND_OBJECT, .schema = &widget_schema };

/* --- settings ------------------------------------------------------------------------- */

static enum err reply_with_widget_settings(struct call *call, const struct guild *g)
{
    return call_reply_with_object(
        call, &(struct widget_settings){ g->widget_enabled, g->widget_channel_id });
}

/* GET /guilds/{guild.id}/widget */
static enum err get_guild_widget_settings(struct call *call)
{
    return reply_with_widget_settings(call, call->target.guild);
}

static const struct rate_limit limit_widget = { .name = "widget", .count = 10, .window_s = 60 };

static enum err check_widget_update_limit(struct call *call)
{
    struct str key = str_printf(call->arena, "%llu", (unsigned long long)call->target.guild->id);

    return call_count_against_rate_limit(call, &limit_widget, key) ? ERR_MAX_WIDGET_UPDATES : OK;
}

static enum err schedule_widget_update_limit_check(struct call *call)
{
    call->read = check_widget_update_limit;
    return OK;
}

/* Sets the channel of the widget's invite. It must be a channel of the guild that can have
 * invites. */
static enum err set_widget_channel(struct call *call, struct opt_id id, struct guild *g)
{
    struct channel c;

    g->widget_channel_id = id;
    if (id.given != GIVEN)
        return OK;
    enum err e = channel_find(call->tx, id.value, &c);
    if (e == ERR_UNKNOWN_CHANNEL ||
        (!e &&
         (c.guild_id.value != g->id || channel_is_thread(c.type) || c.type == CHANNEL_CATEGORY)))
        return call_add_field_error(call, "channel_id", FORM_CHOICES,
                                    "Value must be a channel of the guild.");
    return e ? e : permanent_invite_create(call, &c);
}

/* PATCH /guilds/{guild.id}/widget */
static enum err modify_guild_widget(struct call *call)
{
    const struct widget_patch *in = call->body;
    struct guild g = *call->target.guild;
    enum err e = OK;

    if (in->channel_id.given != ABSENT)
        e = set_widget_channel(call, in->channel_id, &g);
    if (in->enabled.given == GIVEN)
        g.widget_enabled = in->enabled.value;
    if (!e)
        e = guild_update_widget_settings(call->tx, g.id, g.widget_enabled, g.widget_channel_id);
    if (!e)
        e = audit_log_record_object_change(call, g.id, AUDIT_GUILD_UPDATE, g.id, audited_guild,
                                           call->target.guild, &g);
    if (!e)
        e = guild_emit_update(call, g.id);
    return e ? e : reply_with_widget_settings(call, &g);
}

/* --- content -------------------------------------------------------------------------- */

/* Reads the online members (struct member) among the WIDGET_MAX_MEMBERS_READ members with the
 * lowest ids. */
static enum err read_online_members(struct call *call, snowflake guild_id, struct list *ret)
{
    struct gateway *gateway = api_get_options(call->api)->gateway;
    struct list members;
    enum err e = members_list_after(call->tx, guild_id, 0, WIDGET_MAX_MEMBERS_READ, &members);
    const struct member *m = members.items;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && gateway && i < members.count; i++)
        if (gateway_get_account_status(gateway, m[i].user_id, NULL))
            *(struct member *)list_append(call->arena, ret, sizeof *m) = m[i];
    return e;
}

static enum err add_voice_state_to_widget_member(struct call *call, const struct member *m,
                                                 const struct list *channels,
                                                 struct widget_member *out)
{
    struct rows r;
    bool found;
    enum err e = tx_one(call->tx,
                        "select channel_id, self_deaf, self_mute, suppress from voice_states "
                        "where guild_id = $1 and user_id = $2",
                        BIND(v_id(m->guild_id), v_id(m->user_id)), &r, &found);
    const struct widget_channel *c = channels->items;
    bool shown = false;

    for (size_t i = 0; !e && found && i < channels->count; i++)
        shown |= c[i].id == row_id(&r, 0);
    if (e || !shown)
        return e;
    out->channel_id = opt_id_or_null(row_id(&r, 0));
    out->deaf = opt_bool_present(m->deaf);
    out->mute = opt_bool_present(m->mute);
    out->self_deaf = opt_bool_present(row_bool(&r, 1));
    out->self_mute = opt_bool_present(row_bool(&r, 2));
    out->suppress = opt_bool_present(row_bool(&r, 3));
    return OK;
}

static enum err add_member_to_widget(struct call *call, const struct member *m, struct widget *w)
{
    struct gateway *gateway = api_get_options(call->api)->gateway;
    const struct opt_str *name = m->nick.given == GIVEN ? &m->nick : &m->user->global_name;
    const char *status = gateway_get_account_status(gateway, m->user_id, NULL);
    struct widget_member *out = list_append(call->arena, &w->members, sizeof *out);

    *out = (struct widget_member){
        .id = str_printf(call->arena, "%zu", w->members.count - 1),
        .username = name->given == GIVEN ? name->value : m->user->username,
        .discriminator = STR("0000"),
        .avatar.given = GIVEN_NULL,
        .status = str_of(status ? status : "online"),
        .avatar_url = user_avatar_url(call, m->user),
    };
    return add_voice_state_to_widget_member(call, m, &w->channels, out);
}

static enum err read_public_voice_channels(struct call *call, struct widget *w)
{
    const uint64_t going = PERMISSION(VIEW_CHANNEL) | PERMISSION(CONNECT);
    struct permission_computation_input everyone = { .guild_id = w->id };
    struct list channels, threads;
    struct role role;
    enum err e = role_find(call->tx, w->id, w->id, &role);

    if (!e)
        e = guild_channels_list(call->tx, w->id, &channels, &threads);
    if (e)
        return e;
    everyone.base = role.permissions;
    const struct channel *c = channels.items;
    for (size_t i = 0; i < channels.count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;

        if (!channel_is_voice(c[i].type) ||
            (permissions_in_channel(&everyone, c[i].type, o->items, o->count, false) & going) !=
                going)
            continue;
        *(struct widget_channel *)list_append(call->arena, &w->channels,
                                              sizeof(struct widget_channel)) =
            (struct widget_channel){ c[i].id, c[i].name.value, c[i].position.value };
    }
    return OK;
}

static enum err add_widget_invite(struct call *call, struct widget *w)
{
    const struct guild *g = call->target.guild;
    struct str code = { 0 };
    enum err e = g->widget_channel_id.given == GIVEN
                     ? permanent_invite_find(call->tx, g->widget_channel_id.value, &code)
                     : OK;
    struct str base = api_get_base_url(call, "http");

    w->instant_invite.given = GIVEN_NULL;
    if (!e && code.p)
        w->instant_invite = opt_str_or_null(
            str_printf(call->arena, "%.*s/invite/%.*s", STR_ARGS(base), STR_ARGS(code)));
    return e;
}

/* GET /guilds/{guild.id}/widget.json */
static enum err get_guild_widget(struct call *call)
{
    const struct guild *g = call->target.guild;
    struct widget w = { .id = g->id, .name = g->name };
    struct list members;

    if (!g->widget_enabled)
        return ERR_WIDGET_DISABLED;
    enum err e = read_public_voice_channels(call, &w);
    if (!e)
        e = add_widget_invite(call, &w);
    if (!e)
        e = read_online_members(call, g->id, &members);
    if (e)
        return e;
    w.presence_count = gateway_online_member_count(api_get_options(call->api)->gateway, g->id);
    for (size_t i = 0; !e && i < members.count && i < WIDGET_MAX_MEMBERS; i++)
        e = add_member_to_widget(call, (const struct member *)members.items + i, &w);
    return e ? e : call_reply_with_object(call, &w);
}

/* --- route table ---------------------------------------------------------------------- */

static const struct rate_limit limit_widget_read = { .name = "widget-look",
                                                     .count = 10,
                                                     .window_s = 10 };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/widget",
        .name = "get_guild_widget_settings",
        .doc = "Whether the guild has a widget.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &settings_reply,
        .handle = get_guild_widget_settings,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/widget",
        .name = "modify_guild_widget",
        .doc = "Enable or disable the widget, and set the channel of its lasting invite.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &patch_body,
        .reply = &settings_reply,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_INVITE_CREATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .prepare = schedule_widget_update_limit_check,
        .handle = modify_guild_widget,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/widget.json",
        .name = "get_guild_widget",
        .doc = "Online members and voice channels, without authentication.",
        .auth = AUTH_OPEN,
        .reply = &widget_reply,
        .background = true,
        .limit = &limit_widget_read,
        .handle = get_guild_widget,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/widget.png",
        .name = "get_guild_widget_picture",
        .doc = "The number of online members as a picture, without authentication.",
        .auth = AUTH_OPEN,
        .query = &widget_picture_query_schema,
        .status = 200,
        .background = true,
        .limit = &limit_widget_read,
        .handle = get_guild_widget_picture,
    },
    { 0 },
};

const struct domain widgets_domain = {
    .name = "Widgets",
    .doc = "Widgets of guilds, for other web pages.",
    .routes = routes,
    .world = &widgets_world,
};
