/* routing.c - paths, versions and methods of routes. */
#include "http/walk.h"

#include <stdio.h>
#include <string.h>

static struct answer send_request(struct client *c, const char *method, const char *path)
{
    return client_request(c, method, path, NULL, (struct str){ 0 });
}

/* --- methods -------------------------------------------------------------------------- */

/* Returns whether this row also matches the other's path; a parameter matches any word. */
static bool row_matches_path(const struct route *row, const struct route *other)
{
    struct str a = str_of(row->path), b = str_of(other->path);

    while (a.n && b.n) {
        struct str mine = str_cut(&a, '/'), theirs = str_cut(&b, '/');

        if (!str_eq(mine, theirs) && !str_starts_with(mine, STR("{")))
            return false;
    }
    return row->service == other->service && a.n == b.n;
}

/* Returns the set of methods of this path. */
static unsigned allowed_methods(const struct route *route)
{
    unsigned set = 1u << HTTP_OPTIONS;

    for (const struct domain *const *d = guildhall_domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (row_matches_path(r, route))
                set |= 1u << r->method;
    return set & 1u << HTTP_GET ? set | 1u << HTTP_HEAD : set;
}

static const char *write_allow_header(struct arena *a, unsigned set)
{
    struct str line = STR("");

    for (int m = 0; m < HTTP_METHODS; m++)
        if (set >> m & 1)
            line = str_printf(a, "%s%s%s", line.n ? line.p : "", line.n ? ", " : "",
                              http_method_name((enum http_method)m));
    return line.p;
}

static void expect_405_for_other_methods_of_path(struct world *w, const struct route *r)
{
    struct client *nobody = world_anonymous(w);
    const char *url = route_url(w, r, "1");
    unsigned set = allowed_methods(r);
    const char *allow = write_allow_header(world_arena(w), set);

    for (int m = 0; m < HTTP_METHODS; m++) {
        if (set >> m & 1)
            continue;
        struct answer a = send_request(nobody, http_method_name((enum http_method)m), url);

        /* A known operation that is not implemented gets 404. */
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
    struct answer a = send_request(nobody, "BREW", url);
    expect_error(a, 405, 0);
    a = send_request(nobody, "OPTIONS", url);
    expect_status(a, 204);
    expect(str_is(answer_header(a, "Allow"), allow));
    expect(!answer_header(a, "Access-Control-Allow-Origin").p);
}

static void other_methods_are_405_with_an_allow_header(struct world *w)
{
    each_route(w, expect_405_for_other_methods_of_path);
}

static void check_head_responds_like_get(struct world *w, const struct route *r)
{
    if (r->method != HTTP_GET)
        return;
    struct client *c = route_caller(w, r);
    const char *url = route_url(w, r, *c->id ? c->id : "1");
    struct answer get = send_request(c, "GET", url), head = send_request(c, "HEAD", url);

    expect(head.status == get.status);
    expect(head.body.n == 0);
    expect(str_eq(answer_header(head, "Content-Type"), answer_header(get, "Content-Type")));
    expect(answer_header(head, "Content-Length").n > 0);
    /* No body bytes are left on the connection. */
    expect(send_request(c, "GET", url).status == get.status);
}

static void head_responds_like_get_without_a_body(struct world *w)
{
    each_route(w, check_head_responds_like_get);
}

/* --- paths ---------------------------------------------------------------------------- */

/* A file and an API object may have the same path: /stickers/{id}. */
static struct {
    const struct route *file;
    bool found;
} namesake;

/* Any two parameters match. */
static bool paths_overlap(const char *a, const char *b)
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

static void find_api_route_with_path_of_file(struct world *w, const struct route *r)
{
    (void)w;
    if (!r->service && r->method == namesake.file->method &&
        paths_overlap(r->path, namesake.file->path))
        namesake.found = true;
}

static bool has_overlapping_route(struct world *w, const struct route *r)
{
    namesake.file = r;
    namesake.found = false;
    each_route(w, find_api_route_with_path_of_file);
    return namesake.found;
}

static void check_unknown_api_versions_are_refused(struct world *w, const struct route *r)
{
    struct client *nobody = world_anonymous(w);
    const char *url = route_url(w, r, "1"), *method = http_method_name(r->method);
    struct arena *a = world_arena(w);

    if (r->service) {
        int status = has_overlapping_route(w, r) ? 401 : 404;

        expect_error(send_request(nobody, method, str_printf(a, "/api%s", url).p), status, 0);
        expect_error(send_request(nobody, method, str_printf(a, "/api/v10%s", url).p), status, 0);
        return;
    }
    const char *path = url + strlen("/api/v10");
    static const char *const versions[] = { "v1", "v5", "v11", "v100", "v0" };
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct answer wrong =
            send_request(nobody, method, str_printf(a, "/api/%s%s", versions[i], path).p);

        expect_error(wrong, 400, 50041);
        expect_error(send_request(nobody, method, str_printf(a, "/api/%s/nowhere", versions[i]).p),
                     404, 0);
    }
    expect_error(send_request(nobody, "BREW", str_printf(a, "/api/v5%s", path).p), 405, 0);
    expect_error(send_request(nobody, method, str_printf(a, "/api/vx%s", path).p), 404, 0);
    /* Files and pages are at the root; some have the same first segment. */
    if (strncmp(path, "/gifs/", 6) != 0 && strncmp(path, "/streams/", 9) != 0)
        expect_error(send_request(nobody, method, path), 404, 0);
}

static void unknown_api_versions_are_400_50041(struct world *w)
{
    each_route(w, check_unknown_api_versions_are_refused);
}

static void check_slash_variants_of_path(struct world *w, const struct route *r)
{
    if (r->method != HTTP_GET)
        return;
    struct client *c = route_caller(w, r);
    const char *url = route_url(w, r, *c->id ? c->id : "1");
    struct arena *a = world_arena(w);
    int status = send_request(c, "GET", url).status;

    expect(send_request(c, "GET", str_printf(a, "%s/", url).p).status == status);
    expect(send_request(c, "GET", str_printf(a, "%s?", url).p).status == status);
    expect(send_request(c, "GET", str_printf(a, "%s?any=thing&%%ff", url).p).status == status);
    expect_error(send_request(c, "GET", str_printf(a, "%s//", url).p), 404, 0);
    expect_error(send_request(c, "GET", str_printf(a, "/%s", url).p), 404, 0);
    expect_error(send_request(c, "GET", str_printf(a, "%s/no/such/place/at/all", url).p), 404, 0);
    if (r->service)
        return;
    const char *path = url + strlen("/api/v10");
    expect(send_request(c, "GET", str_printf(a, "/api/v9%s", path).p).status == status);
    expect(send_request(c, "GET", str_printf(a, "/api%s", path).p).status == status);
    expect_error(send_request(c, "GET", str_printf(a, "/api/v10/%s", path).p), 404, 0);
}

static void trailing_slash_is_accepted_and_double_slash_is_404(struct world *w)
{
    each_route(w, check_slash_variants_of_path);
}

static void unknown_paths_are_404(struct world *w)
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
        expect_error(send_request(ada, "GET", paths[i]), 404, 0);
        expect_error(send_request(ada, "BREW", paths[i]), 404, 0);
        expect_error(send_request(ada, "OPTIONS", paths[i]), 404, 0);
    }
    expect_json(send_request(ada, "GET", "/nowhere"), "{'message': '404: Not Found', 'code': 0}");
    /* Percent-encoding of letters is equivalent. */
    expect_status(send_request(ada, "GET", "/%61pi/v1%30/gate%77ay"), 200);
}

const struct test routing_tests[] = {
    TEST(other_methods_are_405_with_an_allow_header),
    TEST(head_responds_like_get_without_a_body),
    TEST(unknown_api_versions_are_400_50041),
    TEST(trailing_slash_is_accepted_and_double_slash_is_404),
    TEST(unknown_paths_are_404),
    { 0 },
};
