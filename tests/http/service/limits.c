/* limits.c - how often a caller may do what, and what it is told. */
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

static void limits_on(struct config *config)
{
    config->rate_limits = true;
}

static void ten_times(struct config *config)
{
    buckets_only(config);
    config->rate_limit_percent = 1000;
}

static void one_percent(struct config *config)
{
    buckets_only(config);
    config->rate_limit_percent = 1;
}

static double number(struct answer a, const char *name)
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

/* --- what is said --------------------------------------------------------------------- */

static void answers_say_how_much_is_left(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 1; i <= 3; i++) {
        struct answer a = client_get(ada, "/users/@me");

        expect_status(a, 200);
        expect(str_is(answer_header(a, "X-RateLimit-Limit"), "50"));
        expect(number(a, "X-RateLimit-Remaining") == 50 - i);
        expect(has_three_decimals(answer_header(a, "X-RateLimit-Reset")));
        expect(has_three_decimals(answer_header(a, "X-RateLimit-Reset-After")));
        double after = number(a, "X-RateLimit-Reset-After"), now = (double)clock_ms() / 1000;
        expect(after > 0 && after <= 10);
        expect(number(a, "X-RateLimit-Reset") > now - 1 &&
               number(a, "X-RateLimit-Reset") <= now + 10);
        expect(!answer_header(a, "X-RateLimit-Global").p);
        expect(!answer_header(a, "X-RateLimit-Scope").p);
        expect(!answer_header(a, "Retry-After").p);
    }
    struct answer a = client_patch(ada, "{}", "/users/@me");
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "20"));
    a = client_get(ada, "/users/1");
    expect_error(a, 404, 10013);
    expect(str_is(answer_header(a, "X-RateLimit-Remaining"), "49"));
    expect(!answer_header(client_get(world_stranger(w), "/users/@me"), "X-RateLimit-Limit").p);
}

static void an_application_uses_up_its_own_calls(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *app = world_token(w, ada, CALLER_BEARER, "identify", 0);

    expect(number(client_get(app, "/users/@me"), "X-RateLimit-Remaining") == 49);
    expect(number(client_get(app, "/users/@me"), "X-RateLimit-Remaining") == 48);
    expect(number(client_get(ada, "/users/@me"), "X-RateLimit-Remaining") == 49);
}

static void buckets_have_names(struct world *w)
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

static void a_refusal_says_how_long_to_wait(struct world *w)
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

static void without_limits_nothing_is_said(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_stranger(w);

    for (int i = 0; i < 60; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    for (int i = 0; i < 8; i++)
        expect_invalid(client_post(nobody, "{'login': 'ada', 'password': 'x'}", LOGIN), "login",
                       "INVALID_LOGIN");
    struct str head = client_get(ada, "/users/@me").head;
    expect(!memmem(head.p, head.n, "X-RateLimit", 11));
}

/* --- exactly so many ------------------------------------------------------------------ */

struct burst {
    pthread_t thread;
    int fd, count, allowed, refused;
    char request[600];
};

static void *run_burst(void *arg)
{
    struct burst *b = arg;
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
            /* Bodies are objects or lists, and end with the answer. */
            if (strstr(text, "\r\n\r\n") && strchr("}]", text[n - 1]))
                break;
        }
        b->allowed += strncmp(text, "HTTP/1.1 200", 12) == 0;
        b->refused += strncmp(text, "HTTP/1.1 429", 12) == 0;
        n = 0;
    }
    return NULL;
}

/* `threads` connections at once, `each` calls on each; how many were allowed. */
static int burst(struct client *c, const char *path, int threads, int each)
{
    struct burst list[8] = { 0 };
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

static void fifty_reads_are_allowed_and_no_more(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    for (int i = 0; i < 50; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/@me"), 429);
    expect_status(client_get(bob, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/%s", bob->id), 200);
    expect(burst(bob, "/api/v10/users/@me", 4, 20) == 49);
    world_wait(w, 10);
    expect(burst(ada, "/api/v10/users/@me", 4, 20) == 50);
    expect(burst(ada, "/api/v10/users/@me", 2, 2) == 0);
}

static void a_window_begins_with_its_first_call(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_patch(ada, "{}", "/users/@me"), 200);
    world_wait(w, 5);
    for (int i = 1; i < 20; i++)
        expect_status(client_patch(ada, "{}", "/users/@me"), 200);
    struct answer a = client_patch(ada, "{}", "/users/@me");
    expect_status(a, 429);
    expect(number(a, "X-RateLimit-Reset-After") <= 5);
    /* What was refused does not make it longer. */
    world_wait(w, 5);
    expect_status(client_patch(ada, "{}", "/users/@me"), 200);
}

static void percent_scales_the_limits_of_routes(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect(str_is(answer_header(client_get(ada, "/users/@me"), "X-RateLimit-Limit"), "500"));
    expect(
        str_is(answer_header(client_patch(ada, "{}", "/users/@me"), "X-RateLimit-Limit"), "200"));
}

static void one_call_is_always_allowed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_get(ada, "/users/@me");

    expect_status(a, 200);
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "1"));
    expect(str_is(answer_header(a, "X-RateLimit-Remaining"), "0"));
    expect_status(client_get(ada, "/users/@me"), 429);
}

