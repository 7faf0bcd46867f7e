/* claim_identity.c - claims of placeholder accounts by a log-in at the server from which the guild
 * was copied, with valid, invalid and late answers of that server. */
#include "claims.h"
#include "apps.h"
#include "people.h"
#include "platforms.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/accounts/placeholders.h"

#define SECRET "the client/secret"
#define START  "/auth/claim/identity"
#define BACK   "/auth/claim/identity/callback"

/* --- a test provider ------------------------------------------------------------------ */

enum provider_manner {
    GOOD,           /* the code is the id of the account */
    CODE_REFUSED,   /* invalid_grant */
    CLIENT_REFUSED, /* invalid_client */
    BAD_REDIRECT,   /* invalid_request */
    FAILING,
    LIMITING, /* 429 */
    NONSENSE, /* not JSON */
    NO_TOKEN,
    TOKEN_WITH_LINE_BREAK,
    REDIRECTING,
    ENDLESS,
    ACCOUNT_REFUSED, /* a token, but no account */
    ACCOUNT_WITHOUT_ID,
    ACCOUNT_WITH_WORD_AS_ID,
    ACCOUNT_LIST,
    HOLDING, /* answers after the manner has changed */
};

static struct {
    int fd;
    pthread_t thread;
    _Atomic int manner, asked;
    char url[64], secret_file[32];
    char token_request[4096], account_request[4096];
} provider;

static void send_answer(int fd, const char *status, const char *body)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%s",
                     status, strlen(body), body);

    send(fd, text, (size_t)n, MSG_NOSIGNAL);
}

static void send_endless_answer(int fd)
{
    static char piece[65536];
    static const char head[] = "HTTP/1.1 200 X\r\nContent-Length: 1073741824\r\n\r\n";

    memset(piece, ' ', sizeof piece);
    ssize_t n = send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
    for (int i = 0; i < 16384 && n > 0; i++)
        n = send(fd, piece, sizeof piece, MSG_NOSIGNAL);
}

static void answer_token_request(int fd, const char *request)
{
    const char *code = strstr(request, "&code=");
    char body[200];

    snprintf(body, sizeof body, "{\"access_token\":\"of-%.*s\",\"token_type\":\"Bearer\"}",
             code ? (int)strcspn(code + 6, "&") : 0, code ? code + 6 : "");
    switch ((enum provider_manner)provider.manner) {
    case CODE_REFUSED:
        send_answer(fd, "400 X", "{\"error\":\"invalid_grant\"}");
        break;
    case CLIENT_REFUSED:
        send_answer(fd, "401 X", "{\"error\":\"invalid_client\"}");
        break;
    case BAD_REDIRECT:
        send_answer(fd, "400 X", "{\"error\":\"invalid_request\"}");
        break;
    case FAILING:
        send_answer(fd, "500 X", "{}");
        break;
    case LIMITING:
        send_answer(fd, "429 X", "{\"retry_after\":1}");
        break;
    case NONSENSE:
        send_answer(fd, "200 X", "<html>");
        break;
    case NO_TOKEN:
        send_answer(fd, "200 X", "{\"access_token\":\"\"}");
        break;
    case TOKEN_WITH_LINE_BREAK:
        send_answer(fd, "200 X", "{\"access_token\":\"of-" CLEO "\\r\\nX-Y: z\"}");
        break;
    case REDIRECTING:
        send_answer(fd, "302 X\r\nLocation: /api/v10/users/@me", body);
        break;
    case ENDLESS:
        send_endless_answer(fd);
        break;
    default:
        send_answer(fd, "200 X", body);
    }
}

