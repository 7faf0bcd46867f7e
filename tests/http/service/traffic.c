/* traffic.c - what was called and told a moment ago, for the operator alone. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "admin/control/control.h"
#include "gateway_conn.h"

enum { QUIET_MS = 60000, LOOKS = 6000 };

static void with_workbench(struct config *c)
{
    c->workbench = "on";
    c->traffic_mib = 1;
}

static void as_public(struct config *c)
{
    c->traffic_mib = 1;
}

static void with_workbench_behind_a_name(struct config *c)
{
    with_workbench(c);
    c->public_url = "https://chat.example";
}

static struct answer look(struct world *w, const char *query, const char *headers)
{
    return client_request(world_stranger(w), "GET", TEXT(w, "/console/traffic%s", query), headers,
                          (struct str){ 0 });
}

/* Waits until what is shown has this text. */
static struct answer look_with(struct world *w, const char *query, const char *headers,
                               const char *text)
{
    for (int i = 0; i < LOOKS; i++) {
        struct answer a = look(w, query, headers);

        if (a.body.n && memmem(a.body.p, a.body.n, text, strlen(text)))
            return a;
        usleep(10 * 1000);
    }
    fail_test(__FILE__, __LINE__, "'%s' was not noted", text);
}

static struct answer look_until(struct world *w, const char *query, const char *text)
{
    return look_with(w, query, NULL, text);
}

static const char *console_key(struct world *w)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    expect(control_ask(world_folder(w), "console-key", &out) == OK);
    const char *text = str_dupz(world_arena(w), buf_str(&out));
    buf_clear(&out);
    expect(strlen(text) == 43);
    return text;
}

static void a_call_is_noted_with_who_what_and_why(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_get(ada, "/users/@me?x=1"), 200);
    expect_json(look(w, "?kind=call&limit=1", NULL),
                "{'on': true, 'lost': 0, 'records': [{'kind': 'call', 'method': 'GET', "
                "'path': '/api/v10/users/@me?x=1', 'route': 'get_current_user', 'status': 200, "
                "'code': 0, 'template': '/users/@me', 'request': '', 'address': '127.0.0.1', "
                "'user': {'id': '%s', 'username': 'ada', 'kind': 'user'}}]}",
                ada->id);
    expect_status(client_post(ada, "{'name': 'x', 'icon': 7}", "/guilds"), 400);
    expect_json(look(w, "?limit=1", NULL),
                "{'records': [{'status': 400, 'code': 50035, 'route': 'create_guild', "
                "'problem': 'name: Must be between 2 and 100 in length.'}]}");
}

static void headers_are_noted_without_what_is_secret(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_request(
        world_stranger(w), "GET", "/api/v10/users/@me",
        TEXT(w, "Authorization: Bot %s\r\nX-Mine: one\r\nX-Mine: two\r\n", ada->authorization),
        (struct str){ 0 });

    expect_error(a, 401, 0);
    a = look(w, "?limit=1&text=X-Mine", NULL);
    const char *asked = answer_text(a, "records.0.request_headers");
    expect(strstr(asked, "Authorization: Bot ***\nX-Mine: one\nX-Mine: two\n"));
    expect(!memmem(a.body.p, a.body.n, ada->authorization, strlen(ada->authorization)));
    expect_status(client_get(ada, "/users/@me"), 200);
    const char *told = answer_text(look(w, "?limit=1", NULL), "records.0.reply_headers");
    expect(strncmp(told, "Content-Type: application/json\n", 31) == 0);
    expect_status(client_request(ada, "DELETE", "/api/v10/gateway", NULL, STR("")), 405);
    told = answer_text(look(w, "?limit=1", NULL), "records.0.reply_headers");
    expect(strstr(told, "\nAllow: "));
    expect_status(
        client_put(ada, "{'note': 'x'}", "/users/@me/notes/%s", world_client(w, "bob")->id), 204);
    told = answer_text(look(w, "?limit=1", NULL), "records.0.reply_headers");
    expect(!strstr(told, "Content-Type"));
}

static int64_t number_at(struct answer a, const char *path)
{
    const struct dom *d = dom_at(a.json, path);
    uint64_t n = 0;

    expect(d && str_to_u64(d->text, &n));
    return (int64_t)n;
}

