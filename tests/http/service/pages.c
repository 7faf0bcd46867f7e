/* pages.c - what people see, and that programs are answered as before. */
#include "world.h"

#include <string.h>

#include "server/config.h"
#include "web/internal.h"

static struct answer ask_page(struct world *w, const char *method, const char *path,
                              const char *headers)
{
    return client_request(world_stranger(w), method, path, headers, STR(""));
}

static void expect_type(struct answer a, const char *type)
{
    expect(str_is(answer_header(a, "Content-Type"), type));
}

static const char PEOPLE[] = "Accept: text/html,application/xhtml+xml\r\n";

static void the_root_is_a_page(struct world *w)
{
    struct answer a = ask_page(w, "GET", "/", PEOPLE);

    expect_status(a, 200);
    expect_type(a, "text/html; charset=utf-8");
    expect(str_is(answer_header(a, "Cache-Control"), "no-cache"));
    expect_status(ask_page(w, "GET", "/invite/abc", PEOPLE), 200);
    expect_status(ask_page(w, "GET", "/oauth2/authorize?client_id=1", PEOPLE), 200);
    expect_status(ask_page(w, "GET", "/channels/1/2", PEOPLE), 200);
    expect_status(ask_page(w, "GET", "/verify", PEOPLE), 200);
    expect_status(ask_page(w, "GET", "/reset", PEOPLE), 200);
    expect_error(ask_page(w, "GET", "/channels/1/2", "Accept: */*\r\n"), 404, 0);
    expect_status(ask_page(w, "GET", "/", "Accept: */*\r\n"), 200);
    expect_status(ask_page(w, "HEAD", "/", ""), 200);
    expect_status(ask_page(w, "POST", "/", ""), 404);
    expect_status(ask_page(w, "DELETE", "/invite/abc", ""), 404);
}

static bool header_has(struct answer a, const char *name, const char *words)
{
    struct str value = answer_header(a, name);

    return value.p && memmem(value.p, value.n, words, strlen(words));
}

static void pages_may_run_no_script_but_ours(struct world *w)
{
    static const char *const paths[] = { "/", "/nowhere", "/favicon.ico" };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct answer a = ask_page(w, "GET", paths[i], PEOPLE);

        expect(header_has(a, "Content-Security-Policy", "script-src 'self';"));
        expect(header_has(a, "Content-Security-Policy", "frame-ancestors 'none'"));
        expect(header_has(a, "Content-Security-Policy", "require-trusted-types-for 'script'"));
        expect(!header_has(a, "Content-Security-Policy", "unsafe"));
        expect(header_has(a, "X-Content-Type-Options", "nosniff"));
        expect(header_has(a, "Referrer-Policy", "no-referrer"));
    }
}

static void what_is_not_there_is_told_in_the_callers_way(struct world *w)
{
    struct answer a = ask_page(w, "GET", "/nowhere", PEOPLE);

    expect_status(a, 404);
    expect_type(a, "text/html; charset=utf-8");
    expect_error(ask_page(w, "GET", "/nowhere", "Accept: application/json\r\n"), 404, 0);
    expect_error(ask_page(w, "GET", "/nowhere", ""), 404, 0);
    expect_error(ask_page(w, "GET", "/api/v10/nowhere", PEOPLE), 404, 0);
    expect_error(ask_page(w, "GET", "/web/0/index.html", ""), 404, 0);
    expect_error(ask_page(w, "GET", "/web/../src/main.c", ""), 404, 0);
    expect_error(ask_page(w, "GET", "/channelsx", ""), 404, 0);
}

static struct str asset_path(struct world *w, const char *name)
{
    return str_printf(world_arena(w), "/web/%s/%s", web_bundle, name);
}

/* What a name with the hash stands for never changes. */
static void files_are_kept_by_their_hash(struct world *w)
{
    struct str path = asset_path(w, "style.css");
    struct answer plain = ask_page(w, "GET", path.p, ""), zipped;
    struct str tag = answer_header(plain, "ETag");

    expect_status(plain, 200);
    expect_type(plain, "text/css; charset=utf-8");
    expect(header_has(plain, "Cache-Control", "immutable"));
    expect(!answer_header(plain, "Content-Encoding").p);
    expect(header_has(plain, "Vary", "Accept-Encoding"));
    zipped = ask_page(w, "GET", path.p, "Accept-Encoding: gzip, zstd\r\n");
    expect(str_is(answer_header(zipped, "Content-Encoding"), "zstd"));
    expect(!str_eq(answer_header(zipped, "ETag"), tag));
    expect(zipped.body.n < plain.body.n);
    zipped = ask_page(w, "GET", path.p, "Accept-Encoding: gzip\r\n");
    expect(str_is(answer_header(zipped, "Content-Encoding"), "gzip"));
    struct str again = str_printf(world_arena(w), "If-None-Match: %.*s\r\n", STR_FMT(tag));
    expect_status(ask_page(w, "GET", path.p, again.p), 304);
    expect_status(ask_page(w, "GET", path.p, "If-None-Match: \"other\"\r\n"), 200);
}

