/* route.h - struct route, the declaration of an endpoint, and struct domain, the declaration of a
 * feature folder.
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

/* Short names of HTTP methods, for route tables. */
#define GET    HTTP_GET
#define POST   HTTP_POST
#define PUT    HTTP_PUT
#define PATCH  HTTP_PATCH
#define DELETE HTTP_DELETE

/* The callers that a route accepts; combine them: AUTH_USER | AUTH_BOT. */
enum route_auth_flags {
    AUTH_OPEN = 1,   /* the route accepts everyone; a valid credential identifies the caller */
    AUTH_USER = 2,   /* accepts tokens of user accounts */
    AUTH_BOT = 4,    /* accepts tokens of bots */
    AUTH_BEARER = 8, /* accepts OAuth2 access tokens with route->scope */
    AUTH_GOOD = 16,  /* with AUTH_OPEN: the credential is optional, but if one is sent, it must be
                      * valid */
};

/* The transaction of the handler. By default GET reads and other methods write. For APPEND see
 * STORE_APPEND; on APPEND routes, prepare may set call->decides to run the handler as
 * STORE_WRITE. */
enum route_transaction_kind {
    ROUTE_STORE_BY_METHOD,
    ROUTE_STORE_NONE,
    ROUTE_STORE_READ,
    ROUTE_STORE_WRITE,
    ROUTE_STORE_APPEND,
};

/* A rate limit. Routes that refer to the same struct share one bucket. A route without a limit has
 * its own bucket with the default number of calls for reads or writes (router.c). */
struct rate_limit {
    const char *name;
    unsigned count;
    unsigned window_s;
    bool shared;     /* whether calls are counted per resource, for all callers together */
    bool by_address; /* whether calls are counted per client address and not per account */
    bool strict;     /* enforced across all nodes (see limits.h) */
};

/* Body formats that a route accepts in addition to JSON. BODY_MULTIPART: multipart; the JSON is in
 * the part payload_json. If that part is missing, each part without a filename is a field.
 * BODY_FORM: urlencoded; if BODY_MULTIPART is also set, payload_json is accepted, too. BODY_PARTS:
 * multipart; each part without a filename is a field of the body. */
enum route_body_flags { BODY_MULTIPART = 1, BODY_FORM = 2, BODY_PARTS = 4 };

struct route {
    enum http_method method;
    const char *path; /* path below /api, such as "/users/{user.id}"; the braces contain the name of
                       * a path_resolver */
    const char *name; /* name of the handler, for documentation */
    const char *doc;
    unsigned auth;
    const char *scope; /* OAuth2 scope that a route with AUTH_BEARER requires; NULL means any
                        * scope */
    uint64_t needs;    /* permissions required in the guild or channel of the path */
    const struct schema *query;
    const struct type *body;
    unsigned body_kinds; /* formats in addition to JSON */
    size_t max_body;     /* maximum length of the body in bytes; 0 means 1 MiB */
    size_t max_upload;   /* maximum length of a multipart body in bytes; 0 means max_body, or 16 MiB
                          * if that is 0, too */
    const struct type *reply;
    int status; /* status on success; 0 means 200 if the route has a reply, otherwise 204 */
    const enum event *fires; /* events that the route can emit; ends with EVENT_NONE */
    enum route_transaction_kind store;
    bool background; /* whether the route's reads run in the background, because they have an
                      * unbounded number of rows */
    bool measured; /* whether the route's reads start on the loop, and restart in the background if
                    * they are slow */
    const struct rate_limit *limit;
    /* If true, the route is allowed to members who are timed out or quarantined, or who have not
     * passed membership screening or the verification level: no other user sees the change, or the
     * call only removes something of theirs. Other writes are refused to these members. */
    bool allowed_when_restricted;
    bool service; /* whether the path is at the root and not below /api; then no credential is
                   * needed, and the rate limit is per address */
    bool no_global_limit; /* whether the call counts only against the route's limit and not against
                           * the global limit */
    /* Decides whether a caller who is not a member of the path's guild may call the route: returns
     * OK or an error. If NULL, only members may call the route. call->query is NULL if the query
     * was invalid. */
    enum err (*visitors)(struct call *call);
    /* Called on the loop before the body is decoded, on routes that often receive the same body
     * again. If it recognises such a body, the function sets call->read, which writes the response
     * in a read transaction after the path, `needs` and `admit` were checked. If the rows have
     * changed, call->read returns call_restart_at_read_stage, and the body is decoded. */
    enum err (*before_decode)(struct call *call);
    /* If set, the handler may run on a standby of PostgreSQL, whose data may be a moment old; a
     * handler that fails there runs again on the primary. The handler's checks of permissions then
     * run twice: first on the primary, where the path, `needs` and `admit` are checked and this
     * function is called, so that a revoked permission ends at once. The function must make, or
     * pass to the handler, every other decision about what the caller may see. It may run several
     * times. It is not called if the handler runs on the primary. */
    enum err (*before_standby)(struct call *call);
    /* Called on the loop before any transaction. Checks the body. May request further stages by
     * setting call->read, call->await, call->hash or call->compute. */
    enum err (*prepare)(struct call *call);
    /* Called in the transaction after the resolvers and the check of `needs`, before errors of the
     * body are reported. Makes permission checks that `needs` cannot express. On service routes,
     * whose path may contain the credential, also runs before a long body is read. May set
     * call->files_of. */
    enum err (*admit)(struct call *call);
    enum err (*handle)(struct call *call);
};

