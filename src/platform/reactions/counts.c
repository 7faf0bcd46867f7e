/* counts.c - updates reaction counts. On PostgreSQL, concurrent writers would conflict in the
 * message's row, so each counter shard (tx_get_counter_shard) has its own row of counts. Removing
 * an emoji merges the shards into the message's row; a transaction that conflicts there is retried.
 */
#include "platform/reactions/internal.h"

#include "model/fields/rows.h"

static const char SAVE_REACTIONS[] =
    "update messages set reactions = $2, reacted = $3 where id = $1";

static enum err update_message_reactions(struct tx *tx, const struct message *m, struct str text,
                                         int64_t reacted)
{
    bool any = reaction_text_skip_reader_line(text).n > 0;
    int64_t found = 0;
    enum err e = tx_exec(tx, SAVE_REACTIONS,
                         BIND(v_id(m->id), any ? v_text(text) : v_null(), v_int(reacted)), &found);

    return e || found ? e : ERR_UNKNOWN_MESSAGE;
}

/* Saves all reactions in the message's row. Call it only if the message has no counter shards
 * (counts per writer), or after they were merged. */
static enum err save_merged_reactions(struct tx *tx, const struct message *m, struct str text)
{
    return update_message_reactions(tx, m, text, reaction_text_get_state(text));
}

/* Returns the reactions text of a message without the emoji `gone`; if gone is 0, with all emoji.
 * The first line of the text names the viewer; it is reset to viewer 0 (nobody). */
static struct str remove_emoji_from_reactions_text(struct tx *tx, const struct message *m,
                                                   snowflake gone)
{
    struct str lines = reaction_text_skip_reader_line(m->reactions.value);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MAX_REACTION_TEXT_BYTES);
    reaction_text_append_reader_line(&out);
    while (reaction_line_parse_next(&lines, &line))
        if (line.id != gone)
            reaction_line_append(&out, &line);
    return buf_move_to_arena(&out, tx_arena(tx));
}

static struct str append_line_to_reactions_text(struct tx *tx, struct str text,
                                                const struct reaction_line *line)
{
    struct buf out;

    buf_init(&out, MAX_REACTION_TEXT_BYTES);
    buf_add_str(&out, text);
    reaction_line_append(&out, line);
    return buf_move_to_arena(&out, tx_arena(tx));
}

/* --- counter shards ------------------------------------------------------------------- */

static const char READ_SHARD[] =
    "select counts from reaction_lanes where message_id = $1 and lane = $2";
static const char UPDATE_SHARD[] =
    "update reaction_lanes set counts = $3 where message_id = $1 and lane = $2";
static const char INSERT_SHARD[] =
    "insert into reaction_lanes (message_id, lane, counts) values ($1, $2, $3)";
static const char MARK_SHARDED[] = "update messages set reacted = 2 where id = $1";

static enum err insert_counter_shard(struct tx *tx, const struct message *m, struct str counts)
{
    int64_t found = 0;
    enum err e = tx_exec(tx, MARK_SHARDED, BIND(v_id(m->id)), &found);

    if (!e && !found)
        e = ERR_UNKNOWN_MESSAGE;
    return e ? e
             : tx_exec(tx, INSERT_SHARD,
                       BIND(v_id(m->id), v_int(tx_get_counter_shard(tx)), v_text(counts)), NULL);
}

/* Returns the text of a counter shard (counts of one writer) after adding the counts in `more`. */
static struct str add_reaction_counts_to_shard_text(struct tx *tx, struct str lines,
                                                    const struct reaction_line *more)
{
    struct reaction_line line, sum = *more;
    struct buf out;

    buf_init(&out, MAX_REACTION_TEXT_BYTES);
    while (reaction_line_parse_next(&lines, &line)) {
        if (line.id != more->id) {
            reaction_line_append(&out, &line);
            continue;
        }
        sum.normal += line.normal;
        sum.burst += line.burst;
    }
    reaction_line_append(&out, &sum);
    return buf_move_to_arena(&out, tx_arena(tx));
}

static enum err update_counter_shard(struct tx *tx, const struct message *m,
                                     const struct reaction_line *more)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, READ_SHARD, BIND(v_id(m->id), v_int(tx_get_counter_shard(tx))), &row, &found);

    if (e)
        return e;
    struct str counts =
        add_reaction_counts_to_shard_text(tx, found ? row_text(&row, 0) : STR(""), more);
    if (!found)
        return insert_counter_shard(tx, m, counts);
    return tx_exec(tx, UPDATE_SHARD,
                   BIND(v_id(m->id), v_int(tx_get_counter_shard(tx)), v_text(counts)), NULL);
}

enum err reaction_count_shards_delete(struct tx *tx, snowflake message_id)
{
    return tx_exec(tx, "delete from reaction_lanes where message_id = $1", BIND(v_id(message_id)),
                   NULL);
}

