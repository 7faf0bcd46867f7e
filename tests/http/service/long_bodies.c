/* long_bodies.c - requests and responses that take long to parse or write do not block a loop
 * and give the same results. A long loop iteration fails any test (world.c). */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "files.h"
#include "model/fields/types.h"
#include "channel_events.h"
#include "test_guild.h"
#include "net/http/server.h"
#include "channel_events.h"
#include "test_guild.h"

#define JSON "Content-Type: application/json\r\n"

/* --- bodies --------------------------------------------------------------------------- */

static struct answer send_body(struct client *c, const char *method, const char *path,
                               struct str body)
{
    return client_request(c, method, path, JSON, body);
}

/* Returns the same body with so many spaces that it is long. */
static struct str pad_body(struct world *w, struct str body)
{
    size_t spaces = 300 * 1024;
    char *text = arena_alloc(world_arena(w), body.n + spaces);

    text[0] = body.p[0];
    memset(text + 1, ' ', spaces);
    memcpy(text + 1 + spaces, body.p + 1, body.n - 1);
    return str_slice(text, body.n + spaces);
}

static void long_bodies_get_the_same_response_as_short_ones(struct world *w)
{
    static const struct {
        const char *method, *path;
        struct str body;
        int status;
    } calls[] = {
        { "PATCH", "/api/users/@me", STR_INIT("{\"bio\": 5, \"accent_color\": -1}"), 400 },
        { "PATCH", "/api/users/@me", STR_INIT("{\"avatar\": \"data:image/png;base64,????\"}"),
          400 },
        { "PATCH", "/api/users/@me", STR_INIT("{\"username\": \"x\", \"email\": 1}"), 400 },
        { "PATCH", "/api/users/@me", STR_INIT("{\"username\": \"everyone\"}"), 400 },
        { "PATCH", "/api/users/@me", STR_INIT("{\"username\": \"other\"}"), 200 },
        { "PATCH", "/api/users/@me", STR_INIT("{\"bio\": \"here\""), 400 },
        { "PATCH", "/api/users/@me", STR_INIT("{\"bio\": \"here\"}"), 200 },
        { "PATCH", "/api/guilds/1", STR_INIT("{\"name\": 5}"), 404 },
        { "PATCH", "/api/guilds/x", STR_INIT("{\"name\": 5}"), 400 },
        { "POST", "/api/nowhere", STR_INIT("{\"name\": 5}"), 404 },
    };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct answer brief = send_body(ada, calls[i].method, calls[i].path, calls[i].body);
        struct answer lengthy =
            send_body(ada, calls[i].method, calls[i].path, pad_body(w, calls[i].body));

        expect_status(brief, calls[i].status);
        expect_status(lengthy, calls[i].status);
        if (!str_eq(brief.body, lengthy.body))
            fail_test(__FILE__, __LINE__, "%.*s: %.*s is not %.*s", STR_ARGS(calls[i].body),
                      STR_ARGS(lengthy.body), STR_ARGS(brief.body));
    }
}

static void long_unauthenticated_body_is_401_like_a_short_one(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    struct str body = STR("{\"bio\": 5}");

    expect_error(send_body(nobody, "PATCH", "/api/users/@me", body), 401, 0);
    expect_error(send_body(nobody, "PATCH", "/api/users/@me", pad_body(w, body)), 401, 0);
}

/* --- images --------------------------------------------------------------------------- */

/* Writes a body with images of so many bytes each; nearly all bytes are zero. */
static struct str write_images(struct world *w, const char *const *names, size_t count,
                               size_t bytes)
{
    static const char head[] = "data:image/png;base64,iVBORw0KGgoA";
    size_t chars = (bytes + 2) / 3 * 4, padding = (3 - bytes % 3) % 3;
    size_t room = count * (chars + 100);
    char *text = arena_alloc(world_arena(w), room);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        n += (size_t)snprintf(text + n, room - n, "%s\"%s\":\"%s", i ? "," : "{", names[i], head);
        memset(text + n, 'A', chars - 12 - padding);
        n += chars - 12 - padding;
        memset(text + n, '=', padding);
        n += padding;
        text[n++] = '"';
    }
    text[n++] = '}';
    return str_slice(text, n);
}

static void image_fields_are_limited_to_10_mib(struct world *w)
{
    static const char *const two[] = { "avatar", "banner" };
    struct client *ada = world_client(w, "ada");
    size_t most = 10 * 1024 * 1024;

    expect_status(send_body(ada, "PATCH", "/api/users/@me", write_images(w, two, 2, most)), 200);
    struct answer a = send_body(ada, "PATCH", "/api/users/@me", write_images(w, two, 2, most + 1));
    expect_invalid(a, "avatar", "BINARY_TYPE_MAX_SIZE");
    expect_invalid(a, "banner", "BINARY_TYPE_MAX_SIZE");
}

static void guild_accepts_all_five_images_in_one_request(struct world *w)
{
    static const char *const five[] = { "icon", "banner", "splash", "discovery_splash",
                                        "home_header" };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char path[60];

    snprintf(path, sizeof path, "/api/guilds/%s", v.id);
    expect_status(send_body(ada, "PATCH", path, write_images(w, five, 5, 10 * 1024 * 1024)), 200);
    /* A body larger than all fields together is not received. */
    char head[600];
    int n = snprintf(head, sizeof head,
                     "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n" JSON
                     "Content-Length: %d\r\n\r\n",
                     path, ada->authorization, BODY_MAX_WITH_IMAGES(5) + 1);
    struct str refused = client_raw(ada, str_slice(head, (size_t)n), 60000);
    expect(str_starts_with(refused, STR("HTTP/1.1 413 ")));
}

/* --- responses ------------------------------------------------------------------------ */

static void long_responses_can_be_gzip_compressed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char body[2100], path[80];

    for (int i = 0; i < 100; i++) {
        snprintf(body, sizeof body, "{'content': '%0*d'}", 1990, i);
        expect_status(client_post(ada, body, "/channels/%s/messages", v.channel), 200);
    }
    snprintf(path, sizeof path, "/api/channels/%s/messages?limit=100", v.channel);
    struct answer plain = client_request(ada, "GET", path, NULL, (struct str){ 0 });
    struct answer zipped =
        client_request(ada, "GET", path, "Accept-Encoding: gzip\r\n", (struct str){ 0 });

    expect_status(plain, 200);
    expect_status(zipped, 200);
    expect(plain.body.n > HTTP_GZIP_MAX_BYTES && !answer_header(plain, "Content-Encoding").p);
    expect(str_is(answer_header(plain, "Vary"), "Accept-Encoding"));
    expect(str_is(answer_header(zipped, "Content-Encoding"), "gzip"));
    expect(str_is(answer_header(zipped, "Vary"), "Accept-Encoding"));
    expect(str_is(answer_header(zipped, "Content-Type"), "application/json"));
    expect(str_eq(unzip(w, zipped.body), plain.body));
}

const struct test long_bodies_tests[] = {
    TEST(long_bodies_get_the_same_response_as_short_ones),
    TEST(long_unauthenticated_body_is_401_like_a_short_one),
    TEST(image_fields_are_limited_to_10_mib),
    TEST(guild_accepts_all_five_images_in_one_request),
    TEST(long_responses_can_be_gzip_compressed),
    { 0 },
};