/* The minute at hand is told before it is over. */
static void the_figures_of_the_hour_are_told(struct world *w)
{
    struct client *s = world_stranger(w), *ada = world_client(w, "ada");

    for (int i = 0; i < 5; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    expect_error(client_request(s, "GET", "/console/health", "Origin: http://elsewhere.example\r\n",
                                STR("")),
                 401, 0);
    struct answer a = client_request(s, "GET", "/console/health", NULL, (struct str){ 0 });
    expect_status(a, 200);
    expect(dom_at(a.json, "minutes.0") && !dom_at(a.json, "minutes.1"));
    expect(number_at(a, "minutes.0.calls") >= 5);
    expect(number_at(a, "minutes.0.memory_bytes") > 1000000);
    expect(number_at(a, "groups.0.calls") > 0);
    expect(dom_at(a.json, "groups.0.minutes.p99_ms.0"));
}

static void filters_hold_together(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    client_get(ada, "/users/@me");
    client_get(bob, "/users/1");
    client_get(ada, "/users/1");
    struct answer a = look(w, "?user=ada&status=4xx", NULL);
    expect_json(a, "{'records': [{'user': {'username': 'ada'}, 'status': 404, 'code': 10013}]}");
    expect_absent(a, "records.1");
    expect_absent(look(w, "?user=bob&status=200", NULL), "records.0");
    expect_absent(look(w, "?method=POST", NULL), "records.0");
    expect_json(look(w, "?status=error&text=10013&limit=1", NULL),
                "{'records': [{'user': {'username': 'ada'}}]}");
    expect_json(look(w, "?route=/users/{user.id}&after=0&limit=1", NULL),
                "{'records': [{'user': {'username': 'bob'}}]}");
    expect_invalid(look(w, "?limit=201", NULL), "limit", "NUMBER_TYPE_MAX");
}

static void likely_mistakes_are_said(struct world *w)
{
    static const struct {
        const char *path, *authorization, *hint;
    } cases[] = {
        { "/v10/users/@me", "", "is /api missing" },
        { "/api/v10/v10/users/@me", "", "the version is there twice" },
        { "/api/api/v10/users/@me", "", "/api is there twice" },
        { "/api/v10//users/@me", "", "a slash too many" },
        { "/api/v10/chanels/1", "", "no such route" },
        { "/api/v10/users/@me", "", "no Authorization header" },
        { "/api/v10/users/@me", "Authorization: abc\r\n", "is it a bot's?" },
        { "/api/v10/users/@me", "Authorization: Bot Bot abc\r\n", "in front twice" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client_request(world_stranger(w), "GET", cases[i].path, cases[i].authorization,
                       (struct str){ 0 });
        const char *hint = answer_text(look(w, "?limit=1", NULL), "records.0.hint");
        if (!strstr(hint, cases[i].hint))
            fail_test(__FILE__, __LINE__, "%s: %s", cases[i].path, hint);
    }
}

/* What the reader refuses never was a call. */
static void what_never_was_a_call_is_noted(struct world *w)
{
    struct client *s = world_stranger(w);
    static char long_line[10000];

    memset(long_line, 'a', sizeof long_line - 1);
    client_raw(s, STR("GET /bad\x01path HTTP/1.1\r\n\r\n"), QUIET_MS);
    expect_json(look_until(w, "?kind=refused&limit=1", "\"status\":400"),
                "{'records': [{'kind': 'refused', 'status': 400, 'user': null}]}");
    client_raw(s, str_of(TEXT(w, "GET /%s HTTP/1.1\r\n\r\n", long_line)), QUIET_MS);
    look_until(w, "?kind=refused&status=414", "longer than 8 KiB");
    client_raw(s,
               str_of(TEXT(w, "GET / HTTP/1.1\r\nHost: x\r\nX: %s%s%s%s\r\n\r\n", long_line,
                           long_line, long_line, long_line)),
               QUIET_MS);
    look_until(w, "?kind=refused&status=431", "\"path\":\"/\"");
    client_raw(s, STR("GET /api/v10/gateway HTTP/3.0\r\nHost: x\r\n\r\n"), QUIET_MS);
    look_until(w, "?kind=request&status=5xx", "/api/v10/gateway");
    client_raw(s,
               STR("POST /api/v10/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
                   "application/json\r\nContent-Length: 99999999\r\n\r\n"),
               QUIET_MS);
    look_until(w, "?kind=refused&status=413", "/api/v10/auth/login");
    /* Bytes that are no request line may be anything: they are not shown. */
    client_raw(s, STR("Authorization: Bot very-secret\r\n\r\n"), QUIET_MS);
    look_until(w, "?kind=refused&status=400&limit=2", "\"path\":\"\"");
    struct answer all = look(w, "?after=0&limit=200", NULL);
    expect(!memmem(all.body.p, all.body.n, "very-secret", 11));
    expect(!memmem(all.body.p, all.body.n, long_line, 1000));
    expect_json(look(w, "?kind=frame", NULL), "{'records': []}");
}

static void secrets_are_not_shown(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_request(world_stranger(w), "POST", "/api/v10/auth/register",
                   "Content-Type: application/json\r\n",
                   STR("{\"username\":\"grace\",\"password\":\"correct horse\"}"));
    const char *token = ada->authorization;
    expect_status(client_get(ada, "/users/%s", token), 400);
    client_request(world_stranger(w), "POST", "/api/v10/auth/login",
                   "Content-Type: application/json\r\n",
                   STR("{\"login\":\"ada\",\"password\":[\"correct horse\"]}"));
    conn_session(ada, "v=10&encoding=json", "");
    struct answer a = look_until(w, "?after=0&limit=200", "\"event\":\"READY\"");
    expect(!memmem(a.body.p, a.body.n, "correct horse", 13));
    expect(!memmem(a.body.p, a.body.n, token, strlen(token)));
    expect(memmem(a.body.p, a.body.n, "\\\"token\\\":\\\"***\\\"", 17) != NULL);
}

static void messages_of_the_gateway_are_noted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, "v=10&encoding=etf&compress=zlib-stream", "");

    conn_send(g, "{'op': 1, 'd': 1}");
    expect_op(g, 11);
    expect_json(look_until(w, "?kind=sent&limit=1", "\"op\":11"),
                "{'records': [{'kind': 'sent', 'op': 11, 'user': {'username': 'ada'}}]}");
    expect_json(look(w, "?kind=received&user=ada", NULL), "{'records': [{'op': 1, 'd': '1'}]}");
    struct answer ready = look(w, "?event=READY", NULL);
    expect_json(ready, "{'records': [{'kind': 'sent', 's': 1, 'op': 0}]}");
    expect(strncmp(answer_text(ready, "records.0.session"), conn_id(g), 16) == 0);
    conn_send(g, "{'op': 2, 'd': {}}");
    expect_close(g, 4005);
    expect_json(look_until(w, TEXT(w, "?kind=closed&session=%s", conn_id(g)), "4005"),
                "{'records': [{'kind': 'closed', 'code': 4005}]}");
}

