/* search.c - results and order of GIF search. */
#include "gifs.h"

#include <string.h>

#define MEDIA "'media': {'gif': 'f.gif'}}"

static void gifs_matching_all_words_come_before_partial_matches(struct world *w)
{
    world_import_gifs(w, "[{'id': 'cat', 'tags': ['cat'], " MEDIA
                         ", {'id': 'both', 'title': 'Funny cat', " MEDIA
                         ", {'id': 'funny', 'tags': ['funny'], " MEDIA "]");
    expect_gifs(w, "both", "");
    expect_gifs(w, "cat", "cat both");
    struct answer a = client_get(world_anonymous(w), "/gifs/search?q=funny%%20cat");
    expect_json(a, "[{'id': 'both'}, {}, {}]");
    expect_gifs(w, "dog", "");
}

static void last_word_of_a_gif_search_matches_as_prefix(struct world *w)
{
    world_import_gifs(w, "[{'id': 'a', 'title': 'waving hello', " MEDIA "]");
    expect_gifs(w, "hel", "a");
    expect_gifs(w, "h", "a");
    expect_gifs(w, "waving%20he", "a");
    expect_gifs(w, "wav%20zzz", ""); /* only the last word of the query matches as a prefix */
    expect_gifs(w, "ello", "");
}

static void tag_matches_rank_above_title_and_description_matches(struct world *w)
{
    world_import_gifs(
        w, "[{'id': 'text', 'title': 'x', 'tags': ['y'], 'description': 'cat', " MEDIA
           ", {'id': 'title', 'title': 'cat', 'tags': ['y'], 'description': 'z', " MEDIA
           ", {'id': 'tag', 'title': 'x', 'tags': ['cat'], 'description': 'z', " MEDIA "]");
    expect_gifs(w, "cat", "tag title text");
}

static void weight_and_popularity_raise_a_gif_in_search_results(struct world *w)
{
    world_import_gifs(w, "[{'id': 'a', 'tags': ['cat'], " MEDIA
                         ", {'id': 'b', 'tags': ['cat'], 'weight': 1.5, " MEDIA
                         ", {'id': 'c', 'tags': ['cat'], " MEDIA "]");
    expect_gifs(w, "cat", "b a c");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = { "ada", "bob", "cleo" };

        expect_status(
            client_post(world_client(w, names[i]), "{'id': 'c', 'q': ''}", "/gifs/select"), 204);
    }
    world_count_choices(w);
    expect_gifs(w, "cat", "c b a");
    world_wait(w, 10 * 24 * 3600); /* the popularity has decayed */
    expect_gifs(w, "cat", "b c a");
    expect_status(client_post(world_client(w, "ada"), "{'id': 'a', 'q': ''}", "/gifs/select"), 204);
    world_count_choices(w);
    expect_gifs(w, "cat", "a b c");
}

static void equally_ranked_gifs_are_ordered_by_id(struct world *w)
{
    world_import_gifs(w,
                      "[{'id': 'd', 'tags': ['cat'], " MEDIA ", {'id': 'b', 'tags': ['cat'], " MEDIA
                      ", {'id': 'c', 'tags': ['cat'], 'weight': 2, " MEDIA
                      ", {'id': 'a', 'tags': ['cat'], " MEDIA "]");
    expect_gifs(w, "cat", "c a b d");
}

static void selecting_a_gif_raises_it_for_the_same_query(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_import_gifs(w, "[{'id': 'a', 'tags': ['cat', 'pet'], " MEDIA
                         ", {'id': 'b', 'tags': ['cat', 'pet'], " MEDIA "]");
    expect_gifs(w, "pet", "a b");
    expect_status(client_post(ada, "{'id': 'b', 'q': ' PET '}", "/gifs/select"), 204);
    world_count_choices(w);
    world_wait(w,
               30 * 24 * 3600); /* the popularity has decayed, the pair of query and GIF remains */
    expect_gifs(w, "pet", "b a");
    struct answer a = client_get(ada, "/gifs/search?q=pet&locale=fr");
    expect_json(a, "[{'id': 'b'}, {'id': 'a'}]"); /* a little popularity is left */
}

