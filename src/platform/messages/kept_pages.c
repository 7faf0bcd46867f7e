/* kept_pages.c - pages of messages that were just written out, for whoever reads them next.
 *
 * Everybody who opens a channel asks for the same page. It is kept in pieces: a message up to its
 * reactions, which depend on the reader. Only pages of messages that lie ready in their rows are
 * kept (shown.c), so a page holds while the rows of its messages, of their authors and of the
 * channel stay as they are; the channel's changes with each new message. Whether the caller may
 * read the channel was decided before this is asked. */
#include "platform/messages/internal.h"

#include "store/kept.h"

struct kept_message {
    snowflake id;
    struct str text; /* the object before its reactions and the brace at its end */
    struct opt_str reactions;
    int64_t reacted;
};

struct kept_page {
    struct kept_read *kept;
    snowflake channel_id;
    struct kept_message *messages;
    size_t count;
    bool is_reacted;
    struct str whole; /* the answer, of a page without reactions; others have their texts */
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

/* --- answering ------------------------------------------------------------------------ */

/* As much of the messages as who shows reactions asks for, which writes into the texts. */
static struct list page_messages(struct arena *arena, const struct kept_page *p)
{
    struct list list;

    list_reserve(arena, &list, sizeof(struct message), p->count);
    for (size_t i = 0; i < p->count; i++) {
        const struct kept_message *kept = &p->messages[i];
        struct message *m = list_add(arena, &list, sizeof *m);

        m->id = kept->id;
        m->channel_id = p->channel_id;
        m->reacted = kept->reacted;
        m->kept_reactions = kept->reactions;
        if (kept->reactions.given == GIVEN)
            m->kept_reactions.value = str_dup(arena, kept->reactions.value);
    }
    return list;
}

enum err kept_page_reply(struct call *call, const struct kept_page *p)
{
    struct json j = call_reply_json(call);

    if (!p->is_reacted) {
        buf_add_str(&call->reply, p->whole);
        return OK;
    }
    struct list messages = page_messages(call->arena, p);
    const struct message *m = messages.items;
    enum err e = messages_show(call, &messages);

    json_array(&j);
    for (size_t i = 0; !e && i < p->count; i++) {
        json_raw(&j, p->messages[i].text);
        message_end_write(&j, &m[i]);
    }
    json_array_end(&j);
    return e;
}

/* --- keeping -------------------------------------------------------------------------- */

static bool all_lie_ready(const struct list *messages)
{
    const struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (!m[i].shown.p)
            return false;
    return messages->count > 0;
}

static void page_take(struct kept_page *p, const struct message *m, size_t i)
{
    struct kept_message *to = &p->messages[i];

    *to =
        (struct kept_message){ .id = m->id, .reactions = m->kept_reactions, .reacted = m->reacted };
    kept_row(p->kept, NOTED_MESSAGES, m->id);
    if (i == 0 || m->author_id != m[-1].author_id)
        kept_row(p->kept, NOTED_USERS, m->author_id);
    if (to->reactions.given == GIVEN) {
        to->reactions.value = str_dup(kept_arena(p->kept), to->reactions.value);
        p->is_reacted = true;
    }
}

struct kept_page *kept_page_begin(struct tx *tx, const struct message_page *asked,
                                  const struct list *messages)
{
    const struct message *m = messages->items;

    if (!all_lie_ready(messages))
        return NULL;
    struct kept_key key = page_key(m->channel_id, asked);
    struct kept_read *kept = kept_begin(tx, &key, 1 + 2 * messages->count);
    if (!kept)
        return NULL;
    struct kept_page *p = arena_alloc(kept_arena(kept), sizeof *p);
    p->kept = kept;
    p->channel_id = m->channel_id;
    p->count = messages->count;
    p->messages = arena_array(kept_arena(kept), struct kept_message, p->count);
    kept_row(kept, NOTED_CHANNELS, p->channel_id);
    for (size_t i = 0; i < p->count; i++)
        page_take(p, &m[i], i);
    return p;
}

void kept_page_end(struct kept_page *p, struct str answer, const struct text_span *spans)
{
    struct arena *arena = kept_arena(p->kept);

    for (size_t i = 0; p->is_reacted && i < p->count; i++)
        p->messages[i].text = str_dup(arena, str_slice(answer.p + spans[i].at, spans[i].n));
    if (!p->is_reacted)
        p->whole = str_dup(arena, answer);
    kept_end(p->kept, p);
}
