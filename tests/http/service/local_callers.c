/* local_callers.c - permissions of local callers, and detection of a proxy on this machine. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

enum { QUIET_MS = 60000 }; /* the server closes the connection */

/* Sends a raw request and returns the response text. */
static const char *send_raw_request(struct world *w, const char *line, const char *host,
                                    const char *headers, const char *body)
{
    struct str got = client_raw(
        world_anonymous(w),
        str_of(TEXT(w, "%s\r\nHost: %s\r\n%sContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                    line, host, headers, strlen(body), body)),
        QUIET_MS);

    expect(got.n > 12);
    return TEXT(w, "%.*s", STR_ARGS(got));
}

static int response_status(const char *answer)
{
    return atoi(answer + 9);
}

static const struct {
    const char *version, *host, *headers;
    bool is_local;
} requests[] = {
    { "1.1", "127.0.0.1:8080", "", true },
    { "1.1", "127.8.9.1", "", true },
    { "1.1", "LocalHost:8080", "", true },
    { "1.1", "app.localhost:8080", "", true },
    { "1.1", "[::1]:8080", "", true },
    { "1.1", "localhost", "Origin: http://localhost:3000\r\n", true },
    /* nginx by default: HTTP/1.0, and the upstream's name as Host */
    { "1.0", "127.0.0.1:8080", "", false },
    /* names that a page may resolve to this machine, and names that a proxy forwards */
    { "1.1", "rebound.evil.example", "", false },
    { "1.1", "127.0.0.1.evil.example", "", false },
    { "1.1", "127.evil.example:80", "", false },
    { "1.1", "localhost.evil.example", "", false },
    { "1.1", "evillocalhost", "", false },
    { "1.1", "128.0.0.1", "", false },
    { "1.1", "[::2]:8080", "", false },
    { "1.1", "localhost", "Origin: https://chat.example\r\n", false },
    { "1.1", "localhost", "Origin: null\r\n", false },
    /* Apache, Caddy, Traefik, lighttpd, content delivery networks */
    { "1.1", "localhost", "X-Forwarded-For: 192.0.2.1\r\n", false },
    { "1.1", "localhost", "X-Forwarded-Host: chat.example\r\n", false },
    { "1.1", "localhost", "X-Forwarded-Server: chat.example\r\n", false },
    { "1.1", "localhost", "X-Forwarded-Proto: https\r\n", false },
    { "1.1", "localhost", "X-Forwarded-Port: 443\r\n", false },
    { "1.1", "localhost", "Forwarded: for=192.0.2.1\r\n", false },
    { "1.1", "localhost", "X-Real-IP: 192.0.2.1\r\n", false },
    { "1.1", "localhost", "Via: 1.1 caddy\r\n", false },
    { "1.1", "localhost", "CF-Connecting-IP: 192.0.2.1\r\n", false },
    { "1.1", "localhost", "True-Client-IP: 192.0.2.1\r\n", false },
};

static void configure_default_options(struct config *config)
{
    config->registration = "auto";
    config->workbench = "on";
}

/* Registration, the console and the metrics use the same rule. */
static void registration_console_and_metrics_detect_local_callers_alike(struct world *w)
{
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        const char *host = requests[i].host, *headers = requests[i].headers;
        const char *v = requests[i].version, *origin = strstr(headers, "Origin");
        bool local = requests[i].is_local;
        const char *person =
            TEXT(w, "{\"username\": \"person%zu\", \"password\": \"correct horse\"}", i);
        const char *post = TEXT(w, "POST /api/v10/auth/register HTTP/%s", v);
        const char *json = TEXT(w, "%sContent-Type: application/json\r\n", headers);

        const char *got =
            send_raw_request(w, TEXT(w, "GET /metrics HTTP/%s", v), host, headers, "");
        expect(response_status(got) == (local ? 200 : 401));
        got = send_raw_request(w, TEXT(w, "GET /console/world HTTP/%s", v), host, headers, "");
        /* Pages of other origins cannot use the console, wherever they are. */
        expect(response_status(got) == (local && !origin ? 200 : 401));
        got = send_raw_request(w, post, host, json, person);
        expect(response_status(got) == (local ? 200 : 400));
        expect(local || strstr(got, "INVITE_REQUIRED"));
        got = send_raw_request(w, TEXT(w, "GET /api/v10/policies/instance/config HTTP/%s", v), host,
                               headers, "");
        expect(strstr(got, local ? "\"register_requireInvite\":false"
                                 : "\"register_requireInvite\":true"));
    }
}

static void configure_trusted_loopback(struct config *config)
{
    configure_default_options(config);
    config->trusted_proxies = "loopback";
}

/* With loopback configured as a proxy, even a request without proxy headers is not local. */
static void callers_behind_a_configured_proxy_are_never_treated_as_local(struct world *w)
{
    const char *got = send_raw_request(w, "GET /metrics HTTP/1.1", "localhost", "", "");

    expect(response_status(got) == 401);
    got = send_raw_request(w, "POST /api/v10/auth/register HTTP/1.1", "localhost",
                           "Content-Type: application/json\r\n",
                           "{\"username\": \"ada\", \"password\": \"correct horse\"}");
    expect(strstr(got, "INVITE_REQUIRED"));
}

static void configure_log_warnings(struct config *config)
{
    configure_default_options(config);
    config->log_level = "warn";
}

static void unconfigured_proxy_is_logged_once(struct world *w)
{
    world_log_begin(w);
    send_raw_request(w, "GET /api/v10/gateway HTTP/1.1", "localhost", "", "");
    send_raw_request(w, "GET /api/v10/gateway HTTP/1.0", "127.0.0.1:8080", "", "");
    send_raw_request(w, "GET /api/v10/gateway HTTP/1.1", "localhost", "Via: 1.1 caddy\r\n", "");
    const char *log = world_log_end(w), *line = strstr(log, "a proxy on this machine");

    expect(line && strstr(line, "HTTP/1.0") && strstr(line, "public-url"));
    expect(!strstr(line + 1, "a proxy on this machine"));
}

#define PART(name, more) "--b\r\nContent-Disposition: form-data; name=\"" name "\"" more "\r\n\r\n"

/* All viewers of the message get the URL: the sender's Host header must not determine it. */
static void attachment_urls_in_events_ignore_the_senders_host_header(struct world *w)
{
    static const char body[] = PART("payload_json", "") "{\"content\": \"look\"}\r\n" PART(
        "files[0]", "; filename=\"a.txt\"") "hello\r\n--b--\r\n";
    static const char *const hosts[] = { "evil.example", "localhost:1", "127.0.0.1" };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct channel_events room = world_channel_events(w, v.channel);
    const char *own = TEXT(w, "http://127.0.0.1:%d/attachments/", world_port(w));
    const char *headers =
        TEXT(w, "Authorization: %s\r\nContent-Type: multipart/form-data; boundary=b\r\n",
             ada->authorization);

    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        const char *got =
            send_raw_request(w, TEXT(w, "POST /api/v10/channels/%s/messages HTTP/1.1", v.channel),
                             hosts[i], headers, body);
        const char *json = strstr(got, "\r\n\r\n");

        expect(response_status(got) == 200 && json);
        const struct dom *d = dom_parse(world_arena(w), str_of(json + 4));
        const char *url = TEXT(w, "%.*s", STR_ARGS(dom_at(d, "attachments.0.url")->text));
        expect(strncmp(url, own, strlen(own)) == 0);
        expect_channel_event(&room, "MESSAGE_CREATE",
                             "{'attachments': [{'url': '%s', 'proxy_url': '%s'}]}", url, url);
    }
}

const struct test local_callers_tests[] = {
    TEST_WITH(registration_console_and_metrics_detect_local_callers_alike,
              configure_default_options),
    TEST_WITH(callers_behind_a_configured_proxy_are_never_treated_as_local,
              configure_trusted_loopback),
    TEST_WITH(unconfigured_proxy_is_logged_once, configure_log_warnings),
    TEST(attachment_urls_in_events_ignore_the_senders_host_header),
    { 0 },
};
