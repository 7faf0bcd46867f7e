/* member_order.c - tests the order of members in a member list, and the list's id. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/member_lists/list_id.h"
#include "gateway/member_lists/member_order.h"
#include "model/permissions/permissions.h"

enum { RANDOM = 3000, MANY = 100000, BATCH = 1000 };

static struct ordered_member *member(snowflake id, uint32_t rank, const char *name)
{
    struct ordered_member *m = ordered_member_new(id, str_of(name), &id, 1);

    m->rank = rank;
    m->version = 1;
    return m;
}

static void free_ordered_members(struct ordered_member **all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mem_free(all[i]);
}

/* --- order ---------------------------------------------------------------------------- */

static void member_list_sorts_by_group_then_name_then_id(void **state)
{
    struct ordered_member *all[] = {
        member(1, 2, "zoe"), member(2, 0, "bob"), member(3, 2, "ada"),
        member(4, 0, "bo"),  member(6, 5, "x"),   member(5, 0, "bob")
    };
    const snowflake expected[] = { 0, 4, 2, 5, 0, 3, 1, 0, 6 };
    struct member_list_order o = { 0 };
    struct member_list_group groups[8];

    (void)state;
    member_order_insert(&o, all, COUNT_OF(all));
    size_t n = member_order_list_groups(&o, groups, COUNT_OF(groups));
    assert_int_equal(n, 3);
    assert_int_equal(groups[1].row, 4);
    assert_int_equal(groups[1].count, 2);
    for (size_t row = 0; row < COUNT_OF(expected); row++) {
        struct member_list_row r = member_order_row_at(&o, groups, n, row);

        assert_non_null(r.group);
        assert_int_equal(r.member ? r.member->user_id : 0, expected[row]);
    }
    assert_null(member_order_row_at(&o, groups, n, COUNT_OF(expected)).group);
    assert_int_equal(member_order_list_groups(&o, groups, 2), 2);
    free_ordered_members(all, COUNT_OF(all));
    member_order_clear(&o);
    assert_int_equal(member_order_list_groups(&o, groups, 8), 0);
    assert_null(member_order_row_at(&o, groups, 0, 0).group);
}

static void members_who_left_are_removed_from_the_order(void **state)
{
    struct ordered_member *all[] = { member(1, 0, "a"), member(2, 0, "b"), member(3, 1, "c") };
    struct ordered_member *same[] = { all[0], all[1], all[2] };
    struct member_list_order o = { 0 };
    struct member_list_group groups[4];

    (void)state;
    member_order_insert(&o, same, 3);
    all[0]->gone = all[2]->gone = true;
    member_order_delete_members_marked_gone(&o);
    assert_int_equal(o.count, 1);
    assert_int_equal(o.items[0]->user_id, 2);
    assert_int_equal(member_order_list_groups(&o, groups, 4), 1);
    free_ordered_members(all, 3);
    member_order_clear(&o);
}

static void members_merged_in_parts_are_sorted(void **state)
{
    static struct ordered_member *all[RANDOM], *some[RANDOM];
    struct member_list_order o = { 0 }, whole = { 0 };

    (void)state;
    srand(7);
    for (size_t i = 0; i < RANDOM; i++) {
        char name[8] = { (char)('a' + rand() % 3), (char)('a' + rand() % 3), 0 };

        all[i] = some[i] = member(i + 1, (uint32_t)rand() % 4, name);
    }
    for (size_t from = 0; from < RANDOM;) {
        size_t count = (size_t)rand() % 200 + 1;

        count = count < RANDOM - from ? count : RANDOM - from;
        member_order_insert(&o, some + from, count);
        from += count;
    }
    member_order_insert(&whole, all, RANDOM);
    assert_int_equal(o.count, RANDOM);
    assert_memory_equal(o.items, whole.items, RANDOM * sizeof *o.items);
    free_ordered_members(all, RANDOM);
    member_order_clear(&o);
    member_order_clear(&whole);
}