static void answer_account_request(int fd, const char *request)
{
    const char *token = strstr(request, "Authorization: Bearer of-");
    char body[200];

    snprintf(body, sizeof body, "{\"id\":\"%.*s\",\"username\":\"x\"}",
             token ? (int)strcspn(token + 25, "\r") : 0, token ? token + 25 : "");
    switch ((enum provider_manner)provider.manner) {
    case ACCOUNT_REFUSED:
        send_answer(fd, "401 X", body);
        break;
    case ACCOUNT_WITHOUT_ID:
        send_answer(fd, "200 X", "{\"username\":\"x\"}");
        break;
    case ACCOUNT_WITH_WORD_AS_ID:
        send_answer(fd, "200 X", "{\"id\":\"0 or 1=1\"}");
        break;
    case ACCOUNT_LIST:
        send_answer(fd, "200 X", "[{\"id\":\"" CLEO "\"}]");
        break;
    default:
        send_answer(fd, token ? "200 X" : "401 X", body);
    }
}

static bool is_whole_request(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length:");

    return end && strlen(end + 4) >= (length ? strtoul(length + 17, NULL, 10) : 0);
}

static void answer_provider_request(int fd)
{
    char request[4096];
    size_t n = 0;
    ssize_t got;

    do {
        got = recv(fd, request + n, sizeof request - 1 - n, 0);
        n += got > 0 ? (size_t)got : 0;
        request[n] = '\0';
    } while (got > 0 && !is_whole_request(request));
    provider.asked++;
    while (provider.manner == HOLDING)
        usleep(1000);
    if (strstr(request, "POST /api/v10/oauth2/token ")) {
        strcpy(provider.token_request, request);
        answer_token_request(fd, request);
    } else if (strstr(request, "GET /api/v10/users/@me ")) {
        strcpy(provider.account_request, request);
        answer_account_request(fd, request);
    } else {
        send_answer(fd, "404 X", "{}");
    }
}

static void *run_provider(void *arg)
{
    int fd;

    (void)arg;
    while ((fd = accept(provider.fd, NULL, NULL)) >= 0) {
        answer_provider_request(fd);
        close(fd);
    }
    return NULL;
}

static void write_secret_file(void)
{
    strcpy(provider.secret_file, "/tmp/claim-secret-XXXXXX");
    int fd = mkstemp(provider.secret_file);

    expect(write(fd, SECRET "\n", sizeof SECRET) == sizeof SECRET);
    close(fd);
}

/* Runs before the server starts, because its port is configured. */
static void with_provider(struct config *c)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    memset(&provider, 0, sizeof provider);
    provider.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect(bind(provider.fd, (struct sockaddr *)&at, sizeof at) == 0);
    expect(listen(provider.fd, 16) == 0);
    getsockname(provider.fd, (struct sockaddr *)&at, &size);
    snprintf(provider.url, sizeof provider.url, "http://127.0.0.1:%d/api/v10/", ntohs(at.sin_port));
    write_secret_file();
    pthread_create(&provider.thread, NULL, run_provider, NULL);
    c->claim_api = provider.url;
    c->claim_client_id = "1400000000000000001";
    c->claim_client_secret_file = provider.secret_file;
    c->public_url = "https://chat.example/";
    c->private_endpoints = "on";
    c->log_level = "off";
}

static void with_provider_at_private_address(struct config *c)
{
    with_provider(c);
    c->private_endpoints = "off";
}

static void with_provider_and_limits(struct config *c)
{
    with_provider(c);
    buckets_only(c);
}

static void stop_provider(void)
{
    shutdown(provider.fd, SHUT_RDWR);
    pthread_join(provider.thread, NULL);
    close(provider.fd);
    unlink(provider.secret_file);
}

/* --- requests ------------------------------------------------------------------------- */

struct started_claim {
    char state[80], proof[80];
};

static struct started_claim start_claim(struct world *w)
{
    struct answer a = client_post(world_anonymous(w), NULL, START);
    struct started_claim s = { 0 };

    expect_status(a, 200);
    const char *state = strstr(answer_text(a, "url"), "&state=");
    expect(state);
    snprintf(s.state, sizeof s.state, "%.*s", (int)strcspn(state + 7, "&"), state + 7);
    snprintf(s.proof, sizeof s.proof, "%s", answer_text(a, "proof"));
    return s;
}

