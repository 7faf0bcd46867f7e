/* rate_limits.c - rate limits and their headers. */
#include "world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "people.h"

#define LOGIN    "/auth/login"
#define REGISTER "/auth/register"
#define WRONG    "{'login': '%s', 'password': 'wrong horse'}"

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

static void configure_rate_limits_of_1000_percent(struct config *config)
{
    buckets_only(config);
    config->rate_limit_percent = 1000;
}

static void configure_rate_limits_of_1_percent(struct config *config)
{
    buckets_only(config);
    config->rate_limit_percent = 1;
}

static double header_number(struct answer a, const char *name)
{
    struct str s = answer_header(a, name);

    if (!s.p)
        fail_test(__FILE__, __LINE__, "%s: no %s", a.call, name);
    return strtod(s.p, NULL);
}

/* Digits, a dot, three digits. */
static bool has_three_decimals(struct str s)
{
    size_t i = 0;

    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i > 0 && s.n == i + 4 && s.p[i] == '.' && strspn(s.p + i + 1, "0123456789") >= 3;
}

/* --- headers -------------------------------------------------------------------------- */

static void responses_contain_the_remaining_rate_limit(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 1; i <= 3; i++) {
        struct answer a = client_get(ada, "/users/@me");

        expect_status(a, 200);
        expect(str_is(answer_header(a, "X-RateLimit-Limit"), "50"));
        expect(header_number(a, "X-RateLimit-Remaining") == 50 - i);
        expect(has_three_decimals(answer_header(a, "X-RateLimit-Reset")));
        expect(has_three_decimals(answer_header(a, "X-RateLimit-Reset-After")));
        double after = header_number(a, "X-RateLimit-Reset-After"), now = (double)clock_ms() / 1000;
        expect(after > 0 && after <= 10);
        expect(header_number(a, "X-RateLimit-Reset") > now - 1 &&
               header_number(a, "X-RateLimit-Reset") <= now + 10);
        expect(!answer_header(a, "X-RateLimit-Global").p);
        expect(!answer_header(a, "X-RateLimit-Scope").p);
        expect(!answer_header(a, "Retry-After").p);
    }
    struct answer a = client_patch(ada, "{}", "/users/@me");
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "20"));
    a = client_get(ada, "/users/1");
    expect_error(a, 404, 10013);
    expect(str_is(answer_header(a, "X-RateLimit-Remaining"), "49"));
    expect(!answer_header(client_get(world_anonymous(w), "/users/@me"), "X-RateLimit-Limit").p);
}

static void bearer_tokens_have_a_rate_limit_of_their_own(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *app = world_token(w, ada, CALLER_BEARER, "identify", 0);

    expect(header_number(client_get(app, "/users/@me"), "X-RateLimit-Remaining") == 49);
    expect(header_number(client_get(app, "/users/@me"), "X-RateLimit-Remaining") == 48);
    expect(header_number(client_get(ada, "/users/@me"), "X-RateLimit-Remaining") == 49);
}

static void rate_limit_buckets_have_stable_names_per_route(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct str me = answer_header(client_get(ada, "/users/@me"), "X-RateLimit-Bucket");

    expect(me.n == 16 && strspn(me.p, "0123456789abcdef") >= 16);
    expect(str_eq(me, answer_header(client_get(ada, "/users/@me"), "X-RateLimit-Bucket")));
    expect(str_eq(me, answer_header(client_get(bob, "/users/@me"), "X-RateLimit-Bucket")));
    struct str other = answer_header(client_get(ada, "/users/1"), "X-RateLimit-Bucket");
    expect(!str_eq(me, other));
    expect(str_eq(other, answer_header(client_get(ada, "/users/2"), "X-RateLimit-Bucket")));
    expect(!str_eq(me, answer_header(client_patch(ada, "{}", "/users/@me"), "X-RateLimit-Bucket")));
}

