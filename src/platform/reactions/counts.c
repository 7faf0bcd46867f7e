/* counts.c - updates reaction counts. On PostgreSQL each counter shard (tx_lane) has a row, because
 * writers would conflict in the message's row. Removing an emoji merges the shards into that row;
 * concurrent merges, first shard rows and new emoji conflict there and are retried. */
#include "platform/reactions/internal.h"

#include "model/fields/rows.h"

static const char SAVE_REACTIONS[] =
    "update messages set reactions = $2, reacted = $3 where id = $1";

static enum err reactions_save(struct tx *tx, const struct message *m, struct str text,
                               int64_t reacted)
{
    bool any = reaction_text_lines(text).n > 0;
    int64_t found = 0;
    enum err e = tx_exec(tx, SAVE_REACTIONS,
                         BIND(v_id(m->id), any ? v_text(text) : v_null(), v_int(reacted)), &found);

    return e || found ? e : ERR_UNKNOWN_MESSAGE;
}

/* Saves all reactions in the message's row; counter shards are merged or absent. */
static enum err reactions_save_all(struct tx *tx, const struct message *m, struct str text)
{
    return reactions_save(tx, m, text, reaction_text_kind(text));
}

/* Returns the reactions without one emoji (0: all remain) and without marks of the viewer. */
static struct str text_without(struct tx *tx, const struct message *m, snowflake gone)
{
    struct str lines = reaction_text_lines(m->reactions.value);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    reaction_text_begin(&out);
    while (reaction_line_next(&lines, &line))
        if (line.id != gone)
            reaction_line_add(&out, &line);
    return buf_take(&out, tx_arena(tx));
}

static struct str text_with(struct tx *tx, struct str text, const struct reaction_line *line)
{
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    buf_add_str(&out, text);
    reaction_line_add(&out, line);
    return buf_take(&out, tx_arena(tx));
}

/* --- counter shards ------------------------------------------------------------------- */

static const char LANE_OF[] =
    "select counts from reaction_lanes where message_id = $1 and lane = $2";
static const char SAVE_LANE[] =
    "update reaction_lanes set counts = $3 where message_id = $1 and lane = $2";
static const char FIRST_OF_LANE[] =
    "insert into reaction_lanes (message_id, lane, counts) values ($1, $2, $3)";
static const char COUNT_IN_LANES[] = "update messages set reacted = 2 where id = $1";

static enum err lane_begin(struct tx *tx, const struct message *m, struct str counts)
{
    int64_t found = 0;
    enum err e = tx_exec(tx, COUNT_IN_LANES, BIND(v_id(m->id)), &found);

    if (!e && !found)
        e = ERR_UNKNOWN_MESSAGE;
    return e ? e
             : tx_exec(tx, FIRST_OF_LANE, BIND(v_id(m->id), v_int(tx_lane(tx)), v_text(counts)),
                       NULL);
}

/* Returns the text of a counter shard after the addition of `more`. */
static struct str lane_text(struct tx *tx, struct str lines, const struct reaction_line *more)
{
    struct reaction_line line, sum = *more;
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    while (reaction_line_next(&lines, &line)) {
        if (line.id != more->id) {
            reaction_line_add(&out, &line);
            continue;
        }
        sum.normal += line.normal;
        sum.burst += line.burst;
    }
    reaction_line_add(&out, &sum);
    return buf_take(&out, tx_arena(tx));
}

static enum err lane_count(struct tx *tx, const struct message *m, const struct reaction_line *more)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, LANE_OF, BIND(v_id(m->id), v_int(tx_lane(tx))), &row, &found);

    if (e)
        return e;
    struct str counts = lane_text(tx, found ? row_text(&row, 0) : STR(""), more);
    if (!found)
        return lane_begin(tx, m, counts);
    return tx_exec(tx, SAVE_LANE, BIND(v_id(m->id), v_int(tx_lane(tx)), v_text(counts)), NULL);
}

