/* web_pages.c - web pages for browsers, and API responses for programs on the same paths. */
#include "world.h"

#include <string.h>

#include "server/config.h"
#include "web/internal.h"

static struct answer get_page(struct world *w, const char *method, const char *path,
                              const char *headers)
{
    return client_request(world_anonymous(w), method, path, headers, STR(""));
}

static void expect_content_type(struct answer a, const char *type)
{
    expect(str_is(answer_header(a, "Content-Type"), type));
}

static const char PEOPLE[] = "Accept: text/html,application/xhtml+xml\r\n";

static void page_paths_return_html_to_browsers(struct world *w)
{
    struct answer a = get_page(w, "GET", "/", PEOPLE);

    expect_status(a, 200);
    expect_content_type(a, "text/html; charset=utf-8");
    expect(str_is(answer_header(a, "Cache-Control"), "no-cache"));
    expect_status(get_page(w, "GET", "/invite/abc", PEOPLE), 200);
    expect_status(get_page(w, "GET", "/oauth2/authorize?client_id=1", PEOPLE), 200);
    expect_status(get_page(w, "GET", "/channels/1/2", PEOPLE), 200);
    expect_status(get_page(w, "GET", "/verify", PEOPLE), 200);
    expect_status(get_page(w, "GET", "/claim", PEOPLE), 200);
    expect_status(get_page(w, "GET", "/reset", PEOPLE), 200);
    expect_error(get_page(w, "GET", "/channels/1/2", "Accept: */*\r\n"), 404, 0);
    expect_status(get_page(w, "GET", "/", "Accept: */*\r\n"), 200);
    expect_status(get_page(w, "HEAD", "/", ""), 200);
    expect_status(get_page(w, "POST", "/", ""), 404);
    expect_status(get_page(w, "DELETE", "/invite/abc", ""), 404);
}

static bool header_contains(struct answer a, const char *name, const char *words)
{
    struct str value = answer_header(a, name);

    return value.p && memmem(value.p, value.n, words, strlen(words));
}

static void pages_have_a_strict_content_security_policy(struct world *w)
{
    static const char *const paths[] = { "/", "/nowhere", "/favicon.ico" };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct answer a = get_page(w, "GET", paths[i], PEOPLE);

        expect(header_contains(a, "Content-Security-Policy", "script-src 'self';"));
        expect(header_contains(a, "Content-Security-Policy", "frame-ancestors 'none'"));
        expect(header_contains(a, "Content-Security-Policy", "require-trusted-types-for 'script'"));
        expect(header_contains(a, "Content-Security-Policy", "trusted-types service-worker"));
        expect(!header_contains(a, "Content-Security-Policy", "unsafe"));
        expect(header_contains(a, "X-Content-Type-Options", "nosniff"));
        expect(header_contains(a, "Referrer-Policy", "no-referrer"));
    }
}

static void unknown_path_is_an_html_or_json_404_by_accept_header(struct world *w)
{
    struct answer a = get_page(w, "GET", "/nowhere", PEOPLE);

    expect_status(a, 404);
    expect_content_type(a, "text/html; charset=utf-8");
    expect_error(get_page(w, "GET", "/nowhere", "Accept: application/json\r\n"), 404, 0);
    expect_error(get_page(w, "GET", "/nowhere", ""), 404, 0);
    expect_error(get_page(w, "GET", "/api/v10/nowhere", PEOPLE), 404, 0);
    expect_error(get_page(w, "GET", "/web/0/index.html", ""), 404, 0);
    expect_error(get_page(w, "GET", "/web/../src/main.c", ""), 404, 0);
    expect_error(get_page(w, "GET", "/channelsx", ""), 404, 0);
}

static struct str asset_path(struct world *w, const char *name)
{
    return str_printf(world_arena(w), "/web/%s/%s", web_bundle, name);
}

/* A path with the bundle's hash never changes its content. */
static void asset_files_are_cacheable_by_hash(struct world *w)
{
    struct str path = asset_path(w, "style.css");
    struct answer plain = get_page(w, "GET", path.p, ""), zipped;
    struct str tag = answer_header(plain, "ETag");

    expect_status(plain, 200);
    expect_content_type(plain, "text/css; charset=utf-8");
    expect(header_contains(plain, "Cache-Control", "immutable"));
    expect(!answer_header(plain, "Content-Encoding").p);
    expect(header_contains(plain, "Vary", "Accept-Encoding"));
    zipped = get_page(w, "GET", path.p, "Accept-Encoding: gzip, zstd\r\n");
    expect(str_is(answer_header(zipped, "Content-Encoding"), "zstd"));
    expect(!str_eq(answer_header(zipped, "ETag"), tag));
    expect(zipped.body.n < plain.body.n);
    zipped = get_page(w, "GET", path.p, "Accept-Encoding: gzip\r\n");
    expect(str_is(answer_header(zipped, "Content-Encoding"), "gzip"));
    struct str again = str_printf(world_arena(w), "If-None-Match: %.*s\r\n", STR_ARGS(tag));
    expect_status(get_page(w, "GET", path.p, again.p), 304);
    expect_status(get_page(w, "GET", path.p, "If-None-Match: \"other\"\r\n"), 200);
}

