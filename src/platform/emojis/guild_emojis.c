/* guild_emojis.c - routes of guild emoji: list, read, create, modify, delete. */
#include "platform/emojis/internal.h"

#include <string.h>

#include "api/deletion.h"
#include "api/hooks.h"
#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"

enum err guild_emojis_emit_update(struct call *call, snowflake guild_id)
{
    struct guild_emojis_event event = { .guild_id = guild_id };
    enum err e = guild_emojis_list(call->tx, guild_id, &event.emojis);

    if (!e)
        call_emit_event(call, EVENT_GUILD_EMOJIS_UPDATE, audience_of_guild(guild_id),
                        &guild_emojis_event_schema, &event);
    return e;
}

static enum err read_emojis_of_guild_object(struct call *call, struct guild *g)
{
    return guild_emojis_list(call->tx, g->id, &g->emojis);
}

/* Reads who uploaded the emoji, if the caller may create or manage expressions. Other callers may
 * not see it. */
static enum err read_uploaders_if_permitted(struct call *call, struct list *emojis)
{
    return call->target.permissions & PERMISSIONS_SEE_UPLOADERS
               ? emojis_read_uploaders(call->tx, emojis)
               : OK;
}

static enum err reply_with_emoji(struct call *call, struct emoji *emoji)
{
    struct list one = { emoji, 1 };
    enum err e = read_uploaders_if_permitted(call, &one);

    return e ? e : call_reply_with_object(call, emoji);
}

static enum err list_guild_emojis(struct call *call)
{
    struct list emojis;
    enum err e = guild_emojis_list(call->tx, call->target.guild->id, &emojis);

    if (!e)
        e = read_uploaders_if_permitted(call, &emojis);
    return e ? e : call_reply_with_object(call, &emojis);
}

static enum err get_guild_emoji(struct call *call)
{
    return reply_with_emoji(call, call->target.emoji);
}

/* --- audit log entries --------------------------------------------------------------- */

/* Writes the audit log entry of an emoji. before is NULL for a new emoji, now for a deleted one. */
static enum err record_emoji_in_audit_log(struct call *call, enum audit_log_action action,
                                          const struct emoji *before, const struct emoji *now)
{
    const struct emoji *any = now ? now : before;
    struct list changes = { 0 };

    audit_log_add_typed_change_to_list(call, &changes, "name", &type_text,
                                       before ? &before->name : NULL, now ? &now->name : NULL);
    if (before && now && !emoji_roles_equal(&before->roles, &now->roles))
        audit_log_add_typed_change_to_list(call, &changes, "roles", &type_ids, &before->roles,
                                           &now->roles);
    return audit_log_record_changes(call, any->guild_id, action, any->id, NULL, changes);
}

/* Returns the maximum number of static emoji of a guild, which is also the maximum number of its
 * animated emoji. */
static int64_t max_emojis_of_guild(const struct guild *g)
{
    static const int64_t by_tier[] = { 50, 100, 150, 250 };
    static const char more[] = "\"MORE_EMOJI\"";
    int64_t most = by_tier[g->premium_tier & 3];

    if (memmem(g->features.p, g->features.n, more, sizeof more - 1) && most < 200)
        most = 200;
    return most;
}

static const char COUNT_EMOJIS[] =
    "select count(*) from emojis where guild_id = $1 and animated = $2";

static enum err check_emoji_limit(struct call *call)
{
    const struct guild *g = call->target.guild;
    bool animated = emoji_from_create_request(call).animated;
    int64_t n = 0;
    enum err e = tx_read_int(call->tx, COUNT_EMOJIS, BIND(v_id(g->id), v_int(animated)), &n);

    if (e || n < max_emojis_of_guild(g))
        return e;
    return animated ? ERR_MAX_ANIMATED_EMOJIS : ERR_MAX_EMOJIS;
}

static enum err schedule_storing_new_emoji_picture(struct call *call)
{
    return emoji_schedule_storing_picture(call, check_emoji_limit);
}

static enum err create_guild_emoji(struct call *call)
{
    const struct emoji_create_request *in = call->body;
    struct emoji emoji = emoji_from_create_request(call);

    emoji.guild_id = call->target.guild->id;
    enum err e = check_emoji_limit(call);
    if (!e)
        e = emoji_validate_roles(call, &in->roles.value, &emoji.roles);
    if (!e)
        e = emoji_insert(call->tx, &emoji);
    if (!e)
        e = record_emoji_in_audit_log(call, AUDIT_EMOJI_CREATE, NULL, &emoji);
    if (!e)
        e = guild_emojis_emit_update(call, emoji.guild_id);
    return e ? e : reply_with_emoji(call, &emoji);
}

enum err check_change_expression_permission(const struct call *call, snowflake user_id)
{
    bool own = user_id == call->caller->id;
    uint64_t any = own ? PERMISSIONS_SEE_UPLOADERS : PERMISSION(MANAGE_EXPRESSIONS);

    return call->target.permissions & any ? OK : call_get_missing_any_permission_error(call, any);
}

