/* http_endpoints.c - apps that receive interactions at an HTTP endpoint. */
#include "endpoint.h"

#include "base/mem.h"
#include "files.h"
#include "gateway_conn.h"
#include "test_commands.h"
#include "waits.h"

#include <stdio.h>
#include <stdlib.h>

#define JSON "application/json"
#define URL  "APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"

/* --- setting the endpoint ------------------------------------------------------------- */

static struct endpoint *open_endpoint(struct test_commands *s)
{
    struct answer a = client_get(s->ada, "/applications/%s", s->application);

    return endpoint_open(s->world, answer_text(a, "verify_key"));
}

static struct answer set_endpoint_url(struct test_commands *s, struct client *by, const char *url)
{
    return client_patch(by, TEXT(s->world, "{'interactions_endpoint_url': '%s'}", url),
                        "/applications/%s", s->application);
}

/* Sets the app's interactions endpoint; two requests have been received by then. */
static struct endpoint *set_app_endpoint(struct test_commands *s)
{
    struct endpoint *e = open_endpoint(s);

    expect_status(set_endpoint_url(s, s->ada, endpoint_url(e)), 200);
    return e;
}

/* A page of another site whose name resolves to this machine, or a client of a proxy, must not
 * make the server call programs on this machine. */
static void only_local_callers_can_set_endpoints_on_private_addresses(struct world *w)
{
    static const char *const others[] = { "X-Forwarded-For: 192.0.2.1\r\n",
                                          "Origin: http://rebound.example\r\n" };
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = open_endpoint(&s);
    const char *body = TEXT(w, "{\"interactions_endpoint_url\": \"%s\"}", endpoint_url(e));

    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct answer a = client_request(
            s.ada, "PATCH", TEXT(w, "/api/v10/applications/%s", s.application),
            TEXT(w, "%sContent-Type: application/json\r\n", others[i]), str_of(body));

        expect_invalid(a, "interactions_endpoint_url", URL);
    }
    expect(endpoint_count(e) == 0);
    expect_status(set_endpoint_url(&s, s.ada, endpoint_url(e)), 200);
    expect(endpoint_count(e) == 2);
    endpoint_close(e);
}

static void valid_endpoint_is_verified_with_two_requests(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = open_endpoint(&s);

    expect_json(set_endpoint_url(&s, s.ada, endpoint_url(e)), "{'interactions_endpoint_url': '%s'}",
                endpoint_url(e));
    expect(endpoint_count(e) == 2);
    expect(endpoint_signed(e, 1) && !endpoint_signed(e, 2));
    const struct dom *d = dom_parse(world_arena(w), str_of(interactions_endpoint_request(e, 1)));
    expect_dom(&s, d, "{'application_id': '%s', 'type': 1, 'version': 1}", s.application);
    expect(dom_at(d, "id") && dom_at(d, "token"));
    expect(strstr(endpoint_head(e, 1), "POST /hook HTTP/1.1"));
    expect(strcasestr(endpoint_head(e, 1), "Content-Type: application/json"));
    expect(strcasestr(endpoint_head(e, 1), "User-Agent: Guildhall/"));

    /* The same URL again sends no requests; the bot shows its endpoint. */
    expect_status(set_endpoint_url(&s, s.ada, endpoint_url(e)), 200);
    expect_status(client_patch(s.ada, "{'description': 'X'}", "/applications/%s", s.application),
                  200);
    expect(endpoint_count(e) == 2);
    expect_json(client_get(s.bob, "/users/%s", s.application), "{'public_flags': 524288}");
    expect_json(set_endpoint_url(&s, s.ada, ""), "{'interactions_endpoint_url': null}");
    expect_json(client_get(s.bob, "/users/%s", s.application), "{'public_flags': 0}");
    expect(endpoint_count(e) == 2);
    /* The bot may set the URL, too. */
    expect_status(client_patch(s.bot,
                               TEXT(w, "{'interactions_endpoint_url': '%s'}", endpoint_url(e)),
                               "/applications/@me"),
                  200);
    expect(endpoint_count(e) == 4);
    endpoint_close(e);
}

