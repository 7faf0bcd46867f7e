/* automod_matching.c - what words and patterns of rules find in texts. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "platform/automod/matching.h"

/* --- words ---------------------------------------------------------------------------- */

/* The first of the words, by number, that is found in a text; allowed ones begin with '+'. */
static int64_t found(const char *const *words, const char *text)
{
    struct arena *a = arena_new();
    struct word_entry entries[8];
    struct word_hit hit = { .number = -1 };
    size_t count = 0;

    for (size_t i = 0; words[i]; i++, count++) {
        bool allowed = words[i][0] == '+';

        entries[i] = (struct word_entry){ .number = (uint32_t)i, .allowed = allowed };
        assert_true(word_read(a, str_of(words[i] + allowed), &entries[i]));
    }
    struct words *w = words_new(entries, count, 1);
    words_find(w, a, text_fold(a, str_of(text)).text, &hit);
    words_free(w);
    arena_free(a);
    return hit.number;
}

#define FINDS(word, text)     assert_int_equal(found((const char *const[]){ word, NULL }, text), 0)
#define FINDS_NOT(word, text) assert_int_equal(found((const char *const[]){ word, NULL }, text), -1)
#define EXCUSES(word, ok, text) \
    assert_int_equal(found((const char *const[]){ word, "+" ok, NULL }, text), -1)
#define ACCUSES(word, ok, text) \
    assert_int_equal(found((const char *const[]){ word, "+" ok, NULL }, text), 0)

static void stars_say_where_a_word_ends(void **state)
{
    (void)state;
    FINDS("cat", "the CAT sat");
    FINDS("cat", "cat");
    FINDS("cat", "(cat)");
    FINDS("cat", "concat cat");
    FINDS_NOT("cat", "cats");
    FINDS_NOT("cat", "concat");
    FINDS("cat*", "Cats");
    FINDS_NOT("cat*", "concat");
    FINDS("*cat", "concat");
    FINDS_NOT("*cat", "cats");
    FINDS("*cat*", "concatenate");
    FINDS("a*b", "see a*b here");
    FINDS_NOT("a*b", "see axb here");
    FINDS("two words", "these Two Words.");
    FINDS("\xc3\x84rger", "\xc3\xa4rger!"); /* Ärger, ärger */
    FINDS_NOT("rger", "\xc3\xa4rger");      /* ä is of the word */
    FINDS("cat", "\xe7\x8c\xab-cat");       /* 猫 and a dash */
    FINDS_NOT("cat", "\xe7\x8c\xab"
                     "cat");
}

static void what_lies_inside_an_allowed_word_does_not_count(void **state)
{
    (void)state;
    EXCUSES("*ass*", "class", "the class");
    ACCUSES("*ass*", "class", "the class of an ass");
    ACCUSES("*ass*", "class", "classes");
    EXCUSES("*ass*", "*class*", "classes");
    EXCUSES("*ass", "*grass", "crabgrass");
}

static void nothing_is_left_of_stars_alone(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct word_entry entry;

    assert_false(word_read(a, STR("*"), &entry));
    assert_false(word_read(a, STR("**"), &entry));
    assert_true(word_read(a, STR("***"), &entry));
    assert_null(words_new(NULL, 0, 0));
    arena_free(a);
}

/* A text is read once, however many words there are: two steps for each of its bytes. */
static void a_hundred_thousand_words_cost_no_more_steps_than_one(void **state)
{
    (void)state;
    enum { RULES = 100, WORDS = 1000 };
    struct arena *a = arena_new();
    struct word_entry *entries = arena_array(a, struct word_entry, RULES * WORDS);
    struct word_hit hits[RULES];
    struct str text;
    char *words = arena_alloc(a, 4096);

    for (uint32_t i = 0; i < RULES * WORDS; i++) {
        entries[i] = (struct word_entry){ .rule = i / WORDS, .number = i % WORDS };
        word_read(a, str_printf(a, i % 2 ? "*bad%u*" : "word%uend", i * 7919), &entries[i]);
    }
    for (size_t n = 0; n < 2000;)
        n += (size_t)sprintf(words + n, "word%zu bad ", n * 31);
    text = text_fold(a, str_of(words)).text;
    struct words *w = words_new(entries, RULES * WORDS, RULES);
    assert_true(words_find(w, a, text, hits) <= 2 * text.n);
    assert_true(words_bytes(w) < 40 * 1024 * 1024);
    int64_t since = clock_thread();
    for (int i = 0; i < 100; i++)
        words_find(w, a, str_slice(text.p, 200), hits);
    print_message("200 bytes among 100000 words: %.1f us\n",
                  (double)(clock_thread() - since) / 100000);
    words_free(w);
    arena_free(a);
}

