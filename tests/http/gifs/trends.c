/* trends.c - how GIF selections change trends and suggestions, and their privacy. */
#include "gifs.h"

#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "platforms.h"

#define MEDIA "'media': {'gif': 'f.gif'}}"

static const char *const people[] = { "ada", "bob", "cleo", "dara", "emil" };

static void select_gif(struct world *w, const char *who, const char *id, const char *q)
{
    char body[200];

    snprintf(body, sizeof body, "{'id': '%s', 'q': '%s'}", id, q);
    expect_status(client_post(world_client(w, who), body, "/gifs/select"), 204);
}

static void expect_listed_items_in_order(struct world *w, const char *path, const char *items)
{
    world_count_choices(w);
    const char *found = gif_ids(client_get(world_anonymous(w), "%s", path));

    if (strcmp(found, items) != 0)
        fail_test(__FILE__, __LINE__, "%s lists '%s', not '%s'", path, found, items);
}

static void import_four_gifs(struct world *w)
{
    world_import_gifs(w, "[{'id': 'a', 'tags': ['Cat', 'pet'], 'weight': 4, " MEDIA
                         ", {'id': 'b', 'tags': ['cat', 'pet'], 'weight': 3, " MEDIA
                         ", {'id': 'c', 'tags': ['cat', 'pet'], 'weight': 2, " MEDIA
                         ", {'id': 'd', 'tags': ['cat', 'fish'], 'weight': 1, " MEDIA "]");
}

/* --- GIFs ----------------------------------------------------------------------------- */

static void selected_gifs_rise_in_trending_gifs(struct world *w)
{
    import_four_gifs(w);
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "a b c d");
    select_gif(w, "ada", "d", "");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d a b c");
    select_gif(w, "ada", "c", "");
    select_gif(w, "bob", "c", "");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "c d a b");
}

static void trending_score_of_a_gif_halves_in_a_day(struct world *w)
{
    import_four_gifs(w);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "d", "");
    world_wait(w, 24 * 3600);
    select_gif(w, "ada", "c", ""); /* 1.5 against 1 */
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d c a b");
    select_gif(w, "bob", "c", ""); /* 1.5 against 2 */
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "c d a b");
}

static void selections_of_a_gif_count_once_per_account_in_ten_minutes(struct world *w)
{
    import_four_gifs(w);
    select_gif(w, "ada", "d", "");
    select_gif(w, "bob", "d", "");
    for (int i = 0; i < 5; i++)
        select_gif(w, "ada", "c", "");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d c a b");
    world_wait(w, 10 * 60 - 100);
    select_gif(w, "ada", "c", "");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d c a b");
    world_wait(w, 110);
    select_gif(w, "ada", "c", "");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "c d a b");
}

static void selecting_an_unknown_gif_has_no_effect(struct world *w)
{
    import_four_gifs(w);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "nothing", "never seen");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "a b c d");
    expect_listed_items_in_order(w, "/gifs/suggest?q=never", "");
}

static void trending_gifs_contain_only_the_requested_locale(struct world *w)
{
    import_four_gifs(w);
    world_import_gifs(w, "[{'id': 'fr', 'locale': 'fr', 'tags': ['chat'], 'weight': 9, " MEDIA
                         ", {'id': 'br', 'locale': 'pt-BR', 'tags': ['gato'], " MEDIA "]");
    select_gif(w, "ada", "fr", "");
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "a b c d");
    expect_listed_items_in_order(w, "/gifs/trending-gifs?locale=fr", "fr a b c d");
    expect_listed_items_in_order(w, "/gifs/trending-gifs?locale=pt-BR", "a b c br d");
}

/* --- start page ----------------------------------------------------------------------- */

static void trending_route_returns_one_gif_and_categories(struct world *w)
{
    import_four_gifs(w);
    struct answer a = client_get(world_anonymous(w), "/gifs/trending?media_format=gif");
    expect_json(a, "{'categories': [{'name': 'cat'}], 'gifs': [{'id': 'a', 'width': 498}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/a/gif.gif"));
    select_gif(w, "ada", "d", "");
    world_count_choices(w);
    a = client_get(world_anonymous(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'cat'}], 'gifs': [{'id': 'd'}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/d/gif.gif"));
}

