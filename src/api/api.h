/* api.h - the HTTP API: struct api, its options, and its start and stop.
 *
 * src/api takes a request from its head to its response: it finds the route, checks the
 * credential, the rate limits and the body, and runs the handler in a transaction. It uses net/,
 * store/, model/ and cluster/. The caller of api_new passes the list of domains: the
 * feature folders with their routes, hooks and jobs (route.h).
 *
 *   route.h, call.h   the interface between api/ and the domains: start here
 *   stages.c          moves a call from stage to stage, with checks.c and transaction_attempt.c
 *   auth/             tokens, banned addresses, password-hashing threads
 *   limits/           rate limits: counters, exchange between nodes, headers
 *   jobs/             internal calls (internal_call.h) and scheduled jobs (jobs.h)
 *   files/            rows of uploaded files, and their deletion
 *   openapi/          the OpenAPI document and the reference, generated from the routes
 *   monitoring/       /metrics and probes, durations, traffic records
 *   faults/           injected errors, for testing clients
 *
 * Invariants: a handler may run more than once, and its events are published only after its
 * transaction has committed. A call ends with exactly one response, on its own loop. */
#ifndef API_API_H
#define API_API_H

#include "api/auth/auth.h"
#include "api/call.h"
#include "api/limits/limits.h"
#include "api/route.h"
#include "store/store.h"

struct cluster; /* cluster/cluster.h */
struct fetcher;
struct revocation_record;
struct loops;
struct http_server;
struct ip_network;
struct gateway;      /* defined in gateway/gateway.h; api/ only passes the pointer to routes */
struct traffic_ring; /* traffic/traffic.h */
struct workbench;

/* Which users may register an account. The values mean, in this order: everyone; only users with a
 * code from the operator; users with such a code or an invite to a guild; nobody; everyone on this
 * machine, and other users with a code from the operator. */
enum registration_mode {
    REGISTRATION_OPEN,
    REGISTRATION_INVITE,
    REGISTRATION_GUILD_INVITE,
    REGISTRATION_CLOSED,
    REGISTRATION_LOCAL
};

/* Callbacks that run after the transaction of an API call has committed. Each may be NULL. */
struct api_commit_callbacks {
    void *arg;
    /* Publishes the events of a call. Called in commit order, on a thread of the store. */
    void (*announce)(void *arg, const struct emitted_event *list);
    /* Called after the commit and before the response when a credential is revoked. If token is
     * NULL, all tokens of the account are revoked. The callback must also discard lookups of
     * credentials that began when auth_revocation_count was below `forgets`, because they may have
     * read the revoked credential. */
    void (*credential_revoked)(void *arg, snowflake account, const unsigned char *token,
                               uint64_t forgets);
    /* Called after the commit of a call that bans addresses. */
    void (*addresses_banned)(void *arg, const struct ip_network *n);
    /* Called for each voice state that is created, changed or deleted, in commit order, on a thread
     * of the store. */
    void (*voice_state_changed)(void *arg, const struct relay_voice_state *fact);
};

struct api_options {
    struct store *store;
    struct auth *auth;
    struct rate_limit_options limits;
    const char *public_url;  /* public base URL, such as "https://chat.example"; NULL means the
                              * client's Host header */
    const char *gateway_url; /* URL of the gateway, sent to clients; NULL means the host of the
                              * API */
    const char *files_url;   /* base URL of files in events, such as avatars; NULL means the host of
                              * the API */
    const char *cors_origin; /* value of the option for CORS: an origin, an asterisk for all
                              * origins, or NULL to disable CORS */
    const char *version;
    int64_t application_flags; /* flags that new applications have */
    struct api_commit_callbacks events;
    struct cluster *cluster; /* the cluster of nodes that share the database; NULL if there is only
                              * this node */
    struct gateway *gateway; /* the gateway, for routes that query it; may be NULL */
    const char *data;        /* data folder, whose disk usage /metrics shows, or NULL */
    const char *metrics_token; /* token that callers of /metrics must send; if NULL, only callers on
                                * this machine have access */
    /* Appends the metrics of folders that api/ does not know to /metrics. May be NULL. */
    void (*metrics)(void *arg, struct buf *out);
    void *metrics_arg;
    /* Writes the response to a GET that matches no route, such as a page of the web client. Returns
     * false if there is no such page. May be NULL. */
    bool (*page)(void *arg, struct call *call);
    void *page_arg;
    struct traffic_ring *traffic; /* buffer that records traffic for the console; may be NULL */
    struct workbench *workbench;  /* state of the console, used by its routes; may be NULL */
    bool private_endpoints;       /* whether requests to bot endpoints and webhooks may connect to
                                   * loopback and private addresses */
    bool private_for_local; /* whether private_endpoints applies only to URLs that callers on this
                             * machine have set */
    bool trusts_proxies;    /* whether the option trusted-proxies is set */
    enum registration_mode registration;
    struct mailer *mailer; /* sends mail; NULL if no mail can be sent */
    struct password_cost password_cost;
    unsigned password_threads, password_queue; /* number of threads; maximum queue length */
    /* Upload quota per account in bytes, in total and per day; 0 means unlimited. */
    int64_t quota, daily_quota;
};