static void it_is_for_the_operator(struct world *w)
{
    const char *key = console_key(w);
    struct client *ada = world_client(w, "ada");

    client_get(ada, "/users/@me");
    expect_error(look(w, "", NULL), 401, 0);
    expect_error(look(w, "", TEXT(w, "Authorization: %s\r\n", ada->authorization)), 401, 0);
    expect_error(look(w, "", "Authorization: Bearer abc\r\n"), 401, 0);
    expect_error(look(w, "", TEXT(w, "Authorization: Bot %s\r\n", key)), 401, 0);
    expect_status(look(w, "", TEXT(w, "Authorization: Bearer %s\r\n", key)), 200);

    struct gateway_conn *g = conn_open_at(world_stranger(w), "/console/traffic/live");
    conn_send(g, "{'key': 'abc'}");
    expect_close(g, 4004);
    g = conn_open_at(world_stranger(w), "/console/traffic/live");
    conn_send(g, "{}");
    expect_close(g, 4004);
    g = conn_open_at(world_stranger(w), "/console/traffic/live");
    conn_send(g, "{'key': '%s', 'after': 0}", key);
    expect(conn_read(g, 60000) != NULL);
}

static bool host_is_refused(struct world *w, const char *host)
{
    struct str raw = client_raw(world_stranger(w),
                                str_of(TEXT(w,
                                            "GET /console/traffic HTTP/1.1\r\nHost: %s\r\n"
                                            "Connection: close\r\n\r\n",
                                            host)),
                                QUIET_MS);
    bool refused = str_starts(raw, STR("HTTP/1.1 401"));

    expect(refused || str_starts(raw, STR("HTTP/1.1 200")));
    return refused;
}

static void pages_of_other_sites_are_refused(struct world *w)
{
    const char *host = TEXT(w, "127.0.0.1:%d", world_port(w));

    expect_status(look(w, "", NULL), 200);
    expect_status(look(w, "", TEXT(w, "Origin: http://%s\r\n", host)), 200);
    expect_error(look(w, "", "Origin: http://evil.example\r\n"), 401, 0);
    expect_error(look(w, "", "Sec-Fetch-Site: cross-site\r\n"), 401, 0);
    expect_error(look(w, "", "X-Forwarded-For: 10.0.0.1\r\n"), 401, 0);
    /* Names that were made to lead to this machine, some of which begin like its addresses. */
    expect(host_is_refused(w, "evil.example"));
    expect(host_is_refused(w, "127.evil.example"));
    expect(host_is_refused(w, "127.0.0.1.evil.example:80"));
    expect(host_is_refused(w, "localhost.evil.example"));
    expect(!host_is_refused(w, "127.9.9.9:80"));
    expect(!host_is_refused(w, "[::1]:80"));
    expect(!host_is_refused(w, "localhost"));
}

