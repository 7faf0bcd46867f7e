/* api.h - the whole declared interface, ready to answer.
 *
 * src/api takes a request from its head to its answer: it finds the row of the route, checks the
 * credential, the rate limits and the body, and runs the handler in a transaction. It uses net/,
 * store/, model/ and cluster/; domains are rows that the caller of api_new lists.
 *
 *   route.h, call.h   what a domain writes and what its handlers see: start here
 *   life.c            a call from stage to stage; checks.c, attempt.c and answer.c are its parts
 *   auth/             tokens, banned addresses, threads that hash passwords
 *   limits/           rate limits: counters, exchange between servers, headers
 *   jobs/             work that no client asked for, now (errand.h) or at a time (jobs.h)
 *   files/            rows of uploaded files, and their removal
 *   openapi/          the OpenAPI document and the reference, from the rows
 *   monitoring/       /metrics and probes, durations, records of the traffic
 *   faults/           answers that go wrong on purpose, for authors of clients
 *
 * Invariants: a handler may run more than once, and nothing that it announces leaves before its
 * transaction has committed. A call ends with exactly one answer, on its own loop. */
#ifndef API_API_H
#define API_API_H

#include "api/auth/auth.h"
#include "api/call.h"
#include "api/limits/limits.h"
#include "api/route.h"
#include "store/store.h"

struct cluster; /* cluster/cluster.h */
struct fetcher;
struct forgotten;
struct loops;
struct server;
struct network;
struct gateway; /* gateway/gateway.h; handed on, not looked into */
struct traffic; /* traffic/traffic.h */
struct workbench;

/* The people who may register: everybody; people with a code of the operator; these and people with
 * an invite to a guild; nobody; everybody on this machine, and others with a code of the operator.
 */
enum registration_mode {
    REGISTRATION_OPEN,
    REGISTRATION_INVITE,
    REGISTRATION_GUILD_INVITE,
    REGISTRATION_CLOSED,
    REGISTRATION_LOCAL
};

/* Who is told of what calls have committed. Each may be NULL. */
struct api_events {
    void *arg;
    /* Where announcements go, in commit order, from a thread of the store. */
    void (*announce)(void *arg, const struct announcement *list);
    /* Told when a credential is no longer good, after the commit and before the reply;
     * account 0: the one token. forgets: credentials whose lookup noted as many are not meant. */
    void (*forgotten)(void *arg, snowflake account, const unsigned char *token, uint64_t forgets);
    /* The same of addresses that are banned from now on. */
    void (*banned)(void *arg, const struct network *n);
    /* Told of everybody in voice who comes, changes or goes, in commit order, from a thread of
     * the store. */
    void (*voice_moved)(void *arg, const struct voice_fact *fact);
};

struct api_options {
    struct store *store;
    struct auth *auth;
    struct limits_options limits;
    const char *public_url;  /* "https://chat.example"; NULL: what the client called us */
    const char *cors_origin; /* "*", an origin, or NULL for none */
    const char *version;
    int64_t application_flags; /* of new applications, unless their makers say */
    struct api_events events;
    struct cluster *cluster;   /* the other servers on the database; NULL: there are none */
    struct gateway *gateway;   /* for routes that ask about it; may be NULL */
    const char *data;          /* the folder whose disk /metrics tells of; NULL: none */
    const char *metrics_token; /* who shows it may read /metrics; NULL: local callers only */
    /* Adds to what /metrics tells. May be NULL. */
    void (*metrics)(void *arg, struct buf *out);
    void *metrics_arg;
    /* Fills the reply to a GET that no route fits; false: there is nothing. May be NULL. */
    bool (*page)(void *arg, struct call *call);
    void *page_arg;
    struct traffic *traffic;     /* where calls are noted while somebody looks; may be NULL */
    struct workbench *workbench; /* for its own routes; may be NULL */
    bool private_endpoints;      /* requests of ours may go to loopback and private addresses */
    bool private_for_local; /* but addresses that callers name only for callers on this machine */
    bool trusts_proxies;    /* trusted-proxies is set */
    enum registration_mode registration;
    struct mailer *mailer; /* NULL: no mail is sent */
    /* Argon2id cost; tests make it cheap. */
    unsigned long long password_ops;
    size_t password_memory;
    unsigned password_threads, password_queue; /* that hash; that may wait for it */
    /* Bytes of files that an account may keep, and take in a day; 0: any. */
    int64_t quota, daily_quota;
};

