/* router.c - finds the route for the method and path of a request.
 *
 * The paths of all routes form a tree of segments. Literal segments are tried before parameters,
 * with backtracking, so the order of the routes does not matter. Parameters with a prefix are tried
 * before other parameters. */
#include "api/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/text/old_api_encoding.h"

enum { MAX_SEGMENTS = 16 };

/* Default rate limits, in calls per ten seconds. SERVICE_CALLS is high, because a page with many
 * images sends hundreds of requests at once. */
enum { READS = 50, WRITES = 20, SERVICE_CALLS = 5000 };

struct node_route {
    const struct route *row;
    uint16_t group;          /* index of the route's domain (feature folder) */
    struct rate_limit limit; /* default limit, for routes that declare no limit */
};

struct route_node {
    struct str literal;
    const struct path_resolver *resolver; /* the resolver if the segment is a parameter, otherwise
                                           * NULL */
    bool has_prefix;                      /* whether a child node is a parameter with a prefix */
    struct route_node *children;          /* child nodes of literal segments */
    struct route_node *parameters; /* child nodes that are parameters; parameters with a prefix come
                                    * first */
    struct route_node *next;
    struct node_route *routes[HTTP_METHODS]; /* NULL if the path has no route for the method */
};

struct router {
    struct route_node api;     /* routes below /api or /api/v<n> */
    struct route_node service; /* service routes, at the root */
};

struct path_segments {
    struct str segments[MAX_SEGMENTS];
    size_t count;
};

static _Noreturn void abort_on_bad_route(const struct route *r, const char *what)
{
    fprintf(stderr, "guildhall: route %s %s: %s\n", http_method_name(r->method), r->path, what);
    abort();
}

const struct path_resolver *router_find_path_resolver(const struct domain *const *domains,
                                                      struct str name)
{
    for (; *domains; domains++)
        for (const struct path_resolver *r = (*domains)->resolvers; r && r->name; r++)
            if (str_is(name, r->name))
                return r;
    return NULL;
}

/* Splits a path into segments. Returns false if the leading '/' is missing, a segment is empty or
 * there are too many. One trailing '/' is ignored. */
static bool split_path_into_segments(struct str path, struct path_segments *ret)
{
    ret->count = 0;
    if (path.n == 0 || path.p[0] != '/')
        return false;
    path = str_skip_bytes(path, 1);
    while (path.n) {
        struct str segment = str_cut(&path, '/');

        if (segment.n == 0 || ret->count == MAX_SEGMENTS)
            return false;
        ret->segments[ret->count++] = segment;
    }
    return true;
}

static struct route_node *find_literal_child_node(const struct route_node *n, struct str literal)
{
    for (struct route_node *c = n->children; c; c = c->next)
        if (str_eq(c->literal, literal))
            return c;
    return NULL;
}

static struct route_node *insert_parameter_node(struct route_node *n,
                                                const struct path_resolver *resolver,
                                                bool has_prefix)
{
    struct route_node *p = mem_new(sizeof *p), **at = &n->parameters;

    p->resolver = resolver;
    p->has_prefix = has_prefix;
    while (!has_prefix && *at)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
    return p;
}

static struct route_node *find_or_add_parameter(struct route_node *n,
                                                const struct path_resolver *resolver,
                                                const struct route *route, bool has_prefix)
{
    for (struct route_node *p = n->parameters; p; p = p->next) {
        if (p->resolver == resolver)
            return p;
        if (!has_prefix && !p->has_prefix)
            abort_on_bad_route(route,
                               "another route has a different parameter at the same segment");
    }
    return insert_parameter_node(n, resolver, has_prefix);
}

static struct route_node *find_or_add_segment_node(struct route_node *n, struct str segment,
                                                   const struct route *route,
                                                   const struct domain *const *domains,
                                                   bool has_prefix)
{
    if (segment.p[0] != '{') {
        struct route_node *c = find_literal_child_node(n, segment);

        if (!c) {
            c = mem_new(sizeof *c);
            c->literal = segment;
            c->next = n->children;
            n->children = c;
        }
        return c;
    }

    const struct path_resolver *r =
        router_find_path_resolver(domains, str_slice(segment.p + 1, segment.n - 2));
    if (!r)
        abort_on_bad_route(route, "a parameter of the path has no resolver");
    return find_or_add_parameter(n, r, route, has_prefix);
}

