/* end.c - ends polls at their expiry or by their author, and deletes polls with their message. */
#include "platform/votes/internal.h"

#include <inttypes.h>

#include "api/deletion.h"
#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"

/* --- the result message --------------------------------------------------------------- */

struct poll_field {
    struct str name, value;
    bool is_inline;
};
struct poll_embed {
    struct str type;
    struct list fields; /* struct poll_field */
};
static const struct field one_fields[] = {
    { FIELD(struct poll_field, name), .type = &type_text },
    { FIELD(struct poll_field, value), .type = &type_text },
    { FIELD_AS(struct poll_field, is_inline, "inline"), .type = &type_bool },
    { 0 },
};
static const struct schema field_schema = { .size = sizeof(struct poll_field),
                                            .fields = one_fields };
static const struct type type_poll_field = { .kind = KIND_OBJECT, .schema = &field_schema };
static const struct type type_poll_fields = { .kind = KIND_ARRAY, .of = &type_poll_field };
static const struct field embed_fields[] = {
    { FIELD(struct poll_embed, type), .type = &type_text },
    { FIELD(struct poll_embed, fields), .type = &type_poll_fields },
    { 0 },
};
static const struct schema embed_schema = { .size = sizeof(struct poll_embed),
                                            .fields = embed_fields };
static const struct type type_embed = { .kind = KIND_OBJECT, .schema = &embed_schema };
static const struct type type_embeds = { .kind = KIND_ARRAY, .of = &type_embed };

static void add_embed_field(struct call *call, struct poll_embed *e, const char *name,
                            struct str value)
{
    *(struct poll_field *)list_append(call->arena, &e->fields, sizeof(struct poll_field)) =
        (struct poll_field){ str_of(name), value, false };
}

static struct str format_number(struct call *call, int64_t n)
{
    return str_printf(call->arena, "%" PRId64, n);
}

static void add_winner_fields(struct call *call, struct poll_embed *e, const struct poll_answer *a)
{
    const struct reaction_emoji *emoji = a->poll_media->emoji;

    add_embed_field(call, e, "victor_answer_id", format_number(call, a->answer_id));
    if (a->poll_media->text.given == GIVEN)
        add_embed_field(call, e, "victor_answer_text", a->poll_media->text.value);
    if (!emoji)
        return;
    if (emoji->id.given == GIVEN)
        add_embed_field(call, e, "victor_answer_emoji_id",
                        str_printf(call->arena, "%" PRIu64, emoji->id.value));
    add_embed_field(call, e, "victor_answer_emoji_name", emoji->name);
    add_embed_field(call, e, "victor_answer_emoji_animated",
                    emoji->animated.value ? STR("true") : STR("false"));
}

/* Encodes the result embed. It names a winner if one answer has more votes than every other. */
static struct str encode_result_embed(struct call *call, const struct poll *poll)
{
    const struct poll_answer_count *c = poll->results->answer_counts.items;
    const struct poll_answer *answers = poll->answers.items;
    struct poll_embed embed = { .type = STR("poll_result") };
    int64_t total = 0, most = 0;
    size_t victor = 0, victors = 0;

    for (size_t i = 0; i < poll->results->answer_counts.count; i++) {
        total += c[i].count;
        if (c[i].count > most)
            most = c[i].count, victor = i, victors = 0;
        victors += c[i].count == most && most > 0;
    }
    add_embed_field(call, &embed, "poll_question_text", poll->question->text.value);
    add_embed_field(call, &embed, "victor_answer_votes", format_number(call, most));
    add_embed_field(call, &embed, "total_votes", format_number(call, total));
    if (victors == 1)
        add_winner_fields(call, &embed, &answers[victor]);
    return json_column_encode(call->arena, &type_embeds, &(struct list){ &embed, 1 });
}

static enum err create_result_message(struct call *call, const struct channel *c,
                                      const struct message *m)
{
    struct message_reference ref = { .message_id = opt_id_or_null(m->id), .channel_id = c->id };
    snowflake author = m->author_id;
    struct new_message draft = { .channel = c,
                                 .type = MESSAGE_POLL_RESULT,
                                 .author = m->author,
                                 .webhook_id = m->webhook_id.value,
                                 .webhook_name = m->webhook_name,
                                 .webhook_avatar = m->webhook_avatar,
                                 .application_id = m->application_id.value,
                                 .message_reference = &ref };
    struct message said;

    draft.embeds = encode_result_embed(call, m->poll);
    if (m->webhook_name.given != GIVEN)
        draft.mentions = (struct list){ &author, 1 };
    if (!channel_is_private(c->type))
        ref.guild_id = opt_id_or_null(c->guild_id.value);
    return message_create(call, &draft, &said);
}