static const char *callback_body(struct world *w, const struct started_claim *s, const char *code)
{
    return TEXT(w, "{'state': '%s', 'proof': '%s', 'code': '%s'}", s->state, s->proof, code);
}

static struct answer call_back(struct world *w, const struct started_claim *s, const char *code)
{
    return client_post(world_anonymous(w), callback_body(w, s, code), BACK);
}

/* Logs in at the provider with the account of that id. */
static struct answer log_in_as(struct world *w, const char *id)
{
    struct started_claim s = start_claim(w);

    return call_back(w, &s, id);
}

static const char *identity_code(struct world *w)
{
    struct answer a = log_in_as(w, CLEO);

    expect_status(a, 200);
    return answer_text(a, "code");
}

/* Sends a callback without waiting for the answer; finish_call returns its status. */
static int begin_call_back(struct world *w, const struct started_claim *s, const char *code)
{
    char body[400], text[800];
    int fd = client_dial(world_anonymous(w));

    snprintf(body, sizeof body, "{\"state\":\"%s\",\"proof\":\"%s\",\"code\":\"%s\"}", s->state,
             s->proof, code);
    int n =
        snprintf(text, sizeof text,
                 "POST /api/v10" BACK " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 strlen(body), body);
    expect(send(fd, text, (size_t)n, MSG_NOSIGNAL) == n);
    return fd;
}

static int finish_call(int fd)
{
    char text[200];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);

    expect(n > 12);
    text[n] = '\0';
    close(fd);
    return atoi(text + 9);
}

/* --- claims --------------------------------------------------------------------------- */

static void identity_claim_makes_the_account_the_persons(struct world *w)
{
    import_placeholders(w);
    struct answer a = client_post(world_anonymous(w), NULL, START);
    expect(strstr(answer_text(a, "url"), "/oauth2/authorize?response_type=code&scope=identify"
                                         "&client_id=1400000000000000001"
                                         "&redirect_uri=https%3A%2F%2Fchat.example%2Fclaim"
                                         "&state="));
    expect(!strstr(answer_text(a, "url"), "/api/"));
    struct started_claim s = start_claim(w);
    a = call_back(w, &s, CLEO);
    expect_json(a, "{'username': 'cleo'}");
    expect(strstr(provider.token_request,
                  "grant_type=authorization_code&client_id=1400000000000000001"
                  "&client_secret=the%20client%2Fsecret&code=" CLEO
                  "&redirect_uri=https%3A%2F%2Fchat.example%2Fclaim"));
    expect(strstr(provider.account_request, "Authorization: Bearer of-" CLEO "\r\n"));
    expect(strstr(provider.account_request, "User-Agent: DiscordBot (https://chat.example/, "));
    a = claim(w, answer_text(a, "code"));
    expect_status(a, 200);
    struct client *cleo = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(cleo, "/users/@me"), "{'id': '" CLEO "'}");
    expect_json(client_get(cleo, "/users/@me/guilds"), "[{'name': 'Here'}]");
    stop_provider();
}

