/* gifs.c - requests and responses of the GIF routes. */
#include "gifs.h"

#include <stdio.h>
#include <string.h>

#define CAT "{'id': 'Cat_1', 'title': 'A Happy Cat!', 'tags': ['cat'], 'media': {'gif': 'f.gif', "

/* Imports one GIF with files of every format. */
static void import_cat(struct world *w)
{
    struct gif_import done = world_import_gifs(
        w, CAT "'mediumgif': 'medium.gif', 'tinygif': 'tiny.gif', 'nanogif': 'nano.gif', "
               "'mp4': 'f.mp4', 'tinymp4': 'tiny.mp4', 'webm': 'f.webm', 'webp': 'f.webp', "
               "'preview': 'still.png'}}");

    expect(done.made == 1 && done.refused == 0);
}

/* Returns the URL of a file of the GIF. */
static const char *file_url(struct world *w, const char *name)
{
    return str_printf(world_arena(w), "http://127.0.0.1:%d/gifs/Cat_1/%s", world_port(w), name).p;
}

/* --- objects -------------------------------------------------------------------------- */

static void gif_search_returns_gif_objects(struct world *w)
{
    import_cat(w);
    struct answer a = client_get(world_anonymous(w), "/gifs/search?q=cat&media_format=mp4");

    expect_status(a, 200);
    expect_json(a,
                "[{'id': 'Cat_1', 'title': 'A Happy Cat!', "
                "'url': 'http://127.0.0.1:%d/gifs/a-happy-cat-Cat_1', 'src': '%s', "
                "'gif_src': '%s', 'preview': '%s', 'width': 640, 'height': 360}]",
                world_port(w), file_url(w, "mp4.mp4"), file_url(w, "gif.gif"),
                file_url(w, "preview.png"));
    expect(a.json->items[0].count == 8);
}