static void a_part_of_a_file_can_be_asked_for(struct world *w)
{
    struct str path = asset_path(w, "style.css");
    struct answer all = ask_page(w, "GET", path.p, "");
    struct answer part = ask_page(w, "GET", path.p, "Range: bytes=1-4\r\n");

    expect_status(part, 206);
    expect(str_eq(part.body, str_slice(all.body.p + 1, 4)));
    expect(header_has(part, "Content-Range", "bytes 1-4/"));
    expect_status(ask_page(w, "GET", path.p, "Range: bytes=99999999-\r\n"), 416);
    expect_status(ask_page(w, "GET", path.p, "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n"), 200);
}

static void turn_web_off(struct config *c)
{
    c->web = "off";
}

static void pages_can_be_turned_off(struct world *w)
{
    expect_error(ask_page(w, "GET", "/", PEOPLE), 404, 0);
    expect_error(ask_page(w, "GET", asset_path(w, "style.css").p, ""), 404, 0);
}

static void show_the_operator_alone(struct config *c)
{
    c->web = "operator";
}

static void the_workbench_can_be_there_without_the_chat(struct world *w)
{
    expect_status(ask_page(w, "GET", "/workbench", PEOPLE), 200);
    expect_status(ask_page(w, "GET", "/workbench/traffic", PEOPLE), 200);
    expect_status(ask_page(w, "GET", asset_path(w, "style.css").p, ""), 200);
    struct answer a = ask_page(w, "GET", "/", PEOPLE);
    expect_status(a, 200);
    expect(memmem(a.body.p, a.body.n, "data-pages=\"operator\"", 21));
    expect_error(ask_page(w, "GET", "/", "Accept: */*\r\n"), 404, 0);
    expect_status(ask_page(w, "GET", "/login", PEOPLE), 404);
    expect_status(ask_page(w, "GET", "/channels/1/2", PEOPLE), 404);
    expect_status(ask_page(w, "GET", "/invite/abc", PEOPLE), 404);
    expect_status(ask_page(w, "GET", "/workbenches", PEOPLE), 404);
}

static void with_workbench(struct config *c)
{
    c->workbench = "on";
}

/* "Be Ada" on the page of a demo. */
static void people_of_a_server_for_tests_are_a_click_away(struct world *w)
{
    static const char json[] = "Content-Type: application/json\r\n";
    struct client *nobody = world_stranger(w);

    world_client(w, "ada");
    expect_json(ask_page(w, "GET", "/console/people", NULL), "[{'username': 'ada'}]");
    struct answer a =
        client_request(nobody, "POST", "/console/people", json, STR("{\"username\": \"ada\"}"));
    expect_status(a, 200);
    struct client *ada = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");
    expect_error(
        client_request(nobody, "POST", "/console/people", json, STR("{\"username\": \"nobody\"}")),
        404, 10013);
    expect_status(ask_page(w, "GET", "/console/people", "Origin: http://evil.example\r\n"), 401);
    world_bot(w, "robo");
    expect_json(ask_page(w, "GET", "/console/people", NULL), "[{'username': 'ada', 'bot': false}]");
    expect_json(ask_page(w, "GET", "/console/people?bots=true", NULL),
                "[{'username': 'ada', 'bot': false}, {'username': 'robo', 'bot': true}]");
    a = client_request(nobody, "POST", "/console/people", json, STR("{\"username\": \"robo\"}"));
    expect_json(a, "{'bot': true}");
    struct client *robo =
        world_client_with(w, str_printf(world_arena(w), "Bot %s", answer_text(a, "token")).p);
    expect_json(client_get(robo, "/users/@me"), "{'username': 'robo', 'bot': true}");
    world_wait(w, 3601); /* a bot's is good for an hour */
    expect_error(client_get(robo, "/users/@me"), 401, 0);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void elsewhere_nobody_is_let_in_by_a_click(struct world *w)
{
    expect_status(ask_page(w, "GET", "/console/people", NULL), 401);
}

const struct test pages_tests[] = {
    TEST_WITH(people_of_a_server_for_tests_are_a_click_away, with_workbench),
    TEST(elsewhere_nobody_is_let_in_by_a_click),
    TEST(the_root_is_a_page),
    TEST(pages_may_run_no_script_but_ours),
    TEST(what_is_not_there_is_told_in_the_callers_way),
    TEST(files_are_kept_by_their_hash),
    TEST(a_part_of_a_file_can_be_asked_for),
    TEST_WITH(pages_can_be_turned_off, turn_web_off),
    TEST_WITH(the_workbench_can_be_there_without_the_chat, show_the_operator_alone),
    { 0 },
};
