/* trends.c - what choices do to trends and suggestions, and what they do not tell. */
#include "gifs.h"

#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "platforms.h"

#define MEDIA "'media': {'gif': 'f.gif'}}"

static const char *const people[] = { "ada", "bob", "cleo", "dara", "emil" };

static void choose(struct world *w, const char *who, const char *id, const char *q)
{
    char body[200];

    snprintf(body, sizeof body, "{'id': '%s', 'q': '%s'}", id, q);
    expect_status(client_post(world_client(w, who), body, "/gifs/select"), 204);
}

static void lists(struct world *w, const char *path, const char *items)
{
    world_count_choices(w);
    const char *found = gif_ids(client_get(world_stranger(w), "%s", path));

    if (strcmp(found, items) != 0)
        fail_test(__FILE__, __LINE__, "%s lists '%s', not '%s'", path, found, items);
}

static void import_four(struct world *w)
{
    world_import_gifs(w, "[{'id': 'a', 'tags': ['Cat', 'pet'], 'weight': 4, " MEDIA
                         ", {'id': 'b', 'tags': ['cat', 'pet'], 'weight': 3, " MEDIA
                         ", {'id': 'c', 'tags': ['cat', 'pet'], 'weight': 2, " MEDIA
                         ", {'id': 'd', 'tags': ['cat', 'fish'], 'weight': 1, " MEDIA "]");
}

/* --- GIFs ----------------------------------------------------------------------------- */

static void what_is_chosen_trends(struct world *w)
{
    import_four(w);
    lists(w, "/gifs/trending-gifs", "a b c d");
    choose(w, "ada", "d", "");
    lists(w, "/gifs/trending-gifs", "d a b c");
    choose(w, "ada", "c", "");
    choose(w, "bob", "c", "");
    lists(w, "/gifs/trending-gifs", "c d a b");
}

static void trends_halve_in_a_day(struct world *w)
{
    import_four(w);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "d", "");
    world_wait(w, 24 * 3600);
    choose(w, "ada", "c", ""); /* 1.5 against 1 */
    lists(w, "/gifs/trending-gifs", "d c a b");
    choose(w, "bob", "c", ""); /* 1.5 against 2 */
    lists(w, "/gifs/trending-gifs", "c d a b");
}

static void an_account_counts_once_in_ten_minutes(struct world *w)
{
    import_four(w);
    choose(w, "ada", "d", "");
    choose(w, "bob", "d", "");
    for (int i = 0; i < 5; i++)
        choose(w, "ada", "c", "");
    lists(w, "/gifs/trending-gifs", "d c a b");
    world_wait(w, 10 * 60 - 100);
    choose(w, "ada", "c", "");
    lists(w, "/gifs/trending-gifs", "d c a b");
    world_wait(w, 110);
    choose(w, "ada", "c", "");
    lists(w, "/gifs/trending-gifs", "c d a b");
}

static void unknown_gifs_are_taken_in_silence(struct world *w)
{
    import_four(w);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "nothing", "never seen");
    lists(w, "/gifs/trending-gifs", "a b c d");
    lists(w, "/gifs/suggest?q=never", "");
}

static void trends_keep_to_the_language(struct world *w)
{
    import_four(w);
    world_import_gifs(w, "[{'id': 'fr', 'locale': 'fr', 'tags': ['chat'], 'weight': 9, " MEDIA
                         ", {'id': 'br', 'locale': 'pt-BR', 'tags': ['gato'], " MEDIA "]");
    choose(w, "ada", "fr", "");
    lists(w, "/gifs/trending-gifs", "a b c d");
    lists(w, "/gifs/trending-gifs?locale=fr", "fr a b c d");
    lists(w, "/gifs/trending-gifs?locale=pt-BR", "a b c br d");
}

/* --- where to begin ------------------------------------------------------------------- */

static void trends_show_one_gif_and_categories(struct world *w)
{
    import_four(w);
    struct answer a = client_get(world_stranger(w), "/gifs/trending?media_format=gif");
    expect_json(a, "{'categories': [{'name': 'cat'}], 'gifs': [{'id': 'a', 'width': 498}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/a/gif.gif"));
    choose(w, "ada", "d", "");
    world_count_choices(w);
    a = client_get(world_stranger(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'cat'}], 'gifs': [{'id': 'd'}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/d/gif.gif"));
}

static void hot_categories_come_first(struct world *w)
{
    struct buf text;

    buf_init(&text, 64 * 1024);
    for (int i = 0; i < 12; i++)
        buf_printf(&text, "{'id': 'g%d', 'tags': ['%s'], " MEDIA "\n", i,
                   i < 5   ? "large"
                   : i < 9 ? "small"
                           : "tiny");
    world_import_gifs(w, str_dupz(world_arena(w), buf_str(&text)));
    buf_clear(&text);
    struct answer a = client_get(world_stranger(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'large'}, {'name': 'small'}]}");
    choose(w, "ada", "g6", "");
    choose(w, "bob", "g10", ""); /* three GIFs are too few for a category */
    world_count_choices(w);
    a = client_get(world_stranger(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'small'}, {'name': 'large'}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/g6/"));
}

