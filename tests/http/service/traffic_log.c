/* traffic_log.c - the operator's log of recent requests and gateway payloads. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "admin/control/control.h"
#include "gateway_conn.h"

enum { QUIET_MS = 60000, TRIES = 6000 };

static void configure_workbench_with_controls(struct config *c)
{
    c->workbench = "on";
    c->traffic_mib = 1;
}

static void configure_traffic_memory(struct config *c)
{
    c->traffic_mib = 1;
}

static void enable_workbench_with_public_url(struct config *c)
{
    configure_workbench_with_controls(c);
    c->public_url = "https://chat.example";
}

static struct answer get_traffic(struct world *w, const char *query, const char *headers)
{
    return client_request(world_anonymous(w), "GET", TEXT(w, "/console/traffic%s", query), headers,
                          (struct str){ 0 });
}

/* Waits until the traffic log contains this text. */
static struct answer wait_for_traffic_with(struct world *w, const char *query, const char *headers,
                                           const char *text)
{
    for (int i = 0; i < TRIES; i++) {
        struct answer a = get_traffic(w, query, headers);

        if (a.body.n && memmem(a.body.p, a.body.n, text, strlen(text)))
            return a;
        usleep(10 * 1000);
    }
    fail_test(__FILE__, __LINE__, "'%s' was not noted", text);
}

static struct answer wait_for_traffic(struct world *w, const char *query, const char *text)
{
    return wait_for_traffic_with(w, query, NULL, text);
}

static const char *read_console_key(struct world *w)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), "console-key", &out) == OK);
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&out));
    buf_clear(&out);
    expect(strlen(text) == 43);
    return text;
}

static void traffic_record_contains_caller_route_status_and_problem(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_get(ada, "/users/@me?x=1"), 200);
    expect_json(get_traffic(w, "?kind=call&limit=1", NULL),
                "{'on': true, 'lost': 0, 'records': [{'kind': 'call', 'method': 'GET', "
                "'path': '/api/v10/users/@me?x=1', 'route': 'get_current_user', 'status': 200, "
                "'code': 0, 'template': '/users/@me', 'request': '', 'address': '127.0.0.1', "
                "'user': {'id': '%s', 'username': 'ada', 'kind': 'user'}}]}",
                ada->id);
    expect_status(client_post(ada, "{'name': 'x', 'icon': 7}", "/guilds"), 400);
    expect_json(get_traffic(w, "?limit=1", NULL),
                "{'records': [{'status': 400, 'code': 50035, 'route': 'create_guild', "
                "'problem': 'name: Must be between 2 and 100 in length.'}]}");
}

/* U+0085 and U+009B control terminals, U+202E and U+2066 the order of text. */
static void traffic_lines_have_no_control_characters(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_post(ada, "{'recipient_id': 'a\\u0085\\u009b\\u202e\\u2066z'}",
                              "/users/@me/channels"),
                  400);
    const char *line = answer_text(get_traffic(w, "?limit=1", NULL), "records.0.line");
    expect(strstr(line, "recipient_id: Value \"a    z\" is not snowflake."));
    expect(!strstr(line, "\xc2\x9b") && !strstr(line, "\xe2\x80\xae") &&
           !strstr(line, "\xe2\x81\xa6"));
}

static void traffic_records_headers_without_credentials(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_request(
        world_anonymous(w), "GET", "/api/v10/users/@me",
        TEXT(w, "Authorization: Bot %s\r\nX-Mine: one\r\nX-Mine: two\r\n", ada->authorization),
        (struct str){ 0 });

    expect_error(a, 401, 0);
    a = get_traffic(w, "?limit=1&text=X-Mine", NULL);
    const char *asked = answer_text(a, "records.0.request_headers");
    expect(strstr(asked, "Authorization: Bot ***\nX-Mine: one\nX-Mine: two\n"));
    expect(!memmem(a.body.p, a.body.n, ada->authorization, strlen(ada->authorization)));
    expect_status(client_get(ada, "/users/@me"), 200);
    const char *reply = answer_text(get_traffic(w, "?limit=1", NULL), "records.0.reply_headers");
    expect(strncmp(reply, "Content-Type: application/json\n", 31) == 0);
    expect_status(client_request(ada, "DELETE", "/api/v10/gateway", NULL, STR("")), 405);
    reply = answer_text(get_traffic(w, "?limit=1", NULL), "records.0.reply_headers");
    expect(strstr(reply, "\nAllow: "));
    expect_status(
        client_put(ada, "{'note': 'x'}", "/users/@me/notes/%s", world_client(w, "bob")->id), 204);
    reply = answer_text(get_traffic(w, "?limit=1", NULL), "records.0.reply_headers");
    expect(!strstr(reply, "Content-Type"));
}