/* The domains and options must outlive it. Ends the process with a message when
 * the tables contradict each other: a program error, seen at the first start. */
struct api *api_new(const struct api_options *options, const struct domain *const *domains);
void api_free(struct api *api);

/* What the server wants to know. */
struct server_app api_app(struct api *api); /* net/http/server.h */
/* Once the loops run, before the server listens: jobs are looked after from now on. */
void api_start(struct api *api, struct loops *loops);
/* For /metrics; once the server runs. */
/* Tells other servers how often callers called here, and hears it of them. From any thread. */
void api_tell_counts(struct api *api);
void api_hear_counts(struct api *api, struct str message);
/* Other numbers from now on; from any thread. */
void api_set_limits(struct api *api, const struct limits_options *limits);
void api_set_server(struct api *api, struct server *server);
/* From now on /readyz says no. */
void api_drain(struct api *api);
/* Waits until no call is running: their works and stages are over. */
void api_wait(struct api *api);
/* Something goes on between two errands, as if a call were running. From any thread. */
void api_hold(struct api *api);
void api_release(struct api *api);
/* After that, before the loops stop: requests to other servers are given up. */
void api_stop(struct api *api);

/* A credential was revoked, by another server: nobody is recognised by it any more. */
void api_forget(struct api *api, const struct forgotten *f);

/* For requests to other servers (net/client/client.h); on that loop's thread. */
struct fetcher *api_fetcher(struct api *api, struct loop *loop);

const struct api_options *api_options(const struct api *api);
const struct domain *const *api_domains(const struct api *api);
/* No other api of this process has, had or will have it, which cannot be said of an address: what
 * is kept for the whole process is told apart by it. */
uint64_t api_number(const struct api *api);
/* Faults that calls meet; api/faults/faults.h. */
struct faults *api_faults(const struct api *api);
struct server *api_server(const struct api *api);
/* How long calls took, from api_start on; api/monitoring/durations.h. */
const struct durations *api_durations(const struct api *api);
bool api_draining(const struct api *api);

/* The base URL of this server as the caller should use it: scheme "http" or "ws". Without
 * public-url it contains the Host that the caller sent, so only the caller may see it. */
struct str api_url(const struct call *call, const char *scheme);
/* The base URL for what others see, such as files in events: without public-url it contains the
 * address that the caller connected to, whatever Host it sent. */
struct str api_public_url(const struct call *call);

/* Does the call come from a program on this machine (net/this_machine.h)? False for an errand, and
 * if public-url or trusted-proxies is set, because a proxy may then call for others. */
bool api_call_is_local(const struct call *call);
/* The mode of registration for this caller; REGISTRATION_LOCAL is never returned. */
enum registration_mode api_registration(const struct call *call);
/* May a request of ours go to a private address that this caller names? */
bool api_may_call_private(const struct call *call);

/* Derived from the rows. */
void api_openapi(const struct domain *const *domains, const char *version, struct buf *out);
void api_reference(const struct domain *const *domains, struct buf *out);

/* Appends one figure in the form of /metrics; kind is "counter" or "gauge". */
void api_metric(struct buf *out, const char *name, const char *kind, const char *help, uint64_t v);
/* All that /metrics shows, and what sort of text it is. From any thread. */
#define API_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void api_metrics(struct api *api, struct buf *out);
/* Why calls cannot be answered, in two words as /readyz shows them; NULL: they can. From any
 * thread. */
const char *api_trouble(struct api *api);

/* Routes that every server has: /healthz, /readyz, /metrics, /openapi.json. */
extern const struct domain service_domain;

#endif