static void with_categories(struct config *c)
{
    c->gif_categories = "Fish,nothing,pet";
}

static void an_operator_names_categories(struct world *w)
{
    import_four(w);
    struct answer a = client_get(world_stranger(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'fish'}, {'name': 'pet'}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/d/"));
    lists(w, "/gifs/trending-search", "fish pet");
}

/* --- terms ---------------------------------------------------------------------------- */

static void a_term_is_shown_once_three_have_used_it(struct world *w)
{
    import_four(w);
    choose(w, "ada", "a", "Secret Diary");
    choose(w, "bob", "a", "secret  diary");
    lists(w, "/gifs/suggest?q=sec", "");
    lists(w, "/gifs/trending-search", "cat");
    world_wait(w, 700);
    choose(w, "bob", "a", "secret diary"); /* the same two */
    lists(w, "/gifs/suggest?q=sec", "");
    choose(w, "cleo", "a", "secret diary");
    lists(w, "/gifs/suggest?q=sec", "secret diary");
    lists(w, "/gifs/suggest?q=s", "secret diary");
    lists(w, "/gifs/trending-search", "secret diary cat");
    lists(w, "/gifs/trending-search?limit=1", "secret diary");
    lists(w, "/gifs/trending-search?limit=0", "secret diary");
    lists(w, "/gifs/suggest?q=sec&locale=fr", "");
}

static void so_many_terms_are_listed(struct world *w)
{
    static const struct {
        const char *path;
        size_t count;
    } lists_of[] = {
        { "/gifs/trending-search", 5 },           { "/gifs/trending-search?limit=50", 50 },
        { "/gifs/trending-search?limit=51", 50 }, { "/gifs/suggest?q=w", 20 },
        { "/gifs/suggest?q=w&limit=50", 50 },     { "/gifs/suggest?q=w&limit=51", 50 },
    };

    import_four(w);
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 3; k++)
            choose(w, people[k], "a", TEXT(w, "word%d", i));
        world_wait(w, 700); /* a person's choices of a GIF count once in ten minutes */
    }
    world_count_choices(w);
    for (size_t i = 0; i < sizeof lists_of / sizeof *lists_of; i++)
        expect(client_get(world_stranger(w), "%s", lists_of[i].path).json->count ==
               lists_of[i].count);
}

static void a_term_is_forgotten_after_a_week(struct world *w)
{
    import_four(w);
    choose(w, "ada", "a", "old news");
    world_wait(w, 6 * 24 * 3600);
    choose(w, "bob", "a", "old news");
    choose(w, "cleo", "a", "old news");
    lists(w, "/gifs/suggest?q=old", "old news");
    world_wait(w, 25 * 3600); /* the first has not used it for a week */
    lists(w, "/gifs/suggest?q=old", "");
    choose(w, "dara", "a", "old news");
    lists(w, "/gifs/suggest?q=old", "old news");
}

static void with_blocked_words(struct config *c)
{
    c->gif_blocked_words = "Darn,heck,Fl\u00fcche,oh my,\u99ac\u9e7f";
}

static void some_terms_never_count(struct world *w)
{
    static const char *const terms[] = {
        "x",
        "1234",
        "!?",
        "\u2764\u2764\u2764",
        "darn it",
        "HECK",
        "d\u00e4rn",
        "alle Flu\u0308che",
        "flueche oh my",
        "x\u99ac\u9e7fx",
        "0123456789012345678901234567890123456789012345678901234567890123x",
    };

    import_four(w);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        for (int k = 0; k < 3; k++)
            choose(w, people[k], "a", terms[i]);
        world_wait(w, 700);
    }
    lists(w, "/gifs/trending-search?limit=50", "cat");
    for (int k = 0; k < 3; k++)
        choose(w, people[k], "a", "xy");
    lists(w, "/gifs/trending-search?limit=50", "xy cat");
}

static void suggestions_are_terms_then_tags_then_relatives(struct world *w)
{
    import_four(w);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "d", "pets playing");
    for (int i = 0; i < 4; i++)
        choose(w, people[i], "c", "pets");
    lists(w, "/gifs/suggest?q=pe", "pets pets playing pet");
    lists(w, "/gifs/suggest?q=p&limit=2", "pets pets playing");
    lists(w, "/gifs/suggest?q=PETS", "pets playing"); /* not what is there already */
    world_wait(w, 700);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "d", "aquarium");
    lists(w, "/gifs/suggest?q=aquarium", "pets playing"); /* led to the same GIF */
}

static void hotter_terms_come_first(struct world *w)
{
    import_four(w);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "a", "cold cut");
    world_wait(w, 2 * 24 * 3600);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "b", "cold war");
    lists(w, "/gifs/suggest?q=cold", "cold war cold cut");
    lists(w, "/gifs/trending-search", "cold war cold cut cat");
}

static void choices_outlive_a_restart(struct world *w)
{
    import_four(w);
    for (int i = 0; i < 3; i++)
        choose(w, people[i], "d", "goldfish");
    world_restart(w);
    lists(w, "/gifs/trending-gifs", "d a b c");
    lists(w, "/gifs/suggest?q=gold", "goldfish");
}

