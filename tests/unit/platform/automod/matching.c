/* matching.c - tests the keywords and patterns of automod rules. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "platform/automod/rule_sets.h"

/* --- keywords ------------------------------------------------------------------------- */

/* Returns the index of the first keyword found in the text; allowed keywords begin with '+'. */
static int64_t found(const char *const *words, const char *text)
{
    struct arena *a = arena_new();
    struct automod_keyword entries[8];
    size_t count = 0;

    for (size_t i = 0; words[i]; i++, count++) {
        bool allowed = words[i][0] == '+';

        entries[i] = (struct automod_keyword){ .number = (uint32_t)i, .allowed = allowed };
        assert_true(keyword_parse(a, str_of(words[i] + allowed), &entries[i]));
    }
    struct keyword_automaton *w = keyword_automaton_new(entries, count, 1);
    int64_t number =
        keyword_automaton_match(w, a, text_fold_case(a, str_of(text)).text).hits->number;
    keyword_automaton_free(w);
    arena_free(a);
    return number;
}

#define FINDS(word, text)     assert_int_equal(found((const char *const[]){ word, NULL }, text), 0)
#define FINDS_NOT(word, text) assert_int_equal(found((const char *const[]){ word, NULL }, text), -1)
#define EXCUSES(word, ok, text) \
    assert_int_equal(found((const char *const[]){ word, "+" ok, NULL }, text), -1)
#define ACCUSES(word, ok, text) \
    assert_int_equal(found((const char *const[]){ word, "+" ok, NULL }, text), 0)

static void automod_wildcards_decide_whether_word_boundaries_count(void **state)
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
    FINDS_NOT("rger", "\xc3\xa4rger");      /* ä belongs to the word */
    FINDS("cat", "\xe7\x8c\xab-cat");       /* 猫 and a dash */
    FINDS_NOT("cat", "\xe7\x8c\xab"
                     "cat");
}

static void automod_ignores_matches_inside_allowed_words(void **state)
{
    (void)state;
    EXCUSES("*ass*", "class", "the class");
    ACCUSES("*ass*", "class", "the class of an ass");
    ACCUSES("*ass*", "class", "classes");
    EXCUSES("*ass*", "*class*", "classes");
    EXCUSES("*ass", "*grass", "crabgrass");
}

static void automod_keyword_of_only_wildcards_is_refused(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct automod_keyword entry;

    assert_false(keyword_parse(a, STR("*"), &entry));
    assert_false(keyword_parse(a, STR("**"), &entry));
    assert_true(keyword_parse(a, STR("***"), &entry));
    assert_null(keyword_automaton_new(NULL, 0, 0));
    arena_free(a);
}

static void automod_matches_100000_keywords_in_linear_time(void **state)
{
    (void)state;
    enum { RULES = 100, WORDS = 1000 };
    struct arena *a = arena_new();
    struct automod_keyword *entries = arena_array(a, struct automod_keyword, RULES * WORDS);
    struct str text;
    char *words = arena_alloc(a, 4096);

    for (uint32_t i = 0; i < RULES * WORDS; i++) {
        entries[i] = (struct automod_keyword){ .rule = i / WORDS, .number = i % WORDS };
        keyword_parse(a, str_printf(a, i % 2 ? "*bad%u*" : "word%uend", i * 7919), &entries[i]);
    }
    for (size_t n = 0; n < 2000;)
        n += (size_t)sprintf(words + n, "word%zu bad ", n * 31);
    text = text_fold_case(a, str_of(words)).text;
    struct keyword_automaton *w = keyword_automaton_new(entries, RULES * WORDS, RULES);
    assert_true(keyword_automaton_match(w, a, text).steps <= 2 * text.n);
    assert_true(keyword_automaton_memory_bytes(w) < 40 * 1024 * 1024);
    int64_t since = clock_thread_cpu_ns();
    for (int i = 0; i < 100; i++)
        keyword_automaton_match(w, a, str_slice(text.p, 200));
    print_message("200 bytes among 100000 words: %.1f us\n",
                  (double)(clock_thread_cpu_ns() - since) / 100000);
    keyword_automaton_free(w);
    arena_free(a);
}

/* --- patterns ------------------------------------------------------------------------- */

