/* manage.c - creates, lists, modifies and deletes webhooks. Members with MANAGE_WEBHOOKS may manage
 * the webhooks of a channel. A request with a webhook's token may manage that webhook without an
 * account. */
#include "platform/webhooks/internal.h"

#include <inttypes.h>
#include <sodium.h>

#include "model/fields/ids.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { MOST_IN_CHANNEL = 15, MOST_IN_GUILD = 1000, TOKEN_BYTES = 51 };

/* --- tokens --------------------------------------------------------------------------- */

/* Derives the 68-character token from the id, the salt and the server's key. */
static struct str webhook_derive_token(struct call *call, const struct webhook *h)
{
    unsigned char bytes[TOKEN_BYTES];

    auth_derive_key(api_get_options(call->api)->auth, "webhook", h->id, h->salt, bytes,
                    sizeof bytes);
    return str_base64url_encode(call->arena, bytes, sizeof bytes);
}

/* Resolves {webhook.id}. Does not check permissions; other functions of the route do. */
enum err resolve_webhook(struct call *call)
{
    struct webhook *h = call->target.webhook = arena_alloc(call->arena, sizeof *h);

    return webhook_find(call->tx, call_get_path_id(call, "webhook.id"), h);
}

enum err resolve_webhook_token(struct call *call)
{
    struct str given = call_get_path_text(call, "webhook.token"),
               good = webhook_derive_token(call, call->target.webhook);

    /* The token in the path authorizes the call. Other credentials of the request are ignored. */
    call->caller = NULL;
    /* Only incoming webhooks accept messages. */
    if (call->target.webhook->type != WEBHOOK_INCOMING || given.n != good.n ||
        sodium_memcmp(given.p, good.p, good.n) != 0)
        return ERR_INVALID_WEBHOOK_TOKEN;
    call_set_application_in_traffic_record(call, call->target.webhook->application_id.value);
    return OK;
}

/* Checks a request without the webhook's token: returns an error unless the caller has
 * MANAGE_WEBHOOKS in the webhook's channel. */
enum err check_manage_webhook_permission(struct call *call)
{
    const struct webhook *h = call->target.webhook;
    struct channel c;
    struct member_access s;
    uint64_t perms;
    enum err e = channel_find(call->tx, h->channel_id, &c);

    if (!e)
        e = member_access_find(call->tx, h->guild_id, call->caller->id, &s);
    if (!e)
        e = member_permissions_in_channel(call->tx, &s, &c, &perms);
    if (e)
        return e;
    if (!(perms & PERMISSION(VIEW_CHANNEL)))
        return ERR_MISSING_ACCESS;
    return perms & PERMISSION(MANAGE_WEBHOOKS)
               ? OK
               : permission_error_in_channel(call->tx, &s, &c, PERMISSION(MANAGE_WEBHOOKS));
}

/* --- replies -------------------------------------------------------------------------- */

static bool call_authenticates_by_webhook_token(const struct call *call)
{
    return call->route->auth & AUTH_OPEN;
}

static enum err read_followed_channel_and_guild(struct call *call, struct webhook *h)
{
    struct webhook_followed_source *guild = arena_alloc(call->arena, sizeof *guild),
                                   *channel = arena_alloc(call->arena, sizeof *channel);
    struct channel c;
    struct guild g;
    enum err e = channel_find(call->tx, h->source_channel_id, &c);

    if (!e)
        e = guild_find(call->tx, h->source_guild_id, &g);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_GUILD ? OK : e;
    *guild = (struct webhook_followed_source){ g.id, g.name, g.icon };
    *channel = (struct webhook_followed_source){ .id = c.id, .name = c.name.value };
    h->source_guild = guild;
    h->source_channel = channel;
    return OK;
}

/* Returns whether the reply may contain the token. The token of an app's webhook permits to act as
 * the app, so only the app itself and callers who already sent the token receive it. */
static bool caller_may_see_webhook_token(const struct call *call, const struct webhook *h)
{
    bool own = call->caller && call->caller->application_id == h->application_id.value;

    return h->application_id.given != GIVEN || own || call_authenticates_by_webhook_token(call);
}

/* Sets token, URL, source and creator of a webhook for a reply. A caller who has only the token
 * does not see the creator. */
static enum err fill_computed_webhook_fields(struct call *call, struct webhook *h)
{
    struct user *user = arena_alloc(call->arena, sizeof *user);
    enum err e = OK;

