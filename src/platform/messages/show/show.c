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

/* --- signed URLs ------------------------------------------------------------------------ */

static struct str message_signature(struct call *call, struct str path, struct str ex,
                                    struct str is)
{
    unsigned char digest[32];
    struct str all = STR_CONCAT(call->arena, path, STR("\n"), ex, STR("\n"), is);

    auth_derive(api_options(call->api)->auth, "attachment", 0, all, digest, sizeof digest);
    return str_hex(call->arena, digest, sizeof digest);
}

static struct str file_path(struct call *call, snowflake channel_id, snowflake id, struct str name)
{
    return str_printf(call->arena, "/attachments/%" PRIu64 "/%" PRIu64 "/%.*s", channel_id, id,
                      STR_FMT(name));
}

void attachment_sign(struct call *call, snowflake channel_id, struct attachment *a)
{
    struct str path = file_path(call, channel_id, a->id, a->filename);
    int64_t now = clock_s();
    struct str ex = str_printf(call->arena, "%" PRIx64, now + URL_LIFE_S);
    struct str is = str_printf(call->arena, "%" PRIx64, now);

    a->url = a->proxy_url =
        STR_CONCAT(call->arena, api_public_url(call), path, STR("?ex="), ex, STR("&is="), is,
                   STR("&hm="), message_signature(call, path, ex, is), STR("&"));
}

static bool hex_value(struct str s, int64_t *ret)
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

bool attachment_signed(struct call *call, snowflake channel_id, snowflake id, struct str filename)
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
    struct str good = message_signature(call, file_path(call, channel_id, id, filename), ex, is);
    return hm.n == good.n && sodium_memcmp(hm.p, good.p, hm.n) == 0 && hex_value(ex, &until) &&
           clock_s() < until;
}

/* --- users ---------------------------------------------------------------------------- */

/* Accounts that a page refers to; each is read once. */
struct shown_people {
    const struct user *list[128];
    size_t count;
};

static const struct user *people_find(const struct shown_people *people, snowflake id)
{
    for (size_t i = 0; i < people->count; i++)
        if (people->list[i]->id == id)
            return people->list[i];
    return NULL;
}

static void people_add(struct shown_people *people, const struct user *u)
{
    if (people->count < COUNT_OF(people->list))
        people->list[people->count++] = u;
}

static struct user message_nobody(snowflake id)
{
    return (struct user){
        .id = id,
        .username = STR("deleted_user"),
        .discriminator = STR("0"),
        .global_name = { .given = GIVEN_NULL },
        .avatar = { .given = GIVEN_NULL },
    };
}

static enum err find_user(struct call *call, struct shown_people *people, snowflake id,
                          const struct user **ret)
{
    *ret = people_find(people, id);
    if (*ret)
        return OK;
    struct user *u = arena_alloc(call->arena, sizeof *u);
    enum err e = user_find_partial(call->tx, id, u);

    if (e == ERR_UNKNOWN_USER) {
        *u = message_nobody(id);
        e = OK;
    }
    if (!e)
        people_add(people, u);
    *ret = u;
    return e;
}

const struct user *message_webhook_author(struct arena *arena, const struct message *m)
{
    struct user *u = arena_alloc(arena, sizeof *u);

    *u = (struct user){
        .id = m->author_id,
        .username = m->webhook_name.value,
        .discriminator = STR("0000"),
        .global_name = { .given = GIVEN_NULL },
        .avatar = m->webhook_avatar,
        .bot = given_mark(true),
    };
    return u;
}

/* --- messages ------------------------------------------------------------------------- */

/* Moves the attachments that belong to a forwarded snapshot to snapshot_files. */
static void part_files(struct call *call, struct message *m)
{
    struct attachment *a = m->attachments.items;
    size_t own = 0;

    for (size_t i = 0; i < m->attachments.count; i++) {
        if (a[i].snapshot)
            *(struct attachment *)list_add(call->arena, &m->snapshot_files, sizeof *a) = a[i];
        else
            a[own++] = a[i];
    }
    m->attachments.count = own;
}

static bool lacks_author(const struct message *m)
{
    return m->webhook_name.given != GIVEN && !m->author && !message_text_has_author(m);
}

static enum err message_complete_one(struct call *call, struct shown_people *people,
                                     struct message *m)
{
    enum err e = OK;

