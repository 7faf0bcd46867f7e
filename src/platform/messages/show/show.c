/* show.c - builds the API object of a message from its row. */
#include "platform/messages/internal.h"

#include <inttypes.h>
#include <sodium.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"

enum { URL_LIFE_S = 24 * 60 * 60 };

/* --- signed URLs of attachments ------------------------------------------------------ */

static struct str sign_attachment_path(struct call *call, struct str path, struct str ex,
                                       struct str is)
{
    unsigned char digest[32];
    struct str all = STR_CONCAT(call->arena, path, STR("\n"), ex, STR("\n"), is);

    auth_derive_key(api_get_options(call->api)->auth, "attachment", 0, all, digest, sizeof digest);
    return str_hex_encode(call->arena, digest, sizeof digest);
}

static struct str attachment_path(struct call *call, snowflake channel_id, snowflake id,
                                  struct str name)
{
    return str_printf(call->arena, "/attachments/%" PRIu64 "/%" PRIu64 "/%.*s", channel_id, id,
                      STR_ARGS(name));
}

void attachment_sign_url(struct call *call, snowflake channel_id, struct attachment *a)
{
    struct str path = attachment_path(call, channel_id, a->id, a->filename);
    int64_t now = clock_s();
    struct str ex = str_printf(call->arena, "%" PRIx64, now + URL_LIFE_S);
    struct str is = str_printf(call->arena, "%" PRIx64, now);

    a->url = a->proxy_url =
        STR_CONCAT(call->arena, api_get_public_base_url(call), path, STR("?ex="), ex, STR("&is="),
                   is, STR("&hm="), sign_attachment_path(call, path, ex, is), STR("&"));
}

static bool parse_hex_number(struct str s, int64_t *ret)
{
    int64_t v = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        v = v << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *ret = v;
    return s.n > 0 && s.n <= 15;
}

bool attachment_signature_is_valid(struct call *call, snowflake channel_id, snowflake id,
                                   struct str filename)
{
    struct str query = call->exchange->request->query, ex = { 0 }, is = { 0 }, hm = { 0 };
    int64_t until;

    while (query.n) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');

        if (str_is(key, "ex"))
            ex = value;
        else if (str_is(key, "is"))
            is = value;
        else if (str_is(key, "hm"))
            hm = value;
    }
    struct str good =
        sign_attachment_path(call, attachment_path(call, channel_id, id, filename), ex, is);
    return hm.n == good.n && sodium_memcmp(hm.p, good.p, hm.n) == 0 &&
           parse_hex_number(ex, &until) && clock_s() < until;
}

/* Accounts to which a page of messages refers. Each account is read only once. */
struct user_cache {
    const struct user *list[128];
    size_t count;
};

static const struct user *user_cache_find(const struct user_cache *people, snowflake id)
{
    for (size_t i = 0; i < people->count; i++)
        if (people->list[i]->id == id)
            return people->list[i];
    return NULL;
}

static void user_cache_add(struct user_cache *people, const struct user *u)
{
    if (people->count < COUNT_OF(people->list))
        people->list[people->count++] = u;
}

static struct user placeholder_of_deleted_user(snowflake id)
{
    return (struct user){
        .id = id,
        .username = STR("deleted_user"),
        .discriminator = STR("0"),
        .global_name = { .given = GIVEN_NULL },
        .avatar = { .given = GIVEN_NULL },
    };
}

static enum err read_user_cached(struct call *call, struct user_cache *people, snowflake id,
                                 const struct user **ret)
{
    *ret = user_cache_find(people, id);
    if (*ret)
        return OK;
    struct user *u = arena_alloc(call->arena, sizeof *u);
    enum err e = user_find_partial(call->tx, id, u);

    if (e == ERR_UNKNOWN_USER) {
        *u = placeholder_of_deleted_user(id);
        e = OK;
    }
    if (!e)
        user_cache_add(people, u);
    *ret = u;
    return e;
}

const struct user *message_get_webhook_author(struct arena *arena, const struct message *m)
{
    struct user *u = arena_alloc(arena, sizeof *u);

    *u = (struct user){
        .id = m->author_id,
        .username = m->webhook_name.value,
        .discriminator = STR("0000"),
        .global_name = { .given = GIVEN_NULL },
        .avatar = m->webhook_avatar,
        .bot = opt_true_or_absent(true),
    };
    return u;
}

static void move_attachments_to_snapshot_files(struct call *call, struct message *m)
{
    struct attachment *a = m->attachments.items;
    size_t own = 0;

    for (size_t i = 0; i < m->attachments.count; i++) {
        if (a[i].snapshot)
            *(struct attachment *)list_append(call->arena, &m->snapshot_files, sizeof *a) = a[i];
        else
            a[own++] = a[i];
    }
    m->attachments.count = own;
}

static bool message_author_is_missing(const struct message *m)
{
    return m->webhook_name.given != GIVEN && !m->author && !message_json_has_author(m);
}

static enum err read_message_details(struct call *call, struct user_cache *people,
                                     struct message *m)
{
    enum err e = OK;