static void claim_state_is_valid_once_for_its_browser_for_ten_minutes(struct world *w)
{
    import_placeholders(w);
    struct started_claim mine = start_claim(w), theirs = start_claim(w), mixed = mine;

    /* The state of an attacker in the browser of another person, and values that nobody was given.
     */
    strcpy(mixed.state, theirs.state);
    expect_invalid(call_back(w, &mixed, CLEO), "state", "CLAIM_STATE_INVALID");
    struct started_claim invented = { "AAAA", "BBBB" };
    expect_invalid(call_back(w, &invented, CLEO), "state", "CLAIM_STATE_INVALID");
    expect_invalid(client_post(world_anonymous(w),
                               TEXT(w, "{'state': '%s', 'code': '" CLEO "'}", mine.state), BACK),
                   "proof", "BASE_TYPE_REQUIRED");
    expect(provider.asked == 0);
    expect_status(call_back(w, &mine, CLEO), 200);
    expect_invalid(call_back(w, &mine, CLEO), "state", "CLAIM_STATE_INVALID");
    expect(provider.asked == 2);
    world_wait(w, 590);
    struct started_claim late = start_claim(w);
    expect_status(call_back(w, &theirs, CLEO), 200);
    world_wait(w, 601);
    expect_invalid(call_back(w, &late, CLEO), "state", "CLAIM_STATE_INVALID");
    /* Expired states are deleted when the next claim starts. */
    start_claim(w);
    expect_number(w, 1, "select count(*) from claim_states");
    /* State and proof are not stored. */
    expect(store_count(w, "select max(length(digest)) from claim_states") != 65);
    stop_provider();
}

static void one_of_two_callbacks_at_once_with_a_state_gets_a_code(struct world *w)
{
    import_placeholders(w);
    struct started_claim s = start_claim(w);

    provider.manner = HOLDING;
    int one = begin_call_back(w, &s, CLEO), two = begin_call_back(w, &s, CLEO);
    expect_soon(provider.asked > 0);
    provider.manner = GOOD;
    int first = finish_call(one), second = finish_call(two);
    expect((first == 200 && second == 400) || (first == 400 && second == 200));
    stop_provider();
}

static void account_that_is_no_placeholder_is_refused_with_the_reason(struct world *w)
{
    struct client *bob = world_client(w, "bob");

    import_placeholders(w);
    expect_invalid(log_in_as(w, "1500000000000000099"), "code", "CLAIM_ACCOUNT_UNKNOWN");
    expect_invalid(log_in_as(w, ROBOT), "code", "CLAIM_ACCOUNT_UNKNOWN");
    expect_invalid(log_in_as(w, bob->id), "code", "CLAIM_ACCOUNT_IN_USE");
    world_sql(w, "update users set disabled = 1 where id = " CLEO);
    expect_invalid(log_in_as(w, CLEO), "code", "CLAIM_ACCOUNT_DISABLED");
    world_sql(w, "update users set disabled = 0, deleting = 1 where id = " CLEO);
    expect_invalid(log_in_as(w, CLEO), "code", "CLAIM_ACCOUNT_DISABLED");
    world_sql(w, "update users set deleting = 0 where id = " CLEO);
    expect_status(claim(w, new_code(w, CLEO)), 200);
    expect_invalid(log_in_as(w, CLEO), "code", "CLAIM_ACCOUNT_IN_USE");
    stop_provider();
}

static void identity_code_ends_when_replaced_expired_or_revoked(struct world *w)
{
    char first[64];

    import_placeholders(w);
    snprintf(first, sizeof first, "%s", identity_code(w));
    const char *second = identity_code(w);
    expect_claim_with_code_refused(w, first);
    world_wait(w, 901);
    expect_claim_with_code_refused(w, second);
    snprintf(first, sizeof first, "%s", identity_code(w));
    world_sql(w, "update users set disabled = 1 where id = " CLEO);
    expect_claim_with_code_refused(w, first);
    world_sql(w, "update users set disabled = 0 where id = " CLEO);
    world_file_here(w, "{'users': [{'username': 'cleo', 'password': 'battery staple'}]}");
    expect_claim_with_code_refused(w, first);
    expect_invalid(log_in_as(w, CLEO), "code", "CLAIM_ACCOUNT_IN_USE");
    stop_provider();
}