static bool has_prefixed_parameter(const struct path_segments *path,
                                   const struct domain *const *domains)
{
    for (size_t i = 0; i < path->count; i++) {
        struct str s = path->segments[i];
        const struct path_resolver *r =
            s.p[0] == '{' ? router_find_path_resolver(domains, str_slice(s.p + 1, s.n - 2)) : NULL;

        if (r && r->prefix)
            return true;
    }
    return false;
}

static void router_add_route(struct router *router, const struct route *r, uint16_t group,
                             const struct domain *const *domains)
{
    struct route_node *n = r->service ? &router->service : &router->api;
    struct path_segments path;

    if (!split_path_into_segments(str_of(r->path), &path))
        abort_on_bad_route(r, "the path is malformed");
    bool has_prefix = has_prefixed_parameter(&path, domains);
    for (size_t i = 0; i < path.count; i++)
        n = find_or_add_segment_node(n, path.segments[i], r, domains, has_prefix);
    if (n->routes[r->method])
        abort_on_bad_route(r, "the route is declared twice");
    if (!r->handle || !r->name || !r->doc || !(r->auth || r->service))
        abort_on_bad_route(r, "needs a handler, a name, a doc and an auth");
    struct node_route *route = n->routes[r->method] = mem_new(sizeof *route);
    route->row = r;
    route->group = group;
    route->limit = (struct rate_limit){
        .name = r->name,
        .count = r->service              ? SERVICE_CALLS
                 : r->method == HTTP_GET ? READS
                                         : WRITES,
        .window_s = 10,
        .by_address = r->service,
    };
}

struct router *router_new(const struct domain *const *domains)
{
    struct router *router = mem_new(sizeof *router);

    for (const struct domain *const *d = domains; *d; d++)
        for (const struct route *r = (*d)->routes; r && r->path; r++)
            router_add_route(router, r, (uint16_t)(d - domains), domains);
    return router;
}

static void free_route_node_list(struct route_node *list);

static void free_child_route_nodes(struct route_node *n)
{
    free_route_node_list(n->children);
    free_route_node_list(n->parameters);
    for (int m = 0; m < HTTP_METHODS; m++)
        mem_free(n->routes[m]);
}

static void free_route_node_list(struct route_node *list)
{
    for (struct route_node *c = list, *next; c; c = next) {
        next = c->next;
        free_child_route_nodes(c);
        mem_free(c);
    }
}

void router_free(struct router *r)
{
    if (!r)
        return;
    free_child_route_nodes(&r->api);
    free_child_route_nodes(&r->service);
    mem_free(r);
}

static unsigned collect_node_methods(const struct route_node *n)
{
    unsigned set = 0;

    for (int m = 0; m < HTTP_METHODS; m++)
        if (n->routes[m])
            set |= 1u << m;
    return set;
}

static bool text_has_resolver_prefix(const struct path_resolver *r, struct str text)
{
    return !r->prefix || str_starts_with(text, str_of(r->prefix));
}

/* Finds the node that matches the segments from `at` on and has a route for the method; literals
 * are tried before parameters. Stores the path parameters in *ret; values of a branch that did not
 * match may remain there. ret->allowed collects the methods of all matching nodes. */
static const struct route_node *find_matching_node_below(const struct route_node *n,
                                                         const struct path_segments *path,
                                                         size_t at, enum http_method method,
                                                         size_t params, struct route_match *ret)
{
    if (at == path->count) {
        ret->count = params;
        ret->allowed |= collect_node_methods(n);
        return method < HTTP_METHODS && n->routes[method] ? n : NULL;
    }

    const struct route_node *c = find_literal_child_node(n, path->segments[at]), *end = NULL;
    if (c)
        end = find_matching_node_below(c, path, at + 1, method, params, ret);
    for (c = n->parameters; c && !end && params < CALL_MAX_PARAMS; c = c->next) {
        if (!text_has_resolver_prefix(c->resolver, path->segments[at]))
            continue;
        ret->resolvers[params] = c->resolver;
        ret->params[params] = path->segments[at];
        end = find_matching_node_below(c, path, at + 1, method, params + 1, ret);
    }
    return end;
}

/* Removes "/api" and the version from the path, and finds the route. Sets ret->error for
 * unsupported versions. A path outside /api is matched against the service routes. */