/* Returns the match, "-" for none, or "!" for an invalid pattern. */
static const char *first(const char *pattern, const char *text)
{
    static char out[200];
    struct arena *a = arena_new();
    const char *problem = NULL;
    struct regex_pattern *p = regex_pattern_compile(str_of(pattern), &problem);
    size_t start, end;

    if (!p) {
        assert_non_null(problem);
        strcpy(out, "!");
    } else if (!regex_pattern_find_match(p, a, str_of(text), &start, &end)) {
        strcpy(out, "-");
    } else {
        memcpy(out, text + start, end - start);
        out[end - start] = 0;
    }
    regex_pattern_free(p);
    arena_free(a);
    return out;
}

#define MATCH(pattern, text, expected) assert_string_equal(first(pattern, text), expected)

static void automod_patterns_match_as_documented(void **state)
{
    (void)state;
    MATCH("b+", "aabbbc", "bbb");
    MATCH("b+?", "aabbbc", "bbb"); /* always the longest match */
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
    MATCH("a*", "bbb", "-"); /* an empty match does not count */
    MATCH("(a*)*b", "aaab", "aaab");
    MATCH("\\.", "a.b", ".");
}

static void unsupported_automod_patterns_are_refused(void **state)
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
static void automod_patterns_never_backtrack_exponentially(void **state)
{
    (void)state;
    char text[4001];

    memset(text, 'a', 4000);
    text[4000] = 0;
    int64_t since = clock_thread_cpu_ns();
    MATCH("(a|aa|a*)*b", text, "-");
    MATCH("(a?){200}a{200}c", text, "-");
    assert_true(clock_thread_cpu_ns() - since < INT64_C(5000) * 1000 * 1000);
}

/* Checked by the undefined behaviour sanitizer: no copy from or to NULL. */
static void empty_pattern_group_may_be_repeated(void **state)
{
    (void)state;
    MATCH("(){3}cat", "a cat", "cat");
    MATCH("()*cat", "a cat", "cat");
    MATCH("(|){2,5}cat", "a cat", "cat");
}

static size_t cost(const char *pattern)
{
    const char *problem = NULL;
    struct regex_pattern *p = regex_pattern_compile(str_of(pattern), &problem);

    assert_non_null(p);
    size_t n = pattern_cost(p);
    regex_pattern_free(p);
    return n;
}

static void common_automod_patterns_are_within_the_cost_limit(void **state)
{
    (void)state;
    static const char *const real[] = {
        "[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}",
        "(?:https?://)?(?:www\\.)?(?:discord\\.gg|discord(?:app)?\\.com/invite)/[a-zA-Z0-9-]+",
        "https?://[^\\s/$.?#].[^\\s]*",
        "\\+?\\d{1,3}[-. ]?\\(?\\d{3}\\)?[-. ]?\\d{3}[-. ]?\\d{4}",
        "(?i)\\b(?:free|cheap)\\s+(?:nitro|robux|gift\\s*cards?)\\b",
        "\\b(?:\\d{1,3}\\.){3}\\d{1,3}\\b",
        "[\\x{1F300}-\\x{1FAFF}]{5,}",
        "(?i)b[i1!]+t+c[o0]+[i1!]n",
        "\\b(?:\\d[ -]*?){13,16}\\b",
        "(?i)\\b(alpha|beta|gamma|delta|epsilon|zeta|theta|iota|kappa|lambda|sigma)\\b",
    };
    size_t all = 0;

    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        all += cost(real[i]);
    assert_in_range(all, 1, AUTOMOD_MAX_PATTERN_COST / 3);
}

static void pattern_cost_is_the_largest_number_of_states_per_character(void **state)
{
    (void)state;
    assert_int_equal(cost("abc"), 2);       /* the start state and the state after one letter */
    assert_int_equal(cost("aaa"), 4);       /* the cost counts all states and the end */
    assert_int_equal(cost(".{100}"), 101);  /* the same for any character */
    assert_int_equal(cost("[^a]{50}"), 51); /* also for non-ASCII characters */
    assert_true(cost("(.?){200}x") > 400);
    assert_true(cost("(?i)(\xc3\xa4?){100}") > 200);
    assert_true(cost("(?i)(k?){100}") > 200);
}

