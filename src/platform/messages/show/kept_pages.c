/* kept_pages.c - cache of encoded message pages, for SQLite only (store/kept.h). A page is cached
 * if all of its messages have precomputed JSON (shown.c). It is valid while the rows of its
 * messages, their authors and the channel are unchanged. Permissions are checked before. */
#include "platform/messages/internal.h"

#include "store/kept.h"

struct kept_page {
    struct str text;
    struct own_marks *marks; /* NULL: the page has no reactions */
};

static struct kept_key page_key(snowflake channel_id, const struct message_page *asked)
{
    static const char what[] = "messages";

    return (struct kept_key){
        what, { channel_id, asked->before, asked->after, asked->around, (uint64_t)asked->limit }
    };
}

const struct kept_page *kept_page_find(struct tx *tx, snowflake channel_id,
                                       const struct message_page *asked)
{
    struct kept_key key = page_key(channel_id, asked);

    return kept_find(tx, &key);
}

enum err kept_page_reply(struct call *call, const struct kept_page *p)
{
    struct list places = { 0 };
    enum err e = p->marks ? own_marks_find(call, p->marks, &places) : OK;

    if (!e)
        own_marks_copy(&call->reply, p->text, &places);
    return e;
}

/* --- filling the cache ------------------------------------------------------------------ */

/* Sharded counts are not in the message's row. Only PostgreSQL has them, without this cache. */
static bool lies_ready(const struct message *m)
{
    return m->shown.p && m->reacted != REACTED_IN_LANES;
}

static bool all_lie_ready(const struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (!lies_ready(&m[i]))
            return false;
    return messages->count > 0;
}

static bool any_is_reacted(const struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].kept_reactions.given == GIVEN)
            return true;
    return false;
}

static void name_rows(struct kept_read *kept, const struct list *messages)
{
    const struct message *m = messages->items;

    kept_row(kept, NOTED_CHANNELS, m->channel_id);
    for (size_t i = 0; i < messages->count; i++) {
        kept_row(kept, NOTED_MESSAGES, m[i].id);
        if (i == 0 || m[i].author_id != m[i - 1].author_id)
            kept_row(kept, NOTED_USERS, m[i].author_id);
    }
}

/* Writes the page with "me":false, then sets the reactions to which the caller has reacted. */
static enum err page_answer(struct call *call, struct kept_page *p, struct arena *arena,
                            const struct list *messages)
{
    struct json j = call_reply_json(call);
    struct list places = { 0 };
    enum err e = OK;

    messages_write(&j, messages, p->marks);
    p->text = str_dup(arena, buf_str(&call->reply));
    if (p->marks && (buf_full(&call->reply) || !own_marks_keep(p->marks, arena)))
        return ERR_ANSWER_TOO_LARGE; /* The recorded offsets would be wrong. */
    if (p->marks)
        e = own_marks_find(call, p->marks, &places);
    if (!e && places.count) {
        buf_reset(&call->reply);
        own_marks_copy(&call->reply, p->text, &places);
    }
    return e;
}

bool kept_page_make(struct call *call, const struct message_page *asked,
                    const struct list *messages, enum err *ret)
{
    const struct message *m = messages->items;

    if (!all_lie_ready(messages))
        return false;
    struct kept_key key = page_key(m->channel_id, asked);
    struct kept_read *kept = kept_begin(call->tx, &key, 1 + 2 * messages->count);
    if (!kept)
        return false;
    struct kept_page *p = arena_alloc(kept_arena(kept), sizeof *p);
    p->marks = any_is_reacted(messages) ? own_marks_new(kept_arena(kept), m->channel_id) : NULL;
    name_rows(kept, messages);
    *ret = page_answer(call, p, kept_arena(kept), messages);
    kept_end(kept, !*ret && !buf_full(&call->reply) ? p : NULL);
    return true;
}
