/* upstream.c - GIFs of an upstream provider, also when the provider fails. */
#include "gifs.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "waits.h"

/* --- the test provider ---------------------------------------------------------------- */

enum mode { GOOD, REFUSES, HANGS, HUGE, GARBAGE, LIES };

static struct {
    int listener, port;
    pthread_t thread;
    _Atomic int mode, asked, answered;
    _Atomic bool stop;
    char last[4096]; /* the last request, valid when it was answered */
    pthread_mutex_t lock;
} provider = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define FILES                                                                            \
    "\"media\": {\"mp4\": {\"url\": \"https://cdn.example.org/1.mp4\", \"width\": 640, " \
    "\"height\": 480}, \"gif\": {\"url\": \"https://example.org/1.gif\", \"width\": "    \
    "320, \"height\": 240}, \"odd\": {\"url\": \"x\", \"width\": 1, \"height\": 1}}"
static const char GIFS[] =
    "{\"results\": [{\"id\": \"1\", \"title\": \"Theirs\", \"url\": \"https://example.org/p\", "
    "\"tags\": [\"a\"], " FILES "}, {\"id\": \"2\", \"media\": {\"gif\": {\"url\": "
    "\"https://evil.test/2.gif\", \"width\": 1, \"height\": 1}}}, {\"id\": \"3\", \"media\": "
    "{\"gif\": {\"url\": \"http://example.org/3.gif\", \"width\": 1, \"height\": 1}}}, "
    "{\"id\": \"4\", \"media\": {\"gif\": {\"url\": \"https://example.org@evil.test/4.gif\", "
    "\"width\": 1, \"height\": 1}}}]}";
static const char TAGS[] =
    "{\"tags\": [{\"name\": \"lol\", \"image\": \"https://example.org/lol.gif\"}, "
    "{\"name\": \"bad\", \"image\": \"https://evil.test/bad.gif\"}]}";
static const char TERMS[] = "{\"results\": [\"Their Term\", \"other\"]}";

static void gif_provider_send_response(int fd, int status, const char *body)
{
    char head[200];

    snprintf(head, sizeof head,
             "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n\r\n",
             status, strlen(body));
    (void)!write(fd, head, strlen(head));
    (void)!write(fd, body, strlen(body));
}

static void gif_provider_send_too_long_response(int fd)
{
    char piece[16384];

    memset(piece, ' ', sizeof piece);
    const char *head = "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n";
    (void)!write(fd, head, strlen(head));
    for (int i = 0; i < 65536 && write(fd, piece, sizeof piece) > 0; i++)
        ;
}

static void gif_provider_answer_request(int fd, const char *request)
{
    switch ((enum mode)provider.mode) {
    case GOOD:
        gif_provider_send_response(
            fd, 200,
            strstr(request, "/v1/categories")                                        ? TAGS
            : strstr(request, "/v1/suggest") || strstr(request, "/v1/trending-term") ? TERMS
                                                                                     : GIFS);
        break;
    case REFUSES:
        gif_provider_send_response(fd, 500, "{}");
        break;
    case HANGS:
        while (provider.mode == HANGS && !provider.stop)
            usleep(1000);
        break;
    case HUGE:
        gif_provider_send_too_long_response(fd);
        break;
    case GARBAGE:
        gif_provider_send_response(fd, 200, "<html>no</html>");
        break;
    case LIES:
        gif_provider_send_response(fd, 200, "{\"results\": {\"id\": 1}, \"tags\": 7}");
        break;
    }
}

static void *run_provider(void *arg)
{
    (void)arg;
    while (!provider.stop) {
        struct pollfd p = { provider.listener, POLLIN, 0 };
        char request[4096] = { 0 };

        if (poll(&p, 1, 50) <= 0)
            continue;
        int fd = accept(provider.listener, NULL, NULL);
        ssize_t n = read(fd, request, sizeof request - 1);

        if (n > 0 && strstr(request, "Content-Length") && request[n - 1] != '}')
            n += read(fd, request + n, sizeof request - 1 - (size_t)n);
        pthread_mutex_lock(&provider.lock);
        memcpy(provider.last, request, sizeof request);
        pthread_mutex_unlock(&provider.lock);
        provider.asked++;
        gif_provider_answer_request(fd, request);
        provider.answered++;
        close(fd);
    }
    return NULL;
}

