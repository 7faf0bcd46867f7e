/* rules.c - tests the changes of relationships between two users. */
#include "unit/unit.h"

#include <stdlib.h>

#include "platform/relationships/internal.h"

enum { N = RELATIONSHIP_NONE, F = RELATIONSHIP_FRIEND, K = RELATIONSHIP_BLOCKED };
enum { I = RELATIONSHIP_INCOMING, O = RELATIONSHIP_OUTGOING };

#define ASK      OPERATION_ASK
#define ACCEPT   OPERATION_ACCEPT
#define BLOCK    OPERATION_BLOCK
#define END      OPERATION_END
#define IGNORE   OPERATION_IGNORE
#define UNIGNORE OPERATION_UNIGNORE
#define NONE     SIDE_EVENT_NONE
#define ADD      SIDE_EVENT_ADD
#define UPD      SIDE_EVENT_UPDATE
#define REM      SIDE_EVENT_REMOVE

static const int64_t legal[][2] = { { N, N }, { F, F }, { O, I }, { I, O },
                                    { K, N }, { N, K }, { K, K } };
enum { PAIRS = 7 };

static struct relationship_pair bond_of(int64_t mine, int64_t theirs, bool i_ignore,
                                        bool they_ignore)
{
    return (struct relationship_pair){ .mine = { .type = mine, .ignored = i_ignore },
                                       .theirs = { .type = theirs, .ignored = they_ignore } };
}

/* --- the documented table, written a second time -------------------------------------- */

struct expected {
    enum relationship_operation op;
    int64_t mine, theirs; /* before */
    int64_t my_next, their_next;
    enum relationship_event my_events, their_events;
    bool notify;
    enum err refusal;
};

/* clang-format off */
static const struct expected table[] = {
    { ASK, N, N, O, I, ADD, ADD, true, OK },
    { ASK, I, O, F, F, ADD, ADD, true, OK },
    { ASK, O, I, O, I, NONE, NONE, false, OK },
    { ASK, F, F, 0, 0, 0, 0, false, ERR_ALREADY_FRIENDS },
    { ASK, K, N, 0, 0, 0, 0, false, ERR_FRIEND_REQUEST_BLOCKED },
    { ASK, K, K, 0, 0, 0, 0, false, ERR_FRIEND_REQUEST_BLOCKED },
    { ASK, N, K, 0, 0, 0, 0, false, ERR_FRIEND_REQUEST_BLOCKED },

    { ACCEPT, I, O, F, F, ADD, ADD, true, OK },
    { ACCEPT, F, F, 0, 0, 0, 0, false, ERR_ALREADY_FRIENDS },
    { ACCEPT, N, N, 0, 0, 0, 0, false, ERR_NO_INCOMING_REQUEST },
    { ACCEPT, O, I, 0, 0, 0, 0, false, ERR_NO_INCOMING_REQUEST },
    { ACCEPT, K, N, 0, 0, 0, 0, false, ERR_NO_INCOMING_REQUEST },
    { ACCEPT, N, K, 0, 0, 0, 0, false, ERR_NO_INCOMING_REQUEST },
    { ACCEPT, K, K, 0, 0, 0, 0, false, ERR_NO_INCOMING_REQUEST },

    { BLOCK, N, N, K, N, ADD, NONE, false, OK },
    { BLOCK, F, F, K, N, ADD, REM, false, OK },
    { BLOCK, I, O, K, N, ADD, REM, false, OK },
    { BLOCK, O, I, K, N, ADD, REM, false, OK },
    { BLOCK, N, K, K, K, ADD, NONE, false, OK },
    { BLOCK, K, N, K, N, NONE, NONE, false, OK },
    { BLOCK, K, K, K, K, NONE, NONE, false, OK },

    { END, F, F, N, N, REM, REM, false, OK },
    { END, I, O, N, N, REM, REM, false, OK },
    { END, O, I, N, N, REM, REM, false, OK },
    { END, K, N, N, N, REM, NONE, false, OK },
    { END, K, K, N, K, REM, NONE, false, OK },
    { END, N, N, N, N, NONE, NONE, false, OK },
    { END, N, K, N, K, NONE, NONE, false, OK },
};
/* clang-format on */

static const struct expected *row_for(enum relationship_operation op, int64_t mine, int64_t theirs)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op && table[i].mine == mine && table[i].theirs == theirs)
            return &table[i];
    return NULL;
}

/* Ignoring never changes the types, nor the other user's mark. */
static void check_row(const struct expected *x, bool i_ignore, bool they_ignore)
{
    struct relationship_pair before = bond_of(x->mine, x->theirs, i_ignore, they_ignore);
    struct relationship_pair_change c;

    assert_int_equal(relationship_compute_change(x->op, &before, &c), x->refusal);
    if (x->refusal)
        return;
    assert_int_equal(c.mine.type, x->my_next);
    assert_int_equal(c.theirs.type, x->their_next);
    assert_int_equal(c.mine.event, x->my_events);
    assert_int_equal(c.theirs.event, x->their_events);
    assert_int_equal(c.mine.ignored, i_ignore);
    assert_int_equal(c.theirs.ignored, they_ignore);
    assert_false(c.mine.notify);
    bool silenced = they_ignore && c.theirs.type == I;
    assert_int_equal(c.theirs.notify, x->notify && !silenced);
}