/* --- the global limit ----------------------------------------------------------------- */

static void an_account_has_fifty_calls_a_second(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect(burst(ada, "/api/v10/voice/regions", 4, 15) == 50);
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

static void an_address_has_twenty_calls_a_second(struct world *w)
{
    struct client *nobody = world_stranger(w), *elsewhere = world_stranger(w);

    snprintf(elsewhere->address, sizeof elsewhere->address, "127.0.0.2");
    expect(burst(nobody, "/api/v10/gateway", 3, 10) == 20);
    struct answer a = client_get(nobody, "/gateway");
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Global"), "true"));
    expect_status(client_get(elsewhere, "/gateway"), 200);
    expect_status(client_get(world_client(w, "ada"), "/gateway"), 200);
    world_wait(w, 1);
    expect_status(client_get(nobody, "/gateway"), 200);
}

static struct answer ask_service(struct client *c, const char *path)
{
    return client_request(c, "GET", path, NULL, (struct str){ 0 });
}

static void the_service_has_room_for_probes(struct world *w)
{
    struct client *nobody = world_stranger(w);

    for (int i = 0; i < 60; i++) {
        struct answer a = ask_service(nobody, "/healthz");

        expect_status(a, 200);
        expect(!answer_header(a, "X-RateLimit-Limit").p);
    }
    expect_status(client_get(nobody, "/gateway"), 200);
}

static void the_service_is_counted_by_address(struct world *w)
{
    struct client *nobody = world_stranger(w), *elsewhere = world_stranger(w);

    snprintf(elsewhere->address, sizeof elsewhere->address, "127.0.0.2");
    for (int i = 0; i < 30; i++)
        expect_status(ask_service(nobody, "/openapi.json"), 200);
    struct answer a = ask_service(nobody, "/openapi.json");
    expect_status(a, 429);
    expect(number(a, "Retry-After") >= 1 && number(a, "Retry-After") <= 10);
    expect(str_is(answer_header(a, "X-RateLimit-Limit"), "30"));
    expect_status(ask_service(elsewhere, "/openapi.json"), 200);
    expect_status(ask_service(nobody, "/healthz"), 200);
    for (int i = 0; i < 100; i++)
        expect_status(ask_service(nobody, "/metrics"), 200);
    expect_status(ask_service(nobody, "/metrics"), 429);
    world_wait(w, 10);
    expect_status(ask_service(nobody, "/openapi.json"), 200);
    expect_status(ask_service(nobody, "/metrics"), 200);
}

/* Rows of the service without a limit of their own have one all the same. */
static void every_probe_counts(struct world *w)
{
    struct client *nobody = world_stranger(w);

    for (int i = 0; i < 50; i++)
        expect_status(ask_service(nobody, "/readyz"), 200);
    expect_status(ask_service(nobody, "/readyz"), 429);
    expect_status(ask_service(nobody, "/healthz"), 200);
}

/* --- logging in ----------------------------------------------------------------------- */

static struct answer try_login(struct client *c, const char *name)
{
    char body[200];

    snprintf(body, sizeof body, WRONG, name);
    return client_post(c, body, LOGIN);
}

static void an_address_has_five_tries_a_minute(struct world *w)
{
    struct client *nobody = world_stranger(w), *elsewhere = world_stranger(w);
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
    expect(number(a, "Retry-After") >= 1 && number(a, "Retry-After") <= 60);
    expect_status(client_post(nobody, "{'username': 'cleo'}", REGISTER), 429);
    /* A credential does not help. */
    expect_status(try_login(ada, "another"), 429);
    expect_invalid(try_login(elsewhere, "another"), "login", "INVALID_LOGIN");
    world_wait(w, 60);
    expect_invalid(try_login(nobody, "another"), "login", "INVALID_LOGIN");
}

const struct test limits_tests[] = {
    TEST_WITH(answers_say_how_much_is_left, limits_on),
    TEST_WITH(an_application_uses_up_its_own_calls, limits_on),
    TEST_WITH(buckets_have_names, limits_on),
    TEST_WITH(a_refusal_says_how_long_to_wait, buckets_only),
    TEST(without_limits_nothing_is_said),
    TEST_WITH(fifty_reads_are_allowed_and_no_more, buckets_only),
    TEST_WITH(a_window_begins_with_its_first_call, buckets_only),
    TEST_WITH(percent_scales_the_limits_of_routes, ten_times),
    TEST_WITH(one_call_is_always_allowed, one_percent),
    TEST_WITH(an_account_has_fifty_calls_a_second, limits_on),
    TEST_WITH(an_address_has_twenty_calls_a_second, limits_on),
    TEST_WITH(the_service_has_room_for_probes, limits_on),
    TEST_WITH(the_service_is_counted_by_address, limits_on),
    TEST_WITH(every_probe_counts, one_percent),
    TEST_WITH(an_address_has_five_tries_a_minute, limits_on),
    { 0 },
};