static enum err check_emoji_permission(struct call *call)
{
    return check_change_expression_permission(call, call->target.emoji->user_id);
}

static bool emojis_have_equal_name_and_roles(const struct emoji *a, const struct emoji *b)
{
    return str_eq(a->name, b->name) && emoji_roles_equal(&a->roles, &b->roles);
}

static enum err modify_guild_emoji(struct call *call)
{
    const struct emoji_patch *in = call->body;
    const struct emoji *before = call->target.emoji;
    struct emoji now = *before;
    enum err e = OK;

    if (in->name.given == GIVEN)
        now.name = in->name.value;
    if (in->roles.given != ABSENT)
        e = emoji_validate_roles(call, &in->roles.value, &now.roles);
    if (e || emojis_have_equal_name_and_roles(before, &now))
        return e ? e : reply_with_emoji(call, &now);
    e = emoji_update(call->tx, &now);
    if (!e)
        e = record_emoji_in_audit_log(call, AUDIT_EMOJI_UPDATE, before, &now);
    if (!e)
        e = guild_emojis_emit_update(call, now.guild_id);
    return e ? e : reply_with_emoji(call, &now);
}

static enum err delete_guild_emoji(struct call *call)
{
    const struct emoji *emoji = call->target.emoji;
    enum err e = emoji_delete(call, emoji);

    if (!e)
        e = record_emoji_in_audit_log(call, AUDIT_EMOJI_DELETE, emoji, NULL);
    if (!e)
        e = hook_emoji_deleted(call, emoji);
    return e ? e : guild_emojis_emit_update(call, emoji->guild_id);
}

/* Resolves {emoji.id} to an emoji of the guild or application in the path; to any emoji if the path
 * has neither. */
static enum err resolve_emoji(struct call *call)
{
    struct emoji *emoji = call->target.emoji = arena_alloc(call->arena, sizeof *emoji);
    const struct guild *guild = call->target.guild;
    const struct application *application = call->target.application;
    enum err e = emoji_find(call->tx, call_get_path_id(call, "emoji.id"), emoji);

    if (e || (guild && emoji->guild_id != guild->id) ||
        (application && emoji->application_id != application->id))
        return e ? e : ERR_UNKNOWN_EMOJI;
    return OK;
}

static const struct path_resolver resolvers[] = {
    {
        .name = "emoji.id",
        .field = "emoji_id",
        .doc = "An emoji, of the guild or the application if the path has one.",
        .resolve = resolve_emoji,
    },
    { 0 },
};

#define EMOJI_EVENTS                                                              \
    (const enum event[])                                                          \
    {                                                                             \
        EVENT_GUILD_EMOJIS_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/emojis",
        .name = "list_guild_emojis",
        .doc = "All emoji of a guild, oldest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_emojis,
        .handle = list_guild_emojis,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/emojis/{emoji.id}",
        .name = "get_guild_emoji",
        .doc = "One emoji.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_emoji,
        .handle = get_guild_emoji,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/emojis",
        .name = "create_guild_emoji",
        .doc = "Upload an emoji. A guild can have 50 static and 50 animated ones, more with a "
               "higher premium_tier or MORE_EMOJI.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(CREATE_EXPRESSIONS),
        .body = &emoji_create_body,
        .reply = &type_emoji,
        .status = 201,
        .fires = EMOJI_EVENTS,
        .limit = &limit_expression_writes,
        .prepare = schedule_storing_new_emoji_picture,
        .handle = create_guild_emoji,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/emojis/{emoji.id}",
        .name = "modify_guild_emoji",
        .doc = "Change the name and roles of an emoji; those of other users need "
               "MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &emoji_patch_body,
        .reply = &type_emoji,
        .fires = EMOJI_EVENTS,
        .limit = &limit_expression_writes,
        .admit = check_emoji_permission,
        .handle = modify_guild_emoji,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/emojis/{emoji.id}",
        .name = "delete_guild_emoji",
        .doc = "Delete an emoji; those of other users need MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires =
            (const enum event[]){ EVENT_GUILD_EMOJIS_UPDATE, EVENT_GUILD_SOUNDBOARD_SOUND_UPDATE,
                                  EVENT_GUILD_SOUNDBOARD_SOUNDS_UPDATE,
                                  EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .limit = &limit_expression_writes,
        .admit = check_emoji_permission,
        .handle = delete_guild_emoji,
    },
    { 0 },
};

const struct domain emojis_domain = {
    .name = "Emoji",
    .doc = "Custom emoji of guilds.",
    .routes = routes,
    .world = &emojis_world,
    .resolvers = resolvers,
    .hooks = &(const struct hook_listeners){ .guild_object_fill = read_emojis_of_guild_object,
                                             .role_deleted = emojis_remove_role },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WITH_FILE(WITH_GUILD, "emojis", "emojis", "image", "guild_id = $1") },
            { DELETE_WITH_FILE(WITH_APPLICATION, "application_emojis", "emojis", "image",
                               "application_id = $1") },
            { 0 } },
};
