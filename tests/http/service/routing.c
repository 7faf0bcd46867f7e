/* routing.c - paths, versions and methods: what leads to a route and what does not. */
#include "http/walk.h"

#include <stdio.h>
#include <string.h>

static struct answer ask(struct client *c, const char *method, const char *path)
{
    return client_request(c, method, path, NULL, (struct str){ 0 });
}

/* --- methods -------------------------------------------------------------------------- */

/* Does this row also stand for another's path? A parameter takes any word. */
static bool stands_for(const struct route *row, const struct route *other)
{
    struct str a = str_of(row->path), b = str_of(other->path);

    while (a.n && b.n) {
        struct str mine = str_cut(&a, '/'), theirs = str_cut(&b, '/');

        if (!str_eq(mine, theirs) && !str_starts(mine, STR("{")))
            return false;
    }
    return row->service == other->service && a.n == b.n;
}

/* Which methods do the rows of this path have? */
static unsigned methods_of(const struct route *route)
{
    unsigned set = 1u << HTTP_OPTIONS;

    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (stands_for(r, route))
                set |= 1u << r->method;
    return set & 1u << HTTP_GET ? set | 1u << HTTP_HEAD : set;
}

static const char *allow_line(struct arena *a, unsigned set)
{
    struct str line = STR("");

    for (int m = 0; m < HTTP_METHODS; m++)
        if (set >> m & 1)
            line = str_printf(a, "%s%s%s", line.n ? line.p : "", line.n ? ", " : "",
                              http_method_name((enum http_method)m));
    return line.p;
}

static void look_at_methods(struct world *w, const struct route *r)
{
    struct client *nobody = world_stranger(w);
    const char *url = route_url(w, r, "1");
    unsigned set = methods_of(r);
    const char *allow = allow_line(world_arena(w), set);

    for (int m = 0; m < HTTP_METHODS; m++) {
        if (set >> m & 1)
            continue;
        struct answer a = ask(nobody, http_method_name((enum http_method)m), url);

        /* Another operation of the interface's, which nobody serves, is no mistake of the caller.
         */
        if (a.status == 404 && m != HTTP_HEAD) {
            expect_json(a, "{'message': '404: This server does not serve this operation', "
                           "'code': 0}");
            continue;
        }
        expect_status(a, 405);
        expect(str_is(answer_header(a, "Allow"), allow));
        if (m != HTTP_HEAD)
            expect_json(a, "{'message': '405: Method Not Allowed', 'code': 0}");
    }
    struct answer a = ask(nobody, "BREW", url);
    expect_error(a, 405, 0);
    a = ask(nobody, "OPTIONS", url);
    expect_status(a, 204);
    expect(str_is(answer_header(a, "Allow"), allow));
    expect(!answer_header(a, "Access-Control-Allow-Origin").p);
}

static void other_methods_are_refused_and_named(struct world *w)
{
    each_route(w, look_at_methods);
}

static void look_at_head(struct world *w, const struct route *r)
{
    if (r->method != HTTP_GET)
        return;
    struct client *c = route_caller(w, r);
    const char *url = route_url(w, r, *c->id ? c->id : "1");
    struct answer get = ask(c, "GET", url), head = ask(c, "HEAD", url);

    expect(head.status == get.status);
    expect(head.body.n == 0);
    expect(str_eq(answer_header(head, "Content-Type"), answer_header(get, "Content-Type")));
    expect(answer_header(head, "Content-Length").n > 0);
    /* Nothing of a body is left on the connection. */
    expect(ask(c, "GET", url).status == get.status);
}

static void head_is_get_without_a_body(struct world *w)
{
    each_route(w, look_at_head);
}

/* --- paths ---------------------------------------------------------------------------- */

/* Files and objects of the interface may have the same path: /stickers/{id}. */
static struct {
    const struct route *file;
    bool found;
} namesake;

/* Whatever stands in braces. */
static bool fits_the_same_paths(const char *a, const char *b)
{
    while (*a && *b) {
        size_t n = strcspn(a, "/"), m = strcspn(b, "/");

        if (!(*a == '{' && *b == '{') && (n != m || strncmp(a, b, n) != 0))
            return false;
        a += n + (a[n] == '/');
        b += m + (b[m] == '/');
    }
    return *a == *b;
}

static void look_for_namesake(struct world *w, const struct route *r)
{
    (void)w;
    if (!r->service && r->method == namesake.file->method &&
        fits_the_same_paths(r->path, namesake.file->path))
        namesake.found = true;
}