static void response_429_contains_the_time_to_wait(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = { 0 };

    for (int i = 0; i <= 20; i++)
        a = client_patch(ada, "{}", "/users/@me");
    expect_status(a, 429);
    expect(str_is(answer_header(a, "Content-Type"), "application/json"));
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "20"));
    expect(str_is(answer_header(a, "X-RateLimit-Remaining"), "0"));
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "user"));
    expect(has_three_decimals(answer_header(a, "X-RateLimit-Reset-After")));
    expect(answer_header(a, "X-RateLimit-Bucket").n == 16);
    expect(!answer_header(a, "X-RateLimit-Global").p);
    expect(answer_header(a, "Via").n > 0 && answer_header(a, "Date").n > 0);
    uint64_t seconds;
    expect(str_to_u64(answer_header(a, "Retry-After"), &seconds) && seconds >= 1 && seconds <= 10);
    expect_json(a, "{'message': 'You are being rate limited.', 'global': false}");
    expect_absent(a, "code");
    double wait = strtod(answer_text(a, "retry_after"), NULL);
    expect(wait > 0 && wait <= 10 && wait <= (double)seconds);
}

static void disabled_rate_limits_send_no_headers(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);

    for (int i = 0; i < 60; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    for (int i = 0; i < 8; i++)
        expect_invalid(client_post(nobody, "{'login': 'ada', 'password': 'x'}", LOGIN), "login",
                       "INVALID_LOGIN");
    struct str head = client_get(ada, "/users/@me").head;
    expect(!memmem(head.p, head.n, "X-RateLimit", 11));
}

/* --- exact counts --------------------------------------------------------------------- */

struct request_burst {
    pthread_t thread;
    int fd, count, allowed, refused;
    char request[600];
};

static void *run_burst(void *arg)
{
    struct request_burst *b = arg;
    char text[65536];
    size_t n = 0;
    ssize_t got;

    for (int i = 0; i < b->count; i++) {
        if (send(b->fd, b->request, strlen(b->request), MSG_NOSIGNAL) < 0)
            return NULL;
        for (;;) {
            got = recv(b->fd, text + n, sizeof text - 1 - n, 0);
            if (got <= 0)
                return NULL;
            n += (size_t)got;
            text[n] = '\0';
            /* Bodies are objects or arrays, and end with the response. */
            if (strstr(text, "\r\n\r\n") && strchr("}]", text[n - 1]))
                break;
        }
        b->allowed += strncmp(text, "HTTP/1.1 200", 12) == 0;
        b->refused += strncmp(text, "HTTP/1.1 429", 12) == 0;
        n = 0;
    }
    return NULL;
}

