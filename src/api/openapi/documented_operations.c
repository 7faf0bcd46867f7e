/* documented_operations.c - operations that Discord documents but this server does not implement.
 *
 * The table (documented_operations.def) lists all documented operations. Requests for operations
 * without a route get a different 404 than unknown paths, and the reference lists them. */
#include "api/internal.h"

#include "base/mem.h"
#include "model/text/old_api_encoding.h"

struct documented_operation {
    /* Method of the operation; not set in a row that starts a group of operations. */
    enum http_method method;
    const char *path; /* path of the operation; NULL in a row that starts a group (FAMILY) */
    const char *name, *reason;
};

#define FAMILY(name_, reason_)    { .name = (name_), .reason = (reason_) },
#define OPERATION(method_, path_) { .method = HTTP_##method_, .path = (path_) },
static const struct documented_operation documented_operations[] = {
#include "api/openapi/documented_operations.def"
};
#undef FAMILY
#undef OPERATION

/* Returns true if a requested path matches a path of the table. In paths of the table, {} matches
 * any non-empty segment. */
static bool documented_path_matches_request(const char *path, struct str requested)
{
    struct str own = str_of(path);

    while (own.n && requested.n) {
        struct str first_segment = str_cut(&own, '/'), second_segment = str_cut(&requested, '/');
        bool any = str_is(first_segment, "{}") && second_segment.n;

        if (!any && !str_eq(first_segment, second_segment))
            return false;
    }
    return own.n == requested.n;
}

/* Removes "/api/" and the version from a path. Returns false for other paths. */
static bool strip_api_prefix(struct str *path)
{
    struct str rest = *path, first;

    if (!str_starts_with(rest, STR("/api/")))
        return false;
    rest = str_skip_bytes(rest, 5);
    *path = rest;
    first = str_cut(&rest, '/');
    int version;

    if (parse_api_version(first, &version))
        *path = rest;
    return true;
}

bool is_operation_documented_by_discord(enum http_method method, struct str path)
{
    if (method == HTTP_HEAD)
        method = HTTP_GET;
    if (path.n && path.p[path.n - 1] == '/')
        path.n--;
    if (!strip_api_prefix(&path))
        return false;
    for (size_t i = 0; i < COUNT_OF(documented_operations); i++)
        if (documented_operations[i].path && documented_operations[i].method == method &&
            documented_path_matches_request(documented_operations[i].path + 1, path))
            return true;
    return false;
}

/* Returns true if the resolver of a parameter such as "{user.id}" accepts "@me". */
static bool resolver_accepts_me(const struct domain *const *domains, struct str parameter)
{
    const struct path_resolver *r =
        router_find_path_resolver(domains, str_slice(parameter.p + 1, parameter.n - 2));

    return r && r->me;
}

/* Returns true if the route implements the operation. Parameters may have different names. */
static bool route_implements_operation(const struct domain *const *domains, const struct route *r,
                                       const struct documented_operation *k)
{
    struct str a = str_of(r->path), b = str_of(k->path);

    if (r->service || r->method != k->method)
        return false;
    while (a.n && b.n) {
        struct str first_segment = str_cut(&a, '/'), second_segment = str_cut(&b, '/');
        /* Where a route has a parameter, the documented path may have a keyword: @original for a
         * message, or @me for the caller if the resolver accepts it. */
        bool both =
            str_starts_with(first_segment, STR("{")) &&
            (str_starts_with(second_segment, STR("{")) || str_is(second_segment, "@original") ||
             (str_is(second_segment, "@me") && resolver_accepts_me(domains, first_segment)));

        if (!both && !str_eq(first_segment, second_segment))
            return false;
    }
    return a.n == b.n;
}

static bool is_operation_implemented(const struct domain *const *domains,
                                     const struct documented_operation *k)
{
    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            if (route_implements_operation(domains, r, k))
                return true;
    return false;
}

static void write_operation_counts(const struct domain *const *domains, struct buf *out)
{
    size_t all = 0, left_out = 0, implemented = 0;
    bool reason = false;

    for (size_t i = 0; i < COUNT_OF(documented_operations); i++) {
        if (!documented_operations[i].path) {
            reason = *documented_operations[i].reason;
            continue;
        }
        all++;
        if (is_operation_implemented(domains, &documented_operations[i]))
            implemented++;
        else
            left_out += reason;
    }
    buf_printf(out,
               "Of the %zu operations of the published interface %zu are served: %zu of the %zu "
               "that are not left out for the reason below.",
               all, implemented, implemented, all - left_out);
}

void write_unimplemented_discord_operations(const struct domain *const *domains, struct buf *out)
{
    const struct documented_operation *family = NULL, *written = NULL;

    buf_add_lit(out, "## What is not there\n\n");
    write_operation_counts(domains, out);
    buf_add_lit(out, " The others are answered 404 with a message that says so: "
                     "`{\"message\": \"404: This server does not serve this operation\", "
                     "\"code\": 0}`.\n\n| Operation | Of | |\n|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(documented_operations); i++) {
        if (!documented_operations[i].path) {
            family = &documented_operations[i];
            continue;
        }
        if (is_operation_implemented(domains, &documented_operations[i]))
            continue;
        buf_printf(out, "| %s `%s` | %s | %s |\n",
                   http_method_name(documented_operations[i].method), documented_operations[i].path,
                   family == written ? "" : family->name, family == written ? "" : family->reason);
        written = family;
    }
    buf_add_char(out, '\n');
}