static void test_provider_open_socket(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    provider.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect(bind(provider.listener, (struct sockaddr *)&at, sizeof at) == 0);
    expect(listen(provider.listener, 64) == 0);
    getsockname(provider.listener, (struct sockaddr *)&at, &size);
    provider.port = ntohs(at.sin_port);
}

static void test_provider_start_thread(void)
{
    provider.mode = GOOD;
    provider.asked = provider.answered = 0;
    provider.stop = false;
    expect(pthread_create(&provider.thread, NULL, run_provider, NULL) == 0);
}

static void test_provider_stop_thread(void)
{
    provider.stop = true;
    pthread_join(provider.thread, NULL);
    close(provider.listener);
}

static const char *last_request(struct world *w)
{
    pthread_mutex_lock(&provider.lock);
    const char *copy = str_dup_cstring(world_arena(w), str_of(provider.last));
    pthread_mutex_unlock(&provider.lock);
    return copy;
}

static void wait_for_requests_at_provider(int count)
{
    expect_soon(provider.asked >= count);
    expect(provider.asked == count);
}

/* The listener is opened before the server starts, so that its port can be configured. */
static void configure_provider_of_test(struct config *c, const char *source)
{
    static char url[100];

    test_provider_open_socket();
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/", provider.port);
    c->gifs = source;
    c->gif_provider = url;
    c->gif_provider_key = "s3cret&x=1";
    c->gif_media_hosts = "example.org, *.example.org";
}

static void configure_upstream_gif_results_only(struct config *c)
{
    configure_provider_of_test(c, "upstream");
}

static void configure_merged_gif_results(struct config *c)
{
    configure_provider_of_test(c, "merged");
}

/* --- valid responses ------------------------------------------------------------------ */

static void upstream_gifs_are_returned_as_gif_objects(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    test_provider_start_thread();
    struct answer a = client_get(ada, "/gifs/search?q=Fun%%20%%26%%20Cat&locale=de&limit=30");
    expect_json(a, "[{'id': 'u_1', 'title': 'Theirs', 'url': 'https://example.org/p', 'src': "
                   "'https://cdn.example.org/1.mp4', 'gif_src': 'https://example.org/1.gif', "
                   "'preview': 'https://example.org/1.gif', 'width': 640, 'height': 480}]");
    const char *request = last_request(w);
    expect(strstr(request, "GET /v1/search?") && strstr(request, "q=fun%20%26%20cat") &&
           strstr(request, "locale=de") && strstr(request, "limit=30") &&
           strstr(request, "key=s3cret%26x%3D1"));
    expect(!strstr(request, ada->authorization) && !strstr(request, ada->id));
    expect_status(client_request(ada, "GET", "/api/v10/gifs/search?q=cat",
                                 "Accept-Language: xx, de;q=0.5, fr;q=0.8\r\n", STR("")),
                  200);
    expect(strstr(last_request(w), "locale=fr"));
    expect_status(client_get(ada, "/gifs/search?q=cat&locale=nonsense"), 200);
    expect(strstr(last_request(w), "locale=en-US"));

    expect_json(client_get(ada, "/gifs/trending-gifs?media_format=gif"),
                "[{'src': 'https://example.org/1.gif', 'width': 320}]");
    expect_json(client_get(ada, "/gifs/trending"),
                "{'categories': [{'name': 'lol', 'src': 'https://example.org/lol.gif'}], "
                "'gifs': [{'id': 'u_1'}]}");
    expect_json(client_get(ada, "/gifs/suggest?q=t"), "['their term', 'other']");
    expect_json(client_get(ada, "/gifs/trending-search?limit=1"), "['their term']");
    test_provider_stop_thread();
}