static void popular_categories_come_first(struct world *w)
{
    struct buf text;

    buf_init(&text, 64 * 1024);
    for (int i = 0; i < 12; i++)
        buf_printf(&text, "{'id': 'g%d', 'tags': ['%s'], " MEDIA "\n", i,
                   i < 5   ? "large"
                   : i < 9 ? "small"
                           : "tiny");
    world_import_gifs(w, str_dup_cstring(world_arena(w), buf_as_str(&text)));
    buf_clear(&text);
    struct answer a = client_get(world_anonymous(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'large'}, {'name': 'small'}]}");
    select_gif(w, "ada", "g6", "");
    select_gif(w, "bob", "g10", ""); /* three GIFs are too few for a category */
    world_count_choices(w);
    a = client_get(world_anonymous(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'small'}, {'name': 'large'}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/g6/"));
}

static void configure_gif_categories(struct config *c)
{
    c->gif_categories = "Fish,nothing,pet";
}

static void gif_categories_option_sets_the_categories(struct world *w)
{
    import_four_gifs(w);
    struct answer a = client_get(world_anonymous(w), "/gifs/trending");
    expect_json(a, "{'categories': [{'name': 'fish'}, {'name': 'pet'}]}");
    expect(strstr(answer_text(a, "categories.0.src"), "/gifs/d/"));
    expect_listed_items_in_order(w, "/gifs/trending-search", "fish pet");
}

/* --- terms ---------------------------------------------------------------------------- */

static void search_term_is_suggested_after_three_users_used_it(struct world *w)
{
    import_four_gifs(w);
    select_gif(w, "ada", "a", "Secret Diary");
    select_gif(w, "bob", "a", "secret  diary");
    expect_listed_items_in_order(w, "/gifs/suggest?q=sec", "");
    expect_listed_items_in_order(w, "/gifs/trending-search", "cat");
    world_wait(w, 700);
    select_gif(w, "bob", "a", "secret diary"); /* the same two users */
    expect_listed_items_in_order(w, "/gifs/suggest?q=sec", "");
    select_gif(w, "cleo", "a", "secret diary");
    expect_listed_items_in_order(w, "/gifs/suggest?q=sec", "secret diary");
    expect_listed_items_in_order(w, "/gifs/suggest?q=s", "secret diary");
    expect_listed_items_in_order(w, "/gifs/trending-search", "secret diary cat");
    expect_listed_items_in_order(w, "/gifs/trending-search?limit=1", "secret diary");
    expect_listed_items_in_order(w, "/gifs/trending-search?limit=0", "secret diary");
    expect_listed_items_in_order(w, "/gifs/suggest?q=sec&locale=fr", "");
}

static void search_term_lists_are_limited_in_length(struct world *w)
{
    static const struct {
        const char *path;
        size_t count;
    } lists_of[] = {
        { "/gifs/trending-search", 5 },           { "/gifs/trending-search?limit=50", 50 },
        { "/gifs/trending-search?limit=51", 50 }, { "/gifs/suggest?q=w", 20 },
        { "/gifs/suggest?q=w&limit=50", 50 },     { "/gifs/suggest?q=w&limit=51", 50 },
    };

    import_four_gifs(w);
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 3; k++)
            select_gif(w, people[k], "a", TEXT(w, "word%d", i));
        world_wait(w, 700); /* selections of a GIF count once per user in ten minutes */
    }
    world_count_choices(w);
    for (size_t i = 0; i < sizeof lists_of / sizeof *lists_of; i++)
        expect(client_get(world_anonymous(w), "%s", lists_of[i].path).json->count ==
               lists_of[i].count);
}

