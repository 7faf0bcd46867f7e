/* known.c - operations that Discord documents and this server does not implement.
 *
 * The table (documented_operations.def) lists all documented operations. Requests for those without
 * a route get a different 404 than unknown paths, and the reference lists them. */
#include "api/internal.h"

#include "base/mem.h"
#include "model/text/old_versions.h"

struct known_operation {
    enum http_method method; /* not set for a family */
    const char *path;        /* NULL: starts a family */
    const char *name, *reason;
};

#define FAMILY(name_, reason_)    { .name = (name_), .reason = (reason_) },
#define OPERATION(method_, path_) { .method = HTTP_##method_, .path = (path_) },
static const struct known_operation known[] = {
#include "api/openapi/known.def"
};
#undef FAMILY
#undef OPERATION

/* Returns true if a requested path matches a path of the table, in which {} matches any non-empty
 * segment. */
static bool known_path_takes(const char *path, struct str asked)
{
    struct str own = str_of(path);

    while (own.n && asked.n) {
        struct str mine = str_cut(&own, '/'), theirs = str_cut(&asked, '/');
        bool any = str_is(mine, "{}") && theirs.n;

        if (!any && !str_eq(mine, theirs))
            return false;
    }
    return own.n == asked.n;
}

/* Removes "/api/" and the version from a path. Returns false for other paths. */
static bool below_api(struct str *path)
{
    struct str rest = *path, first;

    if (!str_starts(rest, STR("/api/")))
        return false;
    rest = str_from(rest, 5);
    *path = rest;
    first = str_cut(&rest, '/');
    int version;

    if (version_read(first, &version))
        *path = rest;
    return true;
}

bool known_operation(enum http_method method, struct str path)
{
    if (method == HTTP_HEAD)
        method = HTTP_GET;
    if (path.n && path.p[path.n - 1] == '/')
        path.n--;
    if (!below_api(&path))
        return false;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (known[i].path && known[i].method == method && known_path_takes(known[i].path + 1, path))
            return true;
    return false;
}

/* Does the resolver of "{user.id}" accept "@me"? */
static bool takes_me(const struct domain *const *domains, struct str parameter)
{
    const struct resolver *r =
        router_resolver(domains, str_slice(parameter.p + 1, parameter.n - 2));

    return r && r->me;
}

/* Returns true if the route implements the operation, whatever the names of its parameters are. */
static bool route_serves(const struct domain *const *domains, const struct route *r,
                         const struct known_operation *k)
{
    struct str a = str_of(r->path), b = str_of(k->path);

    if (r->service || r->method != k->method)
        return false;
    while (a.n && b.n) {
        struct str mine = str_cut(&a, '/'), theirs = str_cut(&b, '/');
        /* The documented path may have a keyword for an id: @original for a message, @me for the
         * caller if the resolver accepts it. */
        bool both = str_starts(mine, STR("{")) &&
                    (str_starts(theirs, STR("{")) || str_is(theirs, "@original") ||
                     (str_is(theirs, "@me") && takes_me(domains, mine)));

        if (!both && !str_eq(mine, theirs))
            return false;
    }
    return a.n == b.n;
}

static bool is_served(const struct domain *const *domains, const struct known_operation *k)
{
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (route_serves(domains, r, k))
                return true;
    return false;
}

static void write_counts(const struct domain *const *domains, struct buf *out)
{
    size_t all = 0, left_out = 0, served = 0;
    bool reason = false;

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (!known[i].path) {
            reason = *known[i].reason;
            continue;
        }
        all++;
        if (is_served(domains, &known[i]))
            served++;
        else
            left_out += reason;
    }
    buf_printf(out,
               "Of the %zu operations of the published interface %zu are served: %zu of the %zu "
               "that are not left out for the reason below.",
               all, served, served, all - left_out);
}

void known_write(const struct domain *const *domains, struct buf *out)
{
    const struct known_operation *family = NULL, *written = NULL;

    buf_add_lit(out, "## What is not there\n\n");
    write_counts(domains, out);
    buf_add_lit(out, " The others are answered 404 with a message that says so: "
                     "`{\"message\": \"404: This server does not serve this operation\", "
                     "\"code\": 0}`.\n\n| Operation | Of | |\n|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (!known[i].path) {
            family = &known[i];
            continue;
        }
        if (is_served(domains, &known[i]))
            continue;
        buf_printf(out, "| %s `%s` | %s | %s |\n", http_method_name(known[i].method), known[i].path,
                   family == written ? "" : family->name, family == written ? "" : family->reason);
        written = family;
    }
    buf_add_char(out, '\n');
}
