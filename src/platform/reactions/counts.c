/* counts.c - what a message's row says of its reactions, changed.
 *
 * Where one writes at a time (SQLite) the row has all counts. Elsewhere many would meet there:
 * each lane of the store has a row of its own beside it, with what it has counted of the
 * emoji that are there. Whoever takes an emoji off puts the lanes together in the message's
 * row and removes them, so that nobody counts what is not there any more: of two such works
 * one finds a row that the other has changed, and is tried again. A lane's first row and a new
 * emoji change the message's row for the same reason. */
#include "platform/reactions/internal.h"

#include "model/rows.h"

static const char SAVE_REACTIONS[] =
    "update messages set reactions = $2, reacted = $3 where id = $1";

static enum err reactions_save(struct tx *tx, const struct message *m, struct str text,
                               int64_t reacted)
{
    int64_t found = 0;
    enum err e =
        tx_exec(tx, SAVE_REACTIONS,
                BIND(v_id(m->id), text.n ? v_text(text) : v_null(), v_int(reacted)), &found);

    return e || found ? e : ERR_UNKNOWN_MESSAGE;
}

/* What is shown of a message, without one emoji (0: all of them stay) and nobody's own. */
static struct str text_without(struct tx *tx, const struct message *m, snowflake gone)
{
    struct str rest = m->reactions.value;
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    while (reaction_line_next(&rest, &line))
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

/* --- lanes ---------------------------------------------------------------------------- */

static const char LANE_OF[] =
    "select counts from reaction_lanes where message_id = $1 and lane = $2";
static const char SAVE_LANE[] =
    "update reaction_lanes set counts = $3 where message_id = $1 and lane = $2";
static const char FIRST_OF_LANE[] =
    "insert into reaction_lanes (message_id, lane, counts) values ($1, $2, $3)";
static const char COUNT_IN_LANES[] = "update messages set reacted = 2 where id = $1";

static bool text_has(struct str text, snowflake id)
{
    struct reaction_line line;

    while (reaction_line_next(&text, &line))
        if (line.id == id)
            return true;
    return false;
}

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

static enum err lane_count(struct tx *tx, const struct message *m, const struct reaction_line *more)
{
    struct rows row;
    bool found;
    struct str counts;
    enum err e = tx_one(tx, LANE_OF, BIND(v_id(m->id), v_int(tx_lane(tx))), &row, &found);

    if (e)
        return e;
    if (!found)
        return lane_begin(tx, m, text_with(tx, STR(""), more));
    counts = row_text(&row, 0);
    if (text_has(counts, more->id))
        counts = reaction_text_sum(tx_arena(tx), counts, text_with(tx, STR(""), more));
    else
        counts = text_with(tx, counts, more);
    return tx_exec(tx, SAVE_LANE, BIND(v_id(m->id), v_int(tx_lane(tx)), v_text(counts)), NULL);
}

enum err reaction_lanes_drop(struct tx *tx, snowflake message_id)
{
    return tx_exec(tx, "delete from reaction_lanes where message_id = $1", BIND(v_id(message_id)),
                   NULL);
}

/* --- changes -------------------------------------------------------------------------- */

enum err reaction_count(struct tx *tx, const struct message *m, snowflake id, bool burst,
                        int64_t by)
{
    struct reaction_line more = { .id = id, .normal = burst ? 0 : by, .burst = burst ? by : 0 };

    if (tx_lane(tx))
        return lane_count(tx, m, &more);
    return reactions_save(
        tx, m, reaction_text_sum(tx_arena(tx), m->reactions.value, text_with(tx, STR(""), &more)),
        REACTED);
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
    struct reaction_line line;
    size_t count = 0;

    while (reaction_line_next(&text, &line))
        count++;
    return count;
}

/* Emoji that nobody uses any more go when another one comes. */
static enum err line_append(struct tx *tx, const struct message *m,
                            const struct reaction_line *line)
{
    struct str kept = m->kept_reactions.value, shown = m->reactions.value;

    if (m->reacted != REACTED_IN_LANES)
        return reactions_save(tx, m, text_with(tx, text_without(tx, m, 0), line), REACTED);
    if (reaction_kinds(kept) == reaction_kinds(shown))
        return reactions_save(tx, m, text_with(tx, kept, line), REACTED_IN_LANES);
    enum err e = reactions_save(tx, m, text_with(tx, text_without(tx, m, 0), line), REACTED);
    if (!e)
        e = reaction_lanes_drop(tx, m->id);
    return e ? e : tx_exec(tx, DROP_UNUSED, BIND(v_id(m->id)), NULL);
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
    enum err e = reactions_save(tx, m, left, REACTED);

    return e || m->reacted != REACTED_IN_LANES ? e : reaction_lanes_drop(tx, m->id);
}

enum err reaction_delete(struct tx *tx, const struct message *m, snowflake id)
{
    enum err e = reactions_take_off(tx, m, id);

    return e ? e : tx_exec(tx, "delete from reactions where id = $1", BIND(v_id(id)), NULL);
}