    if (h->type == WEBHOOK_INCOMING && caller_may_see_webhook_token(call, h)) {
        h->token = opt_str_or_null(webhook_derive_token(call, h));
        h->url = opt_str_or_null(str_printf(call->arena, "%.*s/api/webhooks/%" PRIu64 "/%.*s",
                                            STR_ARGS(api_get_base_url(call, "http")), h->id,
                                            STR_ARGS(h->token.value)));
    } else if (h->type == WEBHOOK_FOLLOWER) {
        e = read_followed_channel_and_guild(call, h);
    }
    if (e)
        return e;
    if (h->user_id && !call_authenticates_by_webhook_token(call))
        e = user_find(call->tx, h->user_id, user);
    if (e == ERR_UNKNOWN_USER)
        return OK;
    h->user = h->user_id && !call_authenticates_by_webhook_token(call) ? user : NULL;
    return e;
}

static enum err reply_with_webhook(struct call *call, struct webhook *h)
{
    enum err e = fill_computed_webhook_fields(call, h);

    return e ? e : call_reply_with_object(call, h);
}

static enum err reply_with_webhooks(struct call *call, struct list *list)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < list->count; i++)
        e = fill_computed_webhook_fields(call, &((struct webhook *)list->items)[i]);
    return e ? e : call_reply_with_object(call, list);
}

/* GET /channels/{channel.id}/webhooks */
enum err list_channel_webhooks(struct call *call)
{
    struct list list = { 0 };
    enum err e = webhooks_read_of_channel(call->tx, call->target.channel->id, &list);

    return e ? e : reply_with_webhooks(call, &list);
}

/* Removes webhooks from the list unless the caller has VIEW_CHANNEL and MANAGE_WEBHOOKS in their
 * channel, because the reply contains tokens. */
static enum err remove_unmanageable_webhooks(struct call *call, struct list *list)
{
    const uint64_t needed = PERMISSION(VIEW_CHANNEL) | PERMISSION(MANAGE_WEBHOOKS);
    struct webhook *all = list->items;
    struct list channels, threads;
    size_t manageable = 0;
    enum err e = guild_channels_list(call->tx, call->target.guild->id, &channels, &threads);

    for (size_t i = 0; !e && i < list->count; i++) {
        const struct channel *c = id_sorted_list_find(&channels, sizeof *c, all[i].channel_id);
        uint64_t perms = 0;

        if (c)
            e = member_permissions_in_channel(call->tx, call->target.member_access, c, &perms);
        if ((perms & needed) == needed)
            all[manageable++] = all[i];
    }
    list->count = manageable;
    return e;
}

/* GET /guilds/{guild.id}/webhooks */
enum err list_guild_webhooks(struct call *call)
{
    struct list list = { 0 };
    enum err e = webhooks_read_of_guild(call->tx, call->target.guild->id, &list);

    if (!e)
        e = remove_unmanageable_webhooks(call, &list);
    return e ? e : reply_with_webhooks(call, &list);
}

/* GET /webhooks/{webhook.id}, with or without the token */
enum err get_webhook(struct call *call)
{
    return reply_with_webhook(call, call->target.webhook);
}

/* --- events --------------------------------------------------------------------------- */

struct webhooks_update_event {
    snowflake guild_id, channel_id;
};

static const struct field changed_fields[] = {
    { FIELD(struct webhooks_update_event, guild_id), .type = &type_id },
    { FIELD(struct webhooks_update_event, channel_id), .type = &type_id },
    { 0 },
};
static const struct schema changed_schema = {
    .name = "WebhooksChanged",
    .size = sizeof(struct webhooks_update_event),
    .fields = changed_fields,
    .doc = "Webhooks of a channel changed.",
};

void emit_webhooks_update(struct call *call, snowflake guild_id, snowflake channel_id)
{
    struct webhooks_update_event changed = { guild_id, channel_id };

    call_emit_event(
        call, EVENT_WEBHOOKS_UPDATE,
        audience_of_members_with_permission(guild_id, channel_id, PERMISSION(MANAGE_WEBHOOKS)),
        &changed_schema, &changed);
}

/* --- creating ------------------------------------------------------------------------- */

/* The uploaded avatar of a webhook; earlier stages (prepare, compute) pass it to the handler. */
struct webhook_avatar_upload {
    snowflake id; /* id of the new webhook */
    struct opt_str avatar;
};

static enum err store_avatar_of_new_webhook(struct call *call)
{
    const struct webhook_create_request *in = call->body;
    struct webhook_avatar_upload *p = call_get_stage_data(call, "webhook_avatar_upload");