/* --- patterns ------------------------------------------------------------------------- */

/* What a pattern finds, or "-"; "!" when it is none. */
static const char *first(const char *pattern, const char *text)
{
    static char out[200];
    struct arena *a = arena_new();
    const char *problem = NULL;
    struct pattern *p = pattern_new(str_of(pattern), &problem);
    size_t start, end;

    if (!p) {
        assert_non_null(problem);
        strcpy(out, "!");
    } else if (!pattern_find(p, a, str_of(text), &start, &end)) {
        strcpy(out, "-");
    } else {
        memcpy(out, text + start, end - start);
        out[end - start] = 0;
    }
    pattern_free(p);
    arena_free(a);
    return out;
}

#define MATCH(pattern, text, expected) assert_string_equal(first(pattern, text), expected)

static void patterns_find_what_they_say(void **state)
{
    (void)state;
    MATCH("b+", "aabbbc", "bbb");
    MATCH("b+?", "aabbbc", "bbb"); /* the longest, whatever is asked for */
    MATCH("a|bc|d", "xbcd", "bc");
    MATCH("(ab)*c", "xababc", "ababc");
    MATCH("(?:a|b){2,3}", "xabab", "aba");
    MATCH("a{3}", "aa", "-");
    MATCH("a{2,}", "aaaa", "aaaa");
    MATCH("x{0}y", "xy", "y");
    MATCH("[a-c]+", "zzabcd", "abc");
    MATCH("[^a-c]+", "abxyz", "xyz");
    MATCH("[]a]+", "x]a]", "]a]");
    MATCH("[[:digit:]_]+", "ab12_3", "12_3");
    MATCH("\\d{3}-\\d{4}", "call 555-1234 now", "555-1234");
    MATCH("\\bcat\\b", "concat cat", "cat");
    MATCH("\\Bcat", "concat cat", "cat");
    MATCH("^a", "ba", "-");
    MATCH("(?m)^a.$", "b\nac\nd", "ac");
    MATCH("a$", "ba", "a");
    MATCH("a.c", "a\nc", "-");
    MATCH("(?s)a.c", "a\nc", "a\nc");
    MATCH("(?i)h[e3]llo", "HELLO", "HELLO");
    MATCH("(?i:a)b", "AB", "-");
    MATCH("(?i:a)b", "Ab", "Ab");
    MATCH("\\p{Lu}+", "ab\xc3\x84Z", "\xc3\x84Z");
    MATCH("\\w+", " na\xc3\xafve!", "na\xc3\xafve");
    MATCH("\\x41\\u{42}", "xAB", "AB");
    MATCH("(?P<name>x)y", "xy", "xy");
    MATCH("a*", "bbb", "-"); /* nothing is no match */
    MATCH("(a*)*b", "aaab", "aaab");
    MATCH("\\.", "a.b", ".");
}

static void what_cannot_be_followed_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "(",      ")",           "a(?=b)",   "(?<!a)b", "(a)\\1",         "[a",
        "a{2,1}", "*a",          "a{x}",     "\\q",     "[b-a]",          "\\p{Nope}",
        "(?z)a",  "\\x{110000}", "[[:no:]]", "a\\",     "((a{500}){500})"
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        MATCH(bad[i], "a", "!");
}

/* Backtracking would take 2^40 steps. */
static void no_text_takes_long(void **state)
{
    (void)state;
    char text[4001];

    memset(text, 'a', 4000);
    text[4000] = 0;
    int64_t since = clock_thread();
    MATCH("(a|aa|a*)*b", text, "-");
    MATCH("(a?){200}a{200}c", text, "-");
    assert_true(clock_thread() - since < INT64_C(5000) * 1000 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_say_where_a_word_ends),
        cmocka_unit_test(what_lies_inside_an_allowed_word_does_not_count),
        cmocka_unit_test(nothing_is_left_of_stars_alone),
        cmocka_unit_test(a_hundred_thousand_words_cost_no_more_steps_than_one),
        cmocka_unit_test(patterns_find_what_they_say),
        cmocka_unit_test(what_cannot_be_followed_is_refused),
        cmocka_unit_test(no_text_takes_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
