/* fault_injection.c - clock and fault injection on test servers. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "base/clock.h"
#include "admin/control/control.h"
#include "gateway_conn.h"

static void configure_workbench_with_controls(struct config *c)
{
    c->workbench = "on";
}

static struct answer call_console(struct world *w, const char *method, const char *path,
                                  const char *json)
{
    char body[500];
    size_t n = strlen(json);

    for (size_t i = 0; i <= n; i++)
        body[i] = json[i] == '\'' ? '"' : json[i];
    return client_request(world_anonymous(w), method, path,
                          n ? "Content-Type: application/json\r\n" : NULL, str_slice(body, n));
}

static const char *console_key_header(struct world *w)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), "console-key", &out) == OK);
    const char *line = TEXT(w, "Content-Type: application/json\r\nAuthorization: Bearer %.*s\r\n",
                            STR_ARGS(buf_as_str(&out)));
    buf_clear(&out);
    return line;
}

static void console_clock_can_be_advanced_and_reset(struct world *w)
{
    struct client *ada = world_token(w, world_client(w, "ada"), CALLER_USER, "", 600);
    int64_t before = clock_s();

    expect_status(client_get(ada, "/users/@me"), 200);
    expect_json(call_console(w, "GET", "/console/clock", ""), "{'moved_ms': 0}");
    expect_json(call_console(w, "POST", "/console/clock", "{'advance_ms': 900000}"),
                "{'moved_ms': 900000}");
    expect(clock_s() - before >= 900);
    expect_error(client_get(ada, "/users/@me"), 401, 0);
    expect_json(call_console(w, "POST", "/console/clock", "{'reset': true}"), "{'moved_ms': 0}");
    expect_invalid(call_console(w, "POST", "/console/clock", "{'advance_ms': -1}"), "advance_ms",
                   "NUMBER_TYPE_MIN");
}

static void injected_fault_applies_to_the_given_number_of_requests(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(call_console(w, "POST", "/console/faults",
                             "{'method': 'GET', 'path': '/users/*', 'status': 502, 'times': 2}"),
                "{'method': 'GET', 'path': '/users/*', 'status': 502, 'times': 2, 'hits': 0}");
    expect_status(client_patch(ada, "{}", "/users/@me"), 200);
    expect_status(client_get(ada, "/users/@me/guilds"), 200);
    expect_error(client_get(ada, "/users/@me"), 502, 0);
    expect_json(call_console(w, "GET", "/console/faults", ""), "[{'times': 1, 'hits': 1}]");
    expect_error(client_get(ada, "/users/@me"), 502, 0);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect_json(call_console(w, "GET", "/console/faults", ""), "[]");
}

static void injected_fault_can_be_a_rate_limit(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    call_console(w, "POST", "/console/faults",
                 "{'path': '/users/@me', 'status': 429, 'retry_after_ms': 2500, 'times': 1}");
    struct answer a = client_get(ada, "/users/@me");
    expect_status(a, 429);
    expect_json(a, "{'retry_after': 2.5, 'global': false}");
    expect(str_is(answer_header(a, "Retry-After"), "3"));
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void injected_fault_can_delay_or_drop_a_request(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    int64_t before = clock_monotonic_ns();

    call_console(w, "POST", "/console/faults",
                 "{'path': '/users/@me', 'delay_ms': 60, 'times': 1}");
    expect_status(client_get(ada, "/users/@me"), 200);
    expect(clock_monotonic_ns() - before >= 60 * 1000000);
    call_console(w, "POST", "/console/faults", "{'path': '/users/@me', 'drop': true, 'times': 1}");
    struct str raw = client_raw(ada,
                                STR("GET /api/v10/users/@me HTTP/1.1\r\nHost: x\r\n\r\n"
                                    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                                60000);
    expect(raw.n == 0);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void injected_faults_can_be_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    call_console(w, "POST", "/console/faults", "{'path': '/users/**', 'status': 500}");
    call_console(w, "POST", "/console/faults", "{'path': '/guilds', 'status': 500}");
    expect_error(client_get(ada, "/users/@me"), 500, 0);
    expect_error(client_get(ada, "/users/@me/guilds"), 500, 0);
    expect_status(call_console(w, "DELETE", "/console/faults/1", ""), 204);
    expect_status(call_console(w, "DELETE", "/console/faults/1", ""), 404);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect_error(client_post(ada, "{'name': 'Mine'}", "/guilds"), 500, 0);
    expect_status(call_console(w, "DELETE", "/console/faults", ""), 204);
    expect_status(client_post(ada, "{'name': 'Mine'}", "/guilds"), 201);
    expect_invalid(call_console(w, "POST", "/console/faults", "{'path': '/x'}"), "status",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(call_console(w, "POST", "/console/faults", "{'path': '/x', 'status': 204}"),
                   "status", "BASE_TYPE_CHOICES");
    expect_invalid(
        call_console(w, "POST", "/console/faults", "{'path': '/x', 'drop': true, 'method': 'A'}"),
        "method", "BASE_TYPE_CHOICES");
}

static void delayed_events_arrive_late_and_in_order(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *g = conn_session(ada, "v=10&encoding=json", "");
    int64_t before = clock_monotonic_ns();

    expect_invalid(call_console(w, "POST", "/console/faults", "{'path': 'events', 'status': 500}"),
                   "path", FORM_CHOICES);
    expect_json(call_console(w, "POST", "/console/faults", "{'path': 'events', 'delay_ms': 100}"),
                "{'path': 'events', 'delay_ms': 100, 'times': 0}");
    expect_status(client_put(ada, "{'note': 'a'}", "/users/@me/notes/%s", bob->id), 204);
    expect_status(client_put(ada, "{'note': 'b'}", "/users/@me/notes/%s", bob->id), 204);
    expect_dispatch(g, "USER_NOTE_UPDATE", "{'note': 'a'}");
    expect(clock_monotonic_ns() - before >= 100 * 1000000);
    expect_dispatch(g, "USER_NOTE_UPDATE", "{'note': 'b'}");
    /* Pending events are sent at once when the delay is deleted. */
    expect_status(
        call_console(w, "POST", "/console/faults", "{'path': 'events', 'delay_ms': 60000}"), 200);
    expect_status(client_put(ada, "{'note': 'c'}", "/users/@me/notes/%s", bob->id), 204);
    expect_status(call_console(w, "DELETE", "/console/faults", ""), 204);
    expect_dispatch(g, "USER_NOTE_UPDATE", "{'note': 'c'}");
    /* A stopping server does not wait for delayed events. */
    expect_status(
        call_console(w, "POST", "/console/faults", "{'path': 'events', 'delay_ms': 60000}"), 200);
    expect_status(client_put(ada, "{'note': 'd'}", "/users/@me/notes/%s", bob->id), 204);
}

