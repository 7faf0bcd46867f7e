/* member_order.h - members in the order of a list, in groups that have a row of their own.
 *
 * Pure: neither sessions nor the store are known here. Whatever a list does with many members is
 * a pass over pointers to them, so that a hundred thousand take a moment. */
#ifndef GATEWAY_MEMBER_LISTS_MEMBER_ORDER_H
#define GATEWAY_MEMBER_LISTS_MEMBER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/snowflake.h"
#include "base/str.h"

/* A member as lists order it. Its place never changes: one that has another place is gone, and
 * comes back as a new one. */
struct ordered_member {
    snowflake user_id;
    uint32_t rank;    /* of its group; 0 stands first */
    uint32_t version; /* another one whenever something changes that lists show */
    bool online, gone;
    uint32_t role_count;
    struct str name;   /* without regard to case; behind the roles */
    snowflake roles[]; /* without @everyone */
};

struct ordered_member *ordered_member_new(snowflake user_id, struct str name,
                                          const snowflake *roles, size_t role_count);

/* The members of one list. */
struct member_order {
    struct ordered_member **items;
    size_t count, cap;
};

void order_clear(struct member_order *o);
/* Takes those out that are gone. */
void order_sweep(struct member_order *o);
/* Puts members in; their own array is sorted for it. */
void order_merge(struct member_order *o, struct ordered_member **more, size_t count);

/* Neighbours of one rank. */
struct order_group {
    uint32_t rank;
    size_t row;   /* of the group itself; its members follow */
    size_t first; /* of its members, among the items */
    size_t count;
};

/* The groups in their order, so many at most; how many there are. */
size_t order_groups(const struct member_order *o, struct order_group *ret, size_t max);

/* A row of a list: of a group, or of a member of it. */
struct list_row {
    const struct order_group *group; /* NULL: the list has no such row */
    const struct ordered_member *member;
};
struct list_row order_row_at(const struct member_order *o, const struct order_group *groups,
                             size_t count, size_t row);

/* Two equal ones: nothing has changed in these rows. */
uint64_t order_digest(const struct member_order *o, const struct order_group *groups, size_t count,
                      size_t first, size_t last);

#endif