static void search_term_use_expires_after_a_week(struct world *w)
{
    import_four_gifs(w);
    select_gif(w, "ada", "a", "old news");
    world_wait(w, 6 * 24 * 3600);
    select_gif(w, "bob", "a", "old news");
    select_gif(w, "cleo", "a", "old news");
    expect_listed_items_in_order(w, "/gifs/suggest?q=old", "old news");
    world_wait(w, 25 * 3600); /* the first user has not used the term for a week */
    expect_listed_items_in_order(w, "/gifs/suggest?q=old", "");
    select_gif(w, "dara", "a", "old news");
    expect_listed_items_in_order(w, "/gifs/suggest?q=old", "old news");
}

static void configure_blocked_words(struct config *c)
{
    c->gif_blocked_words = "Darn,heck,Fl\u00fcche,oh my,\u99ac\u9e7f";
}

static void short_long_and_blocked_search_terms_are_never_suggested(struct world *w)
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

    import_four_gifs(w);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        for (int k = 0; k < 3; k++)
            select_gif(w, people[k], "a", terms[i]);
        world_wait(w, 700);
    }
    expect_listed_items_in_order(w, "/gifs/trending-search?limit=50", "cat");
    for (int k = 0; k < 3; k++)
        select_gif(w, people[k], "a", "xy");
    expect_listed_items_in_order(w, "/gifs/trending-search?limit=50", "xy cat");
}

static void suggestions_are_terms_then_tags_then_related_terms(struct world *w)
{
    import_four_gifs(w);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "d", "pets playing");
    for (int i = 0; i < 4; i++)
        select_gif(w, people[i], "c", "pets");
    expect_listed_items_in_order(w, "/gifs/suggest?q=pe", "pets pets playing pet");
    expect_listed_items_in_order(w, "/gifs/suggest?q=p&limit=2", "pets pets playing");
    expect_listed_items_in_order(w, "/gifs/suggest?q=PETS",
                                 "pets playing"); /* not the query itself */
    world_wait(w, 700);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "d", "aquarium");
    expect_listed_items_in_order(w, "/gifs/suggest?q=aquarium",
                                 "pets playing"); /* led to the same GIF */
}

static void recently_used_search_terms_come_first(struct world *w)
{
    import_four_gifs(w);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "a", "cold cut");
    world_wait(w, 2 * 24 * 3600);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "b", "cold war");
    expect_listed_items_in_order(w, "/gifs/suggest?q=cold", "cold war cold cut");
    expect_listed_items_in_order(w, "/gifs/trending-search", "cold war cold cut cat");
}

static void gif_selections_survive_a_restart(struct world *w)
{
    import_four_gifs(w);
    for (int i = 0; i < 3; i++)
        select_gif(w, people[i], "d", "goldfish");
    world_restart(w);
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d a b c");
    expect_listed_items_in_order(w, "/gifs/suggest?q=gold", "goldfish");
}

/* --- counting and expiry -------------------------------------------------------------- */

static int64_t count_clicks(struct world *w, const char *term)
{
    return world_number(w,
                        "select coalesce(sum(p.clicks), 0) from gif_pairs p join gif_terms t "
                        "on t.n = p.term where t.term = '%s'",
                        term);
}

/* Inserts selections of a GIF by so many accounts. */
static void insert_gif_selections(struct world *w, const char *id, int times, const char *q)
{
    world_sql(w,
              "with recursive c (i) as (select 1 union all select i + 1 from c where i < %d) "
              "insert into gif_choices (n, user_id, gif, locale, term, at) "
              "select i, i, (select n from gifs where id = '%s'), 'en-US', '%s', %lld from c",
              times, id, q, (long long)clock_us());
}

static void many_gif_selections_are_counted_in_batches(struct world *w)
{
    import_four_gifs(w);
    insert_gif_selections(w, "d", 450, "crowd");
    select_gif(w, "ada", "d", "crowd");
    world_count_choices(w);
    expect(count_clicks(w, "crowd") == 451);
    expect(store_count(w, "select count(*) from gif_term_users") == 451);
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d a b c");
    expect_listed_items_in_order(w, "/gifs/suggest?q=cro", "crowd");
}