static void relationship_changes_match_the_table_for_every_pair(void **state)
{
    (void)state;
    for (int op = ASK; op <= END; op++)
        for (int p = 0; p < PAIRS; p++)
            for (int g = 0; g < 4; g++) {
                const struct expected *x =
                    row_for((enum relationship_operation)op, legal[p][0], legal[p][1]);

                assert_non_null(x);
                check_row(x, g & 1, g & 2);
            }
    assert_int_equal(sizeof table / sizeof *table, 4 * PAIRS);
}

static void ignoring_a_user_does_not_change_the_relationship_type(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++)
        for (int g = 0; g < 4; g++)
            for (int op = IGNORE; op <= UNIGNORE; op++) {
                bool was = g & 1, want = op == IGNORE, nothing = legal[p][0] == N;
                struct relationship_pair before = bond_of(legal[p][0], legal[p][1], was, g & 2);
                struct relationship_pair_change c;

                assert_int_equal(
                    relationship_compute_change((enum relationship_operation)op, &before, &c), OK);
                assert_int_equal(c.mine.type, legal[p][0]);
                assert_int_equal(c.theirs.type, legal[p][1]);
                assert_int_equal(c.mine.ignored, want);
                assert_int_equal(c.theirs.ignored, (g & 2) != 0);
                assert_int_equal(c.theirs.event, NONE);
                assert_int_equal(c.mine.event, was == want ? NONE
                                               : !nothing  ? UPD
                                               : want      ? ADD
                                                           : REM);
            }
}

static void only_seven_pairs_of_relationship_types_are_legal(void **state)
{
    int count = 0;

    (void)state;
    for (int mine = 0; mine <= 5; mine++)
        for (int theirs = 0; theirs <= 5; theirs++)
            count += relationship_type_pair_is_valid(mine, theirs);
    assert_int_equal(count, PAIRS);
    for (int p = 0; p < PAIRS; p++)
        assert_true(relationship_type_pair_is_valid(legal[p][0], legal[p][1]));
}

/* --- random walks --------------------------------------------------------------------- */

static struct relationship_pair swap_bond_sides(const struct relationship_pair *b)
{
    return (struct relationship_pair){ .mine = b->theirs, .theirs = b->mine };
}

/* A removal event is for a row that existed, an addition event for one that exists. Only blocks
 * on the other side change without an event. */
static void check_emitted_events(const struct relationship_row *before,
                                 const struct relationship_row_change *after)
{
    bool there_before = before->type || before->ignored;
    bool there_after = after->type || after->ignored;

    switch (after->event) {
    case SIDE_EVENT_ADD:
        assert_true(there_after);
        assert_true(before->type != after->type || (!there_before && after->ignored));
        break;
    case SIDE_EVENT_UPDATE:
        assert_true(there_before && there_after && before->type == after->type);
        assert_true(before->ignored != after->ignored);
        break;
    case SIDE_EVENT_REMOVE:
        assert_true(there_before && after->type == N);
        break;
    default:
        assert_int_equal(before->type, after->type);
        assert_int_equal(before->ignored, after->ignored);
    }
}

/* Random operations of users 0..count-1; bonds[i][j] is the relationship of i to j. */
static void walk(int count, unsigned seed)
{
    struct relationship_pair bonds[3][3] = { 0 };

    for (int step = 0; step < 20000; step++) {
        int a = rand_r(&seed) % count, b = (a + 1 + rand_r(&seed) % (count - 1)) % count;
        enum relationship_operation op = (enum relationship_operation)(rand_r(&seed) % OPERATIONS);
        struct relationship_pair *bond = &bonds[a][b];
        struct relationship_pair_change c;

        if (relationship_compute_change(op, bond, &c))
            continue;
        check_emitted_events(&bond->mine, &c.mine);
        check_emitted_events(&bond->theirs, &c.theirs);
        assert_true(relationship_type_pair_is_valid(c.mine.type, c.theirs.type));
        /* Only the user who blocked removes the block. */
        if (bond->theirs.type == K)
            assert_int_equal(c.theirs.type, K);
        bond->mine.type = c.mine.type;
        bond->mine.ignored = c.mine.ignored;
        bond->theirs.type = c.theirs.type;
        bond->theirs.ignored = c.theirs.ignored;
        bonds[b][a] = swap_bond_sides(bond);
    }
}

static void random_relationship_operations_keep_legal_pairs(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        walk(2, seed);
        walk(3, seed * 7919);
    }
}

/* --- friend requests ------------------------------------------------------------------ */

