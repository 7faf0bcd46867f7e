/* own_reaction_offsets.c - offsets of the values of "me" in a cached page of messages. Each reader
 * gets a copy of the page in which "me" is true for the reader's own reactions. If the message's
 * row lists all users who reacted, the offsets are found by user id, else with one query per
 * page. */
#include "platform/messages/internal.h"

#include <stdlib.h>

#include "model/text/reaction_text.h"

enum { CHAINS = 256, MOST_MARKS = 1 << 20 };

/* A user in the row's list of users who reacted, and the offset of the reaction's "me". */
struct listed_user_offset {
    snowflake user_id;
    uint32_t me;
    uint32_t next; /* index of the next entry in the hash chain plus one; 0 at the end */
};

/* A reaction of a message whose row does not list all users who reacted. */
struct unlisted_reaction_offset {
    snowflake message_id, reaction_id;
    uint32_t me, me_burst;
};

struct own_reaction_offsets {
    struct buf named, counted; /* entries that are recorded until own_reaction_offsets_finish */
    struct listed_user_offset *all_named;
    const struct unlisted_reaction_offset *all_counted;
    size_t named_count, counted_count;
    snowflake channel_id;
    uint32_t chains[CHAINS]; /* index of the first entry of each hash chain plus one, or 0 */
};

/* The hash includes higher bits of the id, because the low bits of an id are mostly 0. */
static size_t find_hash_chain_of_user(snowflake user_id)
{
    return (user_id ^ user_id >> 22) % CHAINS;
}

struct own_reaction_offsets *own_reaction_offsets_new(struct arena *arena, snowflake channel_id)
{
    struct own_reaction_offsets *marks = arena_alloc(arena, sizeof *marks);

    marks->channel_id = channel_id;
    buf_init(&marks->named, MOST_MARKS);
    buf_init(&marks->counted, MOST_MARKS);
    return marks;
}

static void record_offsets_of_listed_users(struct own_reaction_offsets *marks,
                                           const struct reaction_json_offsets *spot)
{
    struct listed_user_offset mark = { .me = (uint32_t)spot->me };
    struct str users = spot->users;

    while (reaction_user_ids_read_next(&users, &mark.user_id))
        buf_add(&marks->named, &mark, sizeof mark);
}

static void record_offset_of_unlisted_reaction(struct own_reaction_offsets *marks,
                                               snowflake message_id,
                                               const struct reaction_json_offsets *spot)
{
    struct unlisted_reaction_offset mark = { .message_id = message_id,
                                             .reaction_id = spot->id,
                                             .me = (uint32_t)spot->me,
                                             .me_burst = (uint32_t)spot->me_burst };

    buf_add(&marks->counted, &mark, sizeof mark);
}

void own_reaction_offsets_write_json(struct own_reaction_offsets *marks, struct json_writer *j,
                                     const struct message *m)
{
    struct str lines = reaction_text_skip_reader_line(m->stored_reactions.value);
    struct reaction_json_offsets spot;

    json_begin_array(j);
    while (write_next_reaction_json(j, &lines, &spot)) {
        if (m->reacted == HAS_REACTIONS_WITH_ALL_USERS)
            record_offsets_of_listed_users(marks, &spot);
        else
            record_offset_of_unlisted_reaction(marks, m->id, &spot);
    }
    json_end_array(j);
}

/* Links the entries from the last to the first, so that each hash chain has the order of the
 * page. */
static void link_reaction_user_hash_chains(struct own_reaction_offsets *marks)
{
    for (size_t i = marks->named_count; i-- > 0;) {
        struct listed_user_offset *mark = &marks->all_named[i];
        uint32_t *first = &marks->chains[find_hash_chain_of_user(mark->user_id)];

        mark->next = *first;
        *first = (uint32_t)i + 1;
    }
}

static void *copy_buffer_to_arena(struct buf *from, struct arena *arena)
{
    void *all = arena_alloc_unzeroed(arena, from->n);

    if (from->n)
        memcpy(all, from->p, from->n);
    buf_clear(from);
    return all;
}

bool own_reaction_offsets_finish(struct own_reaction_offsets *marks, struct arena *arena)
{
    bool whole = !buf_is_full(&marks->named) && !buf_is_full(&marks->counted);

    marks->named_count = marks->named.n / sizeof *marks->all_named;
    marks->counted_count = marks->counted.n / sizeof *marks->all_counted;
    marks->all_named = copy_buffer_to_arena(&marks->named, arena);
    marks->all_counted = copy_buffer_to_arena(&marks->counted, arena);
    link_reaction_user_hash_chains(marks);
    return whole;
}

static void append_own_reaction_offset(struct call *call, struct list *offset_list, uint32_t at)
{
    *(uint32_t *)list_append(call->arena, offset_list, sizeof at) = at;
}

static void collect_offsets_of_listed_users(struct call *call,
                                            const struct own_reaction_offsets *marks,
                                            struct list *offset_list)
{
    uint32_t next = marks->chains[find_hash_chain_of_user(call->caller->id)];

    while (next) {
        const struct listed_user_offset *mark = &marks->all_named[next - 1];

        if (mark->user_id == call->caller->id)
            append_own_reaction_offset(call, offset_list, mark->me);
        next = mark->next;
    }
}

/* Collects the offsets of the caller's reactions by merging two lists ordered by message id, newest
 * first. */
static void collect_offsets_of_unlisted_reactions(struct call *call,
                                                  const struct own_reaction_offsets *marks,
                                                  const struct list *own, struct list *offset_list)
{
    const struct caller_reaction *r = own->items;
    const struct unlisted_reaction_offset *all = marks->all_counted;
    size_t from = 0;

    for (size_t i = 0; i < own->count; i++) {
        while (from < marks->counted_count && all[from].message_id > r[i].message_id)
            from++;
        for (size_t k = from; k < marks->counted_count && all[k].message_id == r[i].message_id; k++)
            if (all[k].reaction_id == r[i].reaction_id)
                append_own_reaction_offset(call, offset_list,
                                           r[i].burst ? all[k].me_burst : all[k].me);
    }
}

static int compare_offsets(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

enum err own_reaction_offsets_read_for_caller(struct call *call,
                                              const struct own_reaction_offsets *marks,
                                              struct list *ret)
{
    *ret = (struct list){ 0 };
    collect_offsets_of_listed_users(call, marks, ret);
    if (!marks->counted_count)
        return OK;
    struct caller_reactions own = {
        .channel_id = marks->channel_id,
        .first = marks->all_counted[marks->counted_count - 1].message_id,
        .last = marks->all_counted[0].message_id,
    };
    enum err e = hook_own_reactions_find(call, &own);
    if (e || !own.list.count)
        return e;
    collect_offsets_of_unlisted_reactions(call, marks, &own.list, ret);
    if (ret->count)
        qsort(ret->items, ret->count, sizeof(uint32_t), compare_offsets);
    return OK;
}

void copy_page_with_own_reactions(struct buf *out, struct str page, const struct list *offset_list)
{
    const uint32_t *at = offset_list->items;
    char *to = buf_reserve(out, page.n), *begin = to;
    size_t from = 0;

    if (!to)
        return;
    for (size_t i = 0; i < offset_list->count; i++) {
        memcpy(to, page.p + from, at[i] - from);
        to += at[i] - from;
        memcpy(to, "true", 4);
        to += 4;
        from = at[i] + sizeof "false" - 1;
    }
    memcpy(to, page.p + from, page.n - from);
    out->n += (size_t)(to - begin) + page.n - from;
}
