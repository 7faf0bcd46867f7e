/* reaction_text.c - tests the stored text of a message's reactions and its conversion to JSON. */
#include "unit/unit.h"

#include "base/arena.h"
#include "model/text/reaction_text.h"

static struct arena *arena;
static struct buf text, shown, described;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    buf_init(&text, MAX_REACTION_TEXT_BYTES);
    reaction_text_append_reader_line(&text);
    buf_init(&shown, MAX_REACTION_TEXT_BYTES);
    buf_init(&described, MAX_REACTION_TEXT_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_clear(&text);
    buf_clear(&shown);
    buf_clear(&described);
    arena_free(arena);
    return 0;
}

static const struct reaction_emoji fire = { { .given = GIVEN_NULL },
                                            STR_INIT("\xf0\x9f\x94\xa5"),
                                            { 0 } };
static const struct reaction_emoji wave = { { GIVEN, 71 },
                                            STR_INIT("wa\"\n\tve"),
                                            { GIVEN, true } };

static void append_reaction_as_stored(snowflake id, const struct reaction_emoji *emoji,
                                      const char *key, int64_t normal, int64_t burst)
{
    struct reaction_line line = { .id = id,
                                  .normal = normal,
                                  .burst = burst,
                                  .key = str_of(key),
                                  .emoji = reaction_emoji_encode(arena, emoji) };

    reaction_line_append(&text, &line);
}

/* The same reactions, encoded by the schema. */
static struct str as_described(const struct reaction *reactions, size_t count)
{
    struct json_writer j = json_writer_to_buf(&described);

    schema_encode(&j, type_reactions.of, &(struct list){ (void *)(uintptr_t)reactions, count, 0 });
    return buf_as_str(&described);
}

static struct str as_shown(void)
{
    struct json_writer j = json_writer_to_buf(&shown);

    schema_encode(&j, &type_reactions, &(struct str){ text.p, text.n });
    return buf_as_str(&shown);
}

static void stored_reactions_are_written_as_their_schema_describes(void **state)
{
    (void)state;
    const struct reaction_count_details of[] = { { 3, 0 }, { 0, 1 }, { 123456, 654321 }, { 1, 0 } };
    const struct reaction reactions[] = {
        { .emoji = &fire, .count = 3, .count_details = &of[0], .me = true },
        { .emoji = &wave, .count = 1, .count_details = &of[1], .me_burst = true },
        { .emoji = &fire, .count = 777777, .count_details = &of[2], .me = true, .me_burst = true },
        { .emoji = &wave, .count = 1, .count_details = &of[3] },
    };

    append_reaction_as_stored(1, &fire, "x", 3, 0);
    append_reaction_as_stored(UINT64_MAX, &wave, ":71", 0, 1);
    append_reaction_as_stored(0x123456789abcdef0, &fire, "y", 123456, 654321);
    append_reaction_as_stored(9, &wave, ":72", 1, 0);
    reaction_text_mark_reaction_of_reader(buf_as_str(&text), 1, READER_REACTED_NORMAL);
    reaction_text_mark_reaction_of_reader(buf_as_str(&text), UINT64_MAX, READER_REACTED_BURST);
    reaction_text_mark_reaction_of_reader(buf_as_str(&text), 0x123456789abcdef0,
                                          READER_REACTED_NORMAL);
    reaction_text_mark_reaction_of_reader(buf_as_str(&text), 0x123456789abcdef0,
                                          READER_REACTED_BURST);
    reaction_text_mark_reaction_of_reader(buf_as_str(&text), 5, READER_REACTED_BURST);
    assert_str(as_shown(), str_dup_cstring(arena, as_described(reactions, 4)));
}

static void message_without_reactions_has_an_empty_array(void **state)
{
    (void)state;
    assert_true(str_is(as_shown(), "[]"));
}

