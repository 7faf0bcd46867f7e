/* manage.c - creates, lists, modifies and deletes webhooks. Members with MANAGE_WEBHOOKS manage
 * them. The holder of a webhook's token manages that webhook without an account. */
#include "platform/webhooks/internal.h"

#include <inttypes.h>
#include <sodium.h>

#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { MOST_IN_CHANNEL = 15, MOST_IN_GUILD = 1000, TOKEN_BYTES = 51 };

/* --- tokens --------------------------------------------------------------------------- */

struct str webhook_token(struct call *call, const struct webhook *h)
{
    unsigned char bytes[TOKEN_BYTES];

    auth_derive(api_options(call->api)->auth, "webhook", h->id, h->salt, bytes, sizeof bytes);
    return str_base64url(call->arena, bytes, sizeof bytes);
}

/* Resolves {webhook.id} without a permission check; the rest of the path determines access. */
enum err resolve_webhook(struct call *call)
{
    struct webhook *h = call->target.webhook = arena_alloc(call->arena, sizeof *h);

    return webhook_find(call->tx, call_id(call, "webhook.id"), h);
}

enum err resolve_token(struct call *call)
{
    struct str given = call_text(call, "webhook.token"),
               good = webhook_token(call, call->target.webhook);

    /* The token alone authorizes the call, so other credentials of the request are ignored. */
    call->caller = NULL;
    /* Only incoming webhooks accept messages. */
    return call->target.webhook->type == WEBHOOK_INCOMING && given.n == good.n &&
                   sodium_memcmp(given.p, good.p, good.n) == 0
               ? OK
               : ERR_INVALID_WEBHOOK_TOKEN;
}

/* Requires MANAGE_WEBHOOKS in the webhook's channel, for access without the token. */
enum err may_manage(struct call *call)
{
    const struct webhook *h = call->target.webhook;
    struct channel c;
    struct standing s;
    uint64_t rights;
    enum err e = channel_find(call->tx, h->channel_id, &c);

    if (!e)
        e = standing_find(call->tx, h->guild_id, call->caller->id, &s);
    if (!e)
        e = standing_rights_in(call->tx, &s, &c, &rights);
    if (e)
        return e;
    if (!(rights & PERMISSION(VIEW_CHANNEL)))
        return ERR_MISSING_ACCESS;
    return rights & PERMISSION(MANAGE_WEBHOOKS)
               ? OK
               : standing_lacks_in(call->tx, &s, &c, PERMISSION(MANAGE_WEBHOOKS));
}

/* --- replies -------------------------------------------------------------------------- */

static bool has_token(const struct call *call)
{
    return call->route->auth & AUTH_OPEN;
}

static enum err webhook_show_source(struct call *call, struct webhook *h)
{
    struct webhook_source *guild = arena_alloc(call->arena, sizeof *guild),
                          *channel = arena_alloc(call->arena, sizeof *channel);
    struct channel c;
    struct guild g;
    enum err e = channel_find(call->tx, h->source_channel_id, &c);

    if (!e)
        e = guild_find(call->tx, h->source_guild_id, &g);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_GUILD ? OK : e;
    *guild = (struct webhook_source){ g.id, g.name, g.icon };
    *channel = (struct webhook_source){ .id = c.id, .name = c.name.value };
    h->source_guild = guild;
    h->source_channel = channel;
    return OK;
}

/* Returns whether the reply may contain the token. The token of an app's webhook acts in the app's
 * name, so only that app and callers who sent the token receive it. */
static bool shows_token(const struct call *call, const struct webhook *h)
{
    bool own = call->caller && call->caller->application_id == h->application_id.value;

    return h->application_id.given != GIVEN || own || has_token(call);
}

/* Fills token, URL, source and creator; not the creator for callers who have only the token. */
static enum err webhook_complete(struct call *call, struct webhook *h)
{
    struct user *user = arena_alloc(call->arena, sizeof *user);
    enum err e = OK;

