/* provider.c - platform providers over HTTP, with valid and invalid responses. */
#include "apps.h"
#include "platforms.h"
#include "waits.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* --- a test provider ------------------------------------------------------------------ */

enum provider_mode {
    GOOD,
    HANGING,    /* accepts the request and does not respond */
    REFUSING,   /* 401 */
    FAILING,    /* 500 */
    ENDLESS,    /* a page that is much too large */
    NONSENSE,   /* not JSON */
    LYING,      /* another account's id; a page with too many entries */
    CIRCULAR,   /* every page names a next one */
    WRONG_KIND, /* JSON of another structure */
};

static struct {
    int fd, port;
    pthread_t thread;
    _Atomic int provider_mode, asked;
    char last[4096]; /* the last request */
} provider;

static void test_provider_send_response(int fd, int status, const char *body)
{
    char head[200];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n",
                     status, strlen(body));

    if (send(fd, head, (size_t)n, MSG_NOSIGNAL) == n)
        send(fd, body, strlen(body), MSG_NOSIGNAL);
}

static void test_provider_send_too_long_response(int fd)
{
    static char piece[65536];
    static const char head[] = "HTTP/1.1 200 X\r\nContent-Length: 1073741824\r\n\r\n";

    memset(piece, ' ', sizeof piece);
    ssize_t n = send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
    for (int i = 0; i < 16384 && n > 0; i++)
        n = send(fd, piece, sizeof piece, MSG_NOSIGNAL);
}

static void test_provider_send_invalid_response(int fd)
{
    static char body[32768];
    size_t n = (size_t)sprintf(body, "{\"id\":\"other\",\"name\":\"x\",\"has_programme\":true,"
                                     "\"subscribers\":[");

    for (int i = 0; i < 501; i++)
        n += (size_t)sprintf(body + n, "%s{\"id\":\"bob%d\"}", i ? "," : "", i);
    sprintf(body + n, "]}");
    test_provider_send_response(fd, 200, body);
}

static void test_provider_send_valid_response(int fd)
{
    const char *r = provider.last;

    if (strstr(r, "POST /base/token "))
        test_provider_send_response(
            fd, strstr(r, "\"good\"") ? 200 : 404,
            "{\"id\":\"streamer\",\"name\":\"Streamer\",\"secret\":\"s3cret\"}");
    else if (strstr(r, "GET /base/accounts/streamer "))
        test_provider_send_response(
            fd, 200, "{\"id\":\"streamer\",\"name\":\"Streamer\",\"has_programme\":true}");
    else if (strstr(r, "GET /base/accounts/streamer/subscribers?cursor=&limit=500 "))
        test_provider_send_response(
            fd, 200,
            "{\"subscribers\":[{\"id\":\"eve\",\"name\":\"Eve\",\"tier\":\"1\"}],"
            "\"next_cursor\":\"a b/c\"}");
    else if (strstr(r, "subscribers?cursor=a%20b%2Fc&limit=500 "))
        test_provider_send_response(fd, 200,
                                    "{\"subscribers\":[{\"id\":\"bob\"}],\"next_cursor\":null}");
    else if (strstr(r, "/subscribers/bob "))
        test_provider_send_response(fd, 200, "{}");
    else
        test_provider_send_response(fd, 404, "{}");
}

static bool is_whole_request(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length:");

    return end && strlen(end + 4) >= (length ? strtoul(length + 17, NULL, 10) : 0);
}

/* The body may arrive after the head. */
static void test_provider_read_request(int fd)
{
    size_t n = 0;
    ssize_t got;

    do {
        got = recv(fd, provider.last + n, sizeof provider.last - 1 - n, 0);
        n += got > 0 ? (size_t)got : 0;
        provider.last[n] = '\0';
    } while (got > 0 && !is_whole_request(provider.last));
}

static void test_provider_answer_request(int fd)
{
    test_provider_read_request(fd);
    provider.asked++;
    switch ((enum provider_mode)provider.provider_mode) {
    case GOOD:
        test_provider_send_valid_response(fd);
        break;
    case HANGING:
        recv(fd, &(char){ 0 }, 1, 0);
        break;
    case REFUSING:
        test_provider_send_response(fd, 401, "{}");
        break;
    case FAILING:
        test_provider_send_response(fd, 500, "{}");
        break;
    case ENDLESS:
        test_provider_send_too_long_response(fd);
        break;
    case NONSENSE:
        test_provider_send_response(fd, 200, "<html>");
        break;
    case LYING:
        test_provider_send_invalid_response(fd);
        break;
    case CIRCULAR:
        test_provider_send_response(fd, 200, "{\"subscribers\":[],\"next_cursor\":\"again\"}");
        break;
    case WRONG_KIND:
        test_provider_send_response(fd, 200, "{\"subscribers\":{\"id\":1},\"id\":7,\"name\":[]}");
        break;
    }
}

