/* content.c - removes message content from replies to bots without the MESSAGE_CONTENT intent, by
 * the same rule as for events (model/permissions/message_content.h). Handlers that reply with
 * messages call messages_hide_content_in_reply_to_bot after writing the reply. */
#include "platform/messages/internal.h"

#include <limits.h>

#include "json/read.h"
#include "json/write.h"
#include "model/fields/ids.h"
#include "model/permissions/message_content.h"
#include "platform/members/members.h"

enum err read_message_content_intent(struct call *call, bool *ret)
{
    int64_t flags;
    bool found;
    enum err e = bot_read_application_flags(call->tx, call->caller->id, &flags, &found);

    *ret = flags & APPLICATION_MESSAGE_CONTENT;
    return e;
}

struct content_copy {
    const struct message_content_reader *reader;
    bool in_guild;
    struct arena *arena;
    struct json_writer json;
};

static const struct type *find_field_type(const struct schema *s, struct str name)
{
    for (const struct field *f = s->fields; f->name.p; f++)
        if (str_eq(f->name, name))
            return f->type;
    return NULL;
}

/* Copies a JSON value of type t (NULL if unknown) without the content of messages that the bot may
 * not see. */
static void copy_json_without_hidden_content(struct content_copy *c, const struct type *t,
                                             struct str raw)
{
    struct json_reader r;
    struct str key, inner;
    bool open = t && !str_is(raw, "null") &&
                (t->kind == KIND_ARRAY || (t->kind == KIND_OBJECT && t->schema));

    if (!open) {
        json_write_raw(&c->json, raw);
        return;
    }
    if (t->kind == KIND_OBJECT && t->schema == &message_schema) {
        json_write_raw(&c->json,
                       build_message_json_for_reader(raw, c->in_guild, c->reader, c->arena));
        return;
    }
    json_reader_init(&r, raw, c->arena);
    r.values_max = UINT_MAX; /* No limit on the number of values: this program wrote the JSON. */
    json_enter_container(&r);
    if (t->kind == KIND_ARRAY) {
        json_begin_array(&c->json);
        while (json_next_item(&r) && json_skip_value(&r, &inner))
            copy_json_without_hidden_content(c, t->of, inner);
        json_end_array(&c->json);
        return;
    }
    json_begin_object(&c->json);
    while (json_next_member(&r, &key) && json_skip_value(&r, &inner)) {
        json_write_escaped_key(&c->json, key);
        copy_json_without_hidden_content(c, find_field_type(t->schema, key), inner);
    }
    json_end_object(&c->json);
}

static enum err content_reader_of_caller(struct call *call, struct message_content_reader *ret)
{
    *ret = (struct message_content_reader){ .id = call->caller->id,
                                            .application_id = call->caller->application_id,
                                            .bot = call->caller->kind == CALLER_BOT };
    return ret->bot ? read_message_content_intent(call, &ret->granted) : OK;
}

enum err check_caller_may_read_forwarded_content(struct call *call, bool in_guild,
                                                 const struct message *m)
{
    const struct mentioned_user *mentions = m->mentions.items;
    struct message_author_and_mentions from = { .author_id = m->author_id,
                                                .application_id = m->application_id.value };
    struct list mentioned = { 0 };
    struct message_content_reader reader;
    enum err e = content_reader_of_caller(call, &reader);

    for (size_t i = 0; i < m->mentions.count; i++)
        id_list_add(call->arena, &mentioned, mentions[i].user.id);
    from.mentioned = mentioned.items;
    from.mentioned_count = mentioned.count;
    if (!e && message_content_is_hidden(&reader, in_guild, &from))
        e = ERR_FORWARD_UNREAD;
    return e;
}

enum err messages_hide_content_in_reply_to_bot(struct call *call)
{
    struct message_content_reader reader;

    if (call->caller->kind != CALLER_BOT || !call->reply.n)
        return OK;
    enum err e = content_reader_of_caller(call, &reader);
    if (e || reader.granted)
        return e;
    struct str whole = str_dup(call->arena, buf_as_str(&call->reply));
    struct content_copy copy = { &reader, call->target.member_access, call->arena,
                                 call_get_reply_json_writer(call) };

    buf_reset(&call->reply);
    copy_json_without_hidden_content(&copy, call->route->reply, whole);
    return OK;
}
