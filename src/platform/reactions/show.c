/* show.c - fills the reactions of messages: counts of rows and counter shards, with the viewer's
 * own reactions marked. */
#include "platform/reactions/internal.h"

/* A range of message ids, for queries about a page. */
struct stretch {
    snowflake first, last; /* last is 0 if the range is empty */
};

static void stretch_add(struct stretch *s, snowflake id)
{
    s->first = s->last && s->first < id ? s->first : id;
    s->last = s->last > id ? s->last : id;
}

static struct message *message_of(const struct list *messages, snowflake id)
{
    struct message *m = messages->items;

    for (size_t i = 0; i < messages->count; i++)
        if (m[i].id == id)
            return &m[i];
    return NULL;
}

/* --- counter shards ------------------------------------------------------------------- */

static const char LANES_OF[] =
    "select l.message_id, l.counts from messages m join reaction_lanes l on l.message_id = m.id "
    "where m.channel_id = $1 and m.id between $2 and $3 and m.reacted = 2 and "
    "l.message_id between $2 and $3 order by l.message_id";

/* Adds the counts of a shard. Shards contain no user ids, so the list of users is cleared. */
static void line_sum(struct reaction_line *line, struct str counts)
{
    struct reaction_line more;

    line->users = STR("");
    while (reaction_line_next(&counts, &more))
        if (more.id == line->id) {
            line->normal += more.normal;
            line->burst += more.burst;
        }
}

static struct str text_sum(struct arena *arena, struct str text, struct str counts)
{
    struct str lines = reaction_text_lines(text);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    reaction_text_begin(&out);
    while (reaction_line_next(&lines, &line)) {
        line_sum(&line, counts);
        reaction_line_add(&out, &line);
    }
    return buf_take(&out, arena);
}

/* Hides emoji with a count of 0 until the shards are merged. Concurrent removals in different
 * shards can leave them. */
static void drop_unused(struct arena *arena, struct message *m)
{
    struct str lines = reaction_text_lines(m->reactions.value);
    struct reaction_line line;
    struct buf out;

    buf_init(&out, MOST_REACTION_TEXT);
    reaction_text_begin(&out);
    m->reactions.given = ABSENT;
    while (reaction_line_next(&lines, &line))
        if (line.normal + line.burst > 0) {
            reaction_line_add(&out, &line);
            m->reactions.given = GIVEN;
        }
    m->reactions.value = buf_take(&out, arena);
}

static enum err add_lanes(struct tx *tx, snowflake channel_id, const struct stretch *s,
                          struct list *messages)
{
    struct message *m = messages->items;
    struct rows rows;
    enum err e =
        tx_query(tx, LANES_OF, BIND(v_id(channel_id), v_id(s->first), v_id(s->last)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct message *of = message_of(messages, row_id(&rows, 0));

        if (of)
            of->reactions.value = text_sum(tx_arena(tx), of->reactions.value, row_text(&rows, 1));
    }
    for (size_t i = 0; i < messages->count; i++)
        if (m[i].reacted == REACTED_IN_LANES && m[i].reactions.given == GIVEN)
            drop_unused(tx_arena(tx), &m[i]);
    return rows_end(&rows);
}

/* --- the viewer's own reactions ------------------------------------------------------- */

static const char OWN_REACTIONS[] =
    "select message_id, reaction_id, burst from reaction_users where user_id = $1 and "
    "channel_id = $2 and message_id between $3 and $4 order by message_id desc";

enum err reactions_find_own(struct call *call, struct own_reactions *own)
{
    struct rows rows;
    enum err e = tx_query(
        call->tx, OWN_REACTIONS,
        BIND(v_id(call->caller->id), v_id(own->channel_id), v_id(own->first), v_id(own->last)),
        &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct own_reaction *r = list_add(call->arena, &own->list, sizeof *r);

        *r = (struct own_reaction){ row_id(&rows, 0), row_id(&rows, 1), row_bool(&rows, 2) };
    }
    return rows_end(&rows);
}

static enum err mark_own(struct call *call, snowflake channel_id, const struct stretch *s,
                         struct list *messages)
{
    struct own_reactions own = { .channel_id = channel_id, .first = s->first, .last = s->last };
    enum err e = reactions_find_own(call, &own);
    const struct own_reaction *r = own.list.items;
    struct message *m = NULL;

    for (size_t i = 0; !e && i < own.list.count; i++) {
        if (!m || m->id != r[i].message_id)
            m = message_of(messages, r[i].message_id);
        if (m && m->reactions.given == GIVEN)
            reaction_text_mark(m->reactions.value, r[i].reaction_id,
                               r[i].burst ? OWN_BURST : OWN_NORMAL);
    }
    return e;
}

enum err reactions_show(struct call *call, struct list *messages)
{
    struct stretch by_many = { 0 }, in_lanes = { 0 };
    struct message *m = messages->items;
    enum err e = OK;

    for (size_t i = 0; i < messages->count; i++) {
        m[i].reactions = m[i].kept_reactions;
        if (m[i].reactions.given != GIVEN)
            continue;
        if (m[i].reacted == REACTED_IN_LANES)
            stretch_add(&in_lanes, m[i].id);
        if (m[i].reacted != REACTED_BY_FEW)
            stretch_add(&by_many, m[i].id);
        else if (call->caller)
            reaction_text_for(m[i].reactions.value, call->caller->id);
    }
    if (in_lanes.last)
        e = add_lanes(call->tx, m->channel_id, &in_lanes, messages);
    if (!e && by_many.last && call->caller)
        e = mark_own(call, m->channel_id, &by_many, messages);
    return e;
}