    if (h->type == WEBHOOK_INCOMING && shows_token(call, h)) {
        h->token = given_str(webhook_token(call, h));
        h->url =
            given_str(str_printf(call->arena, "%.*s/api/webhooks/%" PRIu64 "/%.*s",
                                 STR_FMT(api_url(call, "http")), h->id, STR_FMT(h->token.value)));
    } else if (h->type == WEBHOOK_FOLLOWER) {
        e = webhook_show_source(call, h);
    }
    if (e)
        return e;
    if (h->user_id && !has_token(call))
        e = user_find(call->tx, h->user_id, user);
    if (e == ERR_UNKNOWN_USER)
        return OK;
    h->user = h->user_id && !has_token(call) ? user : NULL;
    return e;
}

static enum err webhook_send_reply(struct call *call, struct webhook *h)
{
    enum err e = webhook_complete(call, h);

    return e ? e : call_reply(call, h);
}

static enum err reply_list(struct call *call, struct list *list)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < list->count; i++)
        e = webhook_complete(call, &((struct webhook *)list->items)[i]);
    return e ? e : call_reply(call, list);
}

/* GET /channels/{channel.id}/webhooks */
enum err list_channel_webhooks(struct call *call)
{
    struct list list = { 0 };
    enum err e = webhooks_of_channel(call->tx, call->target.channel->id, &list);

    return e ? e : reply_list(call, &list);
}

static const struct channel *channel_among(const struct list *channels, snowflake id)
{
    const struct channel *c = channels->items;
    size_t low = 0, high = channels->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < channels->count && c[low].id == id ? &c[low] : NULL;
}

/* Retains only webhooks in channels where the caller has VIEW_CHANNEL and MANAGE_WEBHOOKS, because
 * the reply contains the token. */
static enum err keep_manageable(struct call *call, struct list *list)
{
    const uint64_t needed = PERMISSION(VIEW_CHANNEL) | PERMISSION(MANAGE_WEBHOOKS);
    struct webhook *all = list->items;
    struct list channels, threads;
    size_t kept = 0;
    enum err e = guild_channels(call->tx, call->target.guild->id, &channels, &threads);

    for (size_t i = 0; !e && i < list->count; i++) {
        const struct channel *c = channel_among(&channels, all[i].channel_id);
        uint64_t rights = 0;

        if (c)
            e = standing_rights_in(call->tx, call->target.standing, c, &rights);
        if ((rights & needed) == needed)
            all[kept++] = all[i];
    }
    list->count = kept;
    return e;
}

/* GET /guilds/{guild.id}/webhooks */
enum err list_guild_webhooks(struct call *call)
{
    struct list list = { 0 };
    enum err e = webhooks_of_guild(call->tx, call->target.guild->id, &list);

    if (!e)
        e = keep_manageable(call, &list);
    return e ? e : reply_list(call, &list);
}

/* GET /webhooks/{webhook.id}, with or without the token */
enum err get_webhook(struct call *call)
{
    return webhook_send_reply(call, call->target.webhook);
}

/* --- events --------------------------------------------------------------------------- */

struct webhooks_changed {
    snowflake guild_id, channel_id;
};

static const struct field changed_fields[] = {
    { FIELD(struct webhooks_changed, guild_id), .type = &type_id },
    { FIELD(struct webhooks_changed, channel_id), .type = &type_id },
    { 0 },
};
static const struct schema changed_schema = {
    .name = "WebhooksChanged",
    .size = sizeof(struct webhooks_changed),
    .fields = changed_fields,
    .doc = "Webhooks of a channel changed.",
};

void webhooks_announce(struct call *call, snowflake guild_id, snowflake channel_id)
{
    struct webhooks_changed changed = { guild_id, channel_id };

    call_emit(call, EVENT_WEBHOOKS_UPDATE,
              to_entitled(guild_id, channel_id, PERMISSION(MANAGE_WEBHOOKS)), &changed_schema,
              &changed);
}

