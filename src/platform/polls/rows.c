/* rows.c - SQL of polls. */
#include "platform/polls/polls.h"

#include "model/fields/rows.h"

static const struct type type_numbers = { .kind = KIND_ARRAY, .of = &type_count };

/* --- reading -------------------------------------------------------------------------- */

static const char FIND_POLL[] =
    "select question, answers, expires_at, allow_multiselect, final_counts, (select answers from "
    "poll_voters v where v.message_id = p.message_id and v.user_id = $2) from polls p "
    "where message_id = $1";
static const char READ_VOTE_COUNTS[] = "select answer_id, sum(votes) from poll_counts "
                                       "where message_id = $1 group by answer_id";

static struct poll_answer_count *find_answer_count(struct poll_results *results, int64_t id)
{
    struct poll_answer_count *c = results->answer_counts.items;

    return id >= 1 && id <= (int64_t)results->answer_counts.count ? &c[id - 1] : NULL;
}

static enum err read_vote_counts(struct tx *tx, snowflake message_id, struct poll_results *results)
{
    struct rows rows;
    enum err e = tx_query(tx, READ_VOTE_COUNTS, BIND(v_id(message_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct poll_answer_count *c = find_answer_count(results, row_int(&rows, 0));

        if (c)
            c->count = row_int(&rows, 1);
    }
    return rows_end(&rows);
}

static void decode_final_vote_counts(struct arena *arena, struct str json,
                                     struct poll_results *results)
{
    struct list counts = json_column_decode_list(arena, &type_numbers, json);

    results->is_finalized = true;
    for (size_t i = 0; i < counts.count && i < results->answer_counts.count; i++)
        find_answer_count(results, (int64_t)i + 1)->count = ((const int64_t *)counts.items)[i];
}

static void poll_from_row(const struct rows *r, struct poll *ret, struct poll_results *results)
{
    struct arena *arena = tx_arena(r->tx);
    struct poll_media *question = arena_alloc(arena, sizeof *question);
    int64_t chosen = row_int(r, 5);

    *question = (struct poll_media){ .text = opt_str_or_null(row_text(r, 0)) };
    *ret = (struct poll){
        .question = question,
        .answers = json_column_decode_list(arena, &type_poll_answers, row_text(r, 1)),
        .expiry = row_int(r, 2),
        .allow_multiselect = row_bool(r, 3),
        .layout_type = 1,
        .results = results,
    };
    for (size_t i = 0; i < ret->answers.count; i++)
        *(struct poll_answer_count *)list_append(arena, &results->answer_counts,
                                                 sizeof(struct poll_answer_count)) =
            (struct poll_answer_count){ .id = (int64_t)i + 1, .me_voted = chosen >> i & 1 };
}

enum err poll_find(struct tx *tx, snowflake message_id, snowflake user_id, const struct poll **ret)
{
    struct poll_results *results = arena_alloc(tx_arena(tx), sizeof *results);
    struct poll *poll = arena_alloc(tx_arena(tx), sizeof *poll);
    struct rows row;
    bool found = false;
    enum err e = tx_one(tx, FIND_POLL, BIND(v_id(message_id), v_id(user_id)), &row, &found);

    *ret = NULL;
    if (e || !found)
        return e;
    *results = (struct poll_results){ 0 };
    poll_from_row(&row, poll, results);
    *ret = poll;
    if (row_column_is_null(&row, 4))
        return read_vote_counts(tx, message_id, results);
    decode_final_vote_counts(tx_arena(tx), row_text(&row, 4), results);
    return OK;
}

const struct poll *poll_copy_without_own_votes(struct arena *arena, const struct poll *poll)
{
    struct poll_results *results = arena_alloc(arena, sizeof *results);
    const struct poll_answer_count *counts = poll->results->answer_counts.items;
    struct poll *out = arena_alloc(arena, sizeof *out);

    *results = (struct poll_results){ .is_finalized = poll->results->is_finalized };
    for (size_t i = 0; i < poll->results->answer_counts.count; i++)
        *(struct poll_answer_count *)list_append(arena, &results->answer_counts, sizeof *counts) =
            (struct poll_answer_count){ counts[i].id, counts[i].count, false };
    *out = *poll;
    out->results = results;
    return out;
}

/* --- writing -------------------------------------------------------------------------- */

static const char ADD_POLL[] =
    "insert into polls (message_id, question, answers, expires_at, allow_multiselect) "
    "values ($1, $2, $3, $4, $5)";

enum err poll_insert(struct tx *tx, snowflake message_id, const struct poll *poll)
{
    struct str answers = json_column_encode(tx_arena(tx), &type_poll_answers, &poll->answers);

    return tx_exec(tx, ADD_POLL,
                   BIND(v_id(message_id), v_text(poll->question->text.value), v_text(answers),
                        v_int(poll->expiry), v_int(poll->allow_multiselect)),
                   NULL);
}

static const char FINISH_POLL[] =
    "update polls set expires_at = $2, final_counts = $3 where message_id = $1";

enum err poll_store_final_results(struct tx *tx, snowflake message_id, const struct poll *poll)
{
    const struct poll_answer_count *c = poll->results->answer_counts.items;
    struct list counts = { 0 };

    for (size_t i = 0; i < poll->results->answer_counts.count; i++)
        *(int64_t *)list_append(tx_arena(tx), &counts, sizeof(int64_t)) = c[i].count;
    return tx_exec(tx, FINISH_POLL,
                   BIND(v_id(message_id), v_int(poll->expiry),
                        v_text(json_column_encode(tx_arena(tx), &type_numbers, &counts))),
                   NULL);
}

enum err poll_delete(struct tx *tx, snowflake message_id)
{
    enum err e =
        tx_exec(tx, "delete from poll_counts where message_id = $1", BIND(v_id(message_id)), NULL);

    return e ? e
             : tx_exec(tx, "delete from polls where message_id = $1", BIND(v_id(message_id)), NULL);
}
