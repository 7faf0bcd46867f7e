/* member_order.c - sorted members of a member list, in groups. */
#include "gateway/member_lists/member_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct ordered_member *ordered_member_new(snowflake user_id, struct str name,
                                          const snowflake *roles, size_t role_count)
{
    struct ordered_member *m =
        mem_new(sizeof *m + role_count * sizeof *m->roles + (name.n ? name.n : 1));
    char *text = (char *)(m->roles + role_count);

    m->user_id = user_id;
    m->role_count = (uint32_t)role_count;
    if (role_count)
        memcpy(m->roles, roles, role_count * sizeof *roles);
    if (name.n)
        memcpy(text, name.p, name.n);
    m->name = str_slice(text, name.n);
    return m;
}

static int compare_ordered_members(const struct ordered_member *a, const struct ordered_member *b)
{
    size_t least = a->name.n < b->name.n ? a->name.n : b->name.n;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    int names = memcmp(a->name.p, b->name.p, least);
    if (names)
        return names;
    if (a->name.n != b->name.n)
        return a->name.n < b->name.n ? -1 : 1;
    return a->user_id < b->user_id ? -1 : a->user_id > b->user_id;
}

static int compare_member_pointers(const void *a, const void *b)
{
    return compare_ordered_members(*(struct ordered_member *const *)a,
                                   *(struct ordered_member *const *)b);
}

void member_order_clear(struct member_list_order *o)
{
    mem_free(o->items);
    *o = (struct member_list_order){ 0 };
}

void member_order_delete_members_marked_gone(struct member_list_order *o)
{
    size_t retained = 0;

    for (size_t i = 0; i < o->count; i++)
        if (!o->items[i]->gone)
            o->items[retained++] = o->items[i];
    o->count = retained;
}

/* Returns by binary search how many of the first `count` members sort before m. */
static size_t member_order_find_position(const struct member_list_order *o, size_t count,
                                         const struct ordered_member *m)
{
    size_t from = 0, to = count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (compare_ordered_members(o->items[middle], m) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Merges the new members into the array from its end, so that each member moves at most once. */
void member_order_insert(struct member_list_order *o, struct ordered_member **more, size_t count)
{
    size_t end = o->count;

    if (!count)
        return;
    if (o->cap < o->count + count) {
        o->cap = (o->count + count) * 5 / 4 + 16;
        o->items = mem_resize(o->items, o->cap * sizeof *o->items);
    }
    qsort(more, count, sizeof *more, compare_member_pointers);
    o->count += count;
    for (size_t left = count; left; left--) {
        size_t location = member_order_find_position(o, end, more[left - 1]);

        memmove(o->items + location + left, o->items + location,
                (end - location) * sizeof *o->items);
        o->items[location + left - 1] = more[left - 1];
        end = location;
    }
}

/* Returns by binary search the position after the last member whose group has this rank. */
static size_t member_order_group_end(const struct member_list_order *o, size_t from, uint32_t rank)
{
    size_t to = o->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (o->items[middle]->rank <= rank)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

size_t member_order_list_groups(const struct member_list_order *o, struct member_list_group *ret,
                                size_t max)
{
    size_t n = 0;

    for (size_t at = 0; at < o->count && n < max; n++) {
        uint32_t rank = o->items[at]->rank;
        size_t end = member_order_group_end(o, at, rank);

        ret[n] = (struct member_list_group){ rank, at + n, at, end - at };
        at = end;
    }
    return n;
}

struct member_list_row member_order_row_at(const struct member_list_order *o,
                                           const struct member_list_group *groups, size_t count,
                                           size_t row)
{
    size_t from = 0, to = count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (groups[middle].row <= row)
            from = middle + 1;
        else
            to = middle;
    }
    if (!from || row > groups[from - 1].row + groups[from - 1].count)
        return (struct member_list_row){ 0 };
    const struct member_list_group *g = &groups[from - 1];
    return (struct member_list_row){ g,
                                     row == g->row ? NULL : o->items[g->first + row - g->row - 1] };
}

uint64_t member_order_hash_rows(const struct member_list_order *o,
                                const struct member_list_group *groups, size_t count, size_t first,
                                size_t last)
{
    uint64_t sum = 1;

    for (size_t row = first; row <= last; row++) {
        struct member_list_row r = member_order_row_at(o, groups, count, row);

        if (!r.group)
            break;
        sum = hash_u64(sum + (r.member ? r.member->user_id : r.group->rank + 1));
        sum = hash_u64(sum + (r.member ? r.member->version : r.group->count));
    }
    return sum;
}
