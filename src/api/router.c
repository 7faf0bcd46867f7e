/* router.c - finds the route of a method and path.
 *
 * The paths of all routes form a tree of segments. Literals are tried before parameters, with
 * backtracking, so the order of the routes does not matter. Parameters with a prefix are tried
 * before other parameters at the same segment. */
#include "api/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/text/old_versions.h"

enum { MAX_SEGMENTS = 16 };

/* Default limits: calls per ten seconds. A page with many images sends hundreds at once. */
enum { READS = 50, WRITES = 20, SERVICE_CALLS = 5000 };

struct node {
    struct str literal;
    const struct resolver *resolver; /* set if the segment is a parameter */
    bool choosy;                     /* a parameter of the route has a prefix */
    struct node *children;           /* literals */
    struct node *parameters;         /* parameters of routes with has_prefix come first */
    struct node *next;
    const struct route *routes[HTTP_METHODS];
    uint16_t groups[HTTP_METHODS];     /* index of the route's domain */
    struct limit limits[HTTP_METHODS]; /* default limits */
};

struct router {
    struct node api;     /* below /api or /api/v<n> */
    struct node service; /* at the root */
};

struct path {
    struct str segments[MAX_SEGMENTS];
    size_t count;
};

static _Noreturn void router_contradiction(const struct route *r, const char *what)
{
    fprintf(stderr, "guildhall: route %s %s: %s\n", http_method_name(r->method), r->path, what);
    abort();
}

const struct resolver *router_resolver(const struct domain *const *domains, struct str name)
{
    for (; *domains; domains++)
        for (const struct resolver *r = (*domains)->resolvers; r && r->name; r++)
            if (str_is(name, r->name))
                return r;
    return NULL;
}

/* Splits a path into segments. Returns false if the leading '/' is missing, or if a segment is
 * empty or one too many. One trailing '/' is ignored. */
static bool router_split(struct str path, struct path *ret)
{
    ret->count = 0;
    if (path.n == 0 || path.p[0] != '/')
        return false;
    path = str_from(path, 1);
    while (path.n) {
        struct str segment = str_cut(&path, '/');

        if (segment.n == 0 || ret->count == MAX_SEGMENTS)
            return false;
        ret->segments[ret->count++] = segment;
    }
    return true;
}

static struct node *literal_child(const struct node *n, struct str literal)
{
    for (struct node *c = n->children; c; c = c->next)
        if (str_eq(c->literal, literal))
            return c;
    return NULL;
}

static struct node *add_parameter(struct node *n, const struct resolver *resolver, bool choosy)
{
    struct node *p = mem_new(sizeof *p), **at = &n->parameters;

    p->resolver = resolver;
    p->choosy = choosy;
    while (!choosy && *at)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
    return p;
}

static struct node *grow_parameter(struct node *n, const struct resolver *resolver,
                                   const struct route *route, bool choosy)
{
    for (struct node *p = n->parameters; p; p = p->next) {
        if (p->resolver == resolver)
            return p;
        if (!choosy && !p->choosy)
            router_contradiction(route,
                                 "another route has a different parameter at the same segment");
    }
    return add_parameter(n, resolver, choosy);
}

static struct node *router_grow(struct node *n, struct str segment, const struct route *route,
                                const struct domain *const *domains, bool choosy)
{
    if (segment.p[0] != '{') {
        struct node *c = literal_child(n, segment);

        if (!c) {
            c = mem_new(sizeof *c);
            c->literal = segment;
            c->next = n->children;
            n->children = c;
        }
        return c;
    }

    const struct resolver *r = router_resolver(domains, str_slice(segment.p + 1, segment.n - 2));
    if (!r)
        router_contradiction(route, "a parameter of the path has no resolver");
    return grow_parameter(n, r, route, choosy);
}

/* Returns true if a parameter of the path has a prefix. */
static bool is_choosy(const struct path *path, const struct domain *const *domains)
{
    for (size_t i = 0; i < path->count; i++) {
        struct str s = path->segments[i];
        const struct resolver *r =
            s.p[0] == '{' ? router_resolver(domains, str_slice(s.p + 1, s.n - 2)) : NULL;

        if (r && r->prefix)
            return true;
    }
    return false;
}

