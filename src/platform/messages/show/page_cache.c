/* page_cache.c - cache of encoded message pages, for SQLite only (store/result_cache.h). A page is
 * cached if all of its messages have precomputed JSON (precomputed_json.c). The page is valid while
 * the rows of its messages, their authors and the channel are unchanged. Callers of the cache must
 * check permissions. */
#include "platform/messages/internal.h"

#include "store/result_cache.h"

struct cached_message_page {
    struct str text;
    struct own_reaction_offsets *marks; /* offsets of the "me" values; NULL without reactions */
};

static struct result_cache_key message_page_cache_key(snowflake channel_id,
                                                      const struct message_page_query *asked)
{
    static const char what[] = "messages";

    return (struct result_cache_key){
        what, { channel_id, asked->before, asked->after, asked->around, (uint64_t)asked->limit }
    };
}

const struct cached_message_page *find_cached_message_page(struct tx *tx, snowflake channel_id,
                                                           const struct message_page_query *asked)
{
    struct result_cache_key key = message_page_cache_key(channel_id, asked);

    return result_cache_find(tx, &key);
}

enum err reply_with_cached_message_page(struct call *call, const struct cached_message_page *p)
{
    struct list positions = { 0 };
    enum err e = p->marks ? own_reaction_offsets_read_for_caller(call, p->marks, &positions) : OK;

    if (!e)
        copy_page_with_own_reactions(&call->reply, p->text, &positions);
    return e;
}

/* --- filling the page cache ---------------------------------------------------------- */

/* Returns false if the reaction counts of the message are in counter shards, because its row then
 * lacks the counts. Counter shards exist only on PostgreSQL, which does not use this cache. */
static bool message_is_cacheable(const struct message *m)
{
    return m->cached_json.p && m->reacted != HAS_REACTIONS_IN_COUNTER_SHARDS;
}

static bool message_page_is_cacheable(const struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (!message_is_cacheable(&m[i]))
            return false;
    return messages->count > 0;
}

static bool any_message_has_reactions(const struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].stored_reactions.given == GIVEN)
            return true;
    return false;
}

static void add_message_cache_dependencies(struct result_cache_entry *retained,
                                           const struct list *messages)
{
    const struct message *m = messages->items;

    result_cache_add_dependency(retained, VERSIONED_CHANNELS, m->channel_id);
    for (size_t i = 0; i < messages->count; i++) {
        result_cache_add_dependency(retained, VERSIONED_MESSAGES, m[i].id);
        if (i == 0 || m[i].author_id != m[i - 1].author_id)
            result_cache_add_dependency(retained, VERSIONED_USERS, m[i].author_id);
    }
}

/* Writes the page of messages with "me":false, then replies with a copy in which the caller's
 * reactions have "me":true. */
static enum err write_message_page_reply(struct call *call, struct cached_message_page *p,
                                         struct arena *arena, const struct list *messages)
{
    struct json_writer j = call_get_reply_json_writer(call);
    struct list positions = { 0 };
    enum err e = OK;

    messages_write_json(&j, messages, p->marks);
    p->text = str_dup(arena, buf_as_str(&call->reply));
    if (p->marks && (buf_is_full(&call->reply) || !own_reaction_offsets_finish(p->marks, arena)))
        return ERR_ANSWER_TOO_LARGE; /* The recorded offsets are incomplete. */
    if (p->marks)
        e = own_reaction_offsets_read_for_caller(call, p->marks, &positions);
    if (!e && positions.count) {
        buf_reset(&call->reply);
        copy_page_with_own_reactions(&call->reply, p->text, &positions);
    }
    return e;
}

bool reply_with_message_page_and_cache_it(struct call *call, const struct message_page_query *asked,
                                          const struct list *messages, enum err *ret)
{
    const struct message *m = messages->items;

    if (!message_page_is_cacheable(messages))
        return false;
    struct result_cache_key key = message_page_cache_key(m->channel_id, asked);
    struct result_cache_entry *retained =
        result_cache_begin_entry(call->tx, &key, 1 + 2 * messages->count);
    if (!retained)
        return false;
    struct cached_message_page *p = arena_alloc(result_cache_get_entry_arena(retained), sizeof *p);
    p->marks = any_message_has_reactions(messages)
                   ? own_reaction_offsets_new(result_cache_get_entry_arena(retained), m->channel_id)
                   : NULL;
    add_message_cache_dependencies(retained, messages);
    *ret = write_message_page_reply(call, p, result_cache_get_entry_arena(retained), messages);
    result_cache_end_entry(retained, !*ret && !buf_is_full(&call->reply) ? p : NULL);
    return true;
}