enum err reaction_lanes_drop(struct tx *tx, snowflake message_id)
{
    return tx_exec(tx, "delete from reaction_lanes where message_id = $1", BIND(v_id(message_id)),
                   NULL);
}

/* --- changes -------------------------------------------------------------------------- */

static void line_change(struct tx *tx, struct reaction_line *line, bool burst, snowflake user_id,
                        int by)
{
    if (burst)
        line->burst += by;
    else if (by > 0)
        reaction_line_count(tx_arena(tx), line, user_id);
    else
        reaction_line_discount(tx_arena(tx), line, user_id);
}

static enum err row_count(struct tx *tx, const struct message *m, snowflake id, bool burst,
                          snowflake user_id, int by)
{
    struct str lines = reaction_text_lines(m->reactions.value);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    reaction_text_begin(&out);
    while (reaction_line_next(&lines, &line)) {
        if (line.id == id)
            line_change(tx, &line, burst, user_id, by);
        reaction_line_add(&out, &line);
    }
    return reactions_save_all(tx, m, buf_take(&out, tx_arena(tx)));
}

enum err reaction_count(struct tx *tx, const struct message *m, snowflake id, bool burst,
                        snowflake user_id, int by)
{
    struct reaction_line more = { .id = id, .normal = burst ? 0 : by, .burst = burst ? by : 0 };

    return tx_lane(tx) ? lane_count(tx, m, &more) : row_count(tx, m, id, burst, user_id, by);
}

#define UNUSED                                                                            \
    "select r.id from reactions r where r.message_id = $1 and not exists (select 1 from " \
    "reaction_users u where u.reaction_id = r.id)"
static const char DROP_UNUSED[] = "delete from reactions where id in (" UNUSED ")";
static const char ADD_REACTION[] =
    "insert into reactions (id, message_id, emoji_key, emoji_id, name, animated) "
    "values ($1, $2, $3, $4, $5, $6)";

size_t reaction_kinds(struct str text)
{
    struct str lines = reaction_text_lines(text);
    struct reaction_line line;
    size_t count = 0;

    while (reaction_line_next(&lines, &line))
        count++;
    return count;
}

/* Deletes the merged shards, and the rows of emoji whose last users left at the same time in
 * different shards. */
static enum err lanes_end(struct tx *tx, const struct message *m)
{
    if (m->reacted != REACTED_IN_LANES)
        return OK;
    enum err e = reaction_lanes_drop(tx, m->id);
    return e ? e : tx_exec(tx, DROP_UNUSED, BIND(v_id(m->id)), NULL);
}

static enum err line_append(struct tx *tx, const struct message *m,
                            const struct reaction_line *line)
{
    struct str kept = m->kept_reactions.value;
    bool in_lanes = m->reacted == REACTED_IN_LANES;

    if (in_lanes && reaction_kinds(kept) == reaction_kinds(m->reactions.value))
        return reactions_save(tx, m, text_with(tx, kept, line), REACTED_IN_LANES);
    enum err e = reactions_save_all(tx, m, text_with(tx, text_without(tx, m, 0), line));
    return e ? e : lanes_end(tx, m);
}

enum err reaction_insert(struct tx *tx, const struct message *m, const struct reaction_line *line,
                         const struct reaction_emoji *emoji)
{
    enum err e = line_append(tx, m, line);

    return e ? e
             : tx_exec(tx, ADD_REACTION,
                       BIND(v_id(line->id), v_id(m->id), v_text(line->key), v_opt_id(emoji->id),
                            v_text(emoji->name), v_int(emoji->animated.value)),
                       NULL);
}

enum err reactions_take_off(struct tx *tx, const struct message *m, snowflake id)
{
    struct str left = id ? text_without(tx, m, id) : STR("");
    enum err e = reactions_save_all(tx, m, left);

    return e ? e : lanes_end(tx, m);
}

enum err reaction_delete(struct tx *tx, const struct message *m, snowflake id)
{
    enum err e = reactions_take_off(tx, m, id);

    return e ? e : tx_exec(tx, "delete from reactions where id = $1", BIND(v_id(id)), NULL);
}