/* --- ending --------------------------------------------------------------------------- */

static enum err store_final_poll_results(struct call *call, const struct channel *c,
                                         struct message *m)
{
    struct poll_results *results = arena_alloc(call->arena, sizeof *results);
    struct poll *poll = arena_alloc(call->arena, sizeof *poll);
    int64_t now = clock_us();

    *results = *m->poll->results;
    results->is_finalized = true;
    *poll = *m->poll;
    poll->results = results;
    if (poll->expiry > now)
        poll->expiry = now;
    m->poll = poll;
    enum err e = poll_store_final_results(call->tx, m->id, poll);
    if (!e)
        e = message_update_row_and_emit(call, c, m);
    return e ? e : create_result_message(call, c, m);
}

/* POST /channels/{channel.id}/polls/{message.id}/expire */
enum err end_poll(struct call *call)
{
    struct message *m = call->target.message;

    if (!m->poll)
        return ERR_NO_POLL;
    if (m->author_id != call->caller->id)
        return ERR_MISSING_PERMISSIONS;
    if (poll_has_ended(m->poll))
        return ERR_POLL_EXPIRED;
    enum err e = store_final_poll_results(call, call->target.channel, m);
    if (!e)
        e = job_cancel(call, &poll_end_job, m->id);
    return e ? e : call_reply_with_object(call, m);
}

static enum err run_poll_end_job(struct call *call, const struct job *job)
{
    struct message m;
    struct channel c;
    snowflake channel_id;

    if (!snowflake_parse(job->data, &channel_id))
        return OK;
    enum err e = channel_find(call->tx, channel_id, &c);
    if (!e)
        e = message_find(call, channel_id, job->key, &m);
    if (e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_MESSAGE)
        return OK; /* the channel or message is deleted or being deleted */
    if (e || !m.poll || m.poll->results->is_finalized)
        return e;
    return store_final_poll_results(call, &c, &m);
}

const struct job_kind poll_end_job = {
    .name = "poll-end",
    .doc = "Ends a poll at its expiry.",
    .run = run_poll_end_job,
};

enum err poll_schedule_end(struct call *call, const struct message *m)
{
    return job_schedule(call, &poll_end_job, m->id, m->poll->expiry,
                        str_printf(call->arena, "%" PRIu64, m->channel_id));
}

/* --- deletion with the message -------------------------------------------------------- */

enum { VOTES_DELETE_DELAY_US = 10 * 1000 * 1000 };

static const char DELETE_VOTES[] =
    "delete from poll_votes where (message_id, answer_id, user_id) in (select message_id, "
    "answer_id, user_id from poll_votes where message_id = $1 limit $2)";
static const char DELETE_VOTERS[] =
    "delete from poll_voters where (message_id, user_id) in (select message_id, user_id "
    "from poll_voters where message_id = $1 limit $2)";

static enum err run_poll_votes_delete_job(struct call *call, const struct job *job)
{
    const struct value values[] = { v_id(job->key), v_int(DELETION_ROWS / 2) };
    int64_t votes = 0, voters = 0;
    enum err e = tx_exec(call->tx, DELETE_VOTES, values, 2, &votes);

    if (!e)
        e = tx_exec(call->tx, DELETE_VOTERS, values, 2, &voters);
    if (!e)
        e = poll_delete(call->tx, job->key);
    if (e || (!votes && !voters))
        return e;
    return job_schedule(call, &poll_votes_delete_job, job->key, clock_us(), STR(""));
}

const struct job_kind poll_votes_delete_job = {
    .name = "poll-leftovers",
    .doc = "Deletes the votes of a deleted poll.",
    .run = run_poll_votes_delete_job,
};

/* Deletes the poll at once and the votes by a job, because a concurrent vote may still commit. */
enum err poll_delete_with_message(struct call *call, const snowflake *message_id)
{
    const struct poll *poll;
    enum err e = poll_find(call->tx, *message_id, 0, &poll);

    if (e || !poll)
        return e;
    e = poll_delete(call->tx, *message_id);
    if (!e)
        e = job_cancel(call, &poll_end_job, *message_id);
    return e ? e
             : job_schedule(call, &poll_votes_delete_job, *message_id,
                            clock_us() + VOTES_DELETE_DELAY_US, STR(""));
}