static void *run_provider(void *arg)
{
    int fd;

    (void)arg;
    while ((fd = accept(provider.fd, NULL, NULL)) >= 0) {
        test_provider_answer_request(fd);
        close(fd);
    }
    return NULL;
}

/* Runs before the server starts, because its port is configured. */
static void configure_provider_of_test(struct config *c)
{
    static char url[64];
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    provider.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    provider.provider_mode = GOOD;
    provider.asked = 0;
    bind(provider.fd, (struct sockaddr *)&at, sizeof at);
    listen(provider.fd, 16);
    getsockname(provider.fd, (struct sockaddr *)&at, &size);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/base/", ntohs(at.sin_port));
    pthread_create(&provider.thread, NULL, run_provider, NULL);
    c->platform_a = url;
    c->platform_a_key = "our-key";
    c->platform_b = "off";
    c->log_level = "off";
}

static void stop_provider_of_test(void)
{
    shutdown(provider.fd, SHUT_RDWR);
    pthread_join(provider.thread, NULL);
    close(provider.fd);
}

/* --- requests to the provider --------------------------------------------------------- */

struct provider_guild {
    struct client *ada, *bob;
    const char *guild;
};

static void link_account_with_code(struct client *c, const char *code, int status)
{
    expect_status(client_post(c,
                              TEXT(c->world, "{'code': '%s', 'state': '%.32s'}", code,
                                   link_state(c, "platform_a")),
                              "/connections/platform_a/callback"),
                  status);
}

static struct provider_guild create_provider_guild(struct world *w)
{
    struct provider_guild s = { world_client(w, "ada"), world_client(w, "bob") };

    s.guild = found_guild(s.ada, "The Guild");
    put_member(s.guild, s.bob);
    world_sql(w,
              "insert into connections (user_id, type, id, name, created_at) values "
              "(%s, 'platform_a', 'bob', 'Bob', 1)",
              s.bob->id);
    link_account_with_code(s.ada, "good", 200);
    return s;
}

static void provider_requests_have_the_documented_form(struct world *w)
{
    struct provider_guild s = create_provider_guild(w);
    struct answer a = client_get(s.ada, "/connections/platform_a/authorize");

    expect(strstr(answer_text(a, "url"), "/base/authorize?state=") &&
           strstr(answer_text(a, "url"), "/connections/platform_a/link"));
    expect(strstr(provider.last, "POST /base/token ") &&
           strstr(provider.last, "Authorization: Bearer our-key\r\n") &&
           strstr(provider.last, "{\"code\":\"good\"}"));
    link_account_with_code(s.bob, "bad", 400);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect(strstr(provider.last, "X-Account-Secret: s3cret\r\n"));
    expect(store_count(w, "select subscriber_count from integrations") == 2);
    expect(has_role(s.guild, s.bob, role_of(w, id)));
    /* The secret is stored encrypted. */
    expect(store_count(w, "select count(*) from connections where secret is not null") == 1);
    expect(store_count(w, "select max(length(secret)) from connections") == 6 + 24 + 16);
    stop_provider_of_test();
}

static void provider_is_asked_again_before_a_role_is_removed(struct world *w)
{
    struct provider_guild s = create_provider_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");

    world_sql(w, "insert into integration_members values (%s, %s, %s, 1, 0)", id, s.bob->id,
              s.guild);
    provider.provider_mode = FAILING;
    world_sql(w, "update jobs set due = due + 8640000000000 where kind = 'integration-sync'");
    int before = provider.asked;
    world_wait(w, 901);
    expect_soon(provider.asked > before);
    /* The failed job is due again later than its lease. */
    expect_soon(store_count(w, "select due / 1000000 from jobs where kind = "
                               "'integration-expiry'") > clock_us() / 1000000 + 600);
    expect(has_role(s.guild, s.bob, role_of(w, id)));
    provider.provider_mode = GOOD; /* bob subscribes again */
    world_wait(w, 901);
    expect_number(w, 0, "select count(*) from integration_members where lapsed_at is not null");
    expect(has_role(s.guild, s.bob, role_of(w, id)));
    stop_provider_of_test();
}

/* --- failing provider ----------------------------------------------------------------- */

static void invalid_provider_response_is_503_after_retries(struct world *w)
{
    struct provider_guild s = create_provider_guild(w);
    const char *body = "{'type': 'platform_a', 'id': 'streamer'}";
    static const enum provider_mode bad[] = { FAILING, ENDLESS,  NONSENSE,
                                              LYING,   CIRCULAR, WRONG_KIND };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        provider.provider_mode = bad[i];
        provider.asked = 0;
        expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 503, 40016);
        /* Two retries, but not for a response that is too large. */
        expect(provider.asked == (bad[i] == ENDLESS ? 1 : 3));
        link_account_with_code(s.bob, "good", bad[i] == LYING ? 200 : 503);
    }
    provider.provider_mode = REFUSING;
    expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 400, 40012);
    expect(client_get(s.ada, INTEGRATIONS, s.guild).json->count == 0);
    stop_provider_of_test();
}