static const struct route_node *find_route_node(const struct router *r,
                                                const struct path_segments *path,
                                                enum http_method method, struct route_match *ret)
{
    const struct route_node *root = &r->service;
    size_t at = 0;

    if (path->count && str_is(path->segments[0], "api")) {
        struct str v = path->count > 1 ? path->segments[1] : STR("");
        uint64_t number;

        root = &r->api;
        at = 1;
        if (v.n > 1 && v.p[0] == 'v' && str_to_u64(str_skip_bytes(v, 1), &number)) {
            at = 2;
            if (!parse_api_version(v, &ret->version))
                ret->error = ERR_INVALID_API_VERSION;
        }
    }
    return find_matching_node_below(root, path, at, method == HTTP_HEAD ? HTTP_GET : method, 0,
                                    ret);
}

/* Some clients send their own id in place of "@me". If a path below /users/{id} matches no route,
 * "@me" is tried instead of the id; checks.c then compares the id with the caller's. */
static const struct route_node *find_route_node_with_me_fallback(const struct router *r,
                                                                 struct path_segments *path,
                                                                 enum http_method method,
                                                                 struct route_match *ret)
{
    const struct route_node *n = find_route_node(r, path, method, ret);

    ret->as_me = 0;
    for (size_t i = 1; !ret->allowed && !ret->error && i + 2 < path->count && i < 3; i++)
        if (str_is(path->segments[i], "users") &&
            snowflake_parse(path->segments[i + 1], &ret->as_me)) {
            path->segments[i + 1] = STR("@me");
            return find_route_node(r, path, method, ret);
        }
    return n;
}

static bool unescape_segments(struct arena *arena, struct path_segments *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (!str_percent_decode(arena, path->segments[i], false, &path->segments[i]))
            return false;
    return true;
}

/* Adds HEAD and OPTIONS to the methods, because these are always allowed. */
static unsigned add_head_and_options_methods(unsigned methods)
{
    if (methods & 1u << HTTP_GET)
        methods |= 1u << HTTP_HEAD;
    return methods | 1u << HTTP_OPTIONS;
}

void router_match_request(const struct router *r, struct arena *arena, enum http_method method,
                          struct str target, struct route_match *ret)
{
    const struct route_node *n = NULL;
    struct path_segments path;

    ret->route = NULL;
    ret->version = VERSION_NEWEST;
    ret->allowed = 0;
    ret->error = OK;
    if (split_path_into_segments(target, &path) && unescape_segments(arena, &path))
        n = find_route_node_with_me_fallback(r, &path, method, ret);
    if (!ret->allowed) {
        ret->error = ERR_NOT_FOUND;
        return;
    }
    ret->allowed = add_head_and_options_methods(ret->allowed);
    if (n) {
        const struct node_route *route = n->routes[method == HTTP_HEAD ? HTTP_GET : method];

        ret->route = route->row;
        ret->group = route->group;
        ret->limit = route->row->limit ? route->row->limit : &route->limit;
    } else if (method != HTTP_OPTIONS) {
        ret->error = ERR_METHOD_NOT_ALLOWED;
    }
}

const struct route *router_find_route(const struct router *r, enum http_method method,
                                      struct str target)
{
    /* An arena is needed only to decode a path that has percent-encoded characters. */
    struct arena *arena = target.n && memchr(target.p, '%', target.n) ? arena_new() : NULL;
    struct route_match m = { .error = OK };
    struct path_segments path;
    bool ok =
        split_path_into_segments(target, &path) && (!arena || unescape_segments(arena, &path));
    const struct route_node *n = ok ? find_route_node_with_me_fallback(r, &path, method, &m) : NULL;

    arena_free(arena);
    return n ? n->routes[method == HTTP_HEAD ? HTTP_GET : method]->row : NULL;
}

int route_get_success_status(const struct route *r)
{
    return r->status ? r->status : r->reply ? 200 : 204;
}

bool route_changes_are_visible_in_guild(const struct route *r)
{
    return r->method != GET && !r->allowed_when_restricted;
}

enum route_transaction_kind route_get_transaction_kind_of_handler(const struct route *r)
{
    if (r->store != ROUTE_STORE_BY_METHOD)
        return r->store;
    return r->method == HTTP_GET ? ROUTE_STORE_READ : ROUTE_STORE_WRITE;
}
