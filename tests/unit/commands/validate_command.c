/* validate_command.c - tests that the fast and the slow path of the command check report the same
 * errors. Each body is checked as it is, with an escape sequence, and with so many bytes that its
 * characters must be counted. */
#include "unit/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "commands/internal.h"

static uint64_t state = 2463534242U;

static size_t chance(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % n;
}

#define ONE_OF(list) list[chance(sizeof(list) / sizeof *(list))]

/* --- random bodies -------------------------------------------------------------------- */

static const char *some_name(void)
{
    static const char *const names[] = {
        "a",
        "ab",
        "abc",
        "abcd",
        "name-one",
        "name_two",
        "sixteen-letters-",
        "seventeen-letters",
        "é",
        "été",
        "n\\u00e9",
        "thirty-two-letters-thirty-two-le",
    };
    static const char *const wrong[] = {
        "",
        "A",
        "nameX",
        "a b",
        "with space",
        "É",
        "name!",
        "thirty-three-letters-thirty-three",
        "\\u0000name",
        "\\n",
        "name\\u0000",
        "[name]",
    };

    return chance(30) ? ONE_OF(names) : ONE_OF(wrong);
}

static const char *some_text(void)
{
    static const char *const texts[] = {
        "x", "Some words.", "Ein Satz, der länger ist als ein Block.", "中文", "\\\"so\\\"", "12",
    };
    static const char too_long[] =
        "0123456789012345678901234567890123456789012345678901234567890123456789"
        "0123456789012345678901234567890";
    static const char *const wrong[] = {
        "",
        "\\u0000",
        "a text with \\u0000 in it",
        too_long,
    };

    return chance(30) ? ONE_OF(texts) : ONE_OF(wrong);
}

static void append_random_localizations(struct buf *out, const char *field,
                                        const char *(*some)(void))
{
    static const char *const locales[] = { "de", "fr", "en-US", "es-419", "zh-TW", "da", "ja" };
    static const char *const wrong[] = { "xx", "en", "de-DE", "", "DE", "d", "zh-T", "es" };
    size_t n = chance(4);

    buf_printf(out, ",\"%s\":{", field);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "",
                   chance(30) ? ONE_OF(locales) : ONE_OF(wrong), some());
    buf_add_char(out, '}');
}