    return store_uploaded_picture(call, "avatars", p->id, &in->avatar, &p->avatar);
}

enum err schedule_storing_new_webhook_avatar(struct call *call)
{
    const struct webhook_create_request *in = call->body;
    struct webhook_avatar_upload *p =
        call_store_stage_data(call, "webhook_avatar_upload", sizeof *p);

    p->id = snowflake_new();
    p->avatar.given = GIVEN_NULL;
    if (in->avatar.given == GIVEN) {
        call->read = call_read_nothing_but_path_objects;
        call->compute = store_avatar_of_new_webhook;
    }
    return OK;
}

enum err check_webhook_limit(struct call *call, snowflake guild_id, snowflake channel_id)
{
    int64_t in_guild, in_channel;
    enum err e = webhooks_count_in_channel(call->tx, guild_id, channel_id, &in_guild, &in_channel);

    if (!e && in_channel >= MOST_IN_CHANNEL)
        e = ERR_MAX_CHANNEL_WEBHOOKS;
    if (!e && in_guild >= MOST_IN_GUILD)
        e = ERR_MAX_GUILD_WEBHOOKS;
    return e;
}

bool channel_type_allows_webhooks(int64_t channel_type)
{
    return channel_type != CHANNEL_CATEGORY && !channel_is_thread(channel_type);
}

static const struct field audited_webhook[] = {
    { FIELD(struct webhook, type), .type = &type_int },
    { FIELD(struct webhook, channel_id), .type = &type_id },
    { FIELD(struct webhook, name), .type = &type_text },
    { FIELD_AS(struct webhook, avatar, "avatar_hash"), .type = &type_text },
    { FIELD(struct webhook, application_id), .type = &type_id },
    { 0 },
};

enum err audit_log_record_webhook(struct call *call, const struct webhook *before,
                                  const struct webhook *now)
{
    const struct webhook *any = now ? now : before;
    enum audit_log_action action = !before ? AUDIT_WEBHOOK_CREATE
                                   : now   ? AUDIT_WEBHOOK_UPDATE
                                           : AUDIT_WEBHOOK_DELETE;

    return audit_log_record_object_change(call, any->guild_id, action, any->id, audited_webhook,
                                          before, now);
}

static enum err insert_and_emit_webhook(struct call *call, struct webhook *h)
{
    enum err e = check_webhook_limit(call, h->guild_id, h->channel_id);

    if (!e)
        e = webhook_insert(call->tx, h);
    if (!e)
        e = audit_log_record_webhook(call, NULL, h);
    if (e)
        return e;
    emit_webhooks_update(call, h->guild_id, h->channel_id);
    return fill_computed_webhook_fields(call, h);
}

static struct str new_webhook_salt(struct call *call)
{
    char *salt = arena_alloc(call->arena, WEBHOOK_SALT);

    randombytes_buf(salt, WEBHOOK_SALT);
    return str_slice(salt, WEBHOOK_SALT);
}

enum err webhook_create_for_caller(struct call *call, const struct channel *c, struct str name,
                                   snowflake application, struct webhook *ret)
{
    *ret = (struct webhook){
        .id = snowflake_new(),
        .type = WEBHOOK_INCOMING,
        .guild_id = c->guild_id.value,
        .channel_id = c->id,
        .user_id = call->caller->id,
        .application_id = { application ? GIVEN : GIVEN_NULL, application },
        .name = opt_str_or_null(name),
        .avatar = { .given = GIVEN_NULL },
        .salt = new_webhook_salt(call),
    };
    return insert_and_emit_webhook(call, ret);
}

/* POST /channels/{channel.id}/webhooks */
enum err create_webhook(struct call *call)
{
    const struct webhook_create_request *in = call->body;
    const struct channel *c = call->target.channel;
    const struct webhook_avatar_upload *p = call_get_stage_data(call, "webhook_avatar_upload");
    struct webhook h = {
        .id = p->id,
        .type = WEBHOOK_INCOMING,
        .guild_id = c->guild_id.value,
        .channel_id = c->id,
        .user_id = call->caller->id,
        .application_id = opt_id_or_null(call->caller->application_id),
        .name = opt_str_or_null(in->name),
        .avatar = p->avatar,
        .salt = new_webhook_salt(call),
    };
    if (!channel_type_allows_webhooks(c->type))
        return ERR_CHANNEL_TYPE;
    enum err e = insert_and_emit_webhook(call, &h);
    return e ? e : call_reply_with_object(call, &h);
}

