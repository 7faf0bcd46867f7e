/* threads.c - conversations that hang on a channel.
 *
 * A thread has its parent's rights. Who started it may change it; MANAGE_THREADS
 * may do everything. */
#include "platform/channels/internal.h"

#include "base/clock.h"
#include "platform/guilds/leftovers.h"

struct thread_draft {
    struct str name;
    struct opt_int type, auto_archive_duration, rate_limit_per_user;
};
struct active_threads {
    struct list threads, members;
};

static const struct choice thread_types[] = {
    { CHANNEL_NEWS_THREAD, NULL, "ANNOUNCEMENT_THREAD", "Thread of a news channel" },
    { CHANNEL_THREAD, NULL, "PUBLIC_THREAD", "For everybody who sees the channel" },
    { CHANNEL_PRIVATE_THREAD, NULL, "PRIVATE_THREAD", "For its starter and MANAGE_THREADS" },
    { 0 },
};
static const struct type type_thread_type = { .kind = KIND_INT, .choices = thread_types };
static const struct type type_slowmode = { .kind = KIND_INT, .min = 0, .max = 21600 };

static const struct field draft_fields[] = {
    { FIELD(struct thread_draft, name), .type = &type_channel_name },
    { FIELD(struct thread_draft, type), .type = &type_thread_type, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thread_draft, auto_archive_duration), .type = &type_archive_minutes,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thread_draft, rate_limit_per_user), .type = &type_slowmode,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "ThreadDraft",
    .size = sizeof(struct thread_draft),
    .fields = draft_fields,
    .doc = "A new thread.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field active_fields[] = {
    { FIELD(struct active_threads, threads), .type = &type_channels },
    { FIELD(struct active_threads, members), .type = &type_none },
    { 0 },
};
static const struct schema active_schema = {
    .name = "ActiveThreads",
    .size = sizeof(struct active_threads),
    .fields = active_fields,
    .doc = "Threads of a guild that are not archived.",
};
static const struct type active_reply = { .kind = KIND_OBJECT, .schema = &active_schema };

/* --- making --------------------------------------------------------------------------- */

static int64_t default_type(const struct channel *parent)
{
    return parent->type == CHANNEL_NEWS ? CHANNEL_NEWS_THREAD : CHANNEL_THREAD;
}

static enum err check_parent(const struct channel *parent)
{
    if (channel_is_private(parent->type))
        return ERR_DM_CHANNEL;
    return parent->type == CHANNEL_TEXT || parent->type == CHANNEL_NEWS ||
                   parent->type == CHANNEL_FORUM
               ? OK
               : ERR_CHANNEL_TYPE;
}

/* News channels have news threads, and no others do; forums have no private ones. */
static enum err check_type(struct call *call, const struct channel *parent, int64_t type)
{
    bool fits = type == default_type(parent) ||
                (parent->type == CHANNEL_TEXT && type == CHANNEL_PRIVATE_THREAD);

    if (fits)
        return OK;
    return call_invalid(call, "type", FORM_CHOICES, "This channel has no threads of this type.");
}

static enum err check_rights(const struct call *call, const struct channel *parent, int64_t type)
{
    uint64_t needs = type == CHANNEL_PRIVATE_THREAD  ? PERMISSION(CREATE_PRIVATE_THREADS)
                     : parent->type == CHANNEL_FORUM ? PERMISSION(SEND_MESSAGES)
                                                     : PERMISSION(CREATE_PUBLIC_THREADS);

    return call->target.rights & needs ? OK : ERR_MISSING_PERMISSIONS;
}

static const char ACTIVE_THREADS[] =
    "select count(*) from channels where guild_id = $1 and thread_archived = 0 and type >= 10 and "
    "type <= 12";

enum err thread_check_room(struct tx *tx, snowflake guild_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, ACTIVE_THREADS, BIND(v_id(guild_id)), &row, &found);

    if (e)
        return e;
    return row_int(&row, 0) < MAX_ACTIVE_THREADS ? OK : ERR_MAX_ACTIVE_THREADS;
}