static int64_t read_number(struct answer a, const char *path)
{
    const struct dom *d = dom_at(a.json, path);
    uint64_t n = 0;

    expect(d && str_to_u64(d->text, &n));
    return (int64_t)n;
}

/* The current minute is included before it ends. */
static void console_health_contains_figures_of_the_last_hour(struct world *w)
{
    struct client *s = world_anonymous(w), *ada = world_client(w, "ada");

    for (int i = 0; i < 5; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    expect_error(client_request(s, "GET", "/console/health", "Origin: http://elsewhere.example\r\n",
                                STR("")),
                 401, 0);
    struct answer a = client_request(s, "GET", "/console/health", NULL, (struct str){ 0 });
    expect_status(a, 200);
    expect(dom_at(a.json, "minutes.0") && !dom_at(a.json, "minutes.1"));
    expect(read_number(a, "minutes.0.calls") >= 5);
    expect(read_number(a, "minutes.0.memory_bytes") > 1000000);
    expect(read_number(a, "groups.0.calls") > 0);
    expect(dom_at(a.json, "groups.0.minutes.p99_ms.0"));
}

static void traffic_filters_are_combined(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    client_get(ada, "/users/@me");
    client_get(bob, "/users/1");
    client_get(ada, "/users/1");
    struct answer a = get_traffic(w, "?user=ada&status=4xx", NULL);
    expect_json(a, "{'records': [{'user': {'username': 'ada'}, 'status': 404, 'code': 10013}]}");
    expect_absent(a, "records.1");
    expect_absent(get_traffic(w, "?user=bob&status=200", NULL), "records.0");
    expect_absent(get_traffic(w, "?method=POST", NULL), "records.0");
    expect_json(get_traffic(w, "?status=error&text=10013&limit=1", NULL),
                "{'records': [{'user': {'username': 'ada'}}]}");
    expect_json(get_traffic(w, "?route=/users/{user.id}&after=0&limit=1", NULL),
                "{'records': [{'user': {'username': 'bob'}}]}");
    expect_invalid(get_traffic(w, "?limit=201", NULL), "limit", "NUMBER_TYPE_MAX");
}

static void traffic_records_contain_hints_for_likely_mistakes(struct world *w)
{
    static const struct {
        const char *path, *authorization, *hint;
    } cases[] = {
        { "/v10/users/@me", "", "is /api missing" },
        { "/api/v10/v10/users/@me", "", "the API version twice" },
        { "/api/api/v10/users/@me", "", "contains /api twice" },
        { "/api/v10//users/@me", "", "contains //" },
        { "/api/v10/chanels/1", "", "no such route" },
        { "/api/v10/users/@me", "", "no Authorization header" },
        { "/api/v10/users/@me", "Authorization: abc\r\n", "for a bot's token" },
        { "/api/v10/users/@me", "Authorization: Bot Bot abc\r\n", "begins with \"Bot \" twice" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client_request(world_anonymous(w), "GET", cases[i].path, cases[i].authorization,
                       (struct str){ 0 });
        const char *hint = answer_text(get_traffic(w, "?limit=1", NULL), "records.0.hint");
        if (!strstr(hint, cases[i].hint))
            fail_test(__FILE__, __LINE__, "%s: %s", cases[i].path, hint);
    }
}

/* The HTTP parser refuses these before they become requests. */
static void unparsable_requests_are_recorded_as_refused(struct world *w)
{
    struct client *s = world_anonymous(w);
    static char long_line[10000];

    memset(long_line, 'a', sizeof long_line - 1);
    client_raw(s, STR("GET /bad\x01path HTTP/1.1\r\n\r\n"), QUIET_MS);
    expect_json(wait_for_traffic(w, "?kind=refused&limit=1", "\"status\":400"),
                "{'records': [{'kind': 'refused', 'status': 400, 'user': null}]}");
    client_raw(s, str_of(TEXT(w, "GET /%s HTTP/1.1\r\n\r\n", long_line)), QUIET_MS);
    wait_for_traffic(w, "?kind=refused&status=414", "longer than 8 KiB");
    client_raw(s,
               str_of(TEXT(w, "GET / HTTP/1.1\r\nHost: x\r\nX: %s%s%s%s\r\n\r\n", long_line,
                           long_line, long_line, long_line)),
               QUIET_MS);
    wait_for_traffic(w, "?kind=refused&status=431", "\"path\":\"/\"");
    client_raw(s, STR("GET /api/v10/gateway HTTP/3.0\r\nHost: x\r\n\r\n"), QUIET_MS);
    wait_for_traffic(w, "?kind=request&status=5xx", "/api/v10/gateway");
    client_raw(s,
               STR("POST /api/v10/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
                   "application/json\r\nContent-Length: 99999999\r\n\r\n"),
               QUIET_MS);
    wait_for_traffic(w, "?kind=refused&status=413", "/api/v10/auth/login");
    /* Bytes that are no request line may be secret and are not shown. */
    client_raw(s, STR("Authorization: Bot very-secret\r\n\r\n"), QUIET_MS);
    wait_for_traffic(w, "?kind=refused&status=400&limit=2", "\"path\":\"\"");
    struct answer all = get_traffic(w, "?after=0&limit=200", NULL);
    expect(!memmem(all.body.p, all.body.n, "very-secret", 11));
    expect(!memmem(all.body.p, all.body.n, long_line, 1000));
    expect_json(get_traffic(w, "?kind=frame", NULL), "{'records': []}");
}

static void traffic_records_contain_no_passwords_or_tokens(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_request(world_anonymous(w), "POST", "/api/v10/auth/register",
                   "Content-Type: application/json\r\n",
                   STR("{\"username\":\"grace\",\"password\":\"correct horse\"}"));
    const char *token = ada->authorization;
    expect_status(client_get(ada, "/users/%s", token), 400);
    client_request(world_anonymous(w), "POST", "/api/v10/auth/login",
                   "Content-Type: application/json\r\n",
                   STR("{\"login\":\"ada\",\"password\":[\"correct horse\"]}"));
    conn_session(ada, "v=10&encoding=json", "");
    struct answer a = wait_for_traffic(w, "?after=0&limit=200", "\"event\":\"READY\"");
    expect(!memmem(a.body.p, a.body.n, "correct horse", 13));
    expect(!memmem(a.body.p, a.body.n, token, strlen(token)));
    expect(memmem(a.body.p, a.body.n, "\\\"token\\\":\\\"***\\\"", 17) != NULL);
}

static void gateway_payloads_are_recorded_as_traffic(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, "v=10&encoding=etf&compress=zlib-stream", "");

    conn_send(g, "{'op': 1, 'd': 1}");
    expect_op(g, 11);
    expect_json(wait_for_traffic(w, "?kind=sent&limit=1", "\"op\":11"),
                "{'records': [{'kind': 'sent', 'op': 11, 'user': {'username': 'ada'}}]}");
    expect_json(get_traffic(w, "?kind=received&user=ada", NULL),
                "{'records': [{'op': 1, 'd': '1'}]}");
    struct answer ready = get_traffic(w, "?event=READY", NULL);
    expect_json(ready, "{'records': [{'kind': 'sent', 's': 1, 'op': 0}]}");
    expect(strncmp(answer_text(ready, "records.0.session"), conn_id(g), 16) == 0);
    conn_send(g, "{'op': 2, 'd': {}}");
    expect_close(g, 4005);
    expect_json(wait_for_traffic(w, TEXT(w, "?kind=closed&session=%s", conn_id(g)), "4005"),
                "{'records': [{'kind': 'closed', 'code': 4005}]}");
}

static void traffic_requires_the_console_key(struct world *w)
{
    const char *key = read_console_key(w);
    struct client *ada = world_client(w, "ada");

    client_get(ada, "/users/@me");
    expect_error(get_traffic(w, "", NULL), 401, 0);
    expect_error(get_traffic(w, "", TEXT(w, "Authorization: %s\r\n", ada->authorization)), 401, 0);
    expect_error(get_traffic(w, "", "Authorization: Bearer abc\r\n"), 401, 0);
    expect_error(get_traffic(w, "", TEXT(w, "Authorization: Bot %s\r\n", key)), 401, 0);
    expect_status(get_traffic(w, "", TEXT(w, "Authorization: Bearer %s\r\n", key)), 200);

    struct gateway_conn *g = conn_open_at(world_anonymous(w), "/console/traffic/live");
    conn_send(g, "{'key': 'abc'}");
    expect_close(g, 4004);
    g = conn_open_at(world_anonymous(w), "/console/traffic/live");
    conn_send(g, "{}");
    expect_close(g, 4004);
    g = conn_open_at(world_anonymous(w), "/console/traffic/live");
    conn_send(g, "{'key': '%s', 'after': 0}", key);
    expect(conn_read(g, 60000) != NULL);
}

static bool is_host_refused(struct world *w, const char *host)
{
    struct str raw = client_raw(world_anonymous(w),
                                str_of(TEXT(w,
                                            "GET /console/traffic HTTP/1.1\r\nHost: %s\r\n"
                                            "Connection: close\r\n\r\n",
                                            host)),
                                QUIET_MS);
    bool refused = str_starts_with(raw, STR("HTTP/1.1 401"));

    expect(refused || str_starts_with(raw, STR("HTTP/1.1 200")));
    return refused;
}

static void traffic_refuses_cross_origin_pages(struct world *w)
{
    const char *host = TEXT(w, "127.0.0.1:%d", world_port(w));

    expect_status(get_traffic(w, "", NULL), 200);
    expect_status(get_traffic(w, "", TEXT(w, "Origin: http://%s\r\n", host)), 200);
    expect_error(get_traffic(w, "", "Origin: http://evil.example\r\n"), 401, 0);
    expect_error(get_traffic(w, "", "Sec-Fetch-Site: cross-site\r\n"), 401, 0);
    expect_error(get_traffic(w, "", "X-Forwarded-For: 10.0.0.1\r\n"), 401, 0);
    /* Host names that resolve to this machine, some of which start like its addresses. */
    expect(is_host_refused(w, "evil.example"));
    expect(is_host_refused(w, "127.evil.example"));
    expect(is_host_refused(w, "127.0.0.1.evil.example:80"));
    expect(is_host_refused(w, "localhost.evil.example"));
    expect(!is_host_refused(w, "127.9.9.9:80"));
    expect(!is_host_refused(w, "[::1]:80"));
    expect(!is_host_refused(w, "localhost"));
}

static void server_with_a_public_url_requires_the_console_key(struct world *w)
{
    expect_error(get_traffic(w, "", NULL), 401, 0);
    expect_status(get_traffic(w, "", TEXT(w, "Authorization: Bearer %s\r\n", read_console_key(w))),
                  200);
}

static void live_traffic_can_be_followed_over_a_websocket(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_open_at(world_anonymous(w), "/console/traffic/live");

    client_get(ada, "/users/1");
    conn_send(g, "{'key': '%s', 'after': 0, 'status': 'error'}", read_console_key(w));
    const struct dom *m = conn_read(g, 60000);
    expect(m && dom_at(m, "records.0.status") && !dom_at(m, "records.1"));
    client_get(ada, "/users/@me");
    client_get(ada, "/users/2");
    m = conn_read(g, 60000);
    expect(m && str_is(dom_at(m, "records.0.path")->text, "/api/v10/users/2"));
}

static void traffic_is_recorded_only_while_a_client_follows(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *key = TEXT(w, "Authorization: Bearer %s\r\n", read_console_key(w));

    client_get(ada, "/users/@me");
    expect_json(get_traffic(w, "", key), "{'on': false, 'newest': 0, 'records': []}");
    struct gateway_conn *g = conn_open_at(world_anonymous(w), "/console/traffic/live");
    conn_send(g, "{'key': '%s'}", read_console_key(w));
    wait_for_traffic_with(w, "", key, "\"on\":true");
    client_get(ada, "/users/@me");
    expect(conn_read(g, 60000) != NULL);
    conn_close(g, 1000);
    wait_for_traffic_with(w, "", key, "\"on\":false");
    expect_json(get_traffic(w, "", key), "{'on': false, 'newest': 1}");
}

/* A page visit loads dozens of files, which would displace the API requests. */
static void page_visits_are_not_recorded_as_traffic(struct world *w)
{
    struct client *who = world_anonymous(w);

    expect_status(client_request(who, "GET", "/", "Accept: text/html\r\n", STR("")), 200);
    expect_status(client_request(who, "GET", "/favicon.ico", NULL, STR("")), 200);
    client_get(world_client(w, "ada"), "/users/@me");
    struct answer a = wait_for_traffic(w, "", "/users/@me");
    expect(!dom_at(a.json, "records.1"));
}

static void configure_8_mib_of_traffic(struct config *c)
{
    configure_workbench_with_controls(c);
    c->traffic_mib = 8;
}

/* Three hundred bodies of 15 KB are searched without blocking a loop. */
static void searching_traffic_bodies_does_not_block_the_event_loop(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    char *body = arena_alloc(world_arena(w), 15001);

    memset(body, 'a', 15000);
    for (int i = 0; i < 300; i++)
        expect_error(client_post(ada, TEXT(w, "{'content': '%s'}", body), "/channels/1/messages"),
                     404, 10003);
    wait_for_traffic(w, "?limit=200", "aaaaa");
    expect_json(get_traffic(w, "?limit=200&text=not+there", NULL), "{'records': []}");
}

const struct test traffic_log_tests[] = {
    TEST_WITH(page_visits_are_not_recorded_as_traffic, configure_workbench_with_controls),
    TEST_WITH(traffic_record_contains_caller_route_status_and_problem,
              configure_workbench_with_controls),
    TEST_WITH(traffic_lines_have_no_control_characters, configure_workbench_with_controls),
    TEST_WITH(traffic_records_headers_without_credentials, configure_workbench_with_controls),
    TEST_WITH(console_health_contains_figures_of_the_last_hour, configure_workbench_with_controls),
    TEST_WITH(traffic_filters_are_combined, configure_workbench_with_controls),
    TEST_WITH(traffic_records_contain_hints_for_likely_mistakes, configure_workbench_with_controls),
    TEST_WITH(unparsable_requests_are_recorded_as_refused, configure_workbench_with_controls),
    TEST_WITH(traffic_records_contain_no_passwords_or_tokens, configure_workbench_with_controls),
    TEST_WITH(gateway_payloads_are_recorded_as_traffic, configure_workbench_with_controls),
    TEST_WITH(traffic_requires_the_console_key, configure_traffic_memory),
    TEST_WITH(traffic_refuses_cross_origin_pages, configure_workbench_with_controls),
    TEST_WITH(server_with_a_public_url_requires_the_console_key, enable_workbench_with_public_url),
    TEST_WITH(live_traffic_can_be_followed_over_a_websocket, configure_workbench_with_controls),
    TEST(traffic_is_recorded_only_while_a_client_follows),
    TEST_WITH(searching_traffic_bodies_does_not_block_the_event_loop, configure_8_mib_of_traffic),
    { 0 },
};