/* Handles a path parameter {name}: parses the text and reads the object. */
struct path_resolver {
    const char *name;  /* "user.id" */
    const char *field; /* name of the parameter in error responses, such as "user_id" */
    bool is_text;      /* whether any text is valid, and not only a snowflake */
    /* If set, the parameter matches only text with this prefix. Then another route may have the
     * same path except for this parameter; the route with the prefix is tried first. */
    const char *prefix;
    bool me;    /* whether "@me" means the caller */
    bool major; /* whether each value has its own rate-limit bucket (major parameter) */
    const char *doc;
    /* Called in the transaction. Reads the object and checks that the caller may see it. NULL if
     * nothing must be read, because the handler only needs the id. */
    enum err (*resolve)(struct call *call);
};

/* The declaration of a feature folder: its routes, resolvers, jobs, hooks and deletion rules. */
struct domain {
    const char *name;
    const char *doc;
    const struct route *routes;            /* the last entry has .path NULL */
    const struct path_resolver *resolvers; /* array that ends with a resolver whose .name is NULL;
                                            * may be NULL */
    /* Checks that the caller has these permissions in the guild or channel of the path, and, if the
     * route is a write that others can see (route_changes_are_visible_in_guild), may write there.
     * At most one domain sets it. */
    enum err (*check_permissions)(struct call *call, uint64_t needs);
    /* Reads the ids of the members of a private channel, who receive its events. At most one
     * feature folder sets it. */
    enum err (*read_private_members)(struct tx *tx, snowflake channel_id, struct list *ret);
    const struct job_kind *const *jobs; /* list of kinds of jobs that ends with NULL; NULL if the
                                         * folder has no jobs */
    const struct hook_listeners *hooks; /* listeners (api/hooks.h); may be NULL */
    /* Rules for rows of this folder that are deleted together with an object (api/deletion.h); may
     * be NULL. */
    const struct deletion_rule *deletions;
    /* Called on every node, on a loop, when the server starts and once a day. It is for work on
     * files in the node's data folder, which a job could not do, because it may run on another
     * node. May be NULL. */
    void (*daily)(struct api *api, struct loop *loop);
    const struct world_file_fields *world; /* sections of world files (test data); may be NULL */
};

int route_get_success_status(const struct route *r);
enum route_transaction_kind route_get_transaction_kind_of_handler(const struct route *r);
/* Returns true if the route is a write whose effect other members of the path's guild can see: a
 * write without .allowed_when_restricted. */
bool route_changes_are_visible_in_guild(const struct route *r);

#endif