/* Creates the API. domains (the feature folders) and options must outlive it. Aborts the process
 * with a message if the route tables contradict each other. */
struct api *api_new(const struct api_options *options, const struct domain *const *domains);
void api_free(struct api *api);

struct http_server_callbacks api_app(struct api *api); /* for http_server_start */
/* Starts jobs and other background work. Call it after the loops have started and before the server
 * listens. */
void api_start(struct api *api, struct loops *loops);
/* api_publish_rate_limit_counts sends this node's rate-limit counts to other nodes;
 * api_receive_rate_limit_counts applies counts that another node has sent. May be called from any
 * thread. */
void api_publish_rate_limit_counts(struct api *api);
void api_receive_rate_limit_counts(struct api *api, struct str message);
/* Changes the rate limits; may be called from any thread. */
void api_set_rate_limits(struct api *api, const struct rate_limit_options *limits);
void api_set_http_server(struct api *api, struct http_server *server);
/* Makes /readyz fail from now on. */
void api_begin_draining(struct api *api);
/* Waits until no call is running. */
void api_wait_until_all_calls_end(struct api *api);
/* The two functions mark the start and end of background work. api_wait_until_all_calls_end also
 * waits until this work has ended. May be called from any thread. */
void api_record_background_work_start(struct api *api);
void api_record_background_work_end(struct api *api);
/* Cancels outgoing requests. Call after api_wait_until_all_calls_end, before the loops stop. */
void api_stop(struct api *api);

/* Applies a revocation or an address ban that another node has committed. */
void api_apply_revocation_of_other_node(struct api *api, const struct revocation_record *f);

/* Returns the HTTP client (net/client/fetcher.h) of a loop. Call it on that loop's thread. */
struct fetcher *api_get_http_client_of_loop(struct api *api, struct loop *loop);

const struct api_options *api_get_options(const struct api *api);
const struct domain *const *api_get_domains(const struct api *api);
/* Returns a number that is unique in this process, as a key for process-wide caches. The address of
 * struct api is not unique, because a new struct may get the address of a freed one. */
uint64_t api_instance_number(const struct api *api);
struct injected_faults *api_get_injected_faults(const struct api *api);
struct http_server *api_get_http_server(const struct api *api);
/* Returns the durations of calls since api_start (api/monitoring/durations.h). */
const struct call_durations *api_get_call_durations(const struct api *api);
bool api_is_draining(const struct api *api);

/* Returns the base URL of this server for responses that only the caller sees; scheme is "http" or
 * "ws". If public-url is not set, the URL contains the Host header of the call. */
struct str api_get_base_url(const struct call *call, const char *scheme);
/* Returns the base URL for links that other users see, such as files in events. If public-url is
 * not set, the URL contains the address that the caller connected to, because a caller can forge
 * the Host header. */
struct str api_get_public_base_url(const struct call *call);

/* Returns true if the call comes from a program on this machine (net/local_requests.h). Returns
 * false for an internal call, and if public-url or trusted-proxies is set, because a proxy may then
 * forward calls of remote clients. */
bool call_comes_from_this_machine(const struct call *call);
/* Returns the registration mode that applies to this caller. The result is never
 * REGISTRATION_LOCAL, which means different modes for different callers. */
enum registration_mode api_get_registration_mode_for_call(const struct call *call);
/* Returns true if an outgoing request may use a private address in a URL from this caller. */
bool api_may_request_private_address(const struct call *call);

/* Write the OpenAPI document and the reference (Markdown), generated from the routes. */
void api_write_openapi_document(const struct domain *const *domains, const char *version,
                                struct buf *out);
void api_write_reference_page(const struct domain *const *domains, struct buf *out);

/* Appends one metric in the Prometheus text format; kind is "counter" or "gauge". */
void api_append_metric(struct buf *out, const char *name, const char *kind, const char *help,
                       uint64_t v);
/* Content type of /metrics. api_write_metrics writes the whole response; it may be called on any
 * thread. */
#define API_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void api_write_metrics(struct api *api, struct buf *out);
/* Returns why the server is not ready, in the words of /readyz ("no store", "disk full"), or NULL
 * if it is ready. May be called from any thread. */
const char *api_get_not_ready_reason(struct api *api);

/* Routes that every server has: /healthz, /readyz, /metrics, /openapi.json. */
extern const struct domain service_domain;

#endif
