/* route.h - the interface's routes as rows.
 *
 * Whatever a row can say, its handler leaves unsaid: by the time the handler
 * runs the caller is known, the path resolved, the rights checked and the body
 * valid. Routing, the OpenAPI document and the reference come from the rows. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"
#include "json/schema.h"
#include "model/events/events.h"
#include "net/http/http.h"

struct api;
struct call;
struct deletion_rule;
struct hooks;
struct job_kind;
struct loop;
struct tx;

/* As the rows write them. */
#define GET    HTTP_GET
#define POST   HTTP_POST
#define PUT    HTTP_PUT
#define PATCH  HTTP_PATCH
#define DELETE HTTP_DELETE

/* Who may call. Rows combine them: AUTH_USER | AUTH_BOT. */
enum auth_kinds {
    AUTH_OPEN = 1,   /* anybody; a good credential is still recognised */
    AUTH_USER = 2,   /* a person's token */
    AUTH_BOT = 4,    /* a bot's token */
    AUTH_BEARER = 8, /* an OAuth2 access token with the row's scope */
    AUTH_GOOD = 16,  /* with AUTH_OPEN: a credential need not be sent, but must be good */
};

/* Where the handler's transaction runs; by default GET reads and the rest write. For
 * APPEND see STORE_APPEND; prepare may set call->decides to write after all. */
enum route_store {
    ROUTE_STORE_BY_METHOD,
    ROUTE_STORE_NONE,
    ROUTE_STORE_READ,
    ROUTE_STORE_WRITE,
    ROUTE_STORE_APPEND,
};

/* How often. The same limit in several rows is one bucket for all of them; rows
 * without one get a bucket of their own, for reads or for writes. */
struct limit {
    const char *name;
    unsigned count;
    unsigned window_s;
    bool shared;     /* the resource is limited, not the caller */
    bool by_address; /* counted for where a call comes from, whoever makes it */
    bool strict;     /* several servers together let through no more: see limits.h */
};

/* Bodies other than JSON that a route takes. BODY_MULTIPART: the JSON is the part payload_json;
 * without one each plain part is a member of the body by its name. BODY_FORM: urlencoded, with
 * payload_json as well where BODY_MULTIPART is set. BODY_PARTS: multipart, and each plain part is
 * a member of the body by its name. */
enum body_kinds { BODY_MULTIPART = 1, BODY_FORM = 2, BODY_PARTS = 4 };

struct route {
    enum http_method method;
    const char *path; /* "/users/{user.id}" below /api; {x} names a resolver */
    const char *name; /* the handler's */
    const char *doc;
    unsigned auth;
    const char *scope; /* with AUTH_BEARER; NULL: whatever the token is for */
    uint64_t needs;    /* rights in the guild or channel of the path */
    const struct schema *query;
    const struct type *body;
    unsigned body_kinds; /* besides JSON */
    size_t max_body;     /* 0: 1 MiB */
    size_t max_upload;   /* of multipart bodies; 0: max_body, or 16 MiB */
    const struct type *reply;
    int status;              /* of success; 0: 200 with a reply, 204 without */
    const enum event *fires; /* ends with EVENT_NONE */
    enum route_store store;
    bool aside;    /* reads rows that nobody can bound: not on a loop */
    bool measured; /* the same, but most have few: on a loop for as long as there is time */
    const struct limit *limit;
    /* Members who are timed out, have not passed membership screening, are quarantined or do not
     * meet the guild's verification level may call although the route writes: nobody else sees
     * the change, or it takes back something of theirs. All other writes are refused to them. */
    bool quiet;
    bool service;         /* lies at the root, not below /api; no credentials; counted by address */
    bool no_global_limit; /* counted in its own bucket only */
    /* May a caller who is not in the path's guild call? NULL: no. The query counts only where it
     * could be read. */
    enum err (*visitors)(struct call *call);
    /* On the loop, before the body is decoded. Most bodies of some routes were sent before, byte by
     * byte, and change nothing: for such a body it sets call->look, which answers in a read
     * transaction as the handler would, after the path, `needs` and `admit`. If the rows have
     * changed, look returns call_look_again, and the body is decoded. */
    enum err (*before_decode)(struct call *call);
    /* On the loop, before any transaction: may ask for a stage of its own by
     * setting call->look, call->hash and call->compute. */
    enum err (*prepare)(struct call *call);
    /* Inside the handler's transaction, before the path is resolved: says what the handler is going
     * to ask of the store (tx_prefetch), so that it comes along with the first question. Ids of the
     * path and the query are known. */
    enum err (*prefetch)(struct call *call);
    /* Inside the transaction, after the path and `needs`, before the body counts:
     * rights that a set of bits cannot say. On a service route, whose path may be the credential,
     * also in a read transaction before a long body is read: it may set call->files_of, the account
     * that the bytes count for. */
    enum err (*admit)(struct call *call);
    enum err (*handle)(struct call *call);
};

/* What a {name} in a path stands for. */
struct resolver {
    const char *name;  /* "user.id" */
    const char *field; /* in error answers: "user_id" */
    bool is_text;      /* any text, not a snowflake */
    /* Only text that begins like this. A row with such a parameter may stand beside one
     * of the same form with other parameters, and is tried first. */
    const char *prefix;
    bool me;    /* "@me" stands for the caller */
    bool major; /* limits are counted for each one apart */
    const char *doc;
    /* Inside the transaction: load what the id names and check that the caller may
     * see it. NULL: the id is all there is to it. */
    enum err (*resolve)(struct call *call);
};

/* A part of the interface, as main knows it. */
struct domain {
    const char *name;
    const char *doc;
    const struct route *routes;       /* end with .path == NULL */
    const struct resolver *resolvers; /* end with .name == NULL; may be NULL */
    /* Does the caller have these rights where the path leads, and may it do what the route does
     * (route_speaks)? At most one domain says. */
    enum err (*permit)(struct call *call, uint64_t needs);
    /* Who is in a private channel now (snowflakes): they hear of what is announced to it.
     * At most one domain says. */
    enum err (*people)(struct tx *tx, snowflake channel_id, struct list *ret);
    const struct job_kind *const *jobs; /* end with NULL; may be NULL */
    const struct hooks *hooks;          /* api/hooks.h; may be NULL */
    /* Which rows of its tables are deleted with which objects: api/deletion.h; may be NULL. */
    const struct deletion_rule *deletions;
    /* On every server by itself, when it has begun and once a day: for what lies in its folder,
     * which a job that another server takes would not find. On a loop; may be NULL. */
    void (*daily)(struct api *api, struct loop *loop);
    const struct world_parts *world; /* its members of world files, platform/worlds; may be NULL */
};

int route_status(const struct route *r);
enum route_store route_store(const struct route *r);
/* Does it do something in the guild of the path that others see? */
bool route_speaks(const struct route *r);

#endif