/* --- creating ------------------------------------------------------------------------- */

/* Data that prepare and compute pass to the handler. */
struct portrait {
    snowflake id; /* id of the new webhook */
    struct opt_str avatar;
};

static enum err keep_new_avatar(struct call *call)
{
    const struct webhook_draft *in = call->body;
    struct portrait *p = call_passed(call, "portrait");

    return picture_keep(call, "avatars", p->id, &in->avatar, &p->avatar);
}

enum err prepare_create_webhook(struct call *call)
{
    const struct webhook_draft *in = call->body;
    struct portrait *p = call_pass(call, "portrait", sizeof *p);

    p->id = snowflake_new();
    p->avatar.given = GIVEN_NULL;
    if (in->avatar.given == GIVEN) {
        call->look = call_looked;
        call->compute = keep_new_avatar;
    }
    return OK;
}

enum err webhook_check_room(struct call *call, snowflake guild_id, snowflake channel_id)
{
    int64_t in_guild, in_channel;
    enum err e = webhooks_count(call->tx, guild_id, channel_id, &in_guild, &in_channel);

    if (!e && in_channel >= MOST_IN_CHANNEL)
        e = ERR_MAX_CHANNEL_WEBHOOKS;
    if (!e && in_guild >= MOST_IN_GUILD)
        e = ERR_MAX_GUILD_WEBHOOKS;
    return e;
}

bool webhook_fits(int64_t channel_type)
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

enum err webhook_audit(struct call *call, const struct webhook *before, const struct webhook *now)
{
    const struct webhook *any = now ? now : before;
    enum audit_action action = !before ? AUDIT_WEBHOOK_CREATE
                               : now   ? AUDIT_WEBHOOK_UPDATE
                                       : AUDIT_WEBHOOK_DELETE;

    return audit_object(call, any->guild_id, action, any->id, audited_webhook, before, now);
}

static enum err webhook_begin(struct call *call, struct webhook *h)
{
    enum err e = webhook_check_room(call, h->guild_id, h->channel_id);

    if (!e)
        e = webhook_insert(call->tx, h);
    if (!e)
        e = webhook_audit(call, NULL, h);
    if (e)
        return e;
    webhooks_announce(call, h->guild_id, h->channel_id);
    return webhook_complete(call, h);
}

static struct str webhook_new_salt(struct call *call)
{
    char *salt = arena_alloc(call->arena, WEBHOOK_SALT);

    randombytes_buf(salt, WEBHOOK_SALT);
    return str_slice(salt, WEBHOOK_SALT);
}

enum err webhook_make(struct call *call, const struct channel *c, struct str name,
                      snowflake application, struct webhook *ret)
{
    *ret = (struct webhook){
        .id = snowflake_new(),
        .type = WEBHOOK_INCOMING,
        .guild_id = c->guild_id.value,
        .channel_id = c->id,
        .user_id = call->caller->id,
        .application_id = { application ? GIVEN : GIVEN_NULL, application },
        .name = given_str(name),
        .avatar = { .given = GIVEN_NULL },
        .salt = webhook_new_salt(call),
    };
    return webhook_begin(call, ret);
}

/* POST /channels/{channel.id}/webhooks */
enum err create_webhook(struct call *call)
{
    const struct webhook_draft *in = call->body;
    const struct channel *c = call->target.channel;
    const struct portrait *p = call_passed(call, "portrait");
    struct webhook h = {
        .id = p->id,
        .type = WEBHOOK_INCOMING,
        .guild_id = c->guild_id.value,
        .channel_id = c->id,
        .user_id = call->caller->id,
        .application_id = given_id(call->caller->application_id),
        .name = given_str(in->name),
        .avatar = p->avatar,
        .salt = webhook_new_salt(call),
    };
    if (!webhook_fits(c->type))
        return ERR_CHANNEL_TYPE;
    enum err e = webhook_begin(call, &h);
    return e ? e : call_reply(call, &h);
}