static void endpoint_with_invalid_verification_response_is_refused(struct world *w)
{
    static const enum endpoint_manner bad[] = { ENDPOINT_TRUSTS, ENDPOINT_NO_JSON, ENDPOINT_NO_PONG,
                                                ENDPOINT_TEAPOT, ENDPOINT_ELSEWHERE };
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = open_endpoint(&s);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        endpoint_behave(e, bad[i]);
        struct answer a = set_endpoint_url(&s, s.ada, endpoint_url(e));
        expect_invalid(a, "interactions_endpoint_url", URL);
        expect_json(a, "{'errors': {'interactions_endpoint_url': {'_errors': [{'message': 'The "
                       "specified interactions endpoint url could not be verified.'}]}}}");
    }
    expect_json(client_get(s.ada, "/applications/%s", s.application),
                "{'interactions_endpoint_url': null}");
    /* A caller without permission causes no request. */
    int count = endpoint_count(e);
    expect_error(set_endpoint_url(&s, s.bob, endpoint_url(e)), 403, 20012);
    expect(endpoint_count(e) == count);
    const char *gone = TEXT(w, "%s", endpoint_url(e));
    endpoint_close(e);
    expect_invalid(set_endpoint_url(&s, s.ada, gone), "interactions_endpoint_url", URL);
    expect_invalid(set_endpoint_url(&s, s.ada, "ftp://a.example"), "interactions_endpoint_url",
                   "URL_TYPE_INVALID_URL");
}

static void endpoint_url_is_limited_to_2048_characters(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    char url[2050] = "http://127.0.0.1:1/";

    memset(url + 19, 'x', 2048 - 19);
    expect_invalid(set_endpoint_url(&s, s.ada, url), "interactions_endpoint_url", URL);
    url[2048] = 'x';
    expect_invalid(set_endpoint_url(&s, s.ada, url), "interactions_endpoint_url",
                   "BASE_TYPE_MAX_LENGTH");
}

static void disable_private_endpoints(struct config *c)
{
    c->private_endpoints = "off";
}

static void endpoints_on_private_addresses_are_refused_unless_allowed(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = open_endpoint(&s);

    expect_invalid(set_endpoint_url(&s, s.ada, endpoint_url(e)), "interactions_endpoint_url", URL);
    expect(endpoint_count(e) == 0);
    endpoint_close(e);
}

/* --- calls of the endpoint ------------------------------------------------------------ */

static void invoke_roll_command_as_bob(struct test_commands *s)
{
    expect_status(roll(s, s->bob, make_global_command(s, "%s", ""), "%s", ""), 204);
}

static void endpoint_response_answers_the_interaction(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);

    client_connect(s.bob);
    client_connect(s.bot);
    endpoint_answer(e, 200, JSON, "{'type': 4, 'data': {'content': 'Six'}}", 0);
    invoke_roll_command_as_bob(&s);
    const struct dom *d = dom_parse(world_arena(w), str_of(interactions_endpoint_request(e, 3)));
    expect(endpoint_signed(e, 3));
    expect_dom(&s, d,
               "{'type': 2, 'application_id': '%s', 'guild_id': '%s', 'data': {'name': 'roll'}, "
               "'member': {'user': {'id': '%s'}}, 'entitlements': []}",
               s.application, s.test_guild.id, s.bob->id);
    const char *id = dom_text(&s, d, "id");
    expect_event(s.bob, "INTERACTION_CREATE", "{'id': '%s'}", id);
    expect_event(s.bob, "INTERACTION_SUCCESS", "{'id': '%s'}", id);
    expect_event(s.bob, "MESSAGE_CREATE", "{'content': 'Six', 'type': 20, 'application_id': '%s'}",
                 s.application);
    /* The interaction is not sent over the gateway, too. */
    expect_event(s.bot, "MESSAGE_CREATE", "{'content': 'Six'}");
    expect_silence(s.bot);
    /* The HTTP response counts as the first callback. */
    expect_error(client_post(world_anonymous(w), "{'type': 4, 'data': {'content': 'Again'}}",
                             "/interactions/%s/%s/callback", id, dom_text(&s, d, "token")),
                 400, 40060);
    world_wait(w, 5);
    world_settle(w);
    expect_silence(s.bob);
    endpoint_close(e);
}

