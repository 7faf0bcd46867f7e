/* precomputed_json.c - precomputed JSON of a message, stored in the column messages.shown, so that
 * a page of messages can be assembled by copying. The JSON does not depend on the reader. A message
 * with data in other rows, such as mentions, attachments or a poll, has no precomputed JSON. */
#include "platform/messages/internal.h"

#include "model/text/reaction_text.h"

enum { MOST_SHOWN = 4 << 20 };

struct message message_row_from_text(snowflake id, snowflake channel_id, snowflake author_id,
                                     struct str content)
{
    return (struct message){
        .id = id,
        .channel_id = channel_id,
        .author_id = author_id,
        .content = content,
        .timestamp = snowflake_to_ms(id) * 1000,
        .edited_timestamp = { .given = GIVEN_NULL },
        .embeds = STR("[]"),
        .components = STR("[]"),
    };
}

static bool message_json_depends_on_other_rows(const struct message *m)
{
    return m->mentions.count || m->attachments.count || m->snapshot_files.count ||
           m->snapshot.given == GIVEN || m->polled || m->flags & MESSAGE_HAS_THREAD ||
           m->ephemeral_for || message_json_includes_referenced_message(m);
}

struct str message_precompute_json(struct arena *arena, const struct message *m)
{
    struct message shown = *m;
    bool by_webhook = m->webhook_name.given == GIVEN;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (message_json_depends_on_other_rows(m))
        return (struct str){ 0 };
    shown.nonce.given = ABSENT; /* only the sender receives the nonce */
    if (by_webhook)
        shown.author = message_get_webhook_author(arena, m);
    buf_init(&out, MOST_SHOWN);
    schema_encode_object(
        &j, by_webhook ? &webhook_message_from_author_schema : &message_after_author_schema,
        &shown);
    struct str object = buf_move_to_arena(&out, arena);
    return object.n ? str_slice(object.p + 1, object.n - 2) : object;
}

/* The JSON of a webhook message starts with "author", that of other messages with "content". */
bool message_json_has_author(const struct message *m)
{
    return m->cached_json.n > 1 && m->cached_json.p[1] == 'a';
}

/* --- JSON of a new message ----------------------------------------------------------- */

static void write_message_event_fields(struct json_writer *j, const struct message *m)
{
    if (m->guild_id.given == GIVEN) {
        json_write_name(j, "guild_id");
        json_write_id(j, m->guild_id.value);
    }
    if (m->member) {
        json_write_name(j, "member");
        schema_encode(j, &type_member, m->member);
    }
    if (m->channel_type.given == GIVEN) {
        json_write_name(j, "channel_type");
        json_write_int(j, m->channel_type.value);
    }
}

struct str message_encode_create_event(struct arena *arena, const struct message *m,
                                       struct str *ret_received)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MOST_SHOWN);
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, m->id);
    json_write_name(&j, "channel_id");
    json_write_id(&j, m->channel_id);
    if (!message_json_has_author(m)) {
        json_write_name(&j, "author");
        schema_encode_object(&j, &partial_user_schema, m->author);
    }
    json_write_raw(&j, m->cached_json);
    if (m->nonce.given == GIVEN) {
        json_write_name(&j, "nonce");
        json_write_raw(&j, m->nonce.value);
    }
    size_t shared_length = out.n;
    write_message_event_fields(&j, m);
    json_end_object(&j);
    struct str text = buf_move_to_arena(&out, arena);
    *ret_received = text.n ? str_slice(text.p, shared_length) : text;
    return text;
}

/* --- JSON of a page of messages ------------------------------------------------------- */

enum { AUTHORS_NOTED = 32 };

/* Authors whose JSON the reply already contains, each with offset and length. If another message
 * has the same author, the JSON is copied. */
struct encoded_authors {
    struct {
        const struct user *user;
        size_t at, n;
    } all[AUTHORS_NOTED];
    size_t count;
};

static void write_author_json(struct json_writer *j, struct encoded_authors *encoded,
                              const struct user *author)
{
    size_t at = j->out->n, i = 0;

    while (i < encoded->count && encoded->all[i].user != author)
        i++;
    if (i < encoded->count) {
        char *to = buf_reserve(j->out, encoded->all[i].n);

        if (to) {
            memcpy(to, j->out->p + encoded->all[i].at, encoded->all[i].n);
            j->out->n += encoded->all[i].n;
        }
        j->comma = true;
        return;
    }
    schema_encode_object(j, &partial_user_schema, author);
    if (i < AUTHORS_NOTED && !buf_is_full(j->out)) {
        encoded->all[i].user = author;
        encoded->all[i].at = at;
        encoded->all[i].n = j->out->n - at;
        encoded->count++;
    }
}

static void write_message_reactions(struct json_writer *j, const struct message *m,
                                    struct own_reaction_offsets *marks)
{
    if (marks && m->stored_reactions.given == GIVEN) {
        json_write_name(j, "reactions");
        own_reaction_offsets_write_json(marks, j, m);
    } else if (!marks && m->reactions.given == GIVEN) {
        json_write_name(j, "reactions");
        write_reactions_json(j, m->reactions.value);
    }
}

static void write_precomputed_message(struct json_writer *j, struct encoded_authors *encoded,
                                      const struct message *m, struct own_reaction_offsets *marks)
{
    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, m->id);
    json_write_name(j, "channel_id");
    json_write_id(j, m->channel_id);
    if (!message_json_has_author(m)) {
        json_write_name(j, "author");
        write_author_json(j, encoded, m->author);
    }
    json_write_raw(j, m->cached_json);
    write_message_reactions(j, m, marks);
    json_end_object(j);
}

void messages_write_json(struct json_writer *j, const struct list *messages,
                         struct own_reaction_offsets *marks)
{
    const struct message *m = messages->items;
    struct encoded_authors encoded;

    encoded.count = 0;
    json_begin_array(j);
    for (size_t i = 0; i < messages->count; i++)
        if (m[i].cached_json.p)
            write_precomputed_message(j, &encoded, &m[i], marks);
        else
            schema_encode(j, &type_message, &m[i]);
    json_end_array(j);
}