static enum err make_thread(struct call *call, snowflake id, int64_t type)
{
    const struct thread_draft *in = call->body;
    const struct channel *parent = call->target.channel;
    struct thread_metadata thread = {
        .auto_archive_duration = in->auto_archive_duration.given == GIVEN
                                     ? in->auto_archive_duration.value
                                 : parent->default_auto_archive_duration.given == GIVEN
                                     ? parent->default_auto_archive_duration.value
                                     : 1440,
    };
    struct channel c = {
        .id = id,
        .guild_id = parent->guild_id,
        .parent_id = given_id(parent->id),
        .type = type,
        .name = given_str(in->name),
        .owner_id = given_id(call->caller->id),
        .rate_limit_per_user = in->rate_limit_per_user,
        .thread_metadata = &thread,
    };

    enum err e = thread_check_room(call->tx, c.guild_id.value);
    if (!e)
        e = slow_mode_pass(call, parent, SLOW_THREAD);
    if (!e)
        e = channel_insert(call->tx, &c);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (!e)
        e = thread_watch(call, &c);
    if (e)
        return e;
    c.newly_created = given_bool(true);
    call_emit(call, EVENT_THREAD_CREATE, to_channel_viewers(&c), &channel_schema, &c);
    c.newly_created.given = ABSENT;
    return call_reply(call, &c);
}

/* POST /channels/{channel.id}/threads */
static enum err create_thread(struct call *call)
{
    const struct thread_draft *in = call->body;
    const struct channel *parent = call->target.channel;
    int64_t type = in->type.given == GIVEN ? in->type.value : default_type(parent);

    enum err e = check_parent(parent);
    if (!e)
        e = check_type(call, parent, type);
    if (!e)
        e = check_rights(call, parent, type);
    return e ? e : make_thread(call, snowflake_new(), type);
}

/* POST /channels/{channel.id}/messages/{message.id}/threads: the thread has the
 * message's id, so a message has one at most. */
static enum err create_message_thread(struct call *call)
{
    const struct channel *parent = call->target.channel;
    snowflake id = call_id(call, "message.id");
    int64_t type = default_type(parent);
    struct channel there;

    enum err e = check_parent(parent);
    if (!e)
        e = check_rights(call, parent, type);
    if (e)
        return e;
    e = channel_find(call->tx, id, &there);
    if (e != ERR_UNKNOWN_CHANNEL)
        return e ? e : ERR_THREAD_EXISTS;
    return make_thread(call, id, type);
}

/* --- listing -------------------------------------------------------------------------- */

static bool may_view(const struct standing *s, const struct channel *thread,
                     const struct list *channels)
{
    const struct channel *parent = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (parent[i].id == thread->parent_id.value)
            return rights_in_thread(&s->rights_of, thread, &parent[i]) & PERMISSION(VIEW_CHANNEL);
    return false;
}

/* GET /guilds/{guild.id}/threads/active: those that the caller sees. */
static enum err list_active_threads(struct call *call)
{
    struct active_threads out = { 0 };
    struct list channels, threads;

    enum err e = guild_channels(call->tx, call->target.guild->id, &channels, &threads);
    if (e)
        return e;
    for (size_t i = 0; i < threads.count; i++) {
        const struct channel *c = (struct channel *)threads.items + i;

        if (may_view(call->target.standing, c, &channels))
            *(struct channel *)list_add(call->arena, &out.threads, sizeof *c) = *c;
    }
    return call_reply(call, &out);
}

/* --- PATCH, DELETE /channels/{channel.id} of a thread --------------------------------- */

static bool may_manage(const struct call *call)
{
    return call->target.rights & PERMISSION(MANAGE_THREADS);
}

static bool may_wake(const struct call *call)
{
    const struct thread_metadata *t = call->target.channel->thread_metadata;

    return t->archived && !t->locked && call->target.rights & PERMISSION(SEND_MESSAGES);
}

enum err admit_modify_thread(struct call *call)
{
    bool own = call->target.channel->owner_id.value == call->caller->id;