/* --- changing and deleting ------------------------------------------------------------ */

static enum err store_avatar_of_changed_webhook(struct call *call)
{
    const struct webhook_patch *in = call->body;
    struct webhook_avatar_upload *p = call_get_stage_data(call, "webhook_avatar_upload");

    return store_uploaded_picture(call, "avatars", call->target.webhook->id, &in->avatar,
                                  &p->avatar);
}

enum err schedule_storing_changed_webhook_avatar(struct call *call)
{
    const struct webhook_patch *in = call->body;
    struct webhook_avatar_upload *p =
        call_store_stage_data(call, "webhook_avatar_upload", sizeof *p);

    p->avatar.given = in->avatar.given;
    if (in->avatar.given == GIVEN) {
        call->read = call_read_nothing_but_path_objects;
        call->compute = store_avatar_of_changed_webhook;
    }
    return OK;
}

/* Moves a webhook to another channel of the guild, where the caller also needs MANAGE_WEBHOOKS. */
static enum err move_webhook(struct call *call, struct webhook *h, snowflake channel_id)
{
    struct webhook there = *h;
    struct channel c;

    if (channel_id == h->channel_id || call_authenticates_by_webhook_token(call))
        return OK;
    enum err e = channel_find(call->tx, channel_id, &c);
    if (!e && c.guild_id.value != h->guild_id)
        e = ERR_UNKNOWN_CHANNEL;
    if (e)
        return e;
    there.channel_id = channel_id;
    call->target.webhook = &there;
    e = check_manage_webhook_permission(call);
    call->target.webhook = h;
    if (!e && !channel_type_allows_webhooks(c.type))
        e = ERR_CHANNEL_TYPE;
    if (!e)
        e = check_webhook_limit(call, h->guild_id, channel_id);
    if (!e)
        h->channel_id = channel_id;
    return e;
}

/* PATCH /webhooks/{webhook.id}, with or without the token */
enum err modify_webhook(struct call *call)
{
    const struct webhook_patch *in = call->body;
    const struct webhook_avatar_upload *p = call_get_stage_data(call, "webhook_avatar_upload");
    struct webhook *h = call->target.webhook;
    const struct webhook before = *h;
    enum err e = OK;

    if (in->channel_id.given == GIVEN)
        e = move_webhook(call, h, in->channel_id.value);
    if (in->name.given == GIVEN)
        h->name = in->name;
    if (!e && p->avatar.given != ABSENT)
        e = delete_previous_picture(call, "avatars", h->id, &h->avatar, &p->avatar);
    if (p->avatar.given != ABSENT)
        h->avatar = p->avatar;
    if (!e)
        e = webhook_update(call->tx, h);
    if (!e)
        e = audit_log_record_webhook(call, &before, h);
    if (e)
        return e;
    if (before.channel_id != h->channel_id)
        emit_webhooks_update(call, h->guild_id, before.channel_id);
    emit_webhooks_update(call, h->guild_id, h->channel_id);
    return reply_with_webhook(call, h);
}

enum err webhook_delete_for_caller(struct call *call, const struct webhook *h)
{
    enum err e = webhook_row_delete(call->tx, h->id);

    if (!e)
        e = delete_stored_picture(call, "avatars", h->id, &h->avatar);
    if (!e)
        e = audit_log_record_webhook(call, h, NULL);
    if (!e)
        emit_webhooks_update(call, h->guild_id, h->channel_id);
    return e;
}

/* DELETE /webhooks/{webhook.id}, with or without the token */
enum err delete_webhook(struct call *call)
{
    return webhook_delete_for_caller(call, call->target.webhook);
}

/* --- audit log ------------------------------------------------------------------------ */

/* Adds webhooks to an audit log reply. Omits their tokens, because not every reader of the log may
 * use the webhooks. */
enum err audit_log_reply_add_webhooks(struct call *call, struct audit_log_objects *log)
{
    struct list ids = audit_log_list_target_ids_of_actions(call->arena, log, AUDIT_WEBHOOK_CREATE,
                                                           AUDIT_WEBHOOK_DELETE);
    const snowflake *id = ids.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < ids.count; i++) {
        struct webhook h;

        e = webhook_find(call->tx, id[i], &h);
        if (!e)
            audit_log_append_object(call->arena, &log->webhooks, &webhook_reply, &h);
        else if (e == ERR_UNKNOWN_WEBHOOK)
            e = OK;
    }
    return e;
}