static void media_format_selects_file_and_size(struct world *w)
{
    static const struct {
        const char *format, *file_url;
        int width, height;
    } cases[] = {
        { "mp4", "mp4.mp4", 640, 360 },
        { "loopedmp4", "mp4.mp4", 640, 360 },
        { "tinymp4", "tinymp4.mp4", 320, 180 },
        { "nanomp4", "tinymp4.mp4", 320, 180 }, /* missing format: the next larger one */
        { "webm", "webm.webm", 640, 360 },
        { "tinywebm", "webm.webm", 640, 360 },
        { "nanowebm", "webm.webm", 640, 360 },
        { "gif", "gif.gif", 498, 280 },
        { "mediumgif", "mediumgif.gif", 448, 252 },
        { "tinygif", "tinygif.gif", 220, 124 },
        { "nanogif", "nanogif.gif", 120, 68 },
        { "webp", "webp.webp", 498, 280 },
        { "tinywebp", "webp.webp", 498, 280 },
        { "nanowebp", "webp.webp", 498, 280 },
        { "", "mp4.mp4", 640, 360 },
        { "avi", "mp4.mp4", 640, 360 },
        { "preview", "mp4.mp4", 640, 360 },
        { "MP4", "mp4.mp4", 640, 360 },
    };
    struct client *nobody = world_anonymous(w);

    import_cat(w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_json(client_get(nobody, "/gifs/search?q=cat&media_format=%s", cases[i].format),
                    "[{'src': '%s', 'width': %d, 'height': %d}]", file_url(w, cases[i].file_url),
                    cases[i].width, cases[i].height);
    expect_json(client_get(nobody, "/gifs/search?q=cat"), "[{'src': '%s'}]",
                file_url(w, "mp4.mp4"));
}

static void missing_gif_formats_fall_back_to_existing_files(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    world_import_gifs(w, "[{'id': 'still', 'tags': ['a'], 'media': {'gif': 'f.gif'}},"
                         " {'id': 'film', 'tags': ['b'], 'media': {'mp4': 'f.mp4'}}]");
    struct answer a = client_get(nobody, "/gifs/search?q=a&media_format=nanowebm");
    expect_json(a, "[{'title': '', 'width': 498, 'height': 280}]");
    for (size_t i = 0; i < 3; i++) {
        static const char *const fields[] = { "0.src", "0.gif_src", "0.preview" };
        const char *url = answer_text(a, fields[i]);

        expect(strstr(url, "/gifs/still/gif.gif"));
    }
    a = client_get(nobody, "/gifs/search?q=b&media_format=gif");
    expect_json(a, "[{'width': 640, 'height': 360}]");
    expect(strstr(answer_text(a, "0.src"), "/gifs/film/mp4.mp4"));
    expect(strstr(answer_text(a, "0.gif_src"), "/gifs/film/mp4.mp4"));
    expect(strstr(answer_text(a, "0.url"), "/gifs/gif-film"));
}

/* --- files and pages ------------------------------------------------------------------ */

static void gif_files_are_served_with_type_and_range(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    import_cat(w);
    struct answer a = client_request(nobody, "GET", "/gifs/Cat_1/gif.gif", NULL, STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/gif"));
    expect(a.body.n == 14 && memcmp(a.body.p, "GIF89a", 6) == 0);
    a = client_request(nobody, "GET", "/gifs/Cat_1/mp4.mp4", "Range: bytes=4-7\r\n", STR(""));
    expect_status(a, 206);
    expect(str_is(a.body, "ftyp") && str_is(answer_header(a, "Content-Type"), "video/mp4"));
    a = client_request(nobody, "GET", "/gifs/Cat_1/preview.png", NULL, STR(""));
    expect(str_is(answer_header(a, "Content-Type"), "image/png"));

    static const char *const missing[] = {
        "/gifs/Cat_1/nanomp4.mp4", "/gifs/Cat_1/gif.mp4", "/gifs/Cat_1/gif",
        "/gifs/cat_1/gif.gif",     "/gifs/Dog/gif.gif",   "/gifs/Cat_1/x.gif",
    };
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        expect_status(client_request(nobody, "GET", missing[i], NULL, STR("")), 404);
}

static void gif_page_shows_escaped_title_and_source_url(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    world_import_gifs(w, "{'id': 'a-b', 'title': '<b>Bold & -- new</b>', 'url': "
                         "'https://example.org/?a&b', 'media': {'gif': 'f.gif'}}");
    struct answer a = client_request(nobody, "GET", "/gifs/b-bold-new-b-a-b", NULL, STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "text/html; charset=utf-8"));
    const char *page = str_dup_cstring(world_arena(w), a.body);
    expect(strstr(page, "&lt;b&gt;Bold &amp; -- new&lt;/b&gt;") && !strstr(page, "<b>"));
    expect(strstr(page, "src=\"/gifs/a-b/gif.gif\" width=\"498\" height=\"280\""));
    expect(strstr(page, "href=\"https://example.org/?a&amp;b\""));
    expect_status(client_request(nobody, "GET", "/gifs/other-a-b", NULL, STR("")), 404);
    expect_status(client_request(nobody, "GET", "/gifs/a-b", NULL, STR("")), 404);
}

static void gifs_above_the_rating_limit_are_not_listed_or_served(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    world_import_gifs(
        w, "[{'id': 'r', 'rating': 'r', 'tags': ['x'], 'media': {'gif': 'f.gif'}},"
           " {'id': 'pg13', 'rating': 'pg13', 'tags': ['x'], 'media': {'gif': 'f.gif'}}]");
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=x")), "pg13") == 0);
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/trending-gifs")), "pg13") == 0);
    expect_status(client_request(nobody, "GET", "/gifs/r/gif.gif", NULL, STR("")), 404);
    expect_status(client_request(nobody, "GET", "/gifs/gif-r", NULL, STR("")), 404);
    expect_status(client_request(nobody, "GET", "/gifs/pg13/gif.gif", NULL, STR("")), 200);
}

static void configure_gif_rating_limit_g(struct config *c)
{
    c->gif_rating = "g";
}

static void gif_rating_option_lowers_the_rating_limit(struct world *w)
{
    world_import_gifs(w, "[{'id': 'pg', 'rating': 'pg', 'tags': ['x'], 'media': {'gif': 'f.gif'}},"
                         " {'id': 'g', 'rating': 'g', 'tags': ['x'], 'media': {'gif': 'f.gif'}}]");
    expect(strcmp(gif_ids(client_get(world_anonymous(w), "/gifs/search?q=x")), "g") == 0);
}

/* --- parameters ----------------------------------------------------------------------- */

static void import_numbered_gifs(struct world *w, int count)
{
    struct buf text;

    buf_init(&text, 1024 * 1024);
    for (int i = 0; i < count; i++)
        buf_printf(&text,
                   "{\"id\": \"n%d\", \"tags\": [\"many\"], "
                   "\"media\": {\"gif\": \"f.gif\"}}\n",
                   i);
    expect(world_import_gif_text(w, buf_as_str(&text)).made == (size_t)count);
    buf_clear(&text);
}

static size_t count_gifs(struct answer a)
{
    expect_status(a, 200);
    return a.json->count;
}

static void gif_list_limit_is_clamped_to_its_range(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    static const char *const lists[] = { "/gifs/search?q=many&", "/gifs/trending-gifs?" };

    import_numbered_gifs(w, 510);
    for (size_t i = 0; i < 2; i++) {
        expect(count_gifs(client_get(nobody, "%s", lists[i])) == 100);
        expect(count_gifs(client_get(nobody, "%slimit=1", lists[i])) == 20);
        expect(count_gifs(client_get(nobody, "%slimit=-5", lists[i])) == 20);
        expect(count_gifs(client_get(nobody, "%slimit=21", lists[i])) == 21);
        expect(count_gifs(client_get(nobody, "%slimit=500", lists[i])) == 500);
        expect(count_gifs(client_get(nobody, "%slimit=99999999999999999999", lists[i])) == 500);
        expect_invalid(client_get(nobody, "%slimit=ten", lists[i]), "limit", "NUMBER_TYPE_COERCE");
        expect_invalid(client_get(nobody, "%slimit=1.5", lists[i]), "limit", "NUMBER_TYPE_COERCE");
    }
}

static void gif_search_requires_a_query_of_at_most_256_characters(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    static const char *const paths[] = { "/gifs/search", "/gifs/suggest" };
    char q[300];

    for (size_t i = 0; i < 2; i++) {
        expect_invalid(client_get(nobody, "%s", paths[i]), "q", "BASE_TYPE_REQUIRED");
        expect_invalid(client_get(nobody, "%s?q=", paths[i]), "q", "BASE_TYPE_REQUIRED");
        expect_invalid(client_get(nobody, "%s?q=%%20%%09", paths[i]), "q", "BASE_TYPE_REQUIRED");
        snprintf(q, sizeof q, "%0256d", 1);
        expect_json(client_get(nobody, "%s?q=%s", paths[i], q), "[]");
        snprintf(q, sizeof q, "%0257d", 1);
        expect_invalid(client_get(nobody, "%s?q=%s", paths[i], q), "q", "BASE_TYPE_MAX_LENGTH");
        expect_json(client_get(nobody, "%s?q=%%22%%27%%2A%%26%%3A%%21%%28", paths[i]), "[]");
    }
}

static void gif_routes_return_empty_lists_without_gifs(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    expect_json(client_get(nobody, "/gifs/search?q=cat"), "[]");
    expect_json(client_get(nobody, "/gifs/trending-gifs"), "[]");
    expect_json(client_get(nobody, "/gifs/trending-search"), "[]");
    expect_json(client_get(nobody, "/gifs"), "[{'name': 'GIFs', 'api_name': 'guildhall'}]");
    expect_json(client_get(nobody, "/gifs/suggest?q=c"), "[]");
    expect_json(client_get(nobody, "/gifs/trending"), "{'categories': [], 'gifs': []}");
}

/* --- callers -------------------------------------------------------------------------- */

static void gif_routes_need_no_token_but_refuse_invalid_ones(struct world *w)
{
    static const char *const paths[] = { "/gifs/search?q=a", "/gifs/suggest?q=a", "/gifs/trending?",
                                         "/gifs/trending-gifs?", "/gifs/trending-search?" };
    struct client *bad = world_client_with(w, "nonsense");

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect_status(client_get(world_anonymous(w), "%s", paths[i]), 200);
        expect_status(client_get(world_client(w, "ada"), "%s", paths[i]), 200);
        expect_status(client_get(world_bot(w, "helper"), "%s&provider=tenor", paths[i]), 200);
        expect_error(client_get(bad, "%s", paths[i]), 401, 0);
    }
}

