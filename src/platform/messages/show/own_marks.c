/* own_marks.c - offsets of "me" of reactions in an encoded page that readers share. A reader gets a
 * copy in which some values are true. Offsets are found by user id if the message's row lists all
 * users who reacted, else with one query per page. */
#include "platform/messages/internal.h"

#include <stdlib.h>

#include "model/text/reaction_text.h"

enum { CHAINS = 256, MOST_MARKS = 1 << 20 };

/* A user who reacted, as the message's row lists them, and the offset of the reaction's "me". */
struct named_mark {
    snowflake user_id;
    uint32_t me;
    uint32_t next; /* index of the next entry in the hash chain, plus one; 0: end */
};

/* A reaction whose users are not all listed in the row. */
struct counted_mark {
    snowflake message_id, reaction_id;
    uint32_t me, me_burst;
};

struct own_marks {
    struct buf named, counted; /* used until own_marks_keep */
    struct named_mark *all_named;
    const struct counted_mark *all_counted;
    size_t named_count, counted_count;
    snowflake channel_id;
    uint32_t chains[CHAINS]; /* index of the first entry of each hash chain, plus one */
};

/* Includes higher bits, because the low bits of an id are mostly 0. */
static size_t chain_of(snowflake user_id)
{
    return (user_id ^ user_id >> 22) % CHAINS;
}

struct own_marks *own_marks_new(struct arena *arena, snowflake channel_id)
{
    struct own_marks *marks = arena_alloc(arena, sizeof *marks);

    marks->channel_id = channel_id;
    buf_init(&marks->named, MOST_MARKS);
    buf_init(&marks->counted, MOST_MARKS);
    return marks;
}

/* --- writing -------------------------------------------------------------------------- */

static void mark_named(struct own_marks *marks, const struct reaction_spot *spot)
{
    struct named_mark mark = { .me = (uint32_t)spot->me };
    struct str users = spot->users;

    while (reaction_user_next(&users, &mark.user_id))
        buf_add(&marks->named, &mark, sizeof mark);
}

static void mark_counted(struct own_marks *marks, snowflake message_id,
                         const struct reaction_spot *spot)
{
    struct counted_mark mark = { .message_id = message_id,
                                 .reaction_id = spot->id,
                                 .me = (uint32_t)spot->me,
                                 .me_burst = (uint32_t)spot->me_burst };

    buf_add(&marks->counted, &mark, sizeof mark);
}

void own_marks_write(struct own_marks *marks, struct json *j, const struct message *m)
{
    struct str lines = reaction_text_lines(m->kept_reactions.value);
    struct reaction_spot spot;

    json_array(j);
    while (reaction_show_plain(j, &lines, &spot)) {
        if (m->reacted == REACTED_BY_FEW)
            mark_named(marks, &spot);
        else
            mark_counted(marks, m->id, &spot);
    }
    json_array_end(j);
}

/* Links the entries in reverse, so that a chain has the order of the page. */
static void named_link(struct own_marks *marks)
{
    for (size_t i = marks->named_count; i-- > 0;) {
        struct named_mark *mark = &marks->all_named[i];
        uint32_t *first = &marks->chains[chain_of(mark->user_id)];

        mark->next = *first;
        *first = (uint32_t)i + 1;
    }
}

static void *marks_take(struct buf *from, struct arena *arena)
{
    void *all = arena_raw(arena, from->n);

    if (from->n)
        memcpy(all, from->p, from->n);
    buf_clear(from);
    return all;
}

bool own_marks_keep(struct own_marks *marks, struct arena *arena)
{
    bool whole = !buf_full(&marks->named) && !buf_full(&marks->counted);

    marks->named_count = marks->named.n / sizeof *marks->all_named;
    marks->counted_count = marks->counted.n / sizeof *marks->all_counted;
    marks->all_named = marks_take(&marks->named, arena);
    marks->all_counted = marks_take(&marks->counted, arena);
    named_link(marks);
    return whole;
}

/* --- reading -------------------------------------------------------------------------- */

static void place_add(struct call *call, struct list *places, uint32_t at)
{
    *(uint32_t *)list_add(call->arena, places, sizeof at) = at;
}

static void places_named(struct call *call, const struct own_marks *marks, struct list *places)
{
    uint32_t next = marks->chains[chain_of(call->caller->id)];

    while (next) {
        const struct named_mark *mark = &marks->all_named[next - 1];

        if (mark->user_id == call->caller->id)
            place_add(call, places, mark->me);
        next = mark->next;
    }
}

/* Finds offsets by merging two lists ordered by message id, newest first. */
static void places_counted(struct call *call, const struct own_marks *marks, const struct list *own,
                           struct list *places)
{
    const struct own_reaction *r = own->items;
    const struct counted_mark *all = marks->all_counted;
    size_t from = 0;

    for (size_t i = 0; i < own->count; i++) {
        while (from < marks->counted_count && all[from].message_id > r[i].message_id)
            from++;
        for (size_t k = from; k < marks->counted_count && all[k].message_id == r[i].message_id; k++)
            if (all[k].reaction_id == r[i].reaction_id)
                place_add(call, places, r[i].burst ? all[k].me_burst : all[k].me);
    }
}

static int place_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

enum err own_marks_find(struct call *call, const struct own_marks *marks, struct list *ret)
{
    *ret = (struct list){ 0 };
    places_named(call, marks, ret);
    if (!marks->counted_count)
        return OK;
    struct own_reactions own = {
        .channel_id = marks->channel_id,
        .first = marks->all_counted[marks->counted_count - 1].message_id,
        .last = marks->all_counted[0].message_id,
    };
    enum err e = hook_reactions_owned(call, &own);
    if (e || !own.list.count)
        return e;
    places_counted(call, marks, &own.list, ret);
    if (ret->count)
        qsort(ret->items, ret->count, sizeof(uint32_t), place_order);
    return OK;
}

void own_marks_copy(struct buf *out, struct str page, const struct list *places)
{
    const uint32_t *at = places->items;
    char *to = buf_room(out, page.n), *begin = to;
    size_t from = 0;

    if (!to)
        return;
    for (size_t i = 0; i < places->count; i++) {
        memcpy(to, page.p + from, at[i] - from);
        to += at[i] - from;
        memcpy(to, "true", 4);
        to += 4;
        from = at[i] + sizeof "false" - 1;
    }
    memcpy(to, page.p + from, page.n - from);
    out->n += (size_t)(to - begin) + page.n - from;
}