static void add_route(struct router *router, const struct route *r, uint16_t group,
                      const struct domain *const *domains)
{
    struct node *n = r->service ? &router->service : &router->api;
    struct path path;

    if (!router_split(str_of(r->path), &path))
        router_contradiction(r, "the path is malformed");
    bool choosy = is_choosy(&path, domains);
    for (size_t i = 0; i < path.count; i++)
        n = router_grow(n, path.segments[i], r, domains, choosy);
    if (n->routes[r->method])
        router_contradiction(r, "the route is declared twice");
    if (!r->handle || !r->name || !r->doc || !(r->auth || r->service))
        router_contradiction(r, "needs a handler, a name, a doc and an auth");
    n->routes[r->method] = r;
    n->groups[r->method] = group;
    n->limits[r->method] = (struct limit){
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
            add_route(router, r, (uint16_t)(d - domains), domains);
    return router;
}

static void free_list(struct node *list);

static void free_below(struct node *n)
{
    free_list(n->children);
    free_list(n->parameters);
}

static void free_list(struct node *list)
{
    for (struct node *c = list, *next; c; c = next) {
        next = c->next;
        free_below(c);
        mem_free(c);
    }
}

void router_free(struct router *r)
{
    if (!r)
        return;
    free_below(&r->api);
    free_below(&r->service);
    mem_free(r);
}

static unsigned methods_of(const struct node *n)
{
    unsigned set = 0;

    for (int m = 0; m < HTTP_METHODS; m++)
        if (n->routes[m])
            set |= 1u << m;
    return set;
}

static bool router_takes(const struct resolver *r, struct str text)
{
    return !r->prefix || str_starts(text, str_of(r->prefix));
}

/* Finds the node for the segments from `at` on that has a route for the method; literals are tried
 * before parameters. Stores parameters in ret, which may contain values of a branch that failed;
 * ret->allowed collects the methods of all matching nodes. */
static const struct node *router_descend(const struct node *n, const struct path *path, size_t at,
                                         enum http_method method, size_t params, struct match *ret)
{
    if (at == path->count) {
        ret->count = params;
        ret->allowed |= methods_of(n);
        return method < HTTP_METHODS && n->routes[method] ? n : NULL;
    }

    const struct node *c = literal_child(n, path->segments[at]), *end = NULL;
    if (c)
        end = router_descend(c, path, at + 1, method, params, ret);
    for (c = n->parameters; c && !end && params < CALL_MAX_PARAMS; c = c->next) {
        if (!router_takes(c->resolver, path->segments[at]))
            continue;
        ret->resolvers[params] = c->resolver;
        ret->params[params] = path->segments[at];
        end = router_descend(c, path, at + 1, method, params + 1, ret);
    }
    return end;
}

/* Removes "/api" and the version, and finds the route. Sets error for unsupported versions. A path
 * outside /api is matched against the service routes. */
static const struct node *router_find(const struct router *r, const struct path *path,
                                      enum http_method method, struct match *ret)
{
    const struct node *root = &r->service;
    size_t at = 0;

    if (path->count && str_is(path->segments[0], "api")) {
        struct str v = path->count > 1 ? path->segments[1] : STR("");
        uint64_t number;

        root = &r->api;
        at = 1;
        if (v.n > 1 && v.p[0] == 'v' && str_to_u64(str_from(v, 1), &number)) {
            at = 2;
            if (!version_read(v, &ret->version))
                ret->error = ERR_INVALID_API_VERSION;
        }
    }
    return router_descend(root, path, at, method == HTTP_HEAD ? HTTP_GET : method, 0, ret);
}

/* Some clients send their own id where the path has "@me". If a path below /users/{id} matches no
 * route, it is tried with "@me"; checks.c then compares the id with the caller's. */
static const struct node *router_find_own(const struct router *r, struct path *path,
                                          enum http_method method, struct match *ret)
{
    const struct node *n = router_find(r, path, method, ret);

    ret->as_me = 0;
    for (size_t i = 1; !ret->allowed && !ret->error && i + 2 < path->count && i < 3; i++)
        if (str_is(path->segments[i], "users") &&
            snowflake_parse(path->segments[i + 1], &ret->as_me)) {
            path->segments[i + 1] = STR("@me");
            return router_find(r, path, method, ret);
        }
    return n;
}

static bool router_decode(struct arena *arena, struct path *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (!str_unescape(arena, path->segments[i], false, &path->segments[i]))
            return false;
    return true;
}

/* Adds HEAD and OPTIONS, which are always allowed. */
static unsigned with_implied(unsigned methods)
{
    if (methods & 1u << HTTP_GET)
        methods |= 1u << HTTP_HEAD;
    return methods | 1u << HTTP_OPTIONS;
}

void router_match(const struct router *r, struct arena *arena, enum http_method method,
                  struct str target, struct match *ret)
{
    const struct node *n = NULL;
    struct path path;

    ret->route = NULL;
    ret->version = VERSION_NEWEST;
    ret->allowed = 0;
    ret->error = OK;
    if (router_split(target, &path) && router_decode(arena, &path))
        n = router_find_own(r, &path, method, ret);
    if (!ret->allowed) {
        ret->error = ERR_NOT_FOUND;
        return;
    }
    ret->allowed = with_implied(ret->allowed);
    if (n) {
        enum http_method row = method == HTTP_HEAD ? HTTP_GET : method;

        ret->route = n->routes[row];
        ret->group = n->groups[row];
        ret->limit = ret->route->limit ? ret->route->limit : &n->limits[row];
    } else if (method != HTTP_OPTIONS) {
        ret->error = ERR_METHOD_NOT_ALLOWED;
    }
}

const struct route *router_peek(const struct router *r, enum http_method method, struct str target)
{
    /* Only the unescaping of a path needs memory. */
    struct arena *arena = target.n && memchr(target.p, '%', target.n) ? arena_new() : NULL;
    struct match m = { .error = OK };
    struct path path;
    bool ok = router_split(target, &path) && (!arena || router_decode(arena, &path));
    const struct node *n = ok ? router_find_own(r, &path, method, &m) : NULL;

    arena_free(arena);
    return n ? n->routes[method == HTTP_HEAD ? HTTP_GET : method] : NULL;
}

int route_status(const struct route *r)
{
    return r->status ? r->status : r->reply ? 200 : 204;
}

bool route_speaks(const struct route *r)
{
    return r->method != GET && !r->quiet;
}

enum route_store route_store(const struct route *r)
{
    if (r->store != ROUTE_STORE_BY_METHOD)
        return r->store;
    return r->method == HTTP_GET ? ROUTE_STORE_READ : ROUTE_STORE_WRITE;
}
