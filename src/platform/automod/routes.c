/* routes.c - routes of AutoMod rules: list, get, create, validate, modify, delete. */
#include "platform/automod/internal.h"

#include "model/fields/rows.h"
#include "api/deletion.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* --- checks of a rule that read the store -------------------------------------------- */

static int64_t max_rules_of_type(int64_t trigger)
{
    return trigger == AUTOMOD_KEYWORD ? 6 : 1;
}

static enum err check_automod_rule_limit(struct call *call, const struct automod_rule *r)
{
    int64_t count = 0;
    enum err e = automod_count_rules_of_type(call->tx, r->guild_id, r->trigger_type, &count);

    if (e || count < max_rules_of_type(r->trigger_type))
        return e;
    form_add_error(&call->form, NULL, "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED",
                   "The guild has reached the maximum number of rules of this trigger type.");
    return ERR_INVALID_FORM_BODY;
}

static enum err check_alert_channel(struct call *call, size_t number, snowflake channel_id)
{
    struct json_path all = json_path_key(NULL, STR("actions")), one = json_path_index(&all, number);
    struct json_path metadata = json_path_key(&one, STR("metadata"));
    struct json_path at = json_path_key(&metadata, STR("channel_id"));
    struct channel c;
    uint64_t perms = 0;
    enum err e = channel_find(call->tx, channel_id, &c);

    if (!e && c.guild_id.value == call->target.guild->id &&
        (c.type == CHANNEL_TEXT || c.type == CHANNEL_ANNOUNCEMENT))
        e = member_permissions_in_channel(call->tx, call->target.member_access, &c, &perms);
    if (e && e != ERR_UNKNOWN_CHANNEL)
        return e;
    if (!(perms & PERMISSION(VIEW_CHANNEL)))
        form_add_error(&call->form, &at, FORM_CHOICES,
                       "Value must be a text channel of the guild that you can view.");
    return OK;
}

/* If a rule has a time-out or quarantine action, the caller must have MODERATE_MEMBERS. */
static enum err check_automod_rule_actions(struct call *call, const struct automod_rule *r)
{
    const struct automod_rule_patch *in = call->body;
    const struct automod_action *a = r->actions.items;
    struct list one = { (void *)r, 1 };
    enum err e = OK;

    if ((automod_rules_have_action(&one, AUTOMOD_TIMEOUT) ||
         automod_rules_have_action(&one, AUTOMOD_QUARANTINE)) &&
        !(call->target.permissions & PERMISSION(MODERATE_MEMBERS)))
        return call_get_missing_permissions_error(call, PERMISSION(MODERATE_MEMBERS));
    for (size_t i = 0; !e && in->actions.given == GIVEN && i < r->actions.count; i++)
        if (a[i].type == AUTOMOD_ALERT && a[i].metadata && a[i].metadata->channel_id.given == GIVEN)
            e = check_alert_channel(call, i, a[i].metadata->channel_id.value);
    return e || !form_has_errors(&call->form) ? e : ERR_INVALID_FORM_BODY;
}

static enum err validate_and_normalize_rule(struct call *call, struct automod_rule *r)
{
    int64_t others;
    enum err e = automod_read_matching_cost_of_other_rules(call->tx, r->guild_id, r->id, &others);

    if (e)
        return e;
    automod_rule_validate(&call->form, NULL, r, others);
    if (form_has_errors(&call->form))
        return ERR_INVALID_FORM_BODY;
    e = check_automod_rule_actions(call, r);
    if (!e)
        automod_rule_normalize(call->arena, r);
    return e;
}

static void apply_automod_rule_patch(struct automod_rule *r, const struct automod_rule_patch *in)
{
    if (in->name.given == GIVEN)
        r->name = in->name.value;
    if (in->event_type.given == GIVEN)
        r->event_type = in->event_type.value;
    if (in->trigger_metadata.given == GIVEN)
        r->trigger_metadata = in->trigger_metadata.value;
    if (in->actions.given == GIVEN)
        r->actions = in->actions.value;
    if (in->enabled.given != ABSENT)
        r->enabled = in->enabled.value;
    if (in->exempt_roles.given != ABSENT)
        r->exempt_roles = in->exempt_roles.value;
    if (in->exempt_channels.given != ABSENT)
        r->exempt_channels = in->exempt_channels.value;
}

static enum err rule_from_request_body(struct call *call, struct automod_rule *ret)
{
    const struct automod_rule_patch *in = call->body;

    *ret = (struct automod_rule){ .id = snowflake_new(),
                                  .guild_id = call->target.guild->id,
                                  .creator_id = call->caller->id,
                                  .trigger_type = in->trigger_type.value };
    apply_automod_rule_patch(ret, in);
    enum err e = validate_and_normalize_rule(call, ret);
    return e ? e : check_automod_rule_limit(call, ret);
}

void automod_emit_rule_event(struct call *call, enum event event, const struct automod_rule *r)
{
    call_emit_event(call, event,
                    audience_of_members_with_permission(r->guild_id, 0, PERMISSION(MANAGE_GUILD)),
                    &automod_rule_schema, r);
}

static enum err list_auto_moderation_rules(struct call *call)
{
    struct list rules;
    enum err e = automod_rules_list(call->tx, call->target.guild->id, &rules);

    return e ? e : call_reply_with_object(call, &rules);
}

static enum err find_rule_of_path(struct call *call, struct automod_rule *ret)
{
    return automod_rule_find(call->tx, call->target.guild->id, call_get_path_id(call, "rule.id"),
                             ret);
}