static void code_of_the_bot_stays_valid_until_either_code_is_used(struct world *w)
{
    char by_bot[64], by_identity[64];

    import_placeholders(w);
    snprintf(by_bot, sizeof by_bot, "%s", new_code(w, CLEO));
    snprintf(by_identity, sizeof by_identity, "%s", identity_code(w));
    world_wait(w, 901);
    expect_claim_with_code_refused(w, by_identity);
    snprintf(by_identity, sizeof by_identity, "%s", identity_code(w));
    expect_status(claim(w, by_bot), 200);
    expect_claim_with_code_refused(w, by_identity);
    expect_claim_with_code_refused(w, by_bot);
    stop_provider();
}

static void used_identity_code_ends_the_code_of_the_bot(struct world *w)
{
    char by_bot[64];

    import_placeholders(w);
    snprintf(by_bot, sizeof by_bot, "%s", new_code(w, CLEO));
    const char *by_identity = identity_code(w);
    expect_status(claim(w, by_identity), 200);
    expect_claim_with_code_refused(w, by_identity);
    expect_claim_with_code_refused(w, by_bot);
    stop_provider();
}

/* --- failing provider ----------------------------------------------------------------- */

static void refusals_of_the_provider_say_what_to_do(struct world *w)
{
    struct started_claim s = start_claim(w);

    import_placeholders(w);
    provider.manner = CODE_REFUSED;
    expect_invalid(call_back(w, &s, CLEO), "code", "CLAIM_GRANT_INVALID");
    provider.manner = CLIENT_REFUSED;
    struct answer a = call_back(w, &s, CLEO);
    expect_error(a, 503, 40016);
    expect(strstr(answer_text(a, "message"), "ask its operator to correct"));
    provider.manner = BAD_REDIRECT;
    expect_error(call_back(w, &s, CLEO), 503, 40016);
    provider.manner = GOOD; /* a failure does not use up the state */
    expect_status(call_back(w, &s, CLEO), 200);
    stop_provider();
}

static void invalid_answers_of_the_provider_are_503(struct world *w)
{
    static const enum provider_manner bad[] = {
        FAILING,     LIMITING, NONSENSE,        NO_TOKEN,           TOKEN_WITH_LINE_BREAK,
        REDIRECTING, ENDLESS,  ACCOUNT_REFUSED, ACCOUNT_WITHOUT_ID, ACCOUNT_WITH_WORD_AS_ID,
        ACCOUNT_LIST
    };
    struct started_claim s = start_claim(w);

    import_placeholders(w);
    world_log_begin(w);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        provider.manner = bad[i];
        struct answer a = call_back(w, &s, CLEO);
        expect_error(a, 503, 40016);
        expect(strstr(answer_text(a, "message"), "does not answer as expected"));
    }
    const char *log = world_log_end(w);
    expect(!strstr(log, "secret") && !strstr(log, CLEO) && !strstr(log, s.state));
    expect_number(w, 0,
                  "select count(*) from placeholder_accounts where identity_code_digest is not "
                  "null");
    stop_provider();
}

static void slow_provider_does_not_delay_other_requests(struct world *w)
{
    struct client *bob = world_client(w, "bob");

    import_placeholders(w);
    struct started_claim s = start_claim(w);
    provider.manner = HOLDING;
    int fd = begin_call_back(w, &s, CLEO);
    expect_soon(provider.asked > 0);
    for (int i = 0; i < 20; i++)
        expect_status(client_patch(bob, "{'bio': 'x'}", "/users/@me"), 200);
    provider.manner = FAILING;
    expect(finish_call(fd) == 503);
    stop_provider();
}

static void provider_at_a_private_address_needs_the_operators_permission(struct world *w)
{
    import_placeholders(w);
    expect_error(log_in_as(w, CLEO), 503, 40016);
    expect(provider.asked == 0);
    stop_provider();
}

/* --- configuration -------------------------------------------------------------------- */

static void claim_routes_without_a_provider_are_403_40006(struct world *w)
{
    struct started_claim s = { "x", "y" };

    expect_error(client_post(world_anonymous(w), NULL, START), 403, 40006);
    expect_error(call_back(w, &s, CLEO), 403, 40006);
    expect_json(client_get(world_anonymous(w), "/policies/instance/config"),
                "{'claim_from': null}");
}