/* Sends `each` requests on each of `threads` connections; returns how many were allowed. */
static int request_burst(struct client *c, const char *path, int threads, int each)
{
    struct request_burst list[8] = { 0 };
    int allowed = 0, refused = 0;

    for (int i = 0; i < threads; i++) {
        list[i].fd = client_dial(c);
        list[i].count = each;
        snprintf(list[i].request, sizeof list[i].request,
                 "GET %s HTTP/1.1\r\nHost: x\r\n%s%s%s\r\n", path,
                 *c->authorization ? "Authorization: " : "", c->authorization,
                 *c->authorization ? "\r\n" : "");
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&list[i].thread, NULL, run_burst, &list[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(list[i].thread, NULL);
        close(list[i].fd);
        allowed += list[i].allowed;
        refused += list[i].refused;
    }
    expect(allowed + refused == threads * each);
    return allowed;
}

static void exactly_fifty_reads_are_allowed_per_window(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    for (int i = 0; i < 50; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/@me"), 429);
    expect_status(client_get(bob, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/%s", bob->id), 200);
    expect(request_burst(bob, "/api/v10/users/@me", 4, 20) == 49);
    world_wait(w, 10);
    expect(request_burst(ada, "/api/v10/users/@me", 4, 20) == 50);
    expect(request_burst(ada, "/api/v10/users/@me", 2, 2) == 0);
}

static void rate_limit_window_starts_with_its_first_request(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_patch(ada, "{}", "/users/@me"), 200);
    world_wait(w, 5);
    for (int i = 1; i < 20; i++)
        expect_status(client_patch(ada, "{}", "/users/@me"), 200);
    struct answer a = client_patch(ada, "{}", "/users/@me");
    expect_status(a, 429);
    expect(header_number(a, "X-RateLimit-Reset-After") <= 5);
    /* Refused requests do not extend the window. */
    world_wait(w, 5);
    expect_status(client_patch(ada, "{}", "/users/@me"), 200);
}

static void rate_limit_percent_scales_route_limits(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect(str_is(answer_header(client_get(ada, "/users/@me"), "X-RateLimit-Limit"), "500"));
    expect(
        str_is(answer_header(client_patch(ada, "{}", "/users/@me"), "X-RateLimit-Limit"), "200"));
}

static void scaled_rate_limit_allows_at_least_one_request(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_get(ada, "/users/@me");

    expect_status(a, 200);
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "1"));
    expect(str_is(answer_header(a, "X-RateLimit-Remaining"), "0"));
    expect_status(client_get(ada, "/users/@me"), 429);
}

/* --- the global limit ----------------------------------------------------------------- */

static void account_is_limited_to_50_requests_per_second(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect(request_burst(ada, "/api/v10/voice/regions", 4, 15) == 50);
    struct answer a = client_get(ada, "/users/@me");
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Global"), "true"));
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "global"));
    expect(str_is(answer_header(a, "Retry-After"), "1"));
    expect(answer_header(a, "Via").n > 0);
    expect(!answer_header(a, "X-RateLimit-Limit").p);
    expect(!answer_header(a, "X-RateLimit-Remaining").p);
    expect(!answer_header(a, "X-RateLimit-Reset").p);
    expect(!answer_header(a, "X-RateLimit-Reset-After").p);
    expect(!answer_header(a, "X-RateLimit-Bucket").p);
    expect_json(a, "{'message': 'You are being rate limited.', 'global': true}");
    expect(strtod(answer_text(a, "retry_after"), NULL) <= 1);

    expect_status(client_get(bob, "/users/@me"), 200);
    world_wait(w, 1);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void address_is_limited_to_20_anonymous_requests_per_second(struct world *w)
{
    struct client *nobody = world_anonymous(w), *elsewhere = world_anonymous(w);

    snprintf(elsewhere->address, sizeof elsewhere->address, "127.0.0.2");
    expect(request_burst(nobody, "/api/v10/gateway", 3, 10) == 20);
    struct answer a = client_get(nobody, "/gateway");
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Global"), "true"));
    expect_status(client_get(elsewhere, "/gateway"), 200);
    expect_status(client_get(world_client(w, "ada"), "/gateway"), 200);
    world_wait(w, 1);
    expect_status(client_get(nobody, "/gateway"), 200);
}

static struct answer call_service_route(struct client *c, const char *path)
{
    return client_request(c, "GET", path, NULL, (struct str){ 0 });
}

static void health_probes_do_not_count_towards_the_api_rate_limit(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    for (int i = 0; i < 60; i++) {
        struct answer a = call_service_route(nobody, "/healthz");

        expect_status(a, 200);
        expect(!answer_header(a, "X-RateLimit-Limit").p);
    }
    expect_status(client_get(nobody, "/gateway"), 200);
}