    if (m->webhook_name.given == GIVEN)
        m->author = message_get_webhook_author(call->arena, m);
    else if (message_author_is_missing(m))
        e = read_user_cached(call, people, m->author_id, &m->author);
    if (m->cached_json.p)
        return e; /* all other fields are contained in the precomputed JSON */
    for (size_t i = 0; !e && i < m->mentions.count; i++) {
        struct mentioned_user *mention = &((struct mentioned_user *)m->mentions.items)[i];
        const struct user *u;

        e = read_user_cached(call, people, mention->user.id, &u);
        if (!e)
            mention->user = *u;
    }
    if (!e && (m->attachments.count || m->snapshot_files.count)) {
        m->snapshot_files = (struct list){ 0 };
        e = attachments_read(call->tx, m->id, &m->attachments);
    }
    for (size_t i = 0; !e && i < m->attachments.count; i++)
        attachment_sign_url(call, m->channel_id, &((struct attachment *)m->attachments.items)[i]);
    if (!e && m->snapshot.given == GIVEN) {
        move_attachments_to_snapshot_files(call, m);
        message_set_snapshots(call, m);
    }
    if (!e && m->polled && !m->poll)
        e = poll_find(call->tx, m->id, call->caller ? call->caller->id : 0, &m->poll);
    return e;
}

bool message_json_includes_referenced_message(const struct message *m)
{
    return m->message_reference && m->message_reference->message_id.given == GIVEN &&
           (m->type == MESSAGE_REPLY || m->type == MESSAGE_THREAD_STARTER ||
            m->type == MESSAGE_CONTEXT_MENU_COMMAND);
}

/* Returns false if the referenced message is ephemeral for another user. */
static bool can_include_referenced_message(const struct message *m, const struct message *other)
{
    return !other->ephemeral_for || other->ephemeral_for == m->ephemeral_for;
}

/* Reads the message to which `m` refers. If that message refers to a third message, the third is
 * not read. */
static enum err read_referenced_message(struct call *call, struct user_cache *people,
                                        struct message *m)
{
    bool found;

    if (m->cached_json.p || !message_json_includes_referenced_message(m))
        return OK;
    struct message *other = arena_alloc(call->arena, sizeof *other);
    enum err e = message_row_read(call->tx, m->message_reference->channel_id,
                                  m->message_reference->message_id.value, other, &found);
    m->referenced_message.given = GIVEN_NULL;
    if (e || !found || !can_include_referenced_message(m, other))
        return e;
    m->referenced_message = (struct opt_object){ GIVEN, other };
    return read_message_details(call, people, other);
}

/* Reads the thread that was started from the message; the thread has the message's id. */
static enum err read_thread_of_message(struct call *call, struct message *m)
{
    if (m->cached_json.p || !(m->flags & MESSAGE_HAS_THREAD) || m->thread)
        return OK;
    struct channel *thread = arena_alloc(call->arena, sizeof *thread);
    enum err e = channel_find(call->tx, m->id, thread);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (call->caller)
        e = thread_read_membership_of_user(call->tx, call->caller->id, thread);
    m->thread = thread;
    return e;
}

enum err messages_read_referenced_objects_except_users(struct call *call, struct list *messages,
                                                       const struct list *users)
{
    struct user_cache people;
    enum err e = OK;

    people.count = 0;
    for (size_t i = 0; i < users->count; i++)
        user_cache_add(&people, (const struct user *)users->items + i);
    for (size_t i = 0; !e && i < messages->count; i++) {
        struct message *m = &((struct message *)messages->items)[i];

        e = read_message_details(call, &people, m);
        if (!e)
            e = read_referenced_message(call, &people, m);
        if (!e)
            e = read_thread_of_message(call, m);
    }
    return e;
}

enum err messages_read_referenced_objects(struct call *call, struct list *messages)
{
    return messages_read_referenced_objects_except_users(call, messages, &(struct list){ 0 });
}

enum err messages_add_caller_specific_fields(struct call *call, struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].stored_reactions.given == GIVEN)
            return hook_messages_fill(call, messages);
    return OK;
}

enum err message_read_referenced_objects(struct call *call, struct message *m)
{
    return messages_read_referenced_objects(call, &(struct list){ m, 1 });
}

static enum err read_thread_member_if_any(struct call *call, snowflake guild_id, snowflake user_id,
                                          const struct member **ret)
{
    struct member *m = arena_alloc(call->arena, sizeof *m);
    enum err e = member_find(call->tx, guild_id, user_id, m);

    *ret = e ? NULL : m;
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

enum err message_add_event_fields(struct call *call, const struct channel *c, struct message *m)
{
    enum err e = OK;

    m->channel_type = opt_int_present(c->type);
    if (m->poll)
        m->poll = poll_copy_without_own_votes(call->arena, m->poll);
    if (m->thread && m->thread->member) {
        struct channel *thread = arena_alloc(call->arena, sizeof *thread);

        *thread = *m->thread;
        thread->member = NULL; /* events do not contain the caller's membership of the thread */
        m->thread = thread;
    }
    if (channel_is_private(c->type) || m->ephemeral_for)
        return OK;
    snowflake guild_id = c->guild_id.value;
    m->guild_id = opt_id_or_null(guild_id);
    if (!m->member && m->webhook_id.given != GIVEN)
        e = read_thread_member_if_any(call, guild_id, m->author_id, &m->member);
    for (size_t i = 0; !e && i < m->mentions.count; i++) {
        struct mentioned_user *mention = &((struct mentioned_user *)m->mentions.items)[i];

        e = read_thread_member_if_any(call, guild_id, mention->user.id, &mention->member);
    }
    return e;
}
