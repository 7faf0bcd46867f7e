/* world.c - import and export of polls in world files (JSON data sets). */
#include <inttypes.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/reactions/reactions.h"
#include "platform/votes/internal.h"
#include "platform/worlds/import_export.h"

enum { USUAL_HOURS = 24 };

/* --- schema --------------------------------------------------------------------------- */

struct world_poll_answer {
    struct str text;
    struct opt_str emoji;  /* Unicode characters, name:id, or the name of an emoji of the guild */
    struct opt_list users; /* struct str */
};
struct world_poll {
    struct str question;
    struct list answers; /* struct world_poll_answer */
    struct opt_int hours, ends_at;
    struct opt_bool allow_multiselect;
};
static const struct field poll_answer_fields[] = {
    MUST(struct world_poll_answer, text, type_world_name),
    MAYBE(struct world_poll_answer, emoji, type_world_name),
    MAYBE(struct world_poll_answer, users, type_world_refs),
    { 0 },
};
WORLD_LIST(poll_answer, poll_answer_fields, NULL, 1, 10);
static const struct field poll_fields[] = {
    MUST(struct world_poll, question, type_world_content),
    MUST(struct world_poll, answers, world_poll_answer_list),
    MAYBE(struct world_poll, hours, type_count),
    MAYBE(struct world_poll, ends_at, type_time),
    MAYBE(struct world_poll, allow_multiselect, type_bool),
    { 0 },
};
WORLD_SINGLE(poll, poll_fields, NULL);

/* --- import --------------------------------------------------------------------------- */

static const char MARK_POLLED[] = "update messages set polled = 1, shown = null where id = $1";
static const char FIND_ANSWERS[] =
    "select answers from poll_voters where message_id = $1 and user_id = $2";

static enum err import_poll_vote(struct world_file_importer *im, snowflake message, int64_t answer,
                                 snowflake user, int64_t *count)
{
    int64_t bit = INT64_C(1) << (answer - 1);
    int64_t before;
    enum err e = tx_read_int(im->tx, FIND_ANSWERS, BIND(v_id(message), v_id(user)), &before);

    if (e || before & bit)
        return e;
    e = poll_vote_change(im->tx, message, answer, user, true);
    *count += !e;
    return e ? e : poll_voter_save(im->tx, message, user, before | bit);
}

static enum err resolve_answer_emoji(struct world_file_importer *im,
                                     const struct world_poll_answer *in, snowflake channel,
                                     const struct json_path *up, const struct reaction_emoji **ret)
{
    struct json_path at = json_path_key(up, STR("emoji"));
    struct reaction_emoji *emoji = arena_alloc(im->arena, sizeof *emoji);
    struct reaction_emoji_name name = { 0 };

    if (in->emoji.given != GIVEN)
        return OK;
    enum err e = world_file_resolve_emoji(im, in->emoji.value, channel, &at, &name);
    *emoji = (struct reaction_emoji){ opt_id_or_null(name.id), name.text, { 0 } };
    *ret = emoji;
    return e;
}

static enum err import_poll_votes(struct world_file_importer *im,
                                  const struct world_poll_answer *in, snowflake message,
                                  int64_t answer, const struct json_path *up, int64_t *ret_count)
{
    struct json_path all = json_path_key(up, STR("users"));
    const struct str *names = in->users.value.items;
    enum err e = OK;

    *ret_count = 0;
    for (size_t i = 0; !e && i < in->users.value.count; i++) {
        struct json_path at = json_path_index(&all, i);
        snowflake user = 0;

        e = world_file_resolve_reference(im, &user_naming, 0, names[i], &at, &user);
        if (!e && user)
            e = import_poll_vote(im, message, answer, user, ret_count);
    }
    return e;
}

static enum err import_poll_answers(struct world_file_importer *im, const struct world_poll *in,
                                    snowflake channel, snowflake message,
                                    const struct json_path *up, struct poll *poll,
                                    struct poll_results *results)
{
    struct json_path all = json_path_key(up, STR("answers"));
    const struct world_poll_answer *answers = in->answers.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < in->answers.count; i++) {
        struct json_path at = json_path_index(&all, i);
        struct poll_answer *a = list_append(im->arena, &poll->answers, sizeof *a);
        struct poll_answer_count *c = list_append(im->arena, &results->answer_counts, sizeof *c);
        struct poll_media *media = arena_alloc(im->arena, sizeof *media);

        *media = (struct poll_media){ .text = opt_str_or_null(answers[i].text) };
        *a = (struct poll_answer){ (int64_t)i + 1, media };
        *c = (struct poll_answer_count){ .id = a->answer_id };
        e = resolve_answer_emoji(im, &answers[i], channel, &at, &media->emoji);
        if (!e)
            e = import_poll_votes(im, &answers[i], message, a->answer_id, &at, &c->count);
    }
    return e;
}