    if (m->webhook_name.given == GIVEN)
        m->author = message_webhook_author(call->arena, m);
    else if (lacks_author(m))
        e = find_user(call, people, m->author_id, &m->author);
    if (m->shown.p)
        return e; /* the other fields are in the precomputed JSON */
    for (size_t i = 0; !e && i < m->mentions.count; i++) {
        struct mention *mention = &((struct mention *)m->mentions.items)[i];
        const struct user *u;

        e = find_user(call, people, mention->user.id, &u);
        if (!e)
            mention->user = *u;
    }
    if (!e && (m->attachments.count || m->snapshot_files.count)) {
        m->snapshot_files = (struct list){ 0 };
        e = attachments_of(call->tx, m->id, &m->attachments);
    }
    for (size_t i = 0; !e && i < m->attachments.count; i++)
        attachment_sign(call, m->channel_id, &((struct attachment *)m->attachments.items)[i]);
    if (!e && m->snapshot.given == GIVEN) {
        part_files(call, m);
        snapshot_show(call, m);
    }
    if (!e && m->polled && !m->poll)
        e = poll_find(call->tx, m->id, call->caller ? call->caller->id : 0, &m->poll);
    return e;
}

bool message_shows_reference(const struct message *m)
{
    return m->message_reference && m->message_reference->message_id.given == GIVEN &&
           (m->type == MESSAGE_REPLY || m->type == MESSAGE_THREAD_STARTER ||
            m->type == MESSAGE_CONTEXT_MENU_COMMAND);
}

/* Returns false if the referenced message is ephemeral for another user. */
static bool may_show(const struct message *m, const struct message *other)
{
    return !other->ephemeral_for || other->ephemeral_for == m->ephemeral_for;
}

/* Reads the referenced message, but not the message that it refers to in turn. */
static enum err complete_reference(struct call *call, struct shown_people *people,
                                   struct message *m)
{
    bool found;

    if (m->shown.p || !message_shows_reference(m))
        return OK;
    struct message *other = arena_alloc(call->arena, sizeof *other);
    enum err e = message_row(call->tx, m->message_reference->channel_id,
                             m->message_reference->message_id.value, other, &found);
    m->referenced_message.given = GIVEN_NULL;
    if (e || !found || !may_show(m, other))
        return e;
    m->referenced_message = (struct opt_object){ GIVEN, other };
    return message_complete_one(call, people, other);
}

/* Reads the thread that was started from the message; the thread has the message's id. */
static enum err show_thread(struct call *call, struct message *m)
{
    if (m->shown.p || !(m->flags & MESSAGE_HAS_THREAD) || m->thread)
        return OK;
    struct channel *thread = arena_alloc(call->arena, sizeof *thread);
    enum err e = channel_find(call->tx, m->id, thread);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (call->caller)
        e = thread_load_own(call->tx, call->caller->id, thread);
    m->thread = thread;
    return e;
}

static void prefetch_authors(struct call *call, const struct shown_people *people,
                             const struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (lacks_author(&m[i]) && !people_find(people, m[i].author_id))
            user_prefetch_partial(call->tx, m[i].author_id);
}

enum err messages_complete_by(struct call *call, struct list *messages, const struct list *users)
{
    struct shown_people people;
    enum err e = OK;

    people.count = 0;
    for (size_t i = 0; i < users->count; i++)
        people_add(&people, (const struct user *)users->items + i);
    if (tx_is_remote(call->tx))
        prefetch_authors(call, &people, messages);
    for (size_t i = 0; !e && i < messages->count; i++) {
        struct message *m = &((struct message *)messages->items)[i];

        e = message_complete_one(call, &people, m);
        if (!e)
            e = complete_reference(call, &people, m);
        if (!e)
            e = show_thread(call, m);
    }
    return e;
}

enum err messages_complete(struct call *call, struct list *messages)
{
    return messages_complete_by(call, messages, &(struct list){ 0 });
}

enum err messages_show(struct call *call, struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].kept_reactions.given == GIVEN)
            return hook_messages_shown(call, messages);
    return OK;
}

enum err message_complete(struct call *call, struct message *m)
{
    return messages_complete(call, &(struct list){ m, 1 });
}

static enum err find_member(struct call *call, snowflake guild_id, snowflake user_id,
                            const struct member **ret)
{
    struct member *m = arena_alloc(call->arena, sizeof *m);
    enum err e = member_find(call->tx, guild_id, user_id, m);

    *ret = e ? NULL : m;
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

enum err message_for_gateway(struct call *call, const struct channel *c, struct message *m)
{
    enum err e = OK;

    m->channel_type = given_int(c->type);
    if (m->poll)
        m->poll = poll_without_voter(call->arena, m->poll);
    if (m->thread && m->thread->member) {
        struct channel *thread = arena_alloc(call->arena, sizeof *thread);

        *thread = *m->thread;
        thread->member = NULL; /* An event has no membership of the caller. */
        m->thread = thread;
    }
    if (channel_is_private(c->type) || m->ephemeral_for)
        return OK;
    snowflake guild_id = c->guild_id.value;
    m->guild_id = given_id(guild_id);
    if (!m->member && m->webhook_id.given != GIVEN)
        e = find_member(call, guild_id, m->author_id, &m->member);
    for (size_t i = 0; !e && i < m->mentions.count; i++) {
        struct mention *mention = &((struct mention *)m->mentions.items)[i];

        e = find_member(call, guild_id, mention->user.id, &mention->member);
    }
    return e;
}