static void failed_sync_leaves_the_integrations_members_unchanged(struct world *w)
{
    struct provider_guild s = create_provider_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    int64_t synced_at = store_count(w, "select synced_at from integrations");
    static const enum provider_mode bad[] = { FAILING, ENDLESS,  NONSENSE,
                                              LYING,   CIRCULAR, WRONG_KIND };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        provider.provider_mode = bad[i];
        discard_received(w);
        sync_now(s.ada, s.guild, id);
        expect_received(
            w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
            "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
        expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{}");
        expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE", "{'syncing': true}");
        expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{}");
        expect_received(
            w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
            "{'syncing': false, 'subscriber_count': 2, 'revoked': false, 'enabled': true}");
        expect_nothing_received(w);
        expect(store_count(w, "select synced_at from integrations") == synced_at);
        expect(has_role(s.guild, s.bob, role_of(w, id)));
    }
    provider.provider_mode = REFUSING;
    sync_now(s.ada, s.guild, id);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild),
                "[{'revoked': true, 'enabled': true, 'subscriber_count': 2}]");
    expect(has_role(s.guild, s.bob, role_of(w, id)));
    /* A valid response ends the failure. */
    provider.provider_mode = GOOD;
    sync_now(s.ada, s.guild, id);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'revoked': false}]");
    stop_provider_of_test();
}

static void hanging_provider_does_not_delay_other_requests(struct world *w)
{
    struct provider_guild s = create_provider_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");

    provider.provider_mode = HANGING;
    expect_status(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, id), 204);
    expect_number(w, 1, "select syncing from integrations");
    for (int i = 0; i < 20; i++)
        expect_status(client_patch(s.ada, TEXT(w, "{'expire_behavior': %d}", i % 2),
                                   INTEGRATIONS "/%s", s.guild, id),
                      204);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'syncing': true}]");
    stop_provider_of_test();
}

static void disabled_platform_is_403_40006(struct world *w)
{
    struct provider_guild s = create_provider_guild(w);

    expect_error(client_get(s.ada, "/connections/platform_b/authorize"), 403, 40006);
    expect_error(client_post(s.ada, "{'type': 'platform_b', 'id': 'x'}", INTEGRATIONS, s.guild),
                 403, 40006);
    expect_error(
        client_post(s.ada, "{'code': 'x', 'state': 'y'}", "/connections/platform_b/callback"), 403,
        40006);
    stop_provider_of_test();
}

/* --- writing to a local platform ------------------------------------------------------ */

static void configure_key_of_local_platform(struct config *c)
{
    c->platform_a_key = "local-key";
}

static struct answer send_to_platform(struct client *c, const char *method, const char *path,
                                      const char *key, const char *json)
{
    return client_request(
        c, method, TEXT(c->world, "/platforms/%s", path),
        TEXT(c->world, "Authorization: Bearer %s\r\nContent-Type: application/json\r\n", key),
        str_of(json));
}

static void local_platform_accounts_can_be_changed_at_runtime(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    const char *key = "local-key";

    expect_status(send_to_platform(nobody, "PUT", "platform_a/accounts/s", key,
                                   "{\"name\": \"Streamer\", \"has_programme\": true}"),
                  204);
    struct answer a = send_to_platform(nobody, "POST", "platform_a/accounts/s/code", key, "");
    expect_status(a, 200);
    expect_status(client_post(ada,
                              TEXT(w, "{'code': '%s', 'state': '%.32s'}", answer_text(a, "code"),
                                   link_state(ada, "platform_a")),
                              "/connections/platform_a/callback"),
                  200);
    expect_status(send_to_platform(nobody, "PUT", "platform_a/accounts/s/subscribers/x", key, ""),
                  204);
    expect_status(send_to_platform(nobody, "PUT", "platform_a/accounts/s/subscribers/y", key,
                                   "{\"until\": \"2020-01-01T00:00:00Z\"}"),
                  204);
    const char *guild = found_guild(ada, "The Guild");
    const char *id = follow(ada, guild, PLATFORM_A, "s");
    expect(store_count(w, "select subscriber_count from integrations") == 1);
    expect_status(
        send_to_platform(nobody, "DELETE", "platform_a/accounts/s/subscribers/x", key, ""), 204);
    sync_now(ada, guild, id);
    expect(store_count(w, "select subscriber_count from integrations") == 0);
}