static enum err import_poll(struct world_file_importer *im, const void *entry,
                            const struct json_path *at, snowflake message)
{
    const struct world_poll *in = entry;
    struct poll_media question = { .text = opt_str_or_null(in->question) };
    struct poll_results results = { 0 };
    struct poll poll = { .question = &question,
                         .results = &results,
                         .allow_multiselect = in->allow_multiselect.value };

    poll.expiry = in->ends_at.given == GIVEN
                      ? in->ends_at.value
                      : clock_us() + (in->hours.given == GIVEN ? in->hours.value : USUAL_HOURS) *
                                         INT64_C(3600000000);
    enum err e = import_poll_answers(im, in, im->channel, message, at, &poll, &results);
    if (!e)
        e = poll_insert(im->tx, message, &poll);
    if (!e)
        e = tx_exec(im->tx, MARK_POLLED, BIND(v_id(message)), NULL);
    if (!e && poll.expiry <= clock_us())
        return poll_store_final_results(im->tx, message, &poll);
    return e ? e
             : insert_job_row(im->tx, "poll-end", message, poll.expiry,
                              str_printf(im->arena, "%" PRIu64, im->channel));
}

/* --- export --------------------------------------------------------------------------- */

static const char POLLED[] =
    "select id from messages where channel_id = $1 and polled = 1 order by id";
static const char VOTERS[] = "select v.answer_id, u.username from poll_votes v join users u on "
                             "u.id = v.user_id where v.message_id = $1 order by v.answer_id, u.id";

static struct opt_str format_emoji_reference(struct tx *tx, const struct reaction_emoji *emoji)
{
    if (!emoji)
        return (struct opt_str){ 0 };
    if (emoji->id.given != GIVEN)
        return opt_str_or_null(emoji->name);
    return opt_str_or_null(
        str_printf(tx_arena(tx), "%.*s:%" PRIu64, STR_ARGS(emoji->name), emoji->id.value));
}

static enum err export_poll_voters(struct tx *tx, snowflake message, struct world_poll *ret)
{
    struct world_poll_answer *answers = ret->answers.items;
    struct rows r;
    enum err e = tx_query(tx, VOTERS, BIND(v_id(message)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        if (row_int(&r, 0) <= (int64_t)ret->answers.count)
            *(struct str *)export_add_list_item(tx, &answers[row_int(&r, 0) - 1].users,
                                                sizeof(struct str)) = row_text(&r, 1);
    return rows_end(&r);
}

static enum err export_poll(struct tx *tx, snowflake message, struct opt_object *ret)
{
    struct world_poll *out = arena_alloc(tx_arena(tx), sizeof *out);
    const struct poll *poll;
    enum err e = poll_find(tx, message, 0, &poll);

    if (e || !poll)
        return e;
    *out = (struct world_poll){ .question = poll->question->text.value,
                                .ends_at = opt_int_present(poll->expiry),
                                .allow_multiselect = opt_true_or_absent(poll->allow_multiselect) };
    for (size_t i = 0; i < poll->answers.count; i++) {
        const struct poll_answer *a = (const struct poll_answer *)poll->answers.items + i;

        *(struct world_poll_answer *)list_append(tx_arena(tx), &out->answers,
                                                 sizeof(struct world_poll_answer)) =
            (struct world_poll_answer){ .text = a->poll_media->text.value,
                                        .emoji = format_emoji_reference(tx, a->poll_media->emoji) };
    }
    *ret = (struct opt_object){ GIVEN, out };
    return export_poll_voters(tx, message, out);
}

static enum err export_polls(struct world_file_exporter *ex, struct world_file_entries *to)
{
    struct list ids = { 0 };
    enum err e = tx_read_ids(ex->tx, POLLED, BIND(v_id(ex->channel)), &ids);
    const snowflake *id = ids.items;

    for (size_t i = 0; !e && i < ids.count; i++) {
        struct opt_object *poll = world_file_entry_find_field(to, id[i]);

        if (poll)
            e = export_poll(ex->tx, id[i], poll);
    }
    return e;
}

const struct world_file_fields polls_world = { (const struct world_file_field[]){
    { "message", "poll", &world_poll_type, .order = 10, .import = import_poll,
      .export_members = export_polls },
    { 0 },
} };