static void service_routes_are_limited_per_address(struct world *w)
{
    struct client *nobody = world_anonymous(w), *elsewhere = world_anonymous(w);

    snprintf(elsewhere->address, sizeof elsewhere->address, "127.0.0.2");
    for (int i = 0; i < 30; i++)
        expect_status(call_service_route(nobody, "/openapi.json"), 200);
    struct answer a = call_service_route(nobody, "/openapi.json");
    expect_status(a, 429);
    expect(header_number(a, "Retry-After") >= 1 && header_number(a, "Retry-After") <= 10);
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "30"));
    expect_status(call_service_route(elsewhere, "/openapi.json"), 200);
    expect_status(call_service_route(nobody, "/healthz"), 200);
    for (int i = 0; i < 100; i++)
        expect_status(call_service_route(nobody, "/metrics"), 200);
    expect_status(call_service_route(nobody, "/metrics"), 429);
    world_wait(w, 10);
    expect_status(call_service_route(nobody, "/openapi.json"), 200);
    expect_status(call_service_route(nobody, "/metrics"), 200);
}

/* Service routes without a limit of their own have a default limit. */
static void readiness_probes_have_a_default_rate_limit(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    for (int i = 0; i < 50; i++)
        expect_status(call_service_route(nobody, "/readyz"), 200);
    expect_status(call_service_route(nobody, "/readyz"), 429);
    expect_status(call_service_route(nobody, "/healthz"), 200);
}

/* --- logging in ----------------------------------------------------------------------- */

static struct answer try_login(struct client *c, const char *name)
{
    char body[200];

    snprintf(body, sizeof body, WRONG, name);
    return client_post(c, body, LOGIN);
}

static void address_is_limited_to_five_login_attempts_per_minute(struct world *w)
{
    struct client *nobody = world_anonymous(w), *elsewhere = world_anonymous(w);
    struct client *ada = world_client(w, "ada");
    char name[20];

    snprintf(elsewhere->address, sizeof elsewhere->address, "127.0.0.2");
    struct answer a = client_post(nobody, "{'username': 'bob'}", REGISTER);
    expect_status(a, 200);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "name%d", i);
        expect_invalid(try_login(nobody, name), "login", "INVALID_LOGIN");
    }
    a = try_login(nobody, "another");
    expect_status(a, 429);
    expect(header_number(a, "Retry-After") >= 1 && header_number(a, "Retry-After") <= 60);
    expect_status(client_post(nobody, "{'username': 'cleo'}", REGISTER), 429);
    /* A token does not change that. */
    expect_status(try_login(ada, "another"), 429);
    expect_invalid(try_login(elsewhere, "another"), "login", "INVALID_LOGIN");
    world_wait(w, 60);
    expect_invalid(try_login(nobody, "another"), "login", "INVALID_LOGIN");
}

const struct test rate_limits_tests[] = {
    TEST_WITH(responses_contain_the_remaining_rate_limit, configure_enabled_rate_limits),
    TEST_WITH(bearer_tokens_have_a_rate_limit_of_their_own, configure_enabled_rate_limits),
    TEST_WITH(rate_limit_buckets_have_stable_names_per_route, configure_enabled_rate_limits),
    TEST_WITH(response_429_contains_the_time_to_wait, buckets_only),
    TEST(disabled_rate_limits_send_no_headers),
    TEST_WITH(exactly_fifty_reads_are_allowed_per_window, buckets_only),
    TEST_WITH(rate_limit_window_starts_with_its_first_request, buckets_only),
    TEST_WITH(rate_limit_percent_scales_route_limits, configure_rate_limits_of_1000_percent),
    TEST_WITH(scaled_rate_limit_allows_at_least_one_request, configure_rate_limits_of_1_percent),
    TEST_WITH(account_is_limited_to_50_requests_per_second, configure_enabled_rate_limits),
    TEST_WITH(address_is_limited_to_20_anonymous_requests_per_second,
              configure_enabled_rate_limits),
    TEST_WITH(health_probes_do_not_count_towards_the_api_rate_limit, configure_enabled_rate_limits),
    TEST_WITH(service_routes_are_limited_per_address, configure_enabled_rate_limits),
    TEST_WITH(readiness_probes_have_a_default_rate_limit, configure_rate_limits_of_1_percent),
    TEST_WITH(address_is_limited_to_five_login_attempts_per_minute, configure_enabled_rate_limits),
    { 0 },
};