/* --- changes -------------------------------------------------------------------------- */

static void change_reaction_count(struct tx *tx, struct reaction_line *line, bool burst,
                                  snowflake user_id, int by)
{
    if (burst)
        line->burst += by;
    else if (by > 0)
        reaction_line_add_user(tx_arena(tx), line, user_id);
    else
        reaction_line_remove_user(tx_arena(tx), line, user_id);
}

static enum err update_count_in_message_row(struct tx *tx, const struct message *m, snowflake id,
                                            bool burst, snowflake user_id, int by)
{
    struct str lines = reaction_text_skip_reader_line(m->reactions.value);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MAX_REACTION_TEXT_BYTES);
    reaction_text_append_reader_line(&out);
    while (reaction_line_parse_next(&lines, &line)) {
        if (line.id == id)
            change_reaction_count(tx, &line, burst, user_id, by);
        reaction_line_append(&out, &line);
    }
    return save_merged_reactions(tx, m, buf_move_to_arena(&out, tx_arena(tx)));
}

enum err reaction_update_count(struct tx *tx, const struct message *m, snowflake id, bool burst,
                               snowflake user_id, int by)
{
    struct reaction_line more = { .id = id, .normal = burst ? 0 : by, .burst = burst ? by : 0 };

    return tx_get_counter_shard(tx) ? update_counter_shard(tx, m, &more)
                                    : update_count_in_message_row(tx, m, id, burst, user_id, by);
}

#define UNUSED                                                                            \
    "select r.id from reactions r where r.message_id = $1 and not exists (select 1 from " \
    "reaction_users u where u.reaction_id = r.id)"
static const char DELETE_UNUSED[] = "delete from reactions where id in (" UNUSED ")";
static const char ADD_REACTION[] =
    "insert into reactions (id, message_id, emoji_key, emoji_id, name, animated) "
    "values ($1, $2, $3, $4, $5, $6)";

size_t count_distinct_emoji(struct str text)
{
    struct str lines = reaction_text_skip_reader_line(text);
    struct reaction_line line;
    size_t count = 0;

    while (reaction_line_parse_next(&lines, &line))
        count++;
    return count;
}

/* Deletes the counter shards after they were merged, and also the rows of emoji that have no
 * users left, because their last users were removed in different shards. */
static enum err delete_merged_counter_shards(struct tx *tx, const struct message *m)
{
    if (m->reacted != HAS_REACTIONS_IN_COUNTER_SHARDS)
        return OK;
    enum err e = reaction_count_shards_delete(tx, m->id);
    return e ? e : tx_exec(tx, DELETE_UNUSED, BIND(v_id(m->id)), NULL);
}

static enum err append_emoji_to_reactions_text(struct tx *tx, const struct message *m,
                                               const struct reaction_line *line)
{
    struct str stored = m->stored_reactions.value;
    bool sharded = m->reacted == HAS_REACTIONS_IN_COUNTER_SHARDS;

    if (sharded && count_distinct_emoji(stored) == count_distinct_emoji(m->reactions.value))
        return update_message_reactions(tx, m, append_line_to_reactions_text(tx, stored, line),
                                        HAS_REACTIONS_IN_COUNTER_SHARDS);
    enum err e = save_merged_reactions(
        tx, m, append_line_to_reactions_text(tx, remove_emoji_from_reactions_text(tx, m, 0), line));
    return e ? e : delete_merged_counter_shards(tx, m);
}

enum err reaction_insert_row(struct tx *tx, snowflake message_id, const struct reaction_line *line,
                             const struct reaction_emoji *emoji)
{
    return tx_exec(tx, ADD_REACTION,
                   BIND(v_id(line->id), v_id(message_id), v_text(line->key),
                        sql_value_of_optional_id(emoji->id), v_text(emoji->name),
                        v_int(emoji->animated.value)),
                   NULL);
}

enum err message_add_new_reaction_emoji(struct tx *tx, const struct message *m,
                                        const struct reaction_line *line,
                                        const struct reaction_emoji *emoji)
{
    enum err e = append_emoji_to_reactions_text(tx, m, line);

    return e ? e : reaction_insert_row(tx, m->id, line, emoji);
}

enum err reactions_remove_counts(struct tx *tx, const struct message *m, snowflake id)
{
    struct str left = id ? remove_emoji_from_reactions_text(tx, m, id) : STR("");
    enum err e = save_merged_reactions(tx, m, left);

    return e ? e : delete_merged_counter_shards(tx, m);
}

enum err reaction_delete_if_without_users(struct tx *tx, const struct message *m, snowflake id)
{
    enum err e = reactions_remove_counts(tx, m, id);

    return e ? e : tx_exec(tx, "delete from reactions where id = $1", BIND(v_id(id)), NULL);
}