static void merged_results_list_local_gifs_first(struct world *w)
{
    test_provider_start_thread();
    world_import_gifs(w, "{'id': 'ours', 'tags': ['cat'], 'media': {'gif': 'f.gif'}}");
    struct client *nobody = world_anonymous(w);
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=cat")), "ours u_1") == 0);
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=dog")), "u_1") == 0);
    expect_json(client_get(nobody, "/gifs/trending"), "{'gifs': [{'id': 'ours'}]}");
    provider.mode = REFUSES;
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=ca")), "ours") == 0);
    expect_json(client_get(nobody, "/gifs/search?q=fish"), "[]");
    test_provider_stop_thread();
}

static void selections_of_upstream_gifs_are_sent_to_the_provider(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    test_provider_start_thread();
    expect_status(client_post(ada, "{'id': 'u_1', 'q': 'cat'}", "/gifs/select"), 204);
    wait_for_requests_at_provider(1);
    expect_soon(provider.answered == 1); /* before the provider hangs */
    const char *request = last_request(w);
    expect(strstr(request, "POST /v1/registershare") &&
           strstr(request, "{\"id\":\"1\",\"q\":\"cat\",\"locale\":\"en-US\"}"));
    expect(!strstr(request, ada->id));
    expect_status(client_post(ada, "{'id': 'local', 'q': 'cat'}", "/gifs/select"), 204);
    char endless[6000];
    snprintf(endless, sizeof endless, "{'id': 'u_3', 'q': '%05000d'}", 1);
    expect_status(client_post(ada, endless, "/gifs/select"), 204);
    provider.mode = HANGS;
    expect_status(client_post(ada, "{'id': 'u_2', 'q': 'cat'}", "/gifs/select"), 204);
    expect(provider.answered == 1); /* the provider hangs, and the caller does not wait for it */
    wait_for_requests_at_provider(2);
    expect(strstr(last_request(w), "\"id\":\"2\""));
    test_provider_stop_thread();
}

/* --- caching -------------------------------------------------------------------------- */

static void upstream_responses_are_cached_for_five_minutes(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    test_provider_start_thread();
    for (int i = 0; i < 3; i++)
        expect_status(client_get(nobody, "/gifs/search?q=cat"), 200);
    expect(provider.asked == 1);
    expect_status(client_get(nobody, "/gifs/search?q=dog"), 200);
    expect_status(client_get(nobody, "/gifs/search?q=cat&locale=fr"), 200);
    expect(provider.asked == 3);
    world_wait(w, 299);
    expect_status(client_get(nobody, "/gifs/search?q=cat"), 200);
    expect(provider.asked == 3);
    world_wait(w, 2); /* an expired response is returned at once and refreshed in the background */
    expect_status(client_get(nobody, "/gifs/search?q=cat"), 200);
    wait_for_requests_at_provider(4);
    test_provider_stop_thread();
}

static void expired_upstream_response_is_used_while_the_provider_fails(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    test_provider_start_thread();
    expect_status(client_get(nobody, "/gifs/search?q=cat"), 200);
    provider.mode = REFUSES;
    world_wait(w, 1800);
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=cat")), "u_1") == 0);
    world_wait(w, 7200);
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=cat")), "u_1") == 0);
    expect_error(client_get(nobody, "/gifs/search?q=dog"), 503, 40016);
    test_provider_stop_thread();
}

/* --- invalid responses ---------------------------------------------------------------- */

static void invalid_upstream_response_is_503_without_local_gifs(struct world *w)
{
    static const int modes[] = { REFUSES, GARBAGE, LIES, HUGE };
    struct client *nobody = world_anonymous(w);

    test_provider_start_thread();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        provider.mode = modes[i];
        expect_error(client_get(nobody, "/gifs/search?q=x%zu", i), 503, 40016);
    }
    provider.mode = GOOD;
    expect_status(client_get(nobody, "/gifs/search?q=x"), 200);
    world_import_gifs(w, "{'id': 'ours', 'tags': ['cat'], 'media': {'gif': 'f.gif'}}");
    provider.mode = GARBAGE;
    expect(strcmp(gif_ids(client_get(nobody, "/gifs/search?q=cat")), "ours") == 0);
    test_provider_stop_thread();
}