    return may_manage(call) || own || may_wake(call) ? OK : ERR_MISSING_PERMISSIONS;
}

/* Each field has its own right. */
static enum err allow_fields(const struct call *call, const struct channel_edit *in)
{
    const struct channel *c = call->target.channel;
    bool own = c->owner_id.value == call->caller->id;
    bool wakes = in->archived.given == GIVEN && !in->archived.value;
    bool other = in->name.given != ABSENT || in->auto_archive_duration.given != ABSENT ||
                 (in->archived.given == GIVEN && in->archived.value);

    if (may_manage(call))
        return OK;
    if (in->locked.given != ABSENT || in->rate_limit_per_user.given != ABSENT)
        return ERR_MISSING_PERMISSIONS;
    if (other && !own)
        return ERR_MISSING_PERMISSIONS;
    return wakes && c->thread_metadata->archived && !may_wake(call) ? ERR_MISSING_PERMISSIONS : OK;
}

enum err modify_thread(struct call *call)
{
    const struct channel_edit *in = call->body;
    struct channel c = *call->target.channel;
    struct thread_metadata thread = *c.thread_metadata;

    if (in->name.given == GIVEN_NULL)
        return call_invalid(call, "name", FORM_REQUIRED);
    enum err e = allow_fields(call, in);
    if (e)
        return e;
    c.thread_metadata = &thread;
    if (in->name.given == GIVEN)
        c.name = in->name;
    if (in->rate_limit_per_user.given != ABSENT)
        c.rate_limit_per_user = in->rate_limit_per_user;
    if (in->auto_archive_duration.given == GIVEN)
        thread.auto_archive_duration = in->auto_archive_duration.value;
    if (in->locked.given == GIVEN)
        thread.locked = in->locked.value;
    if (in->archived.given == GIVEN && in->archived.value != thread.archived) {
        thread.archived = in->archived.value;
        thread.archive_timestamp = clock_us();
        if (!thread.archived)
            e = thread_check_room(call->tx, c.guild_id.value);
    }
    if (e)
        return e;

    e = channel_save(call->tx, &c);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (!e && !thread.archived)
        e = thread_watch(call, &c);
    if (e)
        return e;
    call_emit(call, EVENT_THREAD_UPDATE, to_channel_viewers(&c), &channel_schema, &c);
    return call_reply(call, &c);
}

void emit_thread_gone(struct call *call, const struct channel *thread)
{
    struct thread_gone gone = {
        .id = thread->id,
        .guild_id = thread->guild_id.value,
        .parent_id = thread->parent_id.value,
        .type = thread->type,
    };

    call_emit(call, EVENT_THREAD_DELETE, to_channel_viewers(thread), &thread_gone_schema, &gone);
}

enum err delete_thread(struct call *call)
{
    const struct channel *c = call->target.channel;

    if (!may_manage(call))
        return ERR_MISSING_PERMISSIONS;
    enum err e = channel_remove(call, c->id);
    if (e)
        return e;
    emit_thread_gone(call, c);
    return call_reply(call, c);
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/threads",
        .name = "create_thread",
        .doc = "Start a thread. It takes CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS for a "
               "private one, SEND_MESSAGES in a forum.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &draft_body,
        .reply = &type_channel,
        .status = 201,
        .fires = (const enum event[]){ EVENT_THREAD_CREATE, EVENT_NONE },
        .handle = create_thread,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/messages/{message.id}/threads",
        .name = "create_message_thread",
        .doc = "Start a thread from a message; it has the message's id.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &draft_body,
        .reply = &type_channel,
        .status = 201,
        .fires = (const enum event[]){ EVENT_THREAD_CREATE, EVENT_NONE },
        .handle = create_message_thread,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/threads/active",
        .name = "list_active_threads",
        .doc = "Threads that are not archived and that the caller sees.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &active_reply,
        .handle = list_active_threads,
    },
    { 0 },
};

const struct domain threads_domain = {
    .name = "Threads",
    .doc = "Conversations that hang on a channel.",
    .routes = routes,
    .jobs = thread_jobs,
};