static void selection_of_a_deleted_gif_is_dropped(struct world *w)
{
    import_four_gifs(w);
    world_sql(w, "insert into gif_choices (n, user_id, gif, locale, term, at) "
                 "values (1, 1, 999, 'en-US', 'gone', 1)");
    select_gif(w, "ada", "d", "");
    world_count_choices(w);
    expect(count_clicks(w, "gone") == 0);
    expect_listed_items_in_order(w, "/gifs/trending-gifs", "d a b c");
}

/* A job counts pending selections even if no new selection arrives. */
static void pending_gif_selections_are_counted_by_a_job(struct world *w)
{
    import_four_gifs(w);
    select_gif(w, "ada", "d", "");
    world_count_choices(w);
    expect_number(w, 1, "select count(*) from gif_picks");
    world_wait(w, 2); /* a run that finds nothing */
    expect_number(w, 1,
                  "select count(*) from jobs where kind = 'gif-choices' and due > "
                  "(select max(at) from gif_picks) + 3000000000");
    insert_gif_selections(w, "c", 3, "late");
    world_wait(w, 3600);
    expect_number(w, 0, "select count(*) from gif_choices");
    expect(count_clicks(w, "late") == 3);
    expect_number(w, 0, "select count(*) from gif_picks"); /* the selecting users are deleted */
}

static void unused_search_terms_are_deleted_after_two_months(struct world *w)
{
    import_four_gifs(w);
    select_gif(w, "ada", "a", "once upon");
    for (int i = 0; i < 4; i++)
        select_gif(w, people[i], "b", "a time");
    world_count_choices(w);
    world_wait(w, 59 * 24 * 3600);
    select_gif(w, "ada", "c", "");
    world_count_choices(w);
    expect(count_clicks(w, "once upon") == 1 && count_clicks(w, "a time") == 4);
    expect(store_count(w, "select count(*) from gif_term_users") == 0);
    world_wait(w, 24 * 3600); /* worth a quarter of the other */
    expect_number(w, 1, "select count(*) from gif_terms");
    expect(count_clicks(w, "once upon") == 0 && count_clicks(w, "a time") == 4);
    world_wait(w, 2 * 24 * 3600);
    expect_number(w, 0, "select count(*) from gif_terms");
    expect(store_count(w, "select count(*) from gif_pairs") == 0);
}

static void expired_gif_selections_are_deleted_in_batches(struct world *w)
{
    import_four_gifs(w);
    insert_gif_selections(w, "a", 1100, "crowd");
    select_gif(w, "ada", "a", "crowd");
    world_count_choices(w);
    expect(store_count(w, "select count(*) from gif_picks") == 1101);
    clock_restart_wall_and_monotonic(); /* one step per second */
    world_wait(w, 8 * 24 * 3600);
    expect_number(w, 0, "select count(*) from gif_picks");
    expect_number(w, 0, "select count(*) from gif_term_users");
}

const struct test gifs_trends_tests[] = {
    TEST(selected_gifs_rise_in_trending_gifs),
    TEST(trending_score_of_a_gif_halves_in_a_day),
    TEST(selections_of_a_gif_count_once_per_account_in_ten_minutes),
    TEST(selecting_an_unknown_gif_has_no_effect),
    TEST(trending_gifs_contain_only_the_requested_locale),
    TEST(trending_route_returns_one_gif_and_categories),
    TEST(popular_categories_come_first),
    TEST_WITH(gif_categories_option_sets_the_categories, configure_gif_categories),
    TEST(search_term_is_suggested_after_three_users_used_it),
    TEST(search_term_lists_are_limited_in_length),
    TEST(search_term_use_expires_after_a_week),
    TEST_WITH(short_long_and_blocked_search_terms_are_never_suggested, configure_blocked_words),
    TEST(suggestions_are_terms_then_tags_then_related_terms),
    TEST(recently_used_search_terms_come_first),
    TEST(gif_selections_survive_a_restart),
    TEST(many_gif_selections_are_counted_in_batches),
    TEST(selection_of_a_deleted_gif_is_dropped),
    TEST(pending_gif_selections_are_counted_by_a_job),
    TEST(unused_search_terms_are_deleted_after_two_months),
    TEST(expired_gif_selections_are_deleted_in_batches),
    { 0 },
};
