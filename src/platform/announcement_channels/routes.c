/* routes.c - routes that publish a message and follow a channel. */
#include "platform/announcement_channels/internal.h"

#include <sodium.h>

#include "model/permissions/permissions.h"
#include "model/fields/types.h"
#include "api/deletion.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* --- publishing a message ------------------------------------------------------------ */

static enum err check_crosspost_permission(struct call *call)
{
    const struct message *m = call->target.message;
    bool own = m->author_id == call->caller->id;

    if (call->target.channel->type != CHANNEL_ANNOUNCEMENT)
        return ERR_CHANNEL_TYPE;
    if (!(call->target.permissions & PERMISSION(SEND_MESSAGES)))
        return call_get_missing_permissions_error(call, PERMISSION(SEND_MESSAGES));
    return own || call->target.permissions & PERMISSION(MANAGE_MESSAGES)
               ? OK
               : call_get_missing_permissions_error(call, PERMISSION(MANAGE_MESSAGES));
}

/* POST /channels/{channel.id}/messages/{message.id}/crosspost */
static enum err crosspost_message(struct call *call)
{
    struct message *m = call->target.message;

    if (m->flags & MESSAGE_CROSSPOSTED)
        return ERR_CROSSPOSTED;
    if (message_is_system(m->type) || m->polled || m->snapshot.given == GIVEN ||
        m->flags & MESSAGE_IS_CROSSPOST)
        return ERR_INVALID_MESSAGE_TYPE;
    m->flags |= MESSAGE_CROSSPOSTED;
    enum err e = message_update_row_and_emit(call, call->target.channel, m);
    if (!e)
        e = crosspost_schedule_publishing_copies(call, m);
    if (!e)
        e = call_reply_with_object(call, m);
    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

struct follow_channel_body {
    snowflake webhook_channel_id;
};
struct followed_channel {
    snowflake channel_id, webhook_id;
};
static const struct field follow_fields[] = {
    { FIELD(struct follow_channel_body, webhook_channel_id), .type = &type_id,
      .doc = "The channel that receives the copies" },
    { 0 },
};
static const struct field followed_fields[] = {
    { FIELD(struct followed_channel, channel_id), .type = &type_id },
    { FIELD(struct followed_channel, webhook_id), .type = &type_id },
    { 0 },
};
static const struct schema follow_schema = {
    .name = "Follow",
    .size = sizeof(struct follow_channel_body),
    .fields = follow_fields,
    .doc = "The channel that follows.",
};
static const struct schema followed_schema = {
    .name = "FollowedChannel",
    .size = sizeof(struct followed_channel),
    .fields = followed_fields,
    .doc = "A followed channel, and the webhook that posts its messages.",
};
static const struct type follow_body = { .kind = KIND_OBJECT, .schema = &follow_schema };
static const struct type followed_reply = { .kind = KIND_OBJECT, .schema = &followed_schema };

/* Resolves the channel that will follow and computes the caller's permissions in it. call->target
 * is not changed: it is the announcement channel. */
static enum err resolve_follower_channel(struct call *call, snowflake id,
                                         struct call_path_objects *ret)
{
    struct call_path_objects here = call->target;

    call->target = (struct call_path_objects){ 0 };
    enum err e = resolve_channel_by_id(call, id);
    *ret = call->target;
    call->target = here;
    if (e)
        return e;
    if (ret->channel->type != CHANNEL_TEXT && ret->channel->type != CHANNEL_ANNOUNCEMENT)
        return ERR_CHANNEL_TYPE;
    if (ret->permissions & PERMISSION(MANAGE_WEBHOOKS))
        return OK;
    return ret->member_access
               ? permission_error_in_channel(call->tx, ret->member_access, ret->channel,
                                             PERMISSION(MANAGE_WEBHOOKS))
               : ERR_MISSING_PERMISSIONS;
}

static const char FOLLOWS_ALREADY[] =
    "select id from webhooks where source_channel_id = $1 and channel_id = $2";

static enum err find_follower_webhook(struct call *call, snowflake source, snowflake target,
                                      snowflake *ret)
{
    return tx_read_id(call->tx, FOLLOWS_ALREADY, BIND(v_id(source), v_id(target)), ret);
}

static enum err create_follow_system_message(struct call *call, const struct channel *to,
                                             struct str name)
{
    const struct channel *from = call->target.channel;
    struct message_reference ref = { .channel_id = from->id,
                                     .guild_id = opt_id_or_null(from->guild_id.value) };
    struct new_message draft = { .channel = to,
                                 .type = MESSAGE_CHANNEL_FOLLOW_ADD,
                                 .content = name,
                                 .message_reference = &ref };
    struct message said;
    struct user author;
    enum err e = user_find(call->tx, call->caller->id, &author);

