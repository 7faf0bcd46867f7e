/* docs_pages.c - the documentation that the program serves at /docs. */
#include "world.h"

#include <string.h>

#include "server/config.h"
#include "web/internal.h"

enum { MAX_SITE_BYTES = 1500 * 1024, MAX_FILE_BYTES = 2 * 1024 * 1024 };

static struct answer get_docs(struct world *w, const char *path, const char *headers)
{
    return client_request(world_anonymous(w), "GET", path, headers, STR(""));
}

static bool body_contains(struct answer a, const char *text)
{
    return memmem(a.body.p, a.body.n, text, strlen(text)) != NULL;
}

static bool header_contains(struct answer a, const char *name, const char *text)
{
    struct str value = answer_header(a, name);

    return value.p && memmem(value.p, value.n, text, strlen(text));
}

static void docs_pages_are_served_with_and_without_suffix(struct world *w)
{
    struct answer a = get_docs(w, "/docs", "");

    expect_status(a, 302);
    expect(str_is(answer_header(a, "Location"), "/docs/"));
    a = get_docs(w, "/docs/", "");
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "text/html; charset=utf-8"));
    expect(body_contains(a, "testing-your-bot.html"));
    a = get_docs(w, "/docs/errors.html", "");
    expect_status(a, 200);
    expect(body_contains(a, "id=\"50013\""));
    expect(str_eq(get_docs(w, "/docs/errors", "").body, a.body));
    expect_status(client_request(world_anonymous(w), "HEAD", "/docs/", "", STR("")), 200);
    expect_status(client_request(world_anonymous(w), "POST", "/docs/", "", STR("")), 404);
}

static void unknown_docs_paths_are_not_found(struct world *w)
{
    static const char *const paths[] = { "/docs/nowhere",  "/docs/../src/main.c", "/docsx",
                                         "/docs/errors/",  "/docs/.html",         "/docs//",
                                         "/docs/%00.html", "/docs/0/style.css" };
    struct str text = str_printf(world_arena(w), "/docs/%0*d", 4000, 0);

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect_error(get_docs(w, paths[i], ""), 404, 0);
        expect_status(get_docs(w, paths[i], "Accept: text/html\r\n"), 404);
    }
    expect_error(get_docs(w, text.p, ""), 404, 0);
}

static void docs_pages_have_a_strict_content_security_policy(struct world *w)
{
    struct answer a = get_docs(w, "/docs/", "");

    expect(header_contains(a, "Content-Security-Policy", "default-src 'none'; script-src 'self';"));
    expect(header_contains(a, "Content-Security-Policy", "form-action 'self'"));
    expect(header_contains(a, "Content-Security-Policy", "frame-ancestors 'none'"));
    expect(header_contains(a, "Content-Security-Policy", "require-trusted-types-for 'script'"));
    expect(!header_contains(a, "Content-Security-Policy", "unsafe"));
    expect(header_contains(a, "X-Content-Type-Options", "nosniff"));
    expect(header_contains(a, "Referrer-Policy", "no-referrer"));
}

/* Each file is sent as gzip and decompressed; both have an ETag of their own. */
static void docs_files_are_compressed_and_cacheable(struct world *w)
{
    size_t total = 0;

    for (size_t i = 0; i < docs_file_count; i++) {
        const struct docs_file *f = &docs_files[i];
        struct str path = str_printf(world_arena(w), "/docs/%s", f->name);
        struct answer plain = get_docs(w, path.p, ""),
                      packed = get_docs(w, path.p, "Accept-Encoding: gzip\r\n");
        struct str tag = answer_header(packed, "ETag"),
                   known = str_printf(world_arena(w),
                                      "Accept-Encoding: gzip\r\nIf-None-Match: %.*s\r\n",
                                      STR_ARGS(tag));

        expect_status(plain, 200);
        expect_status(packed, 200);
        expect(!answer_header(plain, "Content-Encoding").p);
        expect(plain.body.n == (f->plain_n ? f->plain_n : f->n) && plain.body.n < MAX_FILE_BYTES);
        expect(packed.body.n == f->n);
        expect(str_is(answer_header(packed, "Content-Encoding"), "gzip") == (f->plain_n > 0));
        expect(header_contains(plain, "Vary", "Accept-Encoding"));
        expect(header_contains(plain, "Cache-Control",
                               strchr(f->name, '/') ? "immutable" : "no-cache"));
        expect(str_eq(tag, answer_header(plain, "ETag")) == (f->plain_n == 0));
        expect_status(get_docs(w, path.p, known.p), 304);
        if (i)
            expect(strcmp(docs_files[i - 1].name, f->name) < 0);
        total += f->n;
    }
    expect(docs_file_count > 100);
    expect(total < MAX_SITE_BYTES);
}

static void disable_web(struct config *c)
{
    c->web = "off";
}

static void docs_can_be_disabled_with_the_web_pages(struct world *w)
{
    expect_error(get_docs(w, "/docs/", ""), 404, 0);
}

static void configure_operator_pages_only(struct config *c)
{
    c->web = "operator";
}

static void docs_are_served_without_the_chat(struct world *w)
{
    expect_status(get_docs(w, "/docs/", "Accept: text/html\r\n"), 200);
}

const struct test docs_pages_tests[] = {
    TEST(docs_pages_are_served_with_and_without_suffix),
    TEST(unknown_docs_paths_are_not_found),
    TEST(docs_pages_have_a_strict_content_security_policy),
    TEST(docs_files_are_compressed_and_cacheable),
    TEST_WITH(docs_can_be_disabled_with_the_web_pages, disable_web),
    TEST_WITH(docs_are_served_without_the_chat, configure_operator_pages_only),
    { 0 },
};
