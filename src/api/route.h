/* route.h - struct route, the declaration of an endpoint, and struct domain, a module of the API.
 *
 * A route declares authentication, permissions, path, body and rate limit: when its handler runs,
 * the caller is authenticated, the path resolved, permissions checked and the body valid. The
 * router, the OpenAPI document and the reference are built from the routes. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"
#include "json/schema.h"
#include "model/events/events.h"
#include "net/http/http_parser.h"

struct api;
struct call;
struct deletion_rule;
struct hook_listeners;
struct job_kind;
struct loop;
struct tx;

/* Short names for route tables. */
#define GET    HTTP_GET
#define POST   HTTP_POST
#define PUT    HTTP_PUT
#define PATCH  HTTP_PATCH
#define DELETE HTTP_DELETE

/* The callers that a route accepts; combine them: AUTH_USER | AUTH_BOT. */
enum route_auth_flags {
    AUTH_OPEN = 1,   /* everyone; a valid credential is recognised */
    AUTH_USER = 2,   /* token of a user account */
    AUTH_BOT = 4,    /* token of a bot */
    AUTH_BEARER = 8, /* OAuth2 access token with route->scope */
    AUTH_GOOD = 16,  /* with AUTH_OPEN: a credential is optional, but refused if invalid */
};

/* The transaction of the handler; by default GET reads and other methods write. APPEND: see
 * STORE_APPEND; prepare may set call->decides to use STORE_WRITE instead. */
enum route_transaction_kind {
    ROUTE_STORE_BY_METHOD,
    ROUTE_STORE_NONE,
    ROUTE_STORE_READ,
    ROUTE_STORE_WRITE,
    ROUTE_STORE_APPEND,
};

/* A rate limit. Routes with the same limit share one bucket. A route without a limit has its own
 * bucket with the default count for reads or for writes (router.c). */
struct rate_limit {
    const char *name;
    unsigned count;
    unsigned window_s;
    bool shared;     /* counted per resource, for all callers together */
    bool by_address; /* counted per client address, not per account */
    bool strict;     /* enforced across all nodes: see limits.h */
};

/* Body formats other than JSON. BODY_MULTIPART: the JSON is in the part payload_json; without it
 * each part without a filename is a field. BODY_FORM: urlencoded, with payload_json as well if
 * BODY_MULTIPART is set. BODY_PARTS: multipart, and each part without a filename is a field of the
 * body. */
enum route_body_flags { BODY_MULTIPART = 1, BODY_FORM = 2, BODY_PARTS = 4 };

struct route {
    enum http_method method;
    const char *path; /* "/users/{user.id}" below /api; {x} names a resolver */
    const char *name; /* name of the handler */
    const char *doc;
    unsigned auth;
    const char *scope; /* with AUTH_BEARER; NULL: any scope */
    uint64_t needs;    /* permissions required in the guild or channel of the path */
    const struct schema *query;
    const struct type *body;
    unsigned body_kinds; /* in addition to JSON */
    size_t max_body;     /* 0: 1 MiB */
    size_t max_upload;   /* multipart bodies; 0: max_body, or 16 MiB */
    const struct type *reply;
    int status;              /* on success; 0: 200 with a reply, 204 without */
    const enum event *fires; /* events that the route can emit; ends with EVENT_NONE */
    enum route_transaction_kind store;
    bool background; /* reads an unbounded number of rows: always in the background */
    bool measured; /* may read many rows: the read starts on the loop and restarts in the background
                      if slow */
    const struct rate_limit *limit;
    /* True: the route is allowed to members who are timed out or quarantined, or who have not
     * passed membership screening or the verification level, because no other user sees the change
     * or the call only removes something of theirs. Other writes are refused to them. */
    bool allowed_when_restricted;
    bool service; /* path is at the root, not below /api; no credentials; rate limit per address */
    bool no_global_limit; /* the call counts in the route's bucket only */
    /* Returns OK if a caller who is not a member of the path's guild may call the route. NULL: only
     * members may. call->query is NULL if the query was invalid. */
    enum err (*visitors)(struct call *call);
    /* Called on the loop before the body is decoded, on routes that mostly receive a body that they
     * have received before. For such a body it sets call->read, which writes the response in a read
     * transaction after the path, `needs` and `admit` were checked. If the rows have changed,
     * call->read returns call_restart_at_read, and the body is decoded. */
    enum err (*before_decode)(struct call *call);
    /* Called on the loop before any transaction: checks the body; may request stages by setting
     * call->read, call->await, call->hash or call->compute. */
    enum err (*prepare)(struct call *call);
    /* Called in the transaction after the resolvers and `needs`, before errors of the body are
     * reported: permission checks that `needs` cannot express. On service routes, whose path may
     * contain the credential, it also runs before a long body is read; it may set call->files_of,
     * whose quota counts. */
    enum err (*admit)(struct call *call);
    enum err (*handle)(struct call *call);
};

/* Implements a parameter {name} of paths: parses the text and reads the object. */
struct path_resolver {
    const char *name;  /* "user.id" */
    const char *field; /* in error responses: "user_id" */
    bool is_text;      /* any text instead of a snowflake */
    /* The parameter matches only text with this prefix. A route with such a parameter may have the
     * same form as a route with other parameters, and is tried first. */
    const char *prefix;
    bool me;    /* "@me" means the caller */
    bool major; /* major parameter: separate rate-limit buckets per value */
    const char *doc;
    /* Called in the transaction: reads the object and checks that the caller may see it. NULL: the
     * handler only needs the id. */
    enum err (*resolve)(struct call *call);
};

/* A module of the API: its routes, resolvers, jobs, hooks and deletion rules. */
struct domain {
    const char *name;
    const char *doc;
    const struct route *routes;            /* end with .path == NULL */
    const struct path_resolver *resolvers; /* end with .name == NULL; may be NULL */
    /* Checks that the caller has these permissions in the guild or channel of the path, and may
     * write there (route_is_visible_write). At most one domain implements it. */
    enum err (*check_permissions)(struct call *call, uint64_t needs);
    /* Reads the members of a private channel (snowflakes), who receive its events. At most one
     * domain implements it. */
    enum err (*read_private_members)(struct tx *tx, snowflake channel_id, struct list *ret);
    const struct job_kind *const *jobs; /* end with NULL; may be NULL */
    const struct hook_listeners *hooks; /* api/hooks.h; may be NULL */
    /* Rules for the domain's rows that are deleted together with an object (api/deletion.h); may be
     * NULL. */
    const struct deletion_rule *deletions;
    /* Called on every node, on a loop, at the start and once a day, for files in that node's data
     * folder, which a job on another node cannot access. May be NULL. */
    void (*daily)(struct api *api, struct loop *loop);
    const struct world_file_fields *world; /* its sections of world files; may be NULL */
};

int route_success_status(const struct route *r);
enum route_transaction_kind route_store_mode(const struct route *r);
/* Returns true if other members can see what the route does in the path's guild: writes without
 * .allowed_when_restricted. */
bool route_is_visible_write(const struct route *r);

#endif