static void local_platform_routes_require_the_platform_key(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    const char *body = "{\"name\": \"x\"}";

    expect_status(send_to_platform(nobody, "PUT", "platform_a/accounts/s", "wrong-key", body), 401);
    expect_status(send_to_platform(nobody, "PUT", "platform_a/accounts/s", "local-ke", body), 401);
    expect_status(send_to_platform(nobody, "POST", "platform_a/accounts/s/code", "", ""), 401);
    expect_status(send_to_platform(nobody, "PUT", "platform_b/accounts/s", "", body),
                  404); /* platform_b has no key */
    expect_status(send_to_platform(nobody, "PUT", "platform_c/accounts/s", "local-key", body), 404);
    expect_status(send_to_platform(nobody, "POST", "platform_a/accounts/s/code", "local-key", ""),
                  404);
    expect_status(
        send_to_platform(nobody, "PUT", "platform_a/accounts/s/subscribers/x", "local-key", ""),
        404);
    expect_invalid(send_to_platform(nobody, "PUT", "platform_a/accounts/s", "local-key", "{}"),
                   "name", "BASE_TYPE_REQUIRED");
    expect(store_count(w, "select count(*) from platform_account") == 0);
}

/* --- configured type names ------------------------------------------------------------ */

static void configure_names_of_integration_types(struct config *c)
{
    c->integration_words = "platform_a:purple,platform_b:red,service:app";
}

static void integration_type_names_can_be_configured(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "The Guild");

    link_new(ada, PLATFORM_A, "a");
    make_account(w, PLATFORM_B, "b", "B");
    expect_status(client_post(ada,
                              TEXT(w, "{'code': '%s', 'state': '%.32s'}",
                                   link_code(w, PLATFORM_B, "b"), link_state(ada, "red")),
                              "/connections/red/callback"),
                  200);
    expect_json(client_get(ada, "/users/@me/connections"), "[{'type': 'purple'}, {'type': 'red'}]");
    follow(ada, guild, PLATFORM_A, "a");
    expect_status(client_post(ada, "{'type': 'red', 'id': 'b'}", INTEGRATIONS, guild), 204);
    const struct dom *made = world_last_event(w, "INTEGRATION_CREATE");
    expect(str_is(dom_at(made, "type")->text, "red"));
    /* Clients that know a platform by that name read this field. */
    expect_json(client_get(ada, INTEGRATIONS, guild),
                "[{'type': 'purple', 'enable_emoticons': false}, "
                "{'type': 'red', 'enable_emoticons': false}]");
    expect_invalid(client_post(ada, "{'type': 'app', 'id': 'b'}", INTEGRATIONS, guild), "type",
                   "BASE_TYPE_CHOICES");
    expect(store_count(w, "select count(*) from integrations where type like 'platform%'") == 2);
}

static void server_refuses_to_start_with_invalid_integration_options(struct world *w)
{
    static const char *const bad[] = { "x:y",
                                       "platform_a:",
                                       "platform_a:A",
                                       "platform_a:service",
                                       "platform_a:x,platform_b:x",
                                       "platform_a:x y" };

    world_stop(w);
    world_log_begin(w);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        world_config(w)->integration_words = bad[i];
        expect(!world_try_start(w));
    }
    world_config(w)->integration_words = NULL;
    world_config(w)->platform_a = "ftp://x";
    expect(!world_try_start(w));
    world_config(w)->platform_a = "local";
    world_config(w)->partners_guild = "x";
    expect(!world_try_start(w));
    const char *log = world_log_end(w);
    expect(strstr(log, "uses the same word for two types") &&
           strstr(log, "local, off, or an http"));
    expect(strstr(log, "partners-guild must be the id of a guild"));
    world_config(w)->partners_guild = NULL;
    expect(world_try_start(w));
}

const struct test integrations_provider_tests[] = {
    TEST_WITH(provider_requests_have_the_documented_form, configure_provider_of_test),
    TEST_WITH(provider_is_asked_again_before_a_role_is_removed, configure_provider_of_test),
    TEST_WITH(invalid_provider_response_is_503_after_retries, configure_provider_of_test),
    TEST_WITH(failed_sync_leaves_the_integrations_members_unchanged, configure_provider_of_test),
    TEST_WITH(hanging_provider_does_not_delay_other_requests, configure_provider_of_test),
    TEST_WITH(disabled_platform_is_403_40006, configure_provider_of_test),
    TEST_WITH(local_platform_accounts_can_be_changed_at_runtime, configure_key_of_local_platform),
    TEST_WITH(local_platform_routes_require_the_platform_key, configure_key_of_local_platform),
    TEST_WITH(integration_type_names_can_be_configured, configure_names_of_integration_types),
    TEST(server_refuses_to_start_with_invalid_integration_options),
    { 0 },
};