static void selecting_a_gif_requires_a_token(struct world *w)
{
    const char *body = "{'id': 'x', 'q': 'y', 'provider': 'tenor'}";

    expect_error(client_post(world_anonymous(w), body, "/gifs/select"), 401, 0);
    expect_status(client_post(world_client(w, "ada"), body, "/gifs/select"), 204);
    expect_status(client_post(world_bot(w, "helper"), body, "/gifs/select"), 204);
}

static void selecting_a_gif_requires_id_and_query(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_invalid(client_post(ada, "{'q': 'cat'}", "/gifs/select"), "id", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'id': ['x']}", "/gifs/select"), "id", "STRING_TYPE_CONVERT");
    expect_invalid(client_post(ada, "{'id': 5}", "/gifs/select"), "id", "STRING_TYPE_CONVERT");
    expect_invalid(client_post(ada, "{'id': 'x', 'q': {}}", "/gifs/select"), "q",
                   "STRING_TYPE_CONVERT");
    expect_invalid(client_post(ada, "{'id': 'x'}", "/gifs/select"), "q", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'id': 'x', 'q': null}", "/gifs/select"), "q",
                   "BASE_TYPE_REQUIRED");
    expect_status(client_post(ada, "{'id': 'x', 'q': ''}", "/gifs/select"), 204);
}