static void stored_reaction_lines_are_parsed(void **state)
{
    (void)state;
    struct reaction_line line;

    append_reaction_as_stored(UINT64_MAX, &wave, ":71", -2, 5);
    append_reaction_as_stored(7, &fire, "\xf0\x9f\x94\xa5", 1, 0);
    reaction_text_mark_reaction_of_reader(buf_as_str(&text), 7, READER_REACTED_NORMAL);
    struct str rest = reaction_text_skip_reader_line(buf_as_str(&text));
    assert_true(reaction_line_parse_next(&rest, &line));
    assert_true(line.id == UINT64_MAX && line.normal == -2 && line.burst == 5 && !line.reader_bits);
    assert_true(str_is(line.key, ":71"));
    const struct reaction_emoji *emoji = reaction_emoji_decode(arena, &line);
    assert_true(emoji->id.value == 71 && emoji->animated.value && str_eq(emoji->name, wave.name));
    assert_true(reaction_line_parse_next(&rest, &line));
    assert_true(line.id == 7 && line.reader_bits == READER_REACTED_NORMAL);
    assert_true(reaction_emoji_decode(arena, &line)->id.given == GIVEN_NULL);
    assert_false(reaction_line_parse_next(&rest, &line));
}

static void truncated_reaction_text_ends_at_the_last_complete_line(void **state)
{
    (void)state;
    struct reaction_line line;

    append_reaction_as_stored(7, &fire, "x", 1, 0);
    size_t whole = text.n;
    append_reaction_as_stored(8, &fire, "y", 1, 0);
    for (size_t n = 0; n < text.n; n++) {
        struct str rest = reaction_text_skip_reader_line(str_dup(arena, str_slice(text.p, n)));

        assert_true(reaction_line_parse_next(&rest, &line) == (n >= whole));
        assert_false(reaction_line_parse_next(&rest, &line));
    }
    static const char *const wrong[] = { "00000000000000070x,0,,k\t{}\n",
                                         "000000000000000701,0,k\t{}\n",
                                         "000000000000000701,0,12345,k\t{}\n",
                                         "000000000000000701,0,,k{}\n" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct str rest = str_of(wrong[i]);

        assert_false(reaction_line_parse_next(&rest, &line));
    }
}

static void reaction_line_names_the_first_four_users(void **state)
{
    (void)state;
    struct reaction_line line = { .id = 7, .key = STR("x"), .emoji = STR("{}") };

    for (snowflake id = 1; id <= 4; id++) {
        reaction_line_add_user(arena, &line, id);
        assert_true(reaction_line_contains_user(&line, id));
    }
    reaction_line_append(&text, &line);
    assert_int_equal(reaction_text_get_state(buf_as_str(&text)), HAS_REACTIONS_WITH_ALL_USERS);
    reaction_line_add_user(arena, &line, 5);
    assert_true(line.normal == 5 && !reaction_line_contains_user(&line, 5));
    reaction_line_append(&text, &line);
    assert_int_equal(reaction_text_get_state(buf_as_str(&text)), MAY_HAVE_REACTIONS);
    /* Another user is named only if all other users are named. */
    reaction_line_remove_user(arena, &line, 2);
    assert_true(line.normal == 4 && !reaction_line_contains_user(&line, 2));
    reaction_line_add_user(arena, &line, 6);
    assert_false(reaction_line_contains_user(&line, 6));
    reaction_line_remove_user(arena, &line, 5);
    reaction_line_remove_user(arena, &line, 6);
    assert_true(line.normal == 3 && reaction_line_contains_user(&line, 4));
    reaction_line_add_user(arena, &line, 8);
    assert_true(reaction_line_contains_user(&line, 8));
}

static void reaction_of_the_reading_user_is_marked_as_me(void **state)
{
    (void)state;
    struct reaction_line line = { .id = 7, .key = STR("x"), .emoji = STR("{}") };

    reaction_line_add_user(arena, &line, 70);
    reaction_line_add_user(arena, &line, 71);
    reaction_line_append(&text, &line);
    reaction_text_write_reader_id(buf_as_str(&text), 72);
    assert_non_null(strstr(str_dup_cstring(arena, as_shown()), "\"me\":false"));
    buf_reset(&shown);
    reaction_text_write_reader_id(buf_as_str(&text), 71);
    assert_non_null(strstr(str_dup_cstring(arena, as_shown()), "\"me\":true,\"me_burst\":false"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stored_reactions_are_written_as_their_schema_describes,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(message_without_reactions_has_an_empty_array, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(stored_reaction_lines_are_parsed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(truncated_reaction_text_ends_at_the_last_complete_line,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(reaction_line_names_the_first_four_users, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reaction_of_the_reading_user_is_marked_as_me, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
