/* show.c - sets .reactions of messages. The count of a reaction is the sum of those in the
 * message's row and in its counter shards. The viewer's own reactions are marked. */
#include "platform/reactions/internal.h"

/* A range of message ids, for queries about a page of messages. */
struct message_range {
    snowflake first, last; /* ids of the first and last message; last is 0 if the range is empty */
};

static void extend_message_range(struct message_range *s, snowflake id)
{
    s->first = s->last && s->first < id ? s->first : id;
    s->last = s->last > id ? s->last : id;
}

static struct message *find_message_by_id(const struct list *messages, snowflake id)
{
    struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].id == id)
            return &m[i];
    return NULL;
}

/* --- counter shards ------------------------------------------------------------------- */

static const char READ_SHARDS[] =
    "select l.message_id, l.counts from messages m join reaction_lanes l on l.message_id = m.id "
    "where m.channel_id = $1 and m.id between $2 and $3 and m.reacted = 2 and "
    "l.message_id between $2 and $3 order by l.message_id";

/* Adds the counts of a counter shard (counts of one writer) to a reaction. Counter shards have no
 * user ids, so the reaction's list of users would be incomplete and is cleared. */
static void add_shard_counts(struct reaction_line *line, struct str counts)
{
    struct reaction_line more;

    line->users = STR("");
    while (reaction_line_parse_next(&counts, &more))
        if (more.id == line->id) {
            line->normal += more.normal;
            line->burst += more.burst;
        }
}

static struct str merge_shard_counts(struct arena *arena, struct str text, struct str counts)
{
    struct str lines = reaction_text_skip_reader_line(text);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MAX_REACTION_TEXT_BYTES);
    reaction_text_append_reader_line(&out);
    while (reaction_line_parse_next(&lines, &line)) {
        add_shard_counts(&line, counts);
        reaction_line_append(&out, &line);
    }
    return buf_move_to_arena(&out, arena);
}

/* Hides emoji whose total count is 0. Such emoji exist until the shards are merged, if their last
 * users were removed in different counter shards. */
static void hide_emoji_without_reactions(struct arena *arena, struct message *m)
{
    struct str lines = reaction_text_skip_reader_line(m->reactions.value);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MAX_REACTION_TEXT_BYTES);
    reaction_text_append_reader_line(&out);
    m->reactions.given = ABSENT;
    while (reaction_line_parse_next(&lines, &line))
        if (line.normal + line.burst > 0) {
            reaction_line_append(&out, &line);
            m->reactions.given = GIVEN;
        }
    m->reactions.value = buf_move_to_arena(&out, arena);
}

static enum err merge_counter_shards(struct tx *tx, snowflake channel_id,
                                     const struct message_range *s, struct list *messages)
{
    struct message *m = messages->items;
    struct rows rows;
    enum err e =
        tx_query(tx, READ_SHARDS, BIND(v_id(channel_id), v_id(s->first), v_id(s->last)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct message *of = find_message_by_id(messages, row_id(&rows, 0));

        if (of)
            of->reactions.value =
                merge_shard_counts(tx_arena(tx), of->reactions.value, row_text(&rows, 1));
    }
    for (size_t i = 0; i < messages->count; i++)
        if (m[i].reacted == HAS_REACTIONS_IN_COUNTER_SHARDS && m[i].reactions.given == GIVEN)
            hide_emoji_without_reactions(tx_arena(tx), &m[i]);
    return rows_end(&rows);
}

/* --- the viewer's own reactions ------------------------------------------------------- */

static const char OWN_REACTIONS[] =
    "select message_id, reaction_id, burst from reaction_users where user_id = $1 and "
    "channel_id = $2 and message_id between $3 and $4 order by message_id desc";

enum err read_caller_reactions(struct call *call, struct caller_reactions *own)
{
    struct rows rows;
    enum err e = tx_query(
        call->tx, OWN_REACTIONS,
        BIND(v_id(call->caller->id), v_id(own->channel_id), v_id(own->first), v_id(own->last)),
        &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct caller_reaction *r = list_append(call->arena, &own->list, sizeof *r);

        *r = (struct caller_reaction){ row_id(&rows, 0), row_id(&rows, 1), row_bool(&rows, 2) };
    }
    return rows_end(&rows);
}

static enum err mark_own_reactions(struct call *call, snowflake channel_id,
                                   const struct message_range *s, struct list *messages)
{
    struct caller_reactions own = { .channel_id = channel_id, .first = s->first, .last = s->last };
    enum err e = read_caller_reactions(call, &own);
    const struct caller_reaction *r = own.list.items;
    struct message *m = NULL;

    for (size_t i = 0; !e && i < own.list.count; i++) {
        if (!m || m->id != r[i].message_id)
            m = find_message_by_id(messages, r[i].message_id);
        if (m && m->reactions.given == GIVEN)
            reaction_text_mark_reaction_of_reader(m->reactions.value, r[i].reaction_id,
                                                  r[i].burst ? READER_REACTED_BURST
                                                             : READER_REACTED_NORMAL);
    }
    return e;
}

enum err messages_fill_reactions(struct call *call, struct list *messages)
{
    struct message_range by_many = { 0 }, sharded = { 0 };
    struct message *m = messages->items;
    enum err e = OK;

    for (size_t i = 0; i < messages->count; i++) {
        m[i].reactions = m[i].stored_reactions;
        if (m[i].reactions.given != GIVEN)
            continue;
        if (m[i].reacted == HAS_REACTIONS_IN_COUNTER_SHARDS)
            extend_message_range(&sharded, m[i].id);
        if (m[i].reacted != HAS_REACTIONS_WITH_ALL_USERS)
            extend_message_range(&by_many, m[i].id);
        else if (call->caller)
            reaction_text_write_reader_id(m[i].reactions.value, call->caller->id);
    }
    if (sharded.last)
        e = merge_counter_shards(call->tx, m->channel_id, &sharded, messages);
    if (!e && by_many.last && call->caller)
        e = mark_own_reactions(call, m->channel_id, &by_many, messages);
    return e;
}