static void a_server_with_a_public_name_wants_the_key(struct world *w)
{
    expect_error(look(w, "", NULL), 401, 0);
    expect_status(look(w, "", TEXT(w, "Authorization: Bearer %s\r\n", console_key(w))), 200);
}

static void the_traffic_can_be_followed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_open_at(world_stranger(w), "/console/traffic/live");

    client_get(ada, "/users/1");
    conn_send(g, "{'key': '%s', 'after': 0, 'status': 'error'}", console_key(w));
    const struct dom *m = conn_read(g, 60000);
    expect(m && dom_at(m, "records.0.status") && !dom_at(m, "records.1"));
    client_get(ada, "/users/@me");
    client_get(ada, "/users/2");
    m = conn_read(g, 60000);
    expect(m && str_is(dom_at(m, "records.0.path")->text, "/api/v10/users/2"));
}

static void nothing_is_noted_while_nobody_looks(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *key = TEXT(w, "Authorization: Bearer %s\r\n", console_key(w));

    client_get(ada, "/users/@me");
    expect_json(look(w, "", key), "{'on': false, 'newest': 0, 'records': []}");
    struct gateway_conn *g = conn_open_at(world_stranger(w), "/console/traffic/live");
    conn_send(g, "{'key': '%s'}", console_key(w));
    look_with(w, "", key, "\"on\":true");
    client_get(ada, "/users/@me");
    expect(conn_read(g, 60000) != NULL);
    conn_close(g, 1000);
    look_with(w, "", key, "\"on\":false");
    expect_json(look(w, "", key), "{'on': false, 'newest': 1}");
}

/* A visit of a person asks for dozens of files, which would push the calls out of sight. */
static void visits_of_people_are_not_noted(struct world *w)
{
    struct client *who = world_stranger(w);

    expect_status(client_request(who, "GET", "/", "Accept: text/html\r\n", STR("")), 200);
    expect_status(client_request(who, "GET", "/favicon.ico", NULL, STR("")), 200);
    client_get(world_client(w, "ada"), "/users/@me");
    struct answer a = look_until(w, "", "/users/@me");
    expect(!dom_at(a.json, "records.1"));
}

static void with_much_traffic(struct config *c)
{
    with_workbench(c);
    c->traffic_mib = 8;
}

/* Three hundred bodies of 15 KB are looked through: no loop waits for that. */
static void looking_through_long_bodies_holds_nobody_up(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    char *body = arena_alloc(world_arena(w), 15001);

    memset(body, 'a', 15000);
    for (int i = 0; i < 300; i++)
        expect_error(client_post(ada, TEXT(w, "{'content': '%s'}", body), "/channels/1/messages"),
                     404, 10003);
    look_until(w, "?limit=200", "aaaaa");
    expect_json(look(w, "?limit=200&text=not+there", NULL), "{'records': []}");
}

const struct test traffic_tests[] = {
    TEST_WITH(visits_of_people_are_not_noted, with_workbench),
    TEST_WITH(a_call_is_noted_with_who_what_and_why, with_workbench),
    TEST_WITH(headers_are_noted_without_what_is_secret, with_workbench),
    TEST_WITH(the_figures_of_the_hour_are_told, with_workbench),
    TEST_WITH(filters_hold_together, with_workbench),
    TEST_WITH(likely_mistakes_are_said, with_workbench),
    TEST_WITH(what_never_was_a_call_is_noted, with_workbench),
    TEST_WITH(secrets_are_not_shown, with_workbench),
    TEST_WITH(messages_of_the_gateway_are_noted, with_workbench),
    TEST_WITH(it_is_for_the_operator, as_public),
    TEST_WITH(pages_of_other_sites_are_refused, with_workbench),
    TEST_WITH(a_server_with_a_public_name_wants_the_key, with_workbench_behind_a_name),
    TEST_WITH(the_traffic_can_be_followed, with_workbench),
    TEST(nothing_is_noted_while_nobody_looks),
    TEST_WITH(looking_through_long_bodies_holds_nobody_up, with_much_traffic),
    { 0 },
};