static void most_expensive_allowed_patterns_take_a_bounded_number_of_steps(void **state)
{
    (void)state;
    char text[4001];
    size_t start, end;
    const char *problem;
    struct arena *a = arena_new();

    memset(text, 'a', 4000);
    text[4000] = 0;
    struct regex_pattern *p = regex_pattern_compile(STR("(.?){599}\\x01"), &problem);
    assert_int_equal(pattern_cost(p), AUTOMOD_MAX_PATTERN_COST);
    int64_t since = clock_thread_cpu_ns();
    assert_false(regex_pattern_find_match(p, a, str_of(text), &start, &end));
    print_message("4000 characters: %.1f ms\n", (double)(clock_thread_cpu_ns() - since) / 1000000);
    regex_pattern_free(p);
    arena_free(a);
}

/* --- sets ----------------------------------------------------------------------------- */

static struct automod_rule rule_of(struct automod_trigger_metadata *m, struct str *patterns,
                                   size_t count)
{
    m->regex_patterns = (struct opt_list){ GIVEN, { patterns, count } };
    return (struct automod_rule){ .id = 7,
                                  .guild_id = 5,
                                  .event_type = AUTOMOD_ON_MESSAGE,
                                  .trigger_type = AUTOMOD_KEYWORD,
                                  .trigger_metadata = m,
                                  .enabled = true };
}

/* Rules older than the limit: the most expensive patterns are skipped until the others fit. */
static void patterns_beyond_the_cost_limit_are_skipped_and_others_work(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct automod_trigger_metadata m = { 0 };
    struct str patterns[] = { STR("a.{500}x"), STR("b.{900}x?"), STR("cat"), STR("d.{400}x") };
    struct automod_rule rule = rule_of(&m, patterns, 4);
    struct automod_rule_set *s = automod_rule_set_new(&(struct list){ &rule, 1 });
    struct list hits = { 0 };
    char text[1000];

    memset(text, 'b', 999);
    text[999] = 0;
    automod_rule_set_find_hits(s, AUTOMOD_ON_MESSAGE, a, str_of(text), &hits);
    assert_int_equal(hits.count, 0);
    automod_rule_set_find_hits(s, AUTOMOD_ON_MESSAGE, a, STR("a cat"), &hits);
    assert_int_equal(hits.count, 1);
    automod_rule_set_unref(s);
    arena_free(a);
}

static void keywords_that_end_at_the_same_position_are_limited(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct automod_keyword entries[2000];
    char word[64];

    memset(word, 'a', sizeof word);
    for (uint32_t i = 0; i < 2000; i++) {
        entries[i] = (struct automod_keyword){ .number = i };
        keyword_parse(a, str_slice(word, 1 + i % 60), &entries[i]);
    }
    struct keyword_automaton *w = keyword_automaton_new(entries, 2000, 1);
    assert_int_equal(keyword_automaton_get_cost(w), 60);
    assert_int_equal(keyword_automaton_match(w, a, STR("b aa b")).hits->number, 1);
    keyword_automaton_free(w);
    assert_int_equal(keyword_automaton_get_cost(NULL), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automod_wildcards_decide_whether_word_boundaries_count),
        cmocka_unit_test(automod_ignores_matches_inside_allowed_words),
        cmocka_unit_test(automod_keyword_of_only_wildcards_is_refused),
        cmocka_unit_test(automod_matches_100000_keywords_in_linear_time),
        cmocka_unit_test(automod_patterns_match_as_documented),
        cmocka_unit_test(empty_pattern_group_may_be_repeated),
        cmocka_unit_test(unsupported_automod_patterns_are_refused),
        cmocka_unit_test(automod_patterns_never_backtrack_exponentially),
        cmocka_unit_test(common_automod_patterns_are_within_the_cost_limit),
        cmocka_unit_test(pattern_cost_is_the_largest_number_of_states_per_character),
        cmocka_unit_test(most_expensive_allowed_patterns_take_a_bounded_number_of_steps),
        cmocka_unit_test(patterns_beyond_the_cost_limit_are_skipped_and_others_work),
        cmocka_unit_test(keywords_that_end_at_the_same_position_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
