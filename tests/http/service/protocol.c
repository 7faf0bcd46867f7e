/* protocol.c - malformed HTTP, and details of valid HTTP. */
#include "files.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define JSON      "Content-Type: application/json\r\n"
#define LOGIN     "POST /api/v10/auth/login HTTP/1.1\r\nHost: x\r\n" JSON
#define BAD_LOGIN "{\"login\":\"nobody\",\"password\":\"x\"}" /* 33 bytes */
#define GATEWAY   "GET /api/v10/gateway HTTP/1.1\r\nHost: x\r\n"
#define QUIET_MS  60000

static void expect_server_answers_requests(struct world *w)
{
    expect_json(client_request(world_anonymous(w), "GET", "/healthz", NULL, (struct str){ 0 }),
                "{'status': 'ok'}");
}

static bool text_contains(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

static size_t count_responses(struct str text)
{
    size_t n = 0;

    for (const char *at = text.p; (at = memmem(at, (size_t)(text.p + text.n - at), "HTTP/1.1 ", 9));
         at += 9)
        n++;
    return n;
}

static int response_status(struct str answer)
{
    return answer.n > 12 ? atoi(answer.p + 9) : 0;
}

/* Expects one complete response with this status, then the end of the connection. */
static void expect_raw_request_is_refused(struct world *w, const char *what, struct str request,
                                          int status)
{
    struct str answer = client_raw(world_anonymous(w), request, QUIET_MS);
    const char *body = answer.n ? memmem(answer.p, answer.n, "\r\n\r\n", 4) : NULL;
    const struct dom *json =
        body ? dom_parse(world_arena(w),
                         str_slice(body + 4, (size_t)(answer.p + answer.n - body) - 4))
             : NULL;

    if (response_status(answer) != status || count_responses(answer) != 1)
        fail_test(__FILE__, __LINE__, "%s: expected one answer %d, not %.*s", what, status,
                  STR_ARGS(answer));
    expect(json && dom_at(json, "message") && dom_at(json, "code"));
    expect(str_is(dom_at(json, "code")->text, status == 413 ? "40005" : "0"));
    expect(text_contains(answer, "\r\nContent-Type: application/json\r\n"));
    expect(text_contains(answer, "\r\nConnection: close\r\n"));
    expect(text_contains(answer, "\r\nVia: 1.1 guildhall\r\n") &&
           text_contains(answer, "\r\nDate: "));
    expect_server_answers_requests(w);
}

/* --- malformed requests --------------------------------------------------------------- */

#define SMUGGLED "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

static const struct {
    const char *what;
    struct str request;
    int status;
} malformed[] = {
    { "two lengths", STR_INIT(LOGIN "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" SMUGGLED),
      400 },
    { "a list of lengths", STR_INIT(LOGIN "Content-Length: 2, 2\r\n\r\n{}" SMUGGLED), 400 },
    { "a length with a sign", STR_INIT(LOGIN "Content-Length: +2\r\n\r\n{}" SMUGGLED), 400 },
    { "a length and chunks",
      STR_INIT(LOGIN "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { "chunks and a length",
      STR_INIT(LOGIN "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { "chunks with a space before the colon",
      STR_INIT(LOGIN "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { "chunks behind a vertical tab",
      STR_INIT(LOGIN "Transfer-Encoding: \x0b"
                     "chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { "chunks that are not last",
      STR_INIT(LOGIN "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { "chunks in HTTP/1.0",
      STR_INIT(
          "POST /api/auth/login HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { "a chunk size that is none",
      STR_INIT(LOGIN "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" SMUGGLED), 400 },
    { "a chunk size with a sign",
      STR_INIT(LOGIN "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n" SMUGGLED), 400 },
    { "a chunk size past 64 bits",
      STR_INIT(LOGIN "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n"),
      400 },
    { "a chunk longer than its size",
      STR_INIT(LOGIN "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n" SMUGGLED), 400 },
    { "a folded header", STR_INIT(GATEWAY "A: b\r\n c\r\n\r\n" SMUGGLED), 400 },
    { "bare line feeds", STR_INIT("GET /healthz HTTP/1.1\nHost: x\n\n" SMUGGLED), 400 },
    { "NUL in the path", STR_INIT("GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED), 400 },
    { "NUL in a header", STR_INIT(GATEWAY "A: \0\r\n\r\n" SMUGGLED), 400 },
    { "a path that is not ASCII", STR_INIT("GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED), 400 },
    { "a query that is not ASCII", STR_INIT("GET /healthz?\xff HTTP/1.1\r\nHost: x\r\n\r\n"), 400 },
    { "no Host", STR_INIT("GET /healthz HTTP/1.1\r\n\r\n" SMUGGLED), 400 },
    { "two Hosts", STR_INIT(GATEWAY "Host: y\r\n\r\n" SMUGGLED), 400 },
    { "two credentials", STR_INIT(GATEWAY "Authorization: a\r\nAuthorization: b\r\n\r\n"), 400 },
    { "words that are no request", STR_INIT("hello there\r\n\r\n"), 400 },
    { "TLS where there is none", STR_INIT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), 400 },
    { "HTTP/2", STR_INIT("GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n" SMUGGLED), 505 },
    { "a coding that is not known", STR_INIT(LOGIN "Transfer-Encoding: gzip\r\n\r\n" SMUGGLED),
      501 },
    { "an expectation that is not known",
      STR_INIT(LOGIN "Content-Length: 2\r\nExpect: tea\r\n\r\n{}" SMUGGLED), 417 },
};

static void ambiguous_requests_are_refused(struct world *w)
{
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        expect_raw_request_is_refused(w, malformed[i].what, malformed[i].request,
                                      malformed[i].status);
}

/* --- size limits ---------------------------------------------------------------------- */

static struct str repeat_char(struct world *w, const char *before, char c, size_t n,
                              const char *after)
{
    size_t a = strlen(before), b = strlen(after);
    char *text = arena_alloc(world_arena(w), a + n + b + 1);

    memcpy(text, before, a);
    memset(text + a, c, n);
    memcpy(text + a + n, after, b);
    return str_slice(text, a + n + b);
}

static void request_heads_have_size_limits(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    size_t line = 8192 - strlen("GET / HTTP/1.1");
    struct str all = STR(GATEWAY "Connection: close\r\n");

    struct str fits =
        repeat_char(w, "GET /", 'a', line, " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(response_status(client_raw(nobody, fits, QUIET_MS)) == 404);
    expect_raw_request_is_refused(
        w, "a long line", repeat_char(w, "GET /", 'a', line + 1, " HTTP/1.1\r\nHost: x\r\n\r\n"),
        414);
    fits = repeat_char(w, GATEWAY "Connection: close\r\nA: ", 'a', 30000, "\r\n\r\n");
    expect(response_status(client_raw(nobody, fits, QUIET_MS)) == 200);
    expect_raw_request_is_refused(w, "a long header",
                                  repeat_char(w, GATEWAY "A: ", 'a', 33000, "\r\n\r\n"), 431);
    for (int i = 2; i < 100; i++)
        all = str_printf(world_arena(w), "%.*sA: b\r\n", STR_ARGS(all));
    fits = str_printf(world_arena(w), "%.*s\r\n", STR_ARGS(all));
    expect(response_status(client_raw(nobody, fits, QUIET_MS)) == 200);
    expect_raw_request_is_refused(
        w, "101 headers", str_printf(world_arena(w), "%.*sA: b\r\n\r\n", STR_ARGS(all)), 431);
}

static void request_bodies_have_size_limits(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    size_t most = 1024 * 1024, n = strlen(BAD_LOGIN);
    struct str fits = repeat_char(w, BAD_LOGIN, ' ', most - n, "");
    struct str larger = repeat_char(w, BAD_LOGIN, ' ', most - n + 1, "");

    expect_invalid(client_request(nobody, "POST", "/api/auth/login", JSON, fits), "login",
                   "INVALID_LOGIN");
    expect_error(client_request(nobody, "POST", "/api/auth/login", JSON, larger), 413, 40005);
    expect_raw_request_is_refused(w, "a length of 1 MiB + 1",
                                  STR(LOGIN "Content-Length: 1048577\r\n\r\n"), 413);
    expect_raw_request_is_refused(w, "a length of 2^60",
                                  STR(LOGIN "Content-Length: 1152921504606846976\r\n\r\n"), 413);
    /* A chunked body has no declared length. */
    struct str chunked =
        str_printf(world_arena(w), LOGIN "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%.*s", larger.n,
                   STR_ARGS(larger));
    expect_raw_request_is_refused(w, "a chunk too long", chunked, 413);
    /* An unknown route accepts no body. */
    expect_raw_request_is_refused(
        w, "a body for nobody",
        STR("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n"), 404);
}

/* --- framing -------------------------------------------------------------------------- */

static void chunked_body_is_accepted(struct world *w)
{
    struct str answer =
        client_raw(world_anonymous(w),
                   STR(LOGIN "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "1\r\n{\r\n1c;a=\"b\"\r\n\"login\":\"nobody\",\"password\":\r\n"
                             "4\r\n\"x\"}\r\n0\r\nTrailer: x\r\n\r\n"),
                   QUIET_MS);

    expect(response_status(answer) == 400 && text_contains(answer, "INVALID_LOGIN"));
}

static void pipelined_requests_are_answered_in_order(struct world *w)
{
    struct str all = client_raw(world_anonymous(w),
                                STR(LOGIN "Content-Length: 33\r\n\r\n" BAD_LOGIN
                                          "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                                          "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                                          "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" GATEWAY
                                          "Connection: close\r\n\r\n" GATEWAY "\r\n"),
                                QUIET_MS);
    static const char *const order[] = { "INVALID_LOGIN", "{\"status\":\"ok\"}", "404: Not Found",
                                         "{\"url\":" };
    const char *at = all.p;

    /* Password hashing takes time; later responses do not overtake it. Requests after "close"
     * are ignored. */
    expect(count_responses(all) == 5);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = memmem(at, (size_t)(all.p + all.n - at), order[i], strlen(order[i]));
        expect(at);
    }
}

static void http_1_0_requests_are_supported(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    struct str answer = client_raw(nobody, STR("GET /healthz HTTP/1.0\r\n\r\n"), QUIET_MS);

    expect(response_status(answer) == 200 && text_contains(answer, "{\"status\":\"ok\"}"));
    expect(text_contains(answer, "\r\nConnection: close\r\n"));
    answer = client_raw(nobody,
                        STR("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                            "GET /healthz HTTP/1.0\r\n\r\n"),
                        QUIET_MS);
    expect(count_responses(answer) == 2 && text_contains(answer, "\r\nConnection: keep-alive\r\n"));
}

/* Reads until the text has arrived. */
static void read_until(int fd, char *in, size_t max, const char *text)
{
    size_t n = 0;

    while (!strstr(in, text)) {
        ssize_t got = n < max - 1 ? recv(fd, in + n, max - 1 - n, 0) : 0;

        if (got <= 0)
            fail_test(__FILE__, __LINE__, "no '%s' but '%s'", text, in);
        n += (size_t)got;
        in[n] = '\0';
    }
}

static void send_text(int fd, const char *text)
{
    expect(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static void expect_100_continue_is_answered_before_the_body(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    char in[4096] = "", more[4096] = "";
    int fd = client_dial(nobody);

    send_text(fd, LOGIN "Content-Length: 33\r\nExpect: 100-continue\r\n\r\n");
    read_until(fd, in, sizeof in, "HTTP/1.1 100 Continue\r\n\r\n");
    send_text(fd, BAD_LOGIN);
    read_until(fd, more, sizeof more, "INVALID_LOGIN");
    close(fd);
    expect_raw_request_is_refused(
        w, "too much, asked first",
        STR(LOGIN "Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n"), 413);
}

static void request_sent_byte_by_byte_is_accepted(struct world *w)
{
    static const char request[] = LOGIN "Content-Length: 33\r\n\r\n" BAD_LOGIN;
    int fd = client_dial(world_anonymous(w));
    char in[4096] = "";

    for (size_t i = 0; request[i]; i++)
        expect(send(fd, request + i, 1, MSG_NOSIGNAL) == 1);
    read_until(fd, in, sizeof in, "INVALID_LOGIN");
    close(fd);
}

static void early_disconnects_do_not_harm_the_server(struct world *w)
{
    static const char *const parts[] = { "",
                                         "GET",
                                         GATEWAY,
                                         LOGIN "Content-Length: 33\r\n\r\n{",
                                         LOGIN "Content-Length: 33\r\n\r\n" BAD_LOGIN,
                                         LOGIN "Transfer-Encoding: chunked\r\n\r\n22\r\n{" };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int fd = client_dial(world_anonymous(w));

        send_text(fd, parts[i]);
        close(fd);
        expect_server_answers_requests(w);
    }
}

/* --- responses ------------------------------------------------------------------------ */

static struct answer fetch_path(struct world *w, const char *path, const char *headers)
{
    struct answer a = client_request(world_anonymous(w), "GET", path, headers, (struct str){ 0 });

    expect_status(a, 200);
    return a;
}

static void responses_are_gzip_compressed_if_accepted(struct world *w)
{
    struct answer plain = fetch_path(w, "/openapi.json", NULL);
    struct answer zipped =
        fetch_path(w, "/openapi.json", "Accept-Encoding: deflate, gzip;q=0.5\r\n");

    expect(!answer_header(plain, "Content-Encoding").p);
    expect(str_is(answer_header(plain, "Vary"), "Accept-Encoding"));
    expect(str_is(answer_header(zipped, "Content-Encoding"), "gzip"));
    expect(str_is(answer_header(zipped, "Content-Type"), "application/json"));
    expect(zipped.body.n < plain.body.n / 2);
    expect(str_eq(unzip(w, zipped.body), plain.body));
    expect(!answer_header(fetch_path(w, "/openapi.json", "Accept-Encoding: gzip;q=0, br\r\n"),
                          "Content-Encoding")
                .p);
    expect(
        !answer_header(fetch_path(w, "/healthz", "Accept-Encoding: gzip\r\n"), "Content-Encoding")
             .p);
}

static void expect_date_and_via_headers(struct answer a)
{
    int day, year;
    char month[4];

    expect(str_is(answer_header(a, "Via"), "1.1 guildhall"));
    expect(sscanf(answer_header(a, "Date").p, "%*3s, %2d %3s %4d", &day, month, &year) == 3);
    if (a.status == 204) {
        expect(a.body.n == 0 && !answer_header(a, "Content-Type").p);
        expect(!answer_header(a, "Content-Length").p);
    } else {
        expect(str_is(answer_header(a, "Content-Type"), "application/json"));
    }
}

static void every_response_has_date_and_via_headers(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);

    expect_date_and_via_headers(client_get(ada, "/users/@me"));
    expect_date_and_via_headers(client_get(ada, "/users/1"));
    expect_date_and_via_headers(client_get(ada, "/users/x"));
    expect_date_and_via_headers(client_get(nobody, "/users/@me"));
    expect_date_and_via_headers(client_get(ada, "/gateway/bot"));
    expect_date_and_via_headers(client_get(ada, "/nowhere"));
    expect_date_and_via_headers(client_put(ada, NULL, "/gateway"));
    expect_date_and_via_headers(client_post(ada, NULL, "/auth/logout"));
    expect_date_and_via_headers(
        client_request(nobody, "OPTIONS", "/api/gateway", NULL, (struct str){ 0 }));
    struct str date = answer_header(client_get(nobody, "/gateway"), "Date");
    world_wait(w, 86400);
    expect(!str_eq(date, answer_header(client_get(nobody, "/gateway"), "Date")));
}

/* --- bodies --------------------------------------------------------------------------- */

static struct answer patch_account(struct client *c, const char *json)
{
    return client_request(c, "PATCH", "/api/v10/users/@me", JSON, str_of(json));
}

static void malformed_json_is_400_50109(struct world *w)
{
    static const char *const broken[] = {
        "{\"bio\":\"\xff\"}",
        "{\"bio\":\"\xc0\x80\"}",
        "{\"bio\":\"\xed\xa0\x80\"}",
        "{\"bio\":\"\n\"}",
        "{\"bio\":\"a\",}",
        "{\"bio\":'a'}",
        "{bio:\"a\"}",
        "{\"accent_color\":01}",
        "{\"accent_color\":+1}",
        "{\"accent_color\":.5}",
        "{\"accent_color\":NaN}",
        "\xef\xbb\xbf{}",
        "{\"bio\":\"a\"}/**/",
        "{\"bio\":\"\\x41\"}",
        "{\"bio\":\"\\u12\"}",
        "[",
        "]",
        "{\"a\":1 \"b\":2}",
    };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        expect_error(patch_account(ada, broken[i]), 400, 50109);
    expect_invalid(patch_account(ada, "{\"bio\":{}}"), "bio", "STRING_TYPE_CONVERT");
    expect_json(client_get(ada, "/users/@me"), "{'bio': ''}");
    expect_silence(ada);
}

static void deeply_nested_json_is_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct str lists = repeat_char(w, "{\"x\":", '[', 100000, "");
    struct str closed = repeat_char(w, "{\"x\":", '[', 63, "");
    struct str ends = repeat_char(w, "", ']', 63, "}");

    expect_error(client_request(ada, "PATCH", "/api/users/@me", JSON, lists), 400, 50109);
    struct str fits = str_printf(world_arena(w), "%.*s%.*s", STR_ARGS(closed), STR_ARGS(ends));
    expect_status(client_request(ada, "PATCH", "/api/users/@me", JSON, fits), 200);
    struct str deeper = str_printf(world_arena(w), "{\"y\":%.*s}", STR_ARGS(fits));
    expect_error(client_request(ada, "PATCH", "/api/users/@me", JSON, deeper), 400, 50109);
    struct str objects = STR("{\"a\":");
    for (int i = 0; i < 17; i++)
        objects = str_printf(world_arena(w), "%.*s%.*s", STR_ARGS(objects), STR_ARGS(objects));
    expect_error(client_request(ada, "PATCH", "/api/users/@me", JSON, objects), 400, 50109);
    expect_server_answers_requests(w);
}

static void json_values_are_coerced_to_the_fields_type(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(patch_account(ada, "{\"bio\":\"a\",\"bio\":\"b\"}"), "{'bio': 'b'}");
    expect_json(patch_account(ada, "{\"accent_color\":\"x\",\"accent_color\":5}"),
                "{'accent_color': 5}");
    expect_json(patch_account(ada, "{\"accent_color\":6.0}"), "{'accent_color': 6}");
    expect_json(patch_account(ada, "{\"accent_color\":7e1}"), "{'accent_color': 70}");
    expect_json(patch_account(ada, "{\"accent_color\":\"8\"}"), "{'accent_color': 8}");
    expect_invalid(patch_account(ada, "{\"accent_color\":\"8.5\"}"), "accent_color",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(patch_account(ada, "{\"accent_color\":\"red\"}"), "accent_color",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(patch_account(ada, "{\"accent_color\":true}"), "accent_color",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(patch_account(ada, "{\"bio\":8}"), "bio", "STRING_TYPE_CONVERT");
    expect_invalid(patch_account(ada, "{\"accent_color\":0.5}"), "accent_color",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(patch_account(ada, "{\"accent_color\":1e999}"), "accent_color",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(patch_account(ada, "{\"accent_color\":123456789012345678901234567890}"),
                   "accent_color", "NUMBER_TYPE_COERCE");
    expect_json(patch_account(ada, " \t\r\n{ \"\\u0062io\" : \"\\u00e4\\ud83d\\ude00\" } "),
                "{'bio': '\xc3\xa4\xf0\x9f\x98\x80'}");
    expect_json(patch_account(ada, ""), "{'bio': '\xc3\xa4\xf0\x9f\x98\x80'}");
}

/* A store that ends strings at NUL would treat different texts as equal. */
static void strings_with_nul_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);

    expect_invalid(patch_account(ada, "{\"bio\":\"a\\u0000b\"}"), "bio", "STRING_TYPE_REGEX");
    expect_json(client_get(ada, "/users/@me"), "{'bio': ''}");
    expect_invalid(client_post(nobody, "{'login': 'ada\\u0000', 'password': 'x'}", "/auth/login"),
                   "login", "STRING_TYPE_REGEX");
    expect_invalid(client_post(nobody, "{'username': 'a\\u0000b'}", "/auth/register"), "username",
                   "USERNAME_INVALID_CONTAINS");
    expect_invalid(
        client_post(nobody, "{'username': 'ab', 'email': 'a\\u0000@b.c'}", "/auth/register"),
        "email", "EMAIL_TYPE_INVALID_EMAIL");
}

const struct test protocol_tests[] = {
    TEST(ambiguous_requests_are_refused),
    TEST(request_heads_have_size_limits),
    TEST(request_bodies_have_size_limits),
    TEST(chunked_body_is_accepted),
    TEST(pipelined_requests_are_answered_in_order),
    TEST(http_1_0_requests_are_supported),
    TEST(expect_100_continue_is_answered_before_the_body),
    TEST(request_sent_byte_by_byte_is_accepted),
    TEST(early_disconnects_do_not_harm_the_server),
    TEST(responses_are_gzip_compressed_if_accepted),
    TEST(every_response_has_date_and_via_headers),
    TEST(malformed_json_is_400_50109),
    TEST(deeply_nested_json_is_refused),
    TEST(json_values_are_coerced_to_the_fields_type),
    TEST(strings_with_nul_are_refused),
    { 0 },
};