static void instance_names_the_server_where_people_log_in(struct world *w)
{
    expect_json(client_get(world_anonymous(w), "/policies/instance/config"),
                "{'claim_from': '%.*s'}", (int)strcspn(provider.url + 7, "/"), provider.url + 7);
    stop_provider();
}

static void identity_claims_are_limited_per_address(struct world *w)
{
    for (int i = 0; i < 10; i++)
        expect_status(client_post(world_anonymous(w), NULL, START), 200);
    expect_status(client_post(world_anonymous(w), NULL, START), 429);
    stop_provider();
}

static void expect_options_refused(struct world *w, const char *api, const char *id,
                                   const char *file, const char *url)
{
    struct config *c = world_config(w);

    c->claim_api = api;
    c->claim_client_id = id;
    c->claim_client_secret_file = file;
    c->public_url = url;
    expect(!world_try_start(w));
}

static void server_refuses_to_start_with_invalid_claim_options(struct world *w)
{
    static const char api[] = "https://chat.example/api/v10", url[] = "https://here.example";

    write_secret_file();
    const char *file = provider.secret_file;
    world_stop(w);
    world_log_begin(w);
    expect_options_refused(w, api, NULL, file, url);
    expect_options_refused(w, NULL, "1", file, url);
    expect_options_refused(w, api, "1", NULL, url);
    expect_options_refused(w, api, "1", file, NULL);
    expect_options_refused(w, "ftp://x", "1", file, url);
    expect_options_refused(w, "http://chat.example/api", "1", file, url);
    expect_options_refused(w, "https://a:b@chat.example/api", "1", file, url);
    expect_options_refused(w, api, "ada", file, url);
    expect_options_refused(w, api, "1", "/nowhere/secret", url);
    expect_options_refused(w, api, "1", "/dev/null", url);
    const char *log = world_log_end(w);
    expect(strstr(log, "must be set together") && strstr(log, "claim-api requires public-url"));
    expect(strstr(log, "claim-api must be an http(s) URL") && strstr(log, "begin with https://"));
    expect(strstr(log, "without user, query and fragment") && strstr(log, "must be the id of"));
    expect(strstr(log, "cannot read '/nowhere/secret'") && strstr(log, "in its first line"));
    expect(!strstr(log, SECRET));
    world_config(w)->claim_client_secret_file = file;
    expect(world_try_start(w));
    unlink(file);
}

const struct test claim_identity_tests[] = {
    TEST_WITH(identity_claim_makes_the_account_the_persons, with_provider),
    TEST_WITH(claim_state_is_valid_once_for_its_browser_for_ten_minutes, with_provider),
    TEST_WITH(one_of_two_callbacks_at_once_with_a_state_gets_a_code, with_provider),
    TEST_WITH(account_that_is_no_placeholder_is_refused_with_the_reason, with_provider),
    TEST_WITH(identity_code_ends_when_replaced_expired_or_revoked, with_provider),
    TEST_WITH(code_of_the_bot_stays_valid_until_either_code_is_used, with_provider),
    TEST_WITH(used_identity_code_ends_the_code_of_the_bot, with_provider),
    TEST_WITH(refusals_of_the_provider_say_what_to_do, with_provider),
    TEST_WITH(invalid_answers_of_the_provider_are_503, with_provider),
    TEST_WITH(slow_provider_does_not_delay_other_requests, with_provider),
    TEST_WITH(provider_at_a_private_address_needs_the_operators_permission,
              with_provider_at_private_address),
    TEST(claim_routes_without_a_provider_are_403_40006),
    TEST_WITH(instance_names_the_server_where_people_log_in, with_provider),
    TEST_WITH(identity_claims_are_limited_per_address, with_provider_and_limits),
    TEST(server_refuses_to_start_with_invalid_claim_options),
    { 0 },
};