static bool has_namesake(struct world *w, const struct route *r)
{
    namesake.file = r;
    namesake.found = false;
    each_route(w, look_for_namesake);
    return namesake.found;
}

static void look_at_versions(struct world *w, const struct route *r)
{
    struct client *nobody = world_stranger(w);
    const char *url = route_url(w, r, "1"), *method = http_method_name(r->method);
    struct arena *a = world_arena(w);

    if (r->service) {
        int status = has_namesake(w, r) ? 401 : 404;

        expect_error(ask(nobody, method, str_printf(a, "/api%s", url).p), status, 0);
        expect_error(ask(nobody, method, str_printf(a, "/api/v10%s", url).p), status, 0);
        return;
    }
    const char *path = url + strlen("/api/v10");
    static const char *const versions[] = { "v1", "v5", "v11", "v100", "v0" };
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct answer wrong = ask(nobody, method, str_printf(a, "/api/%s%s", versions[i], path).p);

        expect_error(wrong, 400, 50041);
        expect_error(ask(nobody, method, str_printf(a, "/api/%s/nowhere", versions[i]).p), 404, 0);
    }
    expect_error(ask(nobody, "BREW", str_printf(a, "/api/v5%s", path).p), 405, 0);
    expect_error(ask(nobody, method, str_printf(a, "/api/vx%s", path).p), 404, 0);
    /* Files and pages lie at the root; some begin with the same word. */
    if (strncmp(path, "/gifs/", 6) != 0 && strncmp(path, "/streams/", 9) != 0)
        expect_error(ask(nobody, method, path), 404, 0);
}

static void only_versions_9_and_10_are_spoken(struct world *w)
{
    each_route(w, look_at_versions);
}

static void look_at_spellings(struct world *w, const struct route *r)
{
    if (r->method != HTTP_GET)
        return;
    struct client *c = route_caller(w, r);
    const char *url = route_url(w, r, *c->id ? c->id : "1");
    struct arena *a = world_arena(w);
    int status = ask(c, "GET", url).status;

    expect(ask(c, "GET", str_printf(a, "%s/", url).p).status == status);
    expect(ask(c, "GET", str_printf(a, "%s?", url).p).status == status);
    expect(ask(c, "GET", str_printf(a, "%s?any=thing&%%ff", url).p).status == status);
    expect_error(ask(c, "GET", str_printf(a, "%s//", url).p), 404, 0);
    expect_error(ask(c, "GET", str_printf(a, "/%s", url).p), 404, 0);
    expect_error(ask(c, "GET", str_printf(a, "%s/no/such/place/at/all", url).p), 404, 0);
    if (r->service)
        return;
    const char *path = url + strlen("/api/v10");
    expect(ask(c, "GET", str_printf(a, "/api/v9%s", path).p).status == status);
    expect(ask(c, "GET", str_printf(a, "/api%s", path).p).status == status);
    expect_error(ask(c, "GET", str_printf(a, "/api/v10/%s", path).p), 404, 0);
}

static void paths_have_few_spellings(struct world *w)
{
    each_route(w, look_at_spellings);
}

static void what_is_nowhere_is_not_found(struct world *w)
{
    static const char *const paths[] = {
        "/api",
        "/api/",
        "/api/v10",
        "/api/v10/",
        "/nowhere",
        "/api/v10/users",
        "/API/v10/gateway",
        "/api/V10/gateway",
        "/api/v10/Gateway",
        "/api/v10/gateway%2fbot",
        "/api/v10/gateway/bot/x",
        "/api/v10/..",
        "/api/v10/./gateway",
        "/api/v18446744073709551616/gateway",
    };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect_error(ask(ada, "GET", paths[i]), 404, 0);
        expect_error(ask(ada, "BREW", paths[i]), 404, 0);
        expect_error(ask(ada, "OPTIONS", paths[i]), 404, 0);
    }
    expect_json(ask(ada, "GET", "/nowhere"), "{'message': '404: Not Found', 'code': 0}");
    /* Escapes are only another way to write a letter. */
    expect_status(ask(ada, "GET", "/%61pi/v1%30/gate%77ay"), 200);
}

const struct test routing_tests[] = {
    TEST(other_methods_are_refused_and_named), TEST(head_is_get_without_a_body),
    TEST(only_versions_9_and_10_are_spoken),   TEST(paths_have_few_spellings),
    TEST(what_is_nowhere_is_not_found),        { 0 },
};