/* --- changing and deleting ------------------------------------------------------------ */

static enum err keep_avatar(struct call *call)
{
    const struct webhook_patch *in = call->body;
    struct portrait *p = call_passed(call, "portrait");

    return picture_keep(call, "avatars", call->target.webhook->id, &in->avatar, &p->avatar);
}

enum err prepare_modify_webhook(struct call *call)
{
    const struct webhook_patch *in = call->body;
    struct portrait *p = call_pass(call, "portrait", sizeof *p);

    p->avatar.given = in->avatar.given;
    if (in->avatar.given == GIVEN) {
        call->look = call_looked;
        call->compute = keep_avatar;
    }
    return OK;
}

/* Moves a webhook to another channel of the guild, where the caller also needs MANAGE_WEBHOOKS. */
static enum err webhook_move(struct call *call, struct webhook *h, snowflake channel_id)
{
    struct webhook there = *h;
    struct channel c;

    if (channel_id == h->channel_id || has_token(call))
        return OK;
    enum err e = channel_find(call->tx, channel_id, &c);
    if (!e && c.guild_id.value != h->guild_id)
        e = ERR_UNKNOWN_CHANNEL;
    if (e)
        return e;
    there.channel_id = channel_id;
    call->target.webhook = &there;
    e = may_manage(call);
    call->target.webhook = h;
    if (!e && !webhook_fits(c.type))
        e = ERR_CHANNEL_TYPE;
    if (!e)
        e = webhook_check_room(call, h->guild_id, channel_id);
    if (!e)
        h->channel_id = channel_id;
    return e;
}

/* PATCH /webhooks/{webhook.id}, with or without the token */
enum err modify_webhook(struct call *call)
{
    const struct webhook_patch *in = call->body;
    const struct portrait *p = call_passed(call, "portrait");
    struct webhook *h = call->target.webhook;
    const struct webhook before = *h;
    enum err e = OK;

    if (in->channel_id.given == GIVEN)
        e = webhook_move(call, h, in->channel_id.value);
    if (in->name.given == GIVEN)
        h->name = in->name;
    if (!e && p->avatar.given != ABSENT)
        e = picture_replace(call, "avatars", h->id, &h->avatar, &p->avatar);
    if (p->avatar.given != ABSENT)
        h->avatar = p->avatar;
    if (!e)
        e = webhook_update(call->tx, h);
    if (!e)
        e = webhook_audit(call, &before, h);
    if (e)
        return e;
    if (before.channel_id != h->channel_id)
        webhooks_announce(call, h->guild_id, before.channel_id);
    webhooks_announce(call, h->guild_id, h->channel_id);
    return webhook_send_reply(call, h);
}

enum err webhook_end(struct call *call, const struct webhook *h)
{
    enum err e = webhook_remove(call->tx, h->id);

    if (!e)
        e = picture_drop(call, "avatars", h->id, &h->avatar);
    if (!e)
        e = webhook_audit(call, h, NULL);
    if (!e)
        webhooks_announce(call, h->guild_id, h->channel_id);
    return e;
}

/* DELETE /webhooks/{webhook.id}, with or without the token */
enum err delete_webhook(struct call *call)
{
    return webhook_end(call, call->target.webhook);
}

/* --- audit log ------------------------------------------------------------------------ */

/* Adds webhooks without their tokens, which not every reader of the audit log may have. */
enum err webhooks_in_audit(struct call *call, struct audit_shown *log)
{
    struct list ids = audit_targets(call->arena, log, AUDIT_WEBHOOK_CREATE, AUDIT_WEBHOOK_DELETE);
    const snowflake *id = ids.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < ids.count; i++) {
        struct webhook h;

        e = webhook_find(call->tx, id[i], &h);
        if (!e)
            audit_show(call->arena, &log->webhooks, &webhook_reply, &h);
        else if (e == ERR_UNKNOWN_WEBHOOK)
            e = OK;
    }
    return e;
}