    draft.author = &author;
    return e ? e : message_create(call, &draft, &said);
}

static enum err create_follower_webhook(struct call *call, const struct channel *to, snowflake *ret)
{
    const struct channel *from = call->target.channel;
    unsigned char salt[WEBHOOK_SALT];
    struct guild g;
    enum err e = guild_find(call->tx, from->guild_id.value, &g);

    if (!e)
        e = check_webhook_limit(call, to->guild_id.value, to->id);
    if (e)
        return e;
    randombytes_buf(salt, sizeof salt);
    struct webhook h = {
        .id = snowflake_new(),
        .guild_id = to->guild_id.value,
        .channel_id = to->id,
        .user_id = call->caller->id,
        .name = opt_str_or_null(
            str_printf(call->arena, "%.*s #%.*s", STR_ARGS(g.name), STR_ARGS(from->name.value))),
        .avatar = { .given = GIVEN_NULL },
        .salt = str_slice((const char *)salt, sizeof salt),
        .source_channel_id = from->id,
        .source_guild_id = g.id,
    };
    e = webhook_insert(call->tx, &h);
    if (!e)
        e = audit_log_record_webhook(call, NULL, &h);
    if (e)
        return e;
    emit_webhooks_update(call, h.guild_id, h.channel_id);
    *ret = h.id;
    return create_follow_system_message(call, to, h.name.value);
}

/* POST /channels/{channel.id}/followers */
static enum err follow_channel(struct call *call)
{
    const struct follow_channel_body *in = call->body;
    const struct channel *from = call->target.channel;
    struct followed_channel out = { .channel_id = from->id };
    struct call_path_objects to;

    if (from->type != CHANNEL_ANNOUNCEMENT)
        return ERR_CHANNEL_TYPE;
    enum err e = resolve_follower_channel(call, in->webhook_channel_id, &to);
    if (!e)
        e = find_follower_webhook(call, from->id, in->webhook_channel_id, &out.webhook_id);
    if (!e && !out.webhook_id)
        e = create_follower_webhook(call, to.channel, &out.webhook_id);
    return e ? e : call_reply_with_object(call, &out);
}

static const struct rate_limit publishing = {
    .name = "crosspost", .count = 10, .window_s = 3600, .shared = true
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/messages/{message.id}/crosspost",
        .name = "crosspost_message",
        .doc = "Publish a message to followers; messages of others need MANAGE_MESSAGES.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, EVENT_NONE },
        .limit = &publishing,
        .admit = check_crosspost_permission,
        .handle = crosspost_message,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/followers",
        .name = "follow_channel",
        .doc = "Follow a channel in another channel, where the caller needs MANAGE_WEBHOOKS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &follow_body,
        .reply = &followed_reply,
        .fires = (const enum event[]){ EVENT_WEBHOOKS_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_MESSAGE_CREATE, EVENT_CHANNEL_CREATE,
                                       THREAD_MESSAGE_EVENTS, EVENT_NONE },
        .handle = follow_channel,
    },
    { 0 },
};

const struct domain announcement_channels_domain = {
    .name = "Announcement channels",
    .doc = "Announcement channels, whose messages are published to followers.",
    .routes = routes,
    .jobs = (const struct job_kind *const[]){ &announcement_publish_job, &announcement_update_job,
                                              &announcement_clear_job, NULL },
    .hooks =
        &(const struct hook_listeners){ .message_changed = crosspost_schedule_updating_copies,
                                        .message_deleted = crosspost_schedule_emptying_of_copies },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_MESSAGES, "crossposts", "source_id, message_id",
                           "source_id in (" NEXT_DELETED_MESSAGES ")") },
            { DELETE_WHERE(WITH_MESSAGES, "crossposts", "source_id, message_id",
                           OF_DELETED_MESSAGES) },
            { 0 } },
};