/* Sets a response of this length with leading spaces. */
static void set_endpoint_response_of_size(struct endpoint *e, size_t length)
{
    static const char json[] = "{'type': 4, 'data': {'content': 'Six'}}";
    char *body = malloc(length + 1);

    memset(body, ' ', length);
    memcpy(body + length - sizeof json, json, sizeof json - 1);
    body[length] = 0;
    endpoint_answer(e, 200, JSON, body, 0);
    free(body);
}

static bool expect_success_or_failure(struct test_commands *s)
{
    for (const struct dom *m; (m = conn_read(s->bob->gate, 60 * 1000));) {
        const struct dom *t = dom_at(m, "t");

        if (!t || t->kind != JSON_STRING)
            continue;
        conn_count(s->bob->gate, m);
        if (str_is(t->text, "INTERACTION_SUCCESS"))
            return true;
        if (str_is(t->text, "INTERACTION_FAILURE"))
            return false;
    }
    fail_test(__FILE__, __LINE__, "nobody said how the interaction ended");
    return false;
}

/* Other requests are served meanwhile: the test world checks that. The app has three seconds, in
 * which a slow machine receives less. */
static void endpoint_response_of_29_mib_does_not_block_the_server(struct world *w)
{
    size_t length = 29 * 1024 * 1024;
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);

    client_connect(s.bob);
    for (;; length /= 2) {
        expect(length > 1024 * 1024);
        set_endpoint_response_of_size(e, length);
        invoke_roll_command_as_bob(&s);
        if (expect_success_or_failure(&s))
            break;
    }
    expect_event(s.bob, "MESSAGE_CREATE", "{'content': 'Six'}");
    endpoint_close(e);
}

/* Verifiers that serialize the JSON again before they check the signature get the same bytes. */
static void endpoint_request_body_is_compact_json(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);
    const char *id =
        make_global_command(&s, "'options': [{'name': 'o', 'description': 'O', 'type': 3}]");

    expect_status(
        roll(&s, s.bob, id, "'options': [{'name': 'o', 'type': 3, 'value': 'a/b \xc3\xa9'}]"), 204);
    const char *body = interactions_endpoint_request(e, 3);
    expect(endpoint_signed(e, 3));
    expect(strstr(body, "\"value\":\"a/b \xc3\xa9\""));
    expect(!strstr(body, "\": ") && !strstr(body, ", \""));
    endpoint_close(e);
}

static void endpoint_status_202_defers_the_response_to_a_callback(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);

    client_connect(s.bob);
    endpoint_answer(e, 202, JSON, "", 0);
    invoke_roll_command_as_bob(&s);
    const struct dom *d = dom_parse(world_arena(w), str_of(interactions_endpoint_request(e, 3)));
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_silence(s.bob);
    expect_status(client_post(world_anonymous(w), "{'type': 4, 'data': {'content': 'Later'}}",
                              "/interactions/%s/%s/callback", dom_text(&s, d, "id"),
                              dom_text(&s, d, "token")),
                  204);
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE", "{'content': 'Later'}");
    /* Without a callback the interaction fails. */
    invoke_roll_command_as_bob(&s);
    interactions_endpoint_request(e, 4);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    world_wait(w, 3.3);
    expect_event(s.bob, "INTERACTION_FAILURE", "{'reason_code': 2}");
    endpoint_close(e);
}

static void endpoint_response_can_contain_files(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);

    client_connect(s.bob);
    endpoint_answer(
        e, 200, "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name='payload_json'\r\n\r\n"
        "{'type': 4, 'data': {'attachments': [{'id': 0, 'filename': 'a.txt'}]}}\r\n"
        "--b\r\nContent-Disposition: form-data; name='files[0]'; filename='a.txt'\r\n\r\n"
        "hello\r\n--b--\r\n",
        0);
    invoke_roll_command_as_bob(&s);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE", "{'attachments': [{'filename': 'a.txt', 'size': 5}]}");
    expect_files(w, "attachments", 1);

    /* The file is deleted when the response is refused. */
    endpoint_answer(
        e, 200, "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name='payload_json'\r\n\r\n{'type': 7}\r\n"
        "--b\r\nContent-Disposition: form-data; name='files[0]'; filename='a.txt'\r\n\r\n"
        "hello\r\n--b--\r\n",
        0);
    invoke_roll_command_as_bob(&s);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_FAILURE", "{'reason_code': 1}");
    expect_files(w, "attachments", 1);
    endpoint_close(e);
}

