/* shown.c - precomputed JSON of a message, stored in its row (messages.shown), so that a page is
 * assembled by copying. It never depends on the reader. A message with data of other rows, such as
 * mentions, attachments or a poll, has none and is built from its columns. */
#include "platform/messages/internal.h"

#include "model/text/reaction_text.h"

enum { MOST_SHOWN = 4 << 20 };

struct message message_plain(snowflake id, snowflake channel_id, snowflake author_id,
                             struct str content)
{
    return (struct message){
        .id = id,
        .channel_id = channel_id,
        .author_id = author_id,
        .content = content,
        .timestamp = snowflake_ms(id) * 1000,
        .edited_timestamp = { .given = GIVEN_NULL },
        .embeds = STR("[]"),
        .components = STR("[]"),
    };
}

static bool shows_other_rows(const struct message *m)
{
    return m->mentions.count || m->attachments.count || m->snapshot_files.count ||
           m->snapshot.given == GIVEN || m->polled || m->flags & MESSAGE_HAS_THREAD ||
           m->ephemeral_for || message_shows_reference(m);
}

struct str message_shown_text(struct arena *arena, const struct message *m)
{
    struct message shown = *m;
    bool by_webhook = m->webhook_name.given == GIVEN;
    struct buf out;
    struct json j = json_to(&out);

    if (shows_other_rows(m))
        return (struct str){ 0 };
    shown.nonce.given = ABSENT; /* only the sender receives the nonce */
    if (by_webhook)
        shown.author = message_webhook_author(arena, m);
    buf_init(&out, MOST_SHOWN);
    schema_encode_object(&j, by_webhook ? &shown_webhook_message_schema : &shown_message_schema,
                         &shown);
    struct str object = buf_take(&out, arena);
    return object.n ? str_slice(object.p + 1, object.n - 2) : object;
}

/* The JSON of a webhook message starts with "author", that of other messages with "content". */
bool message_text_has_author(const struct message *m)
{
    return m->shown.n > 1 && m->shown.p[1] == 'a';
}

/* --- new messages ----------------------------------------------------------------------- */

static void event_write(struct json *j, const struct message *m)
{
    if (m->guild_id.given == GIVEN) {
        json_name(j, "guild_id");
        json_id(j, m->guild_id.value);
    }
    if (m->member) {
        json_name(j, "member");
        schema_encode(j, &type_member, m->member);
    }
    if (m->channel_type.given == GIVEN) {
        json_name(j, "channel_type");
        json_int(j, m->channel_type.value);
    }
}

struct str message_event_text(struct arena *arena, const struct message *m, struct str *ret_told)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MOST_SHOWN);
    json_object(&j);
    json_name(&j, "id");
    json_id(&j, m->id);
    json_name(&j, "channel_id");
    json_id(&j, m->channel_id);
    if (!message_text_has_author(m)) {
        json_name(&j, "author");
        schema_encode_object(&j, &partial_user_schema, m->author);
    }
    json_raw(&j, m->shown);
    if (m->nonce.given == GIVEN) {
        json_name(&j, "nonce");
        json_raw(&j, m->nonce.value);
    }
    size_t told = out.n;
    event_write(&j, m);
    json_object_end(&j);
    struct str text = buf_take(&out, arena);
    *ret_told = text.n ? str_slice(text.p, told) : text;
    return text;
}

/* --- pages ---------------------------------------------------------------------------- */

enum { AUTHORS_NOTED = 32 };

/* Authors of a page, with the offset and length of their first encoding in the reply. */
struct noted_authors {
    struct {
        const struct user *user;
        size_t at, n;
    } all[AUTHORS_NOTED];
    size_t count;
};

static void author_write(struct json *j, struct noted_authors *noted, const struct user *author)
{
    size_t at = j->out->n, i = 0;

    while (i < noted->count && noted->all[i].user != author)
        i++;
    if (i < noted->count) {
        char *to = buf_room(j->out, noted->all[i].n);

        if (to) {
            memcpy(to, j->out->p + noted->all[i].at, noted->all[i].n);
            j->out->n += noted->all[i].n;
        }
        j->comma = true;
        return;
    }
    schema_encode_object(j, &partial_user_schema, author);
    if (i < AUTHORS_NOTED && !buf_full(j->out)) {
        noted->all[i].user = author;
        noted->all[i].at = at;
        noted->all[i].n = j->out->n - at;
        noted->count++;
    }
}

static void reactions_write(struct json *j, const struct message *m, struct own_marks *marks)
{
    if (marks && m->kept_reactions.given == GIVEN) {
        json_name(j, "reactions");
        own_marks_write(marks, j, m);
    } else if (!marks && m->reactions.given == GIVEN) {
        json_name(j, "reactions");
        reaction_text_show(j, m->reactions.value);
    }
}

static void shown_write(struct json *j, struct noted_authors *noted, const struct message *m,
                        struct own_marks *marks)
{
    json_object(j);
    json_name(j, "id");
    json_id(j, m->id);
    json_name(j, "channel_id");
    json_id(j, m->channel_id);
    if (!message_text_has_author(m)) {
        json_name(j, "author");
        author_write(j, noted, m->author);
    }
    json_raw(j, m->shown);
    reactions_write(j, m, marks);
    json_object_end(j);
}

void messages_write(struct json *j, const struct list *messages, struct own_marks *marks)
{
    const struct message *m = messages->items;
    struct noted_authors noted;

    noted.count = 0;
    json_array(j);
    for (size_t i = 0; i < messages->count; i++)
        if (m[i].shown.p)
            shown_write(j, &noted, &m[i], marks);
        else
            schema_encode(j, &type_message, &m[i]);
    json_array_end(j);
}