static void provider_is_not_asked_for_30_seconds_after_five_failures(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    test_provider_start_thread();
    provider.mode = GARBAGE;
    for (int i = 0; i < 5; i++)
        expect_error(client_get(nobody, "/gifs/search?q=x%d", i), 503, 40016);
    expect(provider.asked == 5);
    provider.mode = GOOD;
    expect_error(client_get(nobody, "/gifs/search?q=x"), 503, 40016);
    world_wait(w, 29);
    expect_error(client_get(nobody, "/gifs/search?q=x"), 503, 40016);
    expect(provider.asked == 5);
    world_wait(w, 2);
    expect_status(client_get(nobody, "/gifs/search?q=x"), 200);
    expect(provider.asked == 6);
    test_provider_stop_thread();
}

static void failed_upstream_request_is_retried_once(struct world *w)
{
    test_provider_start_thread();
    provider.mode = REFUSES;
    expect_error(client_get(world_anonymous(w), "/gifs/search?q=x"), 503, 40016);
    expect(provider.asked == 2);
    test_provider_stop_thread();
}

static void hanging_provider_does_not_delay_other_requests(struct world *w)
{
    struct client *nobody = world_anonymous(w), *ada = world_client(w, "ada");

    test_provider_start_thread();
    provider.mode = HANGS;
    int fd = client_dial(nobody);
    const char *request = "GET /api/v10/gifs/search?q=slow HTTP/1.1\r\nHost: x\r\n\r\n";
    int64_t since = clock_monotonic_ns();
    expect(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
    wait_for_requests_at_provider(1);
    char answer[16] = { 0 };
    int sooner = 0; /* earlier than the waiting request; on a busy machine not all of them */
    for (int i = 0; i < 20; i++) {
        expect_status(client_get(ada, "/users/@me"), 200);
        sooner += recv(fd, answer, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
    }
    expect(sooner > 0);
    expect(read(fd, answer, sizeof answer - 1) > 0);
    expect(strncmp(answer, "HTTP/1.1 503", 12) == 0);
    expect(clock_monotonic_ns() - since > INT64_C(1000000000)); /* two tries of two seconds */
    close(fd);
    test_provider_stop_thread();
}

static void several_requests_can_wait_for_the_provider(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    int fds[6];

    test_provider_start_thread();
    provider.mode = HANGS;
    for (int i = 0; i < 6; i++) {
        char request[100];

        fds[i] = client_dial(nobody);
        snprintf(request, sizeof request,
                 "GET /api/v10/gifs/search?q=slow%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
        expect(write(fds[i], request, strlen(request)) == (ssize_t)strlen(request));
    }
    wait_for_requests_at_provider(1);
    provider.mode = GOOD;
    for (int i = 0; i < 6; i++) {
        char answer[16] = { 0 };

        expect(read(fds[i], answer, sizeof answer - 1) > 0);
        expect(strncmp(answer, "HTTP/1.1 200", 12) == 0);
        close(fds[i]);
    }
    test_provider_stop_thread();
}

const struct test gifs_upstream_tests[] = {
    TEST_WITH(upstream_gifs_are_returned_as_gif_objects, configure_upstream_gif_results_only),
    TEST_WITH(merged_results_list_local_gifs_first, configure_merged_gif_results),
    TEST_WITH(selections_of_upstream_gifs_are_sent_to_the_provider,
              configure_upstream_gif_results_only),
    TEST_WITH(upstream_responses_are_cached_for_five_minutes, configure_upstream_gif_results_only),
    TEST_WITH(expired_upstream_response_is_used_while_the_provider_fails,
              configure_upstream_gif_results_only),
    TEST_WITH(invalid_upstream_response_is_503_without_local_gifs,
              configure_upstream_gif_results_only),
    TEST_WITH(provider_is_not_asked_for_30_seconds_after_five_failures,
              configure_upstream_gif_results_only),
    TEST_WITH(failed_upstream_request_is_retried_once, configure_upstream_gif_results_only),
    TEST_WITH(hanging_provider_does_not_delay_other_requests, configure_upstream_gif_results_only),
    TEST_WITH(several_requests_can_wait_for_the_provider, configure_upstream_gif_results_only),
    { 0 },
};