static void add_choices(struct buf *out)
{
    static const char *const others[] = { "1", "1.5", "-0", "1e400", "null", "true", "[]" };
    size_t n = chance(4);

    buf_add_lit(out, ",\"choices\":[");
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s{\"name\":\"%s\"", i ? "," : "", some_text());
        if (!chance(20))
            buf_printf(out, ",\"value\":%s", ONE_OF(others));
        else if (chance(30))
            buf_printf(out, ",\"value\":\"%s\"", some_text());
        if (chance(2))
            append_random_localizations(out, "name_localizations", some_text);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void add_options(struct buf *out, unsigned depth);

static void add_option(struct buf *out, unsigned depth)
{
    size_t type = chance(20) ? depth ? 3 + chance(2) : chance(3) ? 3 : 1 + chance(2) : chance(13);

    buf_printf(out, "{\"type\":%zu,\"name\":\"%s\",\"description\":\"%s\"", type, some_name(),
               some_text());
    if (chance(2))
        append_random_localizations(out, "name_localizations", some_name);
    if (chance(2))
        append_random_localizations(out, "description_localizations", some_text);
    if (!chance(4))
        buf_printf(out, ",\"required\":%s", chance(2) ? "true" : "false");
    if (!chance(10))
        buf_printf(out, ",\"autocomplete\":%s", chance(2) ? "true" : "false");
    if (!chance(3))
        add_choices(out);
    if (!chance(5))
        buf_printf(out, ",\"min_value\":%zu,\"max_value\":%s", chance(20),
                   chance(3) ? "10" : "10.5");
    if (!chance(5))
        buf_printf(out, ",\"min_length\":%zu,\"max_length\":%zu", chance(20), chance(30));
    if (depth < 2 && chance(20) && type < 3)
        add_options(out, depth + 1);
    buf_add_char(out, '}');
}

static void add_options(struct buf *out, unsigned depth)
{
    size_t n = chance(5);

    buf_add_lit(out, ",\"options\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(out, ',');
        add_option(out, depth);
    }
    buf_add_char(out, ']');
}

/* Appends a random command without its opening brace. */
static void add_command(struct buf *out)
{
    buf_printf(out, "\"type\":%zu,\"name\":\"%s\"", chance(10) ? 1 : chance(6), some_name());
    if (chance(20))
        buf_printf(out, ",\"description\":\"%s\"", some_text());
    if (chance(2))
        append_random_localizations(out, "name_localizations", some_name);
    if (chance(2))
        append_random_localizations(out, "description_localizations", some_text);
    add_options(out, 0);
    buf_add_lit(out, ",\"nsfw\":false}");
}

/* --- three variants of each body ------------------------------------------------------ */

static void write_validation_result(struct str begin, struct str rest, struct buf *out)
{
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    struct json_writer j = json_writer_to_buf(out);
    void *value;
    enum err e = schema_decode(&command_body, STR_CONCAT(arena, begin, rest), &form, &value);

    buf_reset(out);
    if (e == ERR_INVALID_FORM_BODY)
        write_form_errors_json(&form, &j);
    else
        buf_printf(out, "%d", e);
    arena_free(arena);
}

static void complete_and_shortened_command_checks_agree(void **state_)
{
    struct buf json, quick, slow, long_begin;
    size_t good = 0;

    (void)state_;
    buf_init(&json, 1 << 20);
    buf_init(&quick, 1 << 20);
    buf_init(&slow, 1 << 20);
    buf_init(&long_begin, 1 << 20);
    buf_add_lit(&long_begin, "{\"unknown\":\"\\n");
    for (size_t i = 0; i < COMMAND_MAX_CHARACTERS; i++)
        buf_add_char(&long_begin, 'x');
    buf_add_lit(&long_begin, "\",");
    for (int i = 0; i < 5000; i++) {
        buf_reset(&json);
        add_command(&json);
        write_validation_result(STR("{"), buf_as_str(&json), &quick);
        good += str_is(buf_as_str(&quick), "0");
        write_validation_result(STR("{\"unknown\":\"\\n\","), buf_as_str(&json), &slow);
        if (!str_eq(buf_as_str(&quick), buf_as_str(&slow)))
            fail_msg("%.*s\nis\n%.*s\nand with an escape\n%.*s", STR_ARGS(buf_as_str(&json)),
                     STR_ARGS(buf_as_str(&quick)), STR_ARGS(buf_as_str(&slow)));
        write_validation_result(buf_as_str(&long_begin), buf_as_str(&json), &slow);
        if (!str_eq(buf_as_str(&quick), buf_as_str(&slow)))
            fail_msg("%.*s\nis\n%.*s\nand with more bytes\n%.*s", STR_ARGS(buf_as_str(&json)),
                     STR_ARGS(buf_as_str(&quick)), STR_ARGS(buf_as_str(&slow)));
    }
    /* Some commands are valid and some are not. */
    assert_in_range(good, 100, 4900);
    buf_clear(&json);
    buf_clear(&quick);
    buf_clear(&slow);
    buf_clear(&long_begin);
}

/* The limit counts characters, not bytes. */
static void command_with_more_than_8000_characters_is_refused(void **state_)
{
    struct buf json, out;

    (void)state_;
    buf_init(&json, 1 << 20);
    buf_init(&out, 1 << 20);
    for (int more = 0; more < 2; more++) {
        buf_reset(&json);
        buf_add_lit(&json, "\"name\":\"n\",\"description\":\"d\",\"options\":[");
        /* 2 characters of the command, 8 of its options, 79 choices of 100, and the rest up to
         * 8000. */
        for (int option = 0; option < 4; option++) {
            buf_printf(&json, "%s{\"type\":3,\"name\":\"%c\",\"description\":\"d\",\"choices\":[",
                       option ? "," : "", 'a' + option);
            for (int choice = 0; choice < 20; choice++)
                buf_printf(&json, "%s{\"name\":\"%0*d\",\"value\":\"v\"}", choice ? "," : "",
                           option == 3 && choice == 19 ? 89 + more : 99, choice);
            buf_add_lit(&json, "]}");
        }
        buf_add_lit(&json, "]}");
        write_validation_result(STR("{"), buf_as_str(&json), &out);
        if (more)
            assert_non_null(memmem(out.p, out.n, "APPLICATION_COMMAND_TOO_LARGE", 29));
        else
            assert_str(buf_as_str(&out), "0");
    }
    buf_clear(&json);
    buf_clear(&out);
}

/* --- duplicate option names ----------------------------------------------------------- */

enum { MOST_WORDS = 40 };

static struct str some_word(struct arena *arena, size_t kinds)
{
    static const char *const beginnings[] = {
        "", "a", "abc", "abcd", "abcdefg", "abcdefgh-ijklmnop"
    };

    return str_printf(arena, "%s%zu%s", ONE_OF(beginnings), chance(kinds),
                      chance(2) ? "" : "-and-an-end");
}

static void fill_option(struct arena *arena, struct command_option *o, size_t kinds)
{
    static const char *const locales[] = { "de", "fr", "ja", "en-US" };
    struct list *names = &o->name_localizations.value;

    if (chance(20))
        o->name = some_word(arena, kinds);
    for (size_t i = chance(4); i < 4; i++)
        *(struct string_pair *)list_append(arena, names, sizeof(struct string_pair)) =
            (struct string_pair){ str_of(locales[i]),
                                  chance(4) ? some_word(arena, kinds) : o->name };
}

/* Reference implementation of the rule for duplicate names. */
static bool have_a_common_name(const struct command_option *a, const struct command_option *b)
{
    const struct string_pair *p = a->name_localizations.value.items;
    const struct string_pair *q = b->name_localizations.value.items;
    bool same = str_eq(a->name, b->name);

    for (size_t i = 0; i < a->name_localizations.value.count; i++)
        for (size_t n = 0; n < b->name_localizations.value.count; n++)
            same |= str_eq(p[i].value, q[n].value) && str_eq(p[i].key, q[n].key);
    for (size_t i = 0; i < a->name_localizations.value.count; i++)
        same |= str_eq(p[i].value, b->name);
    for (size_t n = 0; n < b->name_localizations.value.count; n++)
        same |= str_eq(q[n].value, a->name);
    return same;
}

static void duplicate_option_names_are_found(void **state_)
{
    size_t found = 0, none = 0;

    (void)state_;
    for (int round = 0; round < 3000; round++) {
        struct arena *arena = arena_new();
        struct form form = { .arena = arena };
        struct command_option o[MOST_WORDS] = { 0 };
        size_t count = 1 + chance(MOST_WORDS), kinds = chance(2) ? 10 + chance(20) : 10000;
        struct list options = { o, count, count };

        for (size_t i = 0; i < count; i++)
            fill_option(arena, &o[i], kinds);
        const uint64_t *words = hash_option_names(arena, &options);
        none += !words;
        for (size_t i = 0; i < count; i++) {
            bool same = false;

            for (size_t n = 0; n < i; n++)
                same |= o[n].name.n && have_a_common_name(&o[n], &o[i]);
            form = (struct form){ .arena = arena };
            if (words)
                check_duplicate_option_name(&form, NULL, o, i, words);
            assert_int_equal(form_has_errors(&form), same);
            found += same;
        }
        arena_free(arena);
    }
    /* Both results occur. */
    assert_in_range(none, 50, 2950);
    assert_true(found > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_and_shortened_command_checks_agree),
        cmocka_unit_test(command_with_more_than_8000_characters_is_refused),
        cmocka_unit_test(duplicate_option_names_are_found),
    };
    return cmocka_run_group_tests_name("commands/check", tests, NULL, NULL);
}
