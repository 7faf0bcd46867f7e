/* member_order.h - sorted members of a member list, in groups (roles) with a header row each.
 *
 * Lists are arrays of pointers, so that operations on a hundred thousand members are fast. */
#ifndef GATEWAY_MEMBER_LISTS_MEMBER_ORDER_H
#define GATEWAY_MEMBER_LISTS_MEMBER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/snowflake.h"
#include "base/str.h"

/* A member with its sort key, which never changes. If the member's name, role or status changes the
 * key, this object is marked as removed (gone), and a new object is added. */
struct ordered_member {
    snowflake user_id;
    uint32_t rank;    /* rank of the member's group (hoisted role); rank 0 is shown first */
    uint32_t version; /* changes whenever a visible field changes */
    bool online, gone;
    uint32_t role_count;
    /* display name in lower case; its text is stored in this object, after the roles */
    struct str name;
    snowflake roles[]; /* role ids without @everyone */
};

struct ordered_member *ordered_member_new(snowflake user_id, struct str name,
                                          const snowflake *roles, size_t role_count);

/* The sorted members of one member list. */
struct member_list_order {
    struct ordered_member **items;
    size_t count, cap;
};

void member_order_clear(struct member_list_order *o);
void member_order_delete_members_marked_gone(struct member_list_order *o);
/* Inserts the members `more` at their sorted positions. Sorts the array `more` in place. */
void member_order_insert(struct member_list_order *o, struct ordered_member **more, size_t count);

/* A group of a member list: adjacent members of the same rank, below a header row. */
struct member_list_group {
    uint32_t rank;
    size_t row;   /* row number of the group's header; the rows of its members follow */
    size_t first; /* index of the first member */
    size_t count;
};

/* Writes up to `max` groups to ret, in order. Returns their number. */
size_t member_order_list_groups(const struct member_list_order *o, struct member_list_group *ret,
                                size_t max);

/* A row of a member list: a group's header or a member. */
struct member_list_row {
    /* group of the row; NULL if the member list has no such row */
    const struct member_list_group *group;
    const struct ordered_member *member;
};
struct member_list_row member_order_row_at(const struct member_list_order *o,
                                           const struct member_list_group *groups, size_t count,
                                           size_t row);

/* Returns a hash of the rows `first` to `last`. Equal hashes mean unchanged rows. */
uint64_t member_order_hash_rows(const struct member_list_order *o,
                                const struct member_list_group *groups, size_t count, size_t first,
                                size_t last);

#endif