static void invalid_endpoint_responses_fail_the_interaction(struct world *w)
{
    static const struct {
        int status;
        const char *type, *body;
    } bad[] = {
        { 500, JSON, "{'type': 4, 'data': {'content': 'x'}}" },
        { 204, JSON, "" },
        { 302, JSON, "{'type': 4, 'data': {'content': 'x'}}" },
        { 200, JSON, "{" },
        { 200, JSON, "" },
        { 200, JSON, "{'type': 8, 'data': {'choices': []}}" },
        { 200, JSON, "{'type': 4, 'data': {}}" },
        { 200, "multipart/form-data; boundary=b", "--c" },
    };
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);
    const char *id = make_global_command(&s, "%s", "");

    client_connect(s.bob);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        endpoint_answer(e, bad[i].status, bad[i].type, bad[i].body, 0);
        expect_status(roll(&s, s.bob, id, "%s", ""), 204);
        expect_event(s.bob, "INTERACTION_CREATE", "{}");
        expect_event(s.bob, "INTERACTION_FAILURE", "{'reason_code': 1}");
    }
    endpoint_close(e);
    expect_status(roll(&s, s.bob, id, "%s", ""), 204);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_FAILURE", "{'reason_code': 1}");
    expect_silence(s.bob);
    expect(store_count(w, "select count(*) from interactions where state <> 2") == 0);
}

/* The limit of three seconds uses the monotonic clock. */
static void slow_endpoint_response_fails_the_interaction(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);

    client_connect(s.bob);
    endpoint_answer(e, 200, JSON, "{}", 600 * 1000);
    invoke_roll_command_as_bob(&s);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_FAILURE", "{'reason_code': 2}");
    /* The endpoint serves one request at a time: when the second succeeds, the first was too
     * late. */
    endpoint_answer(e, 200, JSON, "{'type': 4, 'data': {'content': 'Six'}}", 0);
    invoke_roll_command_as_bob(&s);
    expect_event(s.bob, "INTERACTION_CREATE", "{}");
    expect_event(s.bob, "INTERACTION_SUCCESS", "{}");
    expect_event(s.bob, "MESSAGE_CREATE", "{'content': 'Six'}");
    world_settle(w);
    expect_silence(s.bob);
    endpoint_close(e);
}

static void endpoint_response_can_contain_autocomplete_choices(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct endpoint *e = set_app_endpoint(&s);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'o', 'description': 'O', 'type': 3, 'autocomplete': true}]");

    client_connect(s.bob);
    endpoint_answer(e, 200, JSON,
                    "{'type': 8, 'data': {'choices': [{'name': 'Oslo', 'value': 'oslo'}]}}", 0);
    expect_status(invoke(&s, s.bob, "'type': 4, 'nonce': 'n'",
                         "'id': '%s', 'version': '%s', 'name': 'roll', 'options': [{'name': 'o', "
                         "'type': 3, 'value': 'os', 'focused': true}]",
                         id, id),
                  204);
    expect_event(s.bob, "INTERACTION_CREATE", "{'nonce': 'n'}");
    expect_event(s.bob, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE",
                 "{'choices': [{'name': 'Oslo', 'value': 'oslo'}], 'nonce': 'n'}");
    endpoint_close(e);
}

const struct test interactions_http_endpoints_tests[] = {
    TEST(only_local_callers_can_set_endpoints_on_private_addresses),
    TEST(valid_endpoint_is_verified_with_two_requests),
    TEST(endpoint_with_invalid_verification_response_is_refused),
    TEST(endpoint_url_is_limited_to_2048_characters),
    TEST_WITH(endpoints_on_private_addresses_are_refused_unless_allowed, disable_private_endpoints),
    TEST(endpoint_response_answers_the_interaction),
    TEST(endpoint_response_of_29_mib_does_not_block_the_server),
    TEST(endpoint_request_body_is_compact_json),
    TEST(endpoint_status_202_defers_the_response_to_a_callback),
    TEST(endpoint_response_can_contain_files),
    TEST(invalid_endpoint_responses_fail_the_interaction),
    TEST(slow_endpoint_response_fails_the_interaction),
    TEST(endpoint_response_can_contain_autocomplete_choices),
    { 0 },
};
