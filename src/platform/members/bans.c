/* bans.c - routes that list, create and remove bans, and ban in bulk. */
#include "platform/members/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"

static struct audience audience_of_moderators(snowflake guild_id)
{
    return audience_of_members_with_permission(
        guild_id, 0, PERMISSION(BAN_MEMBERS) | PERMISSION(VIEW_AUDIT_LOG));
}

static enum err get_bans(struct call *call)
{
    const struct bans_page_query *in = call->query;
    struct list bans;
    enum err e =
        guild_bans_list(call->tx, call->target.guild->id, in->after, in->before, in->limit, &bans);

    return e ? e : call_reply_with_object(call, &bans);
}

static enum err get_ban(struct call *call)
{
    struct guild_ban ban;
    enum err e = guild_ban_find(call->tx, call->target.guild->id, call->target.user->id, &ban);

    return e ? e : call_reply_with_object(call, &ban);
}

/* Returns an error if the user is a member with a rank that is not below the caller's. Users who
 * are not members may be banned, too. */
static enum err check_user_is_bannable(struct call *call, snowflake user_id, bool *ret_member)
{
    struct member m;

    if (user_id == call->caller->id)
        return ERR_SELF;
    enum err e = member_find(call->tx, call->target.guild->id, user_id, &m);
    *ret_member = !e;
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    return require_rank_above_member(call, &m);
}

/* Last API version that accepts delete_message_days as a query parameter and the ban's reason in
 * the body. */
enum { VERSION_BAN_IN_QUERY = 9 };

/* Bans a user. *room is the number of messages that this request may still delete (struct
 * member_ban). */
static enum err ban_user(struct call *call, const struct user *user, int64_t purge_seconds,
                         struct opt_str reason, int64_t *room)
{
    snowflake guild_id = call->target.guild->id;
    struct guild_user_event event = { .guild_id = guild_id,
                                      .user = user,
                                      .delete_message_secs = opt_int_present(purge_seconds) };
    struct member_ban purge = { guild_id, user->id, clock_us() - purge_seconds * 1000000, room };
    bool is_member = false, is_new = false;

    enum err e = check_user_is_bannable(call, user->id, &is_member);
    if (!e)
        e = guild_ban_insert(call->tx, guild_id, user->id, reason, &is_new);
    if (e || !is_new)
        return e;
    call_emit_event(call, EVENT_GUILD_BAN_ADD, audience_of_moderators(guild_id),
                    &guild_user_event_schema, &event);
    if (is_member)
        e = member_remove_from_guild(call, guild_id, user->id);
    if (!e && purge_seconds)
        e = hook_member_banned(call, &purge);
    return e ? e
             : audit_log_record_changes_with_reason(call, guild_id, AUDIT_MEMBER_BAN_ADD, user->id,
                                                    NULL, (struct list){ 0 }, reason);
}

static enum err create_ban(struct call *call)
{
    const struct ban_request *in = call->body;
    const struct ban_query *query = call->query;
    bool old = call_get_api_version(call) <= VERSION_BAN_IN_QUERY;
    int64_t room = BAN_DELETED_MESSAGES_AT_ONCE, days = in->delete_message_days.value;
    struct opt_str reason;
    enum err e = audit_log_parse_reason_of_call(call, &reason);

    if (e)
        return e;
    if (old && !days)
        days = query->delete_message_days.given == GIVEN ? query->delete_message_days.value
                                                         : query->delete_message_days_old.value;
    if (old && reason.given != GIVEN && in->reason.given == GIVEN)
        reason = in->reason;
    int64_t seconds =
        in->delete_message_seconds.given == GIVEN ? in->delete_message_seconds.value : days * 86400;
    return ban_user(call, call->target.user, seconds, reason, &room);
}

/* Bans each user in the body who can be banned. The reply lists the banned and the failed users. */
static enum err bulk_ban(struct call *call)
{
    const struct bulk_ban_request *in = call->body;
    struct list ids = copy_ids_without_duplicates(call->arena, &in->user_ids);
    struct bulk_ban_result out = { 0 };
    int64_t room = BAN_DELETED_MESSAGES_AT_ONCE;
    struct opt_str reason;
    enum err wrong = audit_log_parse_reason_of_call(call, &reason);

    if (wrong)
        return wrong;
    for (size_t i = 0; i < ids.count; i++) {
        snowflake id = ((snowflake *)ids.items)[i];
        struct user user;
        enum err e = user_find(call->tx, id, &user);

        if (!e)
            e = ban_user(call, &user, in->delete_message_seconds, reason, &room);
        if (e && e != ERR_UNKNOWN_USER && e != ERR_SELF && e != ERR_MISSING_PERMISSIONS)
            return e;
        struct list *to = e ? &out.failed_users : &out.banned_users;
        id_list_add(call->arena, to, id);
    }
    return out.banned_users.count ? call_reply_with_object(call, &out) : ERR_BULK_BAN;
}

enum err guild_ban_remove_and_emit(struct call *call, snowflake guild_id, struct user *user)
{
    struct guild_user_event event = { .guild_id = guild_id, .user = user };
    struct guild_ban found;

    enum err e = guild_ban_find(call->tx, guild_id, user->id, &found);
    if (!e)
        e = guild_ban_delete(call->tx, guild_id, user->id);
    if (!e)
        e = audit_log_record_action(call, guild_id, AUDIT_MEMBER_BAN_REMOVE, user->id);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_BAN_REMOVE, audience_of_moderators(guild_id),
                    &guild_user_event_schema, &event);
    return OK;
}

static enum err remove_ban(struct call *call)
{
    return guild_ban_remove_and_emit(call, call->target.guild->id, call->target.user);
}

static const enum event fired_by_bans[] = {
    EVENT_GUILD_BAN_ADD,
    LEAVE_EVENTS,
    EVENT_MESSAGE_DELETE_BULK,
    EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
    EVENT_NONE,
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/bans",
        .name = "get_bans",
        .doc = "The bans of a guild, ordered by user id.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(BAN_MEMBERS),
        .query = &ban_list_query,
        .reply = &type_bans,
        .before_standby = call_read_nothing_but_path_objects,
        .handle = get_bans,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/bans/{user.id}",
        .name = "get_ban",
        .doc = "One ban.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(BAN_MEMBERS),
        .reply = &type_ban,
        .handle = get_ban,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/bans/{user.id}",
        .name = "create_ban",
        .doc = "Ban a user, member or not, and delete recent messages of the user.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(BAN_MEMBERS),
        .query = &ban_query,
        .body = &ban_body,
        .fires = fired_by_bans,
        .handle = create_ban,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/bulk-ban",
        .name = "bulk_ban",
        .doc = "Ban up to 200 users at once.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(BAN_MEMBERS) | PERMISSION(MANAGE_GUILD),
        .body = &bulk_ban_body,
        .reply = &bulk_ban_reply,
        .fires = fired_by_bans,
        .handle = bulk_ban,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/bans/{user.id}",
        .name = "remove_ban",
        .doc = "Remove a ban.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(BAN_MEMBERS),
        .fires = (const enum event[]){ EVENT_GUILD_BAN_REMOVE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .handle = remove_ban,
    },
    { 0 },
};

const struct domain bans_domain = {
    .name = "Bans",
    .doc = "Bans of guilds.",
    .routes = routes,
};