static void asset_files_support_range_requests(struct world *w)
{
    struct str path = asset_path(w, "style.css");
    struct answer all = get_page(w, "GET", path.p, "");
    struct answer part = get_page(w, "GET", path.p, "Range: bytes=1-4\r\n");

    expect_status(part, 206);
    expect(str_eq(part.body, str_slice(all.body.p + 1, 4)));
    expect(header_contains(part, "Content-Range", "bytes 1-4/"));
    expect_status(get_page(w, "GET", path.p, "Range: bytes=99999999-\r\n"), 416);
    expect_status(get_page(w, "GET", path.p, "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n"), 200);
}

static void disable_web(struct config *c)
{
    c->web = "off";
}

static void web_pages_can_be_disabled(struct world *w)
{
    expect_error(get_page(w, "GET", "/", PEOPLE), 404, 0);
    expect_error(get_page(w, "GET", asset_path(w, "style.css").p, ""), 404, 0);
}

static void configure_operator_pages_only(struct config *c)
{
    c->web = "operator";
}

static void workbench_pages_can_be_served_without_the_chat(struct world *w)
{
    expect_status(get_page(w, "GET", "/workbench", PEOPLE), 200);
    expect_status(get_page(w, "GET", "/workbench/traffic", PEOPLE), 200);
    expect_status(get_page(w, "GET", asset_path(w, "style.css").p, ""), 200);
    struct answer a = get_page(w, "GET", "/", PEOPLE);
    expect_status(a, 200);
    expect(memmem(a.body.p, a.body.n, "data-pages=\"operator\"", 21));
    expect_error(get_page(w, "GET", "/", "Accept: */*\r\n"), 404, 0);
    expect_status(get_page(w, "GET", "/login", PEOPLE), 404);
    expect_status(get_page(w, "GET", "/channels/1/2", PEOPLE), 404);
    expect_status(get_page(w, "GET", "/invite/abc", PEOPLE), 404);
    expect_status(get_page(w, "GET", "/workbenches", PEOPLE), 404);
}

static void configure_workbench_with_controls(struct config *c)
{
    c->workbench = "on";
}

/* The link "Be Ada" on the page of a demo. */
static void workbench_lists_accounts_and_logs_in_as_them(struct world *w)
{
    static const char json[] = "Content-Type: application/json\r\n";
    struct client *nobody = world_anonymous(w);

    world_client(w, "ada");
    expect_json(get_page(w, "GET", "/console/people", NULL), "[{'username': 'ada'}]");
    struct answer a =
        client_request(nobody, "POST", "/console/people", json, STR("{\"username\": \"ada\"}"));
    expect_status(a, 200);
    struct client *ada = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");
    expect_error(
        client_request(nobody, "POST", "/console/people", json, STR("{\"username\": \"nobody\"}")),
        404, 10013);
    expect_status(get_page(w, "GET", "/console/people", "Origin: http://evil.example\r\n"), 401);
    world_bot(w, "robo");
    expect_json(get_page(w, "GET", "/console/people", NULL), "[{'username': 'ada', 'bot': false}]");
    expect_json(get_page(w, "GET", "/console/people?bots=true", NULL),
                "[{'username': 'ada', 'bot': false}, {'username': 'robo', 'bot': true}]");
    a = client_request(nobody, "POST", "/console/people", json, STR("{\"username\": \"robo\"}"));
    expect_json(a, "{'bot': true}");
    struct client *robo =
        world_client_with(w, str_printf(world_arena(w), "Bot %s", answer_text(a, "token")).p);
    expect_json(client_get(robo, "/users/@me"), "{'username': 'robo', 'bot': true}");
    world_wait(w, 3601); /* a bot's token is valid for an hour */
    expect_error(client_get(robo, "/users/@me"), 401, 0);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void account_list_requires_authentication_without_the_workbench(struct world *w)
{
    expect_status(get_page(w, "GET", "/console/people", NULL), 401);
}

const struct test web_pages_tests[] = {
    TEST_WITH(workbench_lists_accounts_and_logs_in_as_them, configure_workbench_with_controls),
    TEST(account_list_requires_authentication_without_the_workbench),
    TEST(page_paths_return_html_to_browsers),
    TEST(pages_have_a_strict_content_security_policy),
    TEST(unknown_path_is_an_html_or_json_404_by_accept_header),
    TEST(asset_files_are_cacheable_by_hash),
    TEST(asset_files_support_range_requests),
    TEST_WITH(web_pages_can_be_disabled, disable_web),
    TEST_WITH(workbench_pages_can_be_served_without_the_chat, configure_operator_pages_only),
    { 0 },
};