static void configure_disabled_gifs(struct config *c)
{
    c->gifs = "off";
}

static void gif_routes_are_403_when_disabled(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(client_get(ada, "/gifs/search?q=a"), 403, 40006);
    expect_error(client_get(ada, "/gifs/suggest?q=a"), 403, 40006);
    expect_error(client_get(ada, "/gifs/trending"), 403, 40006);
    expect_error(client_get(ada, "/gifs/trending-gifs"), 403, 40006);
    expect_error(client_get(ada, "/gifs/trending-search"), 403, 40006);
    expect_json(client_get(ada, "/gifs"), "[]");
    expect_error(client_post(ada, "{'id': 'x', 'q': ''}", "/gifs/select"), 403, 40006);
}

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
}

static void gif_routes_share_a_limit_of_40_calls_in_10_seconds(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 20; i++) {
        expect_status(client_get(ada, "/gifs/trending-search"), 200);
        expect_status(client_post(ada, "{'id': 'x', 'q': ''}", "/gifs/select"), 204);
    }
    expect_status(client_get(ada, "/gifs/search?q=a"), 429);
    expect_status(client_get(world_client(w, "bob"), "/gifs/search?q=a"), 200);
    world_wait(w, 10);
    expect_status(client_get(ada, "/gifs/search?q=a"), 200);
}

const struct test gifs_tests[] = {
    TEST(gif_search_returns_gif_objects),
    TEST(media_format_selects_file_and_size),
    TEST(missing_gif_formats_fall_back_to_existing_files),
    TEST(gif_files_are_served_with_type_and_range),
    TEST(gif_page_shows_escaped_title_and_source_url),
    TEST(gifs_above_the_rating_limit_are_not_listed_or_served),
    TEST_WITH(gif_rating_option_lowers_the_rating_limit, configure_gif_rating_limit_g),
    TEST(gif_list_limit_is_clamped_to_its_range),
    TEST(gif_search_requires_a_query_of_at_most_256_characters),
    TEST(gif_routes_return_empty_lists_without_gifs),
    TEST(gif_routes_need_no_token_but_refuse_invalid_ones),
    TEST(selecting_a_gif_requires_a_token),
    TEST(selecting_a_gif_requires_id_and_query),
    TEST_WITH(gif_routes_are_403_when_disabled, configure_disabled_gifs),
    TEST_WITH(gif_routes_share_a_limit_of_40_calls_in_10_seconds, configure_enabled_rate_limits),
    { 0 },
};