static void gif_search_prefers_gifs_of_the_requested_locale(struct world *w)
{
    world_import_gifs(w, "[{'id': 'br', 'locale': 'pt-BR', 'tags': ['ola'], " MEDIA
                         ", {'id': 'pt', 'locale': 'pt-PT', 'tags': ['ola'], 'weight': 9, " MEDIA
                         ", {'id': 'es', 'locale': 'es-ES', 'tags': ['ola'], 'weight': 9, " MEDIA
                         ", {'id': 'any', 'tags': ['ola'], 'weight': 2, " MEDIA "]");
    expect_gifs(w, "ola&locale=pt-BR", "any br pt");
    expect_gifs(w, "ola&locale=es-ES", "es any");
    expect_gifs(w, "ola&locale=de", "any");
    expect_gifs(w, "ola&locale=nonsense", "any"); /* the default en-US */
    world_import_gifs(w, "[{'id': 'seul', 'locale': 'fr', 'tags': ['seul'], " MEDIA "]");
    expect_gifs(w, "seul&locale=ja", "seul"); /* a GIF of another locale is better than none */

    struct answer a = client_request(world_anonymous(w), "GET", "/api/v10/gifs/search?q=ola",
                                     "X-Discord-Locale: es-ES\r\n", STR(""));
    expect(strcmp(gif_ids(a), "es any") == 0);
    a = client_request(world_anonymous(w), "GET", "/api/v10/gifs/search?q=ola&locale=de",
                       "X-Discord-Locale: es-ES\r\n", STR(""));
    expect(strcmp(gif_ids(a), "any") == 0); /* the parameter overrides the header */
}

static void gif_search_ignores_case_accents_and_unicode_forms(struct world *w)
{
    world_import_gifs(w,
                      "[{'id': 'cafe', 'title': 'Caf\xc3\xa9 CR\xc3\x88ME', " MEDIA
                      ", {'id': 'wide', 'title': '\xef\xbc\xa8\xef\xbd\x89 there', " MEDIA
                      ", {'id': 'greek', 'title': '\xce\x9a\xce\xb1\xce\xbb\xce\xb7\xce\xbc\xce"
                      "\xad\xcf\x81\xce\xb1', " MEDIA ", {'id': 'strasse', 'title': 'Stra\xc3\x9f"
                      "e', " MEDIA "]");
    expect_gifs(w, "CAFE", "cafe");
    expect_gifs(w, "caf%C3%A9", "cafe");
    expect_gifs(w, "cafe%CC%81", "cafe"); /* e and a combining accent */
    expect_gifs(w, "creme", "cafe");
    expect_gifs(w, "hi", "wide");
    expect_gifs(w, "%CE%9A%CE%91%CE%9B%CE%97%CE%9C%CE%95%CE%A1%CE%91", "greek");
    expect_gifs(w, "strasse", "strasse");
}

static void gif_search_finds_words_in_scripts_without_spaces(struct world *w)
{
    world_import_gifs(
        w, "[{'id': 'neko', 'title': '\xe9\xbb\x92\xe7\x8c\xab\xe3\x81\xa8\xe7\x8a"
           "\xac', " MEDIA /* black cat and dog */
           ", {'id': 'thai', 'title': '\xe0\xb9\x81\xe0\xb8\xa1\xe0\xb8\xa7', " MEDIA
           ", {'id': 'hangul', 'title': '\xea\xb3\xa0\xec\x96\x91\xec\x9d\xb4', " MEDIA "]");
    expect_gifs(w, "%E7%8C%AB", "neko");          /* a character in the middle */
    expect_gifs(w, "%E7%8A%AC", "neko");          /* the last character */
    expect_gifs(w, "%E9%BB%92%E7%8C%AB", "neko"); /* two adjacent characters */
    expect_gifs(w, "%E9%BB%92%E7%8A%AC", "");     /* two characters that are not adjacent */
    expect_gifs(w, "%E0%B9%81%E0%B8%A1%E0%B8%A7", "thai");
    expect_gifs(w, "%EC%96%91%EC%9D%B4", "hangul");
}

static void gif_search_treats_operators_as_plain_text(struct world *w)
{
    static const char *const queries[] = {
        "%22cat",          "cat%22",       "cat%20OR%20dog", "cat%20AND",    "NOT%20cat",
        "title%3Acat",     "cat*",         "(cat",           "cat)%27",      "%27%3Bcat",
        "cat%5C",          "cat%20%26%20", "%7C%20cat",      "%21%21%20cat", "cat%3A%2A",
        "NEAR(cat%20dog)", "%5Ecat",       "-cat",
    };

    world_import_gifs(w, "[{'id': 'a', 'tags': ['cat'], " MEDIA "]");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        expect_gifs(w, queries[i], "a");
}

const struct test gifs_search_tests[] = {
    TEST(gifs_matching_all_words_come_before_partial_matches),
    TEST(last_word_of_a_gif_search_matches_as_prefix),
    TEST(tag_matches_rank_above_title_and_description_matches),
    TEST(weight_and_popularity_raise_a_gif_in_search_results),
    TEST(equally_ranked_gifs_are_ordered_by_id),
    TEST(selecting_a_gif_raises_it_for_the_same_query),
    TEST(gif_search_prefers_gifs_of_the_requested_locale),
    TEST(gif_search_ignores_case_accents_and_unicode_forms),
    TEST(gif_search_finds_words_in_scripts_without_spaces),
    TEST(gif_search_treats_operators_as_plain_text),
    { 0 },
};