/* --- counting and forgetting ---------------------------------------------------------- */

static int64_t clicks(struct world *w, const char *term)
{
    return world_number(w,
                        "select coalesce(sum(p.clicks), 0) from gif_pairs p join gif_terms t "
                        "on t.n = p.term where t.term = '%s'",
                        term);
}

/* As if so many accounts had chosen a GIF a moment ago. */
static void choose_often(struct world *w, const char *id, int times, const char *q)
{
    world_sql(w,
              "with recursive c (i) as (select 1 union all select i + 1 from c where i < %d) "
              "insert into gif_choices (n, user_id, gif, locale, term, at) "
              "select i, i, (select n from gifs where id = '%s'), 'en-US', '%s', %lld from c",
              times, id, q, (long long)clock_us());
}

static void many_choices_are_counted_in_parts(struct world *w)
{
    import_four(w);
    choose_often(w, "d", 450, "crowd");
    choose(w, "ada", "d", "crowd");
    world_count_choices(w);
    expect(clicks(w, "crowd") == 451);
    expect(store_count(w, "select count(*) from gif_term_users") == 451);
    lists(w, "/gifs/trending-gifs", "d a b c");
    lists(w, "/gifs/suggest?q=cro", "crowd");
}

static void a_choice_of_a_gif_that_goes_is_dropped(struct world *w)
{
    import_four(w);
    world_sql(w, "insert into gif_choices (n, user_id, gif, locale, term, at) "
                 "values (1, 1, 999, 'en-US', 'gone', 1)");
    choose(w, "ada", "d", "");
    world_count_choices(w);
    expect(clicks(w, "gone") == 0);
    lists(w, "/gifs/trending-gifs", "d a b c");
}

/* Nobody chooses any more, and it is counted all the same. */
static void what_is_left_behind_is_counted_in_time(struct world *w)
{
    import_four(w);
    choose(w, "ada", "d", "");
    world_count_choices(w);
    expect_number(w, 1, "select count(*) from gif_picks");
    world_wait(w, 2); /* a count that finds nothing */
    expect_number(w, 1,
                  "select count(*) from jobs where kind = 'gif-choices' and due > "
                  "(select max(at) from gif_picks) + 3000000000");
    choose_often(w, "c", 3, "late");
    world_wait(w, 3600);
    expect_number(w, 0, "select count(*) from gif_choices");
    expect(clicks(w, "late") == 3);
    expect_number(w, 0, "select count(*) from gif_picks"); /* and who it was is forgotten */
}

static void a_term_goes_when_nobody_has_used_it_for_long(struct world *w)
{
    import_four(w);
    choose(w, "ada", "a", "once upon");
    for (int i = 0; i < 4; i++)
        choose(w, people[i], "b", "a time");
    world_count_choices(w);
    world_wait(w, 59 * 24 * 3600);
    choose(w, "ada", "c", "");
    world_count_choices(w);
    expect(clicks(w, "once upon") == 1 && clicks(w, "a time") == 4);
    expect(store_count(w, "select count(*) from gif_term_users") == 0);
    world_wait(w, 24 * 3600); /* worth a quarter of the other */
    expect_number(w, 1, "select count(*) from gif_terms");
    expect(clicks(w, "once upon") == 0 && clicks(w, "a time") == 4);
    world_wait(w, 2 * 24 * 3600);
    expect_number(w, 0, "select count(*) from gif_terms");
    expect(store_count(w, "select count(*) from gif_pairs") == 0);
}

static void much_is_forgotten_in_parts(struct world *w)
{
    import_four(w);
    choose_often(w, "a", 1100, "crowd");
    choose(w, "ada", "a", "crowd");
    world_count_choices(w);
    expect(store_count(w, "select count(*) from gif_picks") == 1101);
    clock_go(); /* a part a second */
    world_wait(w, 8 * 24 * 3600);
    expect_number(w, 0, "select count(*) from gif_picks");
    expect_number(w, 0, "select count(*) from gif_term_users");
}

const struct test gifs_trends_tests[] = {
    TEST(what_is_chosen_trends),
    TEST(trends_halve_in_a_day),
    TEST(an_account_counts_once_in_ten_minutes),
    TEST(unknown_gifs_are_taken_in_silence),
    TEST(trends_keep_to_the_language),
    TEST(trends_show_one_gif_and_categories),
    TEST(hot_categories_come_first),
    TEST_WITH(an_operator_names_categories, with_categories),
    TEST(a_term_is_shown_once_three_have_used_it),
    TEST(so_many_terms_are_listed),
    TEST(a_term_is_forgotten_after_a_week),
    TEST_WITH(some_terms_never_count, with_blocked_words),
    TEST(suggestions_are_terms_then_tags_then_relatives),
    TEST(hotter_terms_come_first),
    TEST(choices_outlive_a_restart),
    TEST(many_choices_are_counted_in_parts),
    TEST(a_choice_of_a_gif_that_goes_is_dropped),
    TEST(what_is_left_behind_is_counted_in_time),
    TEST(a_term_goes_when_nobody_has_used_it_for_long),
    TEST(much_is_forgotten_in_parts),
    { 0 },
};