static void member_list_digest_changes_only_with_visible_rows(void **state)
{
    struct ordered_member *all[] = { member(1, 0, "a"), member(2, 0, "b"), member(3, 1, "c") };
    struct ordered_member *same[] = { all[0], all[1], all[2] };
    struct member_list_order o = { 0 };
    struct member_list_group groups[4];

    (void)state;
    member_order_insert(&o, same, 3);
    size_t n = member_order_list_groups(&o, groups, 4);
    uint64_t first = member_order_hash_rows(&o, groups, n, 0, 2),
             rest = member_order_hash_rows(&o, groups, n, 3, 99);

    all[2]->version++;
    assert_true(member_order_hash_rows(&o, groups, n, 0, 2) == first);
    assert_true(member_order_hash_rows(&o, groups, n, 3, 99) != rest);
    groups[0].count++;
    assert_true(member_order_hash_rows(&o, groups, n, 0, 2) != first);
    /* Rows beyond the end have the same digest, whatever is before them. */
    assert_true(member_order_hash_rows(&o, groups, n, 50, 99) ==
                member_order_hash_rows(&o, groups, 1, 50, 99));
    free_ordered_members(all, 3);
    member_order_clear(&o);
}

/* A step takes about 1 ms; a loop iteration may take 20 ms, and sanitizers are slow. */
static void sorting_100000_members_takes_only_short_steps(void **state)
{
    static struct ordered_member *all[MANY], *some[MANY];
    struct member_list_order o = { 0 };
    int64_t longest = 0;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        char name[24];

        snprintf(name, sizeof name, "member %zu", i * 7919 % MANY);
        all[i] = some[i] = member(i + 1, i % 5 == 0, name);
    }
    for (size_t from = 0; from < MANY; from += BATCH) {
        int64_t began = clock_thread_cpu_ns();

        member_order_insert(&o, some + from, BATCH);
        member_order_delete_members_marked_gone(&o);
        int64_t took = clock_thread_cpu_ns() - began;
        longest = took > longest ? took : longest;
    }
    assert_int_equal(o.count, MANY);
    assert_true(longest < INT64_C(200) * 1000 * 1000);
    free_ordered_members(all, MANY);
    member_order_clear(&o);
}

/* --- list ids ------------------------------------------------------------------------- */

static void murmur3_matches_known_hashes(void **state)
{
    (void)state;
    assert_true(murmur3_hash32("", 0) == 0);
    assert_true(murmur3_hash32("a", 1) == 0x3c2569b2);
    assert_true(murmur3_hash32("test", 4) == 0xba6bd213);
    assert_true(murmur3_hash32("Hello, world!", 13) == 0xc0363e43);
    assert_true(murmur3_hash32("The quick brown fox jumps over the lazy dog", 43) == 0x2e4ff723);
}

static void list_id_is_everyone_without_overwrites_denying_view(void **state)
{
    const uint64_t view = PERMISSION(VIEW_CHANNEL);
    const struct overwrite shown = { .id = 7, .allow = view };
    const struct overwrite hidden[] = { { .id = 9, .deny = view }, { .id = 7, .allow = view } };
    const struct overwrite turned[] = { hidden[1], { .id = 5, .deny = ~view }, hidden[0] };
    char id[LIST_ID_MAX], other[LIST_ID_MAX];

    (void)state;
    compute_member_list_id(true, NULL, 0, id);
    assert_string_equal(id, "everyone");
    compute_member_list_id(true, &shown, 1, id);
    assert_string_equal(id, "everyone");
    compute_member_list_id(false, &shown, 1, id);
    snprintf(other, sizeof other, "%u", murmur3_hash32("allow:7", 7));
    assert_string_equal(id, other);
    compute_member_list_id(true, hidden, 2, id);
    snprintf(other, sizeof other, "%u", murmur3_hash32("allow:7,deny:9", 14));
    assert_string_equal(id, other);
    /* Neither the order of the overwrites nor their other permissions matter. */
    compute_member_list_id(true, turned, 3, other);
    assert_string_equal(id, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(member_list_sorts_by_group_then_name_then_id),
        cmocka_unit_test(members_who_left_are_removed_from_the_order),
        cmocka_unit_test(members_merged_in_parts_are_sorted),
        cmocka_unit_test(member_list_digest_changes_only_with_visible_rows),
        cmocka_unit_test(sorting_100000_members_takes_only_short_steps),
        cmocka_unit_test(murmur3_matches_known_hashes),
        cmocka_unit_test(list_id_is_everyone_without_overwrites_denying_view),
    };

    return cmocka_run_group_tests_name("gateway/lists", tests, NULL, NULL);
}