static void settings_decide_who_may_send_friend_requests(void **state)
{
    const struct user_acquaintance nobody = { 0 }, friend = { .mutual_friend = true },
                                   guild = { .mutual_guild = true };
    /* bits, unknown user, mutual friend, mutual guild, suggested */
    static const int rows[][5] = {
        { 14, 1, 1, 1, 1 }, { 8, 1, 1, 1, 1 }, { 2, 0, 1, 0, 1 },
        { 4, 0, 0, 1, 0 },  { 6, 0, 1, 1, 1 }, { 0, 0, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(friend_sources_allow_request(rows[i][0], &nobody, false), rows[i][1]);
        assert_int_equal(friend_sources_allow_request(rows[i][0], &friend, false), rows[i][2]);
        assert_int_equal(friend_sources_allow_request(rows[i][0], &guild, false), rows[i][3]);
        assert_int_equal(friend_sources_allow_request(rows[i][0], &nobody, true), rows[i][4]);
    }
}

static void users_without_common_friend_or_small_guild_are_unknown(void **state)
{
    (void)state;
    assert_true(users_have_no_acquaintance(&(struct user_acquaintance){ 0 }));
    assert_true(users_have_no_acquaintance(&(struct user_acquaintance){ .mutual_guild = true }));
    assert_false(users_have_no_acquaintance(&(struct user_acquaintance){ .small_guild = true }));
    assert_false(users_have_no_acquaintance(&(struct user_acquaintance){ .mutual_friend = true }));
    assert_false(users_have_no_acquaintance(&(struct user_acquaintance){ .suggested = true }));
}

static void friend_request_spam_is_detected_by_account_history(void **state)
{
    const int64_t day = INT64_C(24) * 3600 * 1000000;
    struct friend_request_statistics r = { .age_us = day };

    (void)state;
    assert_false(friend_request_is_spam(&r, true));
    r.age_us = day - 1;
    assert_true(friend_request_is_spam(&r, true));
    assert_false(friend_request_is_spam(&r, false));
    r = (struct friend_request_statistics){ .age_us = day, .sent = 19 };
    assert_false(friend_request_is_spam(&r, false));
    r.sent = 20;
    assert_true(friend_request_is_spam(&r, false));
    r.accepted = 1;
    assert_true(friend_request_is_spam(&r, false));
    r.accepted = 2;
    assert_false(friend_request_is_spam(&r, false));
    r.flags = USER_SPAMMER;
    assert_true(friend_request_is_spam(&r, false));
}

/* --- text ----------------------------------------------------------------------------- */

static void friend_notes_are_collapsed_to_one_line(void **state)
{
    struct arena *a = arena_new();

    (void)state;
    assert_true(str_is(collapse_line_breaks_of_note(a, STR("hi\r\n\nthere")), "hi there"));
    assert_true(str_is(collapse_line_breaks_of_note(a, STR("  hi\n")), "hi"));
    assert_null(collapse_line_breaks_of_note(a, STR("\n \n")).p);
    assert_null(collapse_line_breaks_of_note(a, STR("")).p);
    arena_free(a);
}

static void check_tag(const char *name, const char *raw, const char *expected, int64_t digits)
{
    struct user_tag tag;

    assert_true(user_tag_parse(str_of(name), str_of(raw), &tag));
    assert_true(str_is(tag.name, expected));
    assert_int_equal(tag.discriminator, digits);
}

static void user_tags_are_parsed_with_and_without_discriminator(void **state)
{
    struct user_tag tag;

    (void)state;
    check_tag("ada", NULL, "ada", 0);
    check_tag("ada", "null", "ada", 0);
    check_tag("ada", "0", "ada", 0);
    check_tag("ada", "\"0000\"", "ada", 0);
    check_tag("ada", "42", "ada", 42);
    check_tag("ada", "\"0042\"", "ada", 42);
    check_tag("ada#1234", NULL, "ada", 1234);
    check_tag("a#b#0001", NULL, "a#b", 1);
    check_tag("ada#", NULL, "ada#", 0);
    check_tag("ada#12345", NULL, "ada#12345", 0);
    check_tag("#1234", NULL, "#1234", 0);
    check_tag("ada#1234", "7", "ada#1234", 7);
    assert_false(user_tag_parse(STR("ada"), STR("10000"), &tag));
    assert_false(user_tag_parse(STR("ada"), STR("-1"), &tag));
    assert_false(user_tag_parse(STR("ada"), STR("\"x\""), &tag));
    assert_false(user_tag_parse(STR("ada"), STR("\"\""), &tag));
    assert_false(user_tag_parse(STR("ada"), STR("true"), &tag));
    assert_false(user_tag_parse(STR("ada"), STR("{}"), &tag));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relationship_changes_match_the_table_for_every_pair),
        cmocka_unit_test(ignoring_a_user_does_not_change_the_relationship_type),
        cmocka_unit_test(only_seven_pairs_of_relationship_types_are_legal),
        cmocka_unit_test(random_relationship_operations_keep_legal_pairs),
        cmocka_unit_test(settings_decide_who_may_send_friend_requests),
        cmocka_unit_test(users_without_common_friend_or_small_guild_are_unknown),
        cmocka_unit_test(friend_request_spam_is_detected_by_account_history),
        cmocka_unit_test(friend_notes_are_collapsed_to_one_line),
        cmocka_unit_test(user_tags_are_parsed_with_and_without_discriminator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