static void console_can_reconnect_invalidate_and_close_sessions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_session(ada, "v=10&encoding=json", "");
    const char *path = TEXT(w, "/console/sessions/%s", conn_id(g));

    expect_json(call_console(w, "GET", "/console/sessions", ""),
                "{'users': {'%s': 'ada'}, 'sessions': [{'user_id': '%s', 'connected': true}], "
                "'voice': []}",
                ada->id, ada->id);
    expect_status(call_console(w, "POST", path, "{'action': 'reconnect'}"), 204);
    expect_op(g, 7);
    expect_status(call_console(w, "POST", path, "{'action': 'resumable'}"), 204);
    expect_op(g, 9);
    expect_status(call_console(w, "POST", path, "{'action': 'close', 'code': 4009}"), 204);
    expect_close(g, 4009);
    expect_invalid(call_console(w, "POST", path, "{'action': 'close', 'code': 1006}"), "code",
                   "BASE_TYPE_CHOICES");
    expect_invalid(call_console(w, "POST", path, "{'action': 'kick'}"), "action",
                   "BASE_TYPE_CHOICES");
    struct gateway_conn *next = conn_session(ada, "v=10&encoding=json", "");
    expect_status(call_console(w, "POST", TEXT(w, "/console/sessions/%s", conn_id(next)),
                               "{'action': 'invalidate'}"),
                  204);
    expect_op(next, 9);
    expect_status(call_console(w, "POST", "/console/sessions/ada", "{'action': 'close'}"), 204);
    expect_status(call_console(w, "POST", "/console/sessions/bob", "{'action': 'close'}"), 404);
}

static void clock_and_faults_are_403_without_the_workbench(struct world *w)
{
    const char *key = console_key_header(w);
    struct client *s = world_anonymous(w);

    expect_error(call_console(w, "POST", "/console/clock", "{'advance_ms': 1000}"), 401, 0);
    expect_error(client_request(s, "POST", "/console/clock", key, STR("{\"advance_ms\":1000}")),
                 403, 0);
    expect_error(
        client_request(s, "POST", "/console/faults", key, STR("{\"path\":\"/x\",\"status\":500}")),
        403, 0);
    expect_status(client_request(s, "GET", "/console/clock", key, (struct str){ 0 }), 200);
    expect_status(client_request(s, "GET", "/console/sessions", key, (struct str){ 0 }), 200);
    expect_error(call_console(w, "GET", "/console/sessions", ""), 401, 0);
    expect(clock_wall_offset_us() == 0);
}

static void configure_disabled_rate_limits(struct config *c)
{
    c->rate_limits = false;
}

static void disabled_rate_limits_apply_to_the_gateway(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), "v=10&encoding=json", "");

    for (int i = 0; i < 200; i++) {
        conn_send(g, "{'op': 1, 'd': null}");
        expect_op(g, 11);
    }
}

const struct test fault_injection_tests[] = {
    TEST_WITH(console_clock_can_be_advanced_and_reset, configure_workbench_with_controls),
    TEST_WITH(injected_fault_applies_to_the_given_number_of_requests,
              configure_workbench_with_controls),
    TEST_WITH(injected_fault_can_be_a_rate_limit, configure_workbench_with_controls),
    TEST_WITH(injected_fault_can_delay_or_drop_a_request, configure_workbench_with_controls),
    TEST_WITH(injected_faults_can_be_deleted, configure_workbench_with_controls),
    TEST_WITH(console_can_reconnect_invalidate_and_close_sessions,
              configure_workbench_with_controls),
    TEST_WITH(delayed_events_arrive_late_and_in_order, configure_workbench_with_controls),
    TEST(clock_and_faults_are_403_without_the_workbench),
    TEST_WITH(disabled_rate_limits_apply_to_the_gateway, configure_disabled_rate_limits),
    { 0 },
};