static enum err get_auto_moderation_rule(struct call *call)
{
    struct automod_rule rule;
    enum err e = find_rule_of_path(call, &rule);

    return e ? e : call_reply_with_object(call, &rule);
}

static enum err create_auto_moderation_rule(struct call *call)
{
    struct automod_rule rule;
    enum err e = rule_from_request_body(call, &rule);

    if (!e)
        e = automod_rule_insert(call->tx, &rule);
    if (!e)
        e = automod_write_rule_audit_entry(call, NULL, &rule);
    if (e)
        return e;
    automod_emit_rule_event(call, EVENT_AUTO_MODERATION_RULE_CREATE, &rule);
    return call_reply_with_object(call, &rule);
}

/* Runs the checks of create_auto_moderation_rule but does not write the rule. */
static enum err validate_auto_moderation_rule(struct call *call)
{
    struct automod_rule rule;
    enum err e = rule_from_request_body(call, &rule);

    return e ? e : call_reply_with_object(call, &rule);
}

static enum err modify_auto_moderation_rule(struct call *call)
{
    const struct automod_rule_patch *in = call->body;
    struct automod_rule before, now;
    enum err e = find_rule_of_path(call, &before);

    if (e)
        return e;
    if (in->trigger_type.given == GIVEN && in->trigger_type.value != before.trigger_type)
        return call_add_field_error(call, "trigger_type", FORM_CHOICES,
                                    "The trigger type of a rule cannot be changed.");
    now = before;
    apply_automod_rule_patch(&now, in);
    e = validate_and_normalize_rule(call, &now);
    if (!e)
        e = automod_rule_update(call->tx, &now);
    if (!e)
        e = automod_write_rule_audit_entry(call, &before, &now);
    if (e)
        return e;
    automod_emit_rule_event(call, EVENT_AUTO_MODERATION_RULE_UPDATE, &now);
    return call_reply_with_object(call, &now);
}

static enum err delete_auto_moderation_rule(struct call *call)
{
    struct automod_rule rule;
    enum err e = find_rule_of_path(call, &rule);

    if (!e)
        e = automod_rule_delete(call->tx, rule.id);
    if (!e)
        e = automod_rules_renew_version(call->tx, rule.guild_id);
    if (!e)
        e = automod_write_rule_audit_entry(call, &rule, NULL);
    if (!e)
        automod_emit_rule_event(call, EVENT_AUTO_MODERATION_RULE_DELETE, &rule);
    return e;
}

static const struct path_resolver resolvers[] = {
    { .name = "rule.id", .field = "rule_id", .doc = "A rule of the guild." },
    { 0 },
};

#define RULE_EVENTS(event_)                                    \
    (const enum event[])                                       \
    {                                                          \
        event_, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/auto-moderation/rules",
        .name = "list_auto_moderation_rules",
        .doc = "The rules of a guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &type_automod_rules,
        .handle = list_auto_moderation_rules,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/auto-moderation/rules/{rule.id}",
        .name = "get_auto_moderation_rule",
        .doc = "One rule.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &type_automod_rule,
        .handle = get_auto_moderation_rule,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/auto-moderation/rules",
        .name = "create_auto_moderation_rule",
        .doc = "Create a rule: at most six of type KEYWORD and one of each other trigger type. "
               "Time-outs and quarantines need MODERATE_MEMBERS. Bots and members with "
               "MANAGE_GUILD are not checked.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &automod_rule_create_body,
        .reply = &type_automod_rule,
        .fires = RULE_EVENTS(EVENT_AUTO_MODERATION_RULE_CREATE),
        .handle = create_auto_moderation_rule,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/auto-moderation/rules/validate",
        .name = "validate_auto_moderation_rule",
        .doc = "Validate a rule without storing it.",
        .auth = AUTH_USER,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &automod_rule_create_body,
        .reply = &type_automod_rule,
        .store = ROUTE_STORE_READ,
        .handle = validate_auto_moderation_rule,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/auto-moderation/rules/{rule.id}",
        .name = "modify_auto_moderation_rule",
        .doc = "Change a rule.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &automod_rule_patch_body,
        .reply = &type_automod_rule,
        .fires = RULE_EVENTS(EVENT_AUTO_MODERATION_RULE_UPDATE),
        .handle = modify_auto_moderation_rule,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/auto-moderation/rules/{rule.id}",
        .name = "delete_auto_moderation_rule",
        .doc = "Delete a rule.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .fires = RULE_EVENTS(EVENT_AUTO_MODERATION_RULE_DELETE),
        .handle = delete_auto_moderation_rule,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/incident-actions",
        .name = "put_incident_actions",
        .doc =
            "Disable invites, or direct messages between members without another connection, for at "
            "most 24 hours.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &incident_body,
        .reply = &incident_body,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_MESSAGE_CREATE, EVENT_NONE },
        .handle = put_incident_actions,
    },
    { 0 },
};

const struct domain automod_domain = {
    .name = "Auto moderation",
    .doc = "Rules that check messages and names.",
    .routes = routes,
    .world = &automod_world,
    .resolvers = resolvers,
    .hooks = &automod_hooks,
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_GUILD, "automod_rules", "id", "guild_id = $1") },
            { DELETE_WHERE(WITH_GUILD, "automod_echoes", "guild_id, user_id, hash",
                           "guild_id = $1") },
            { 0 } },
};
