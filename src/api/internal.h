/* internal.h - what the files of api/ share. */
#ifndef API_INTERNAL_H
#define API_INTERNAL_H

#include "api/api.h"
#include "api/monitoring/durations.h"
#include "api/faults/faults.h"
#include "api/auth/hashing.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "model/voice_state.h"
#include "net/http/server.h"

struct router;

/* Built from the domains' rows; ends the process on a contradiction. */
struct router *router_new(const struct domain *const *domains);
void router_free(struct router *r);

struct match {
    const struct route *route; /* NULL: see error */
    unsigned group;            /* of the route: which of the domains */
    const struct limit *limit;
    const struct resolver *resolvers[CALL_MAX_PARAMS];
    struct str params[CALL_MAX_PARAMS]; /* decoded */
    size_t count;
    int version;      /* of the interface: 6 to 10; paths without one are 10 */
    enum err error;   /* NOT_FOUND, METHOD_NOT_ALLOWED, INVALID_API_VERSION */
    unsigned allowed; /* bit per http_method, for Allow and OPTIONS */
    snowflake as_me;  /* an id stood where the row has "@me": the caller's own, or 404 */
};

void router_match(const struct router *r, struct arena *arena, enum http_method method,
                  struct str target, struct match *ret);
/* The same for what must be known before the body is read. */
const struct route *router_peek(const struct router *r, enum http_method method, struct str target);
const struct resolver *router_resolver(const struct domain *const *domains, struct str name);

struct jobs;

/* An answer that is the same for everybody, in both forms, with its entity tag. */
struct document {
    struct buf plain, zipped, tag;
};

/* Fill plain, then finish; that takes long. */
struct document *document_new(void);
void document_finish(struct document *d);
void document_free(struct document *d);
/* Answers with it, or with 304 to a caller that has it. It outlives the call. */
enum err call_reply_document(struct call *call, const struct document *d);

struct api {
    struct api_options options;
    uint64_t number;
    const struct domain *const *domains;
    struct router *router;
    struct limits *limits;
    _Atomic uint64_t counts_heard; /* of other servers */
    struct durations *durations;   /* from api_start on */
    struct faults *faults;
    struct jobs *jobs;
    struct hashing *hashing; /* while the loops run */
    struct file_removal *file_removal;
    struct token_uses *token_uses;
    struct fetcher **fetchers; /* one a loop, made at first use */
    struct loops *loops;
    struct server *_Atomic server; /* NULL while it starts */
    enum err (*permit)(struct call *call, uint64_t needs);
    enum err (*people)(struct tx *tx, snowflake channel_id, struct list *ret);
    struct buf cors;                  /* lines of every answer; empty: web pages may not call */
    struct document *_Atomic openapi; /* NULL: nobody has asked for it */
    _Atomic int64_t proxy_noted_at;   /* clock_mono; 0: no proxy was seen */
    _Atomic bool draining;
    _Atomic uint64_t running;    /* calls that have no answer yet */
    _Atomic uint64_t answers[6]; /* by hundred of the status */
};

/* --- local_calls.c -------------------------------------------------------------------- */

/* If a proxy that the configuration does not name has sent the request: logs it, at most once an
 * hour. Called for the first request of each connection, because a proxy marks all that it
 * forwards, and to look through the headers of every request would cost a fifth of a short call. */
void api_note_proxy(struct api *api, const struct exchange *x);

/* --- a call with the api's part of it ------------------------------------------------- */

enum { CALL_MAX_HEADERS = 8 * 1024, CALL_MOST_COUNTED = 4 };

/* The answer, besides the text in call->reply. At most one of borrowed, shared and file replaces
 * that text. */
struct call_answer {
    int status;          /* 0: the row's */
    struct str type;     /* p == NULL: JSON */
    struct buf headers;  /* lines for the head */
    struct str borrowed; /* outlives the call */
    struct shared_text *shared;
    int file; /* -1: none */
    int64_t file_size;
    bool zipped;  /* the text is gzip */
    bool no_gzip; /* it is not to be compressed: its headers say what it is */
};

/* What follows from the commit of the call's transaction. Each attempt begins without it, but
 * blobs stay: they were written before. */
struct call_effects {
    struct announcement *announced, **announced_end;
    enum err announce_error; /* who receives it could not be read: the call fails */
    struct forgotten *forgotten;
    struct noted_voice *voices, **voices_end;
    struct kept_blob *blobs;
    bool dropped;    /* files were marked that have to go */
    int64_t job_due; /* the earliest job that it scheduled; 0: none */
};

/* A struct that one stage passes to the next, by the tag of its type. */
struct call_slot {
    struct call_slot *next;
    const char *type;
    void *value;
};

/* By call_count: a handler that runs again counts once. */
struct call_counted {
    const struct limit *limit;
    uint64_t key;
};

/* A call from its first byte to its answer: what the handler sees of it, and the api's own part. */
struct call_run {
    struct call call;
    struct call_slot *slots;
    struct call_counted counted[CALL_MOST_COUNTED];
    struct call_answer answer;
    struct call_effects effects;
    enum call_stage stage;
    bool outdated; /* what look saw is not so any more */
    struct work work;
    snowflake ids[CALL_MAX_PARAMS]; /* of match.params that are snowflakes */
    /* call_init clears all before this. */
    struct match match;
    struct credential credential;
    struct caller caller;
    struct verdict verdict;
    bool admitting;      /* the body has not come yet */
    bool admitted;       /* what can be said without the body was said before it came */
    size_t lines_before; /* bytes of answer.headers that no stage has added */
    struct hash_task hash;
    struct post hashed;
    uv_work_t compute;
    enum err computed;         /* by hash or compute */
    int looks;                 /* that were outdated when it came to the handler */
    struct cluster_wait heard; /* the other servers have, of what it revoked */
    int64_t started;           /* clock_mono, when all of it was there */
    int64_t began;             /* clock_mono, when it is to be noted; else 0 */
    enum err refused;          /* what it is answered with; OK: no refusal */
};

static inline struct call_run *run_of(const struct call *call)
{
    return container_of(call, struct call_run, call);
}

/* --- files.c --------------------------------------------------------------------------- */

/* A blob that the call has written. */
struct kept_blob {
    struct kept_blob *next;
    snowflake id;
    const char *name;
    int64_t size;
    char digest[BLOB_DIGEST];
    uint64_t since_ms; /* of a clock that nobody moves */
    bool dropped;      /* it goes again, although the call succeeds */
};

/* At the end of a transaction that succeeds: rows for what was kept. */
enum err files_record(struct call *call);
void files_forget_attempt(struct call *call);
/* On the loop, when the call is over: what has no row goes, on the pool. */
void files_finish(struct call *call, enum err e);

/* --- file_removal.c -------------------------------------------------------------------- */

struct file_removal *file_removal_new(struct api *api);
/* Begins with what a process that died has left. */
void file_removal_start(struct file_removal *r, struct loop *loop);
/* What runs goes on until api_wait. */
void file_removal_stop(struct file_removal *r);
void file_removal_free(struct file_removal *r);
/* Something was marked; from any thread. */
void file_removal_expect(struct file_removal *r);

/* --- the life of a call ---------------------------------------------------------------- */

/* A call that has done nothing yet. */
void call_init(struct call_run *run, struct api *api, struct arena *arena, struct loop *loop);

/* call_pass with a value that outlives the call. */
void call_lend(struct call *call, const char *type, void *value);

/* With its credential, when its route is known. */
void run_identify(struct call_run *run);

/* From DECODE on, for errands; input_is_long: on the pool. */
void run_follow(struct call_run *run, bool input_is_long);

/* --- errand.c ---------------------------------------------------------------------- */

/* In its DECODE stage. */
enum err errand_decode(struct call *call);
/* Ends the errand and frees it. */
void errand_end(struct call_run *run, enum err e);

/* --- attempt.c --------------------------------------------------------------------- */

/* Every run starts from scratch: the store may try again. */
void attempt_forget(struct call_run *run);
/* For struct work: the stage that the call is in. */
enum err attempt_run(struct work *w, struct tx *tx);
/* See struct work. */
void attempt_prefetch(struct work *w, struct tx *tx);
/* For struct work, of a call's or an errand's: on a thread of the store, in the order of the
 * commits. */
void call_committed(struct work *w);

/* --- answer.c ---------------------------------------------------------------------- */

/* Each ends the call: its caller touches nothing of it afterwards. */
void answer_success(struct call_run *run);
void answer_error(struct call_run *run, enum err e);
/* With a status that no error has. */
void answer_status(struct call_run *run, int status);
/* Not at all: the connection ends. */
void answer_cut(struct call_run *run);
/* To OPTIONS. */
void answer_options(struct call_run *run);
/* Drops what was replied so far. */
void reply_forget(struct call_run *run);
/* The methods of the path, in a line of this name. */
void answer_add_allow(struct call_run *run, const char *name);

/* --- record.c -------------------------------------------------------------------------- */

/* Notes a call with its answer, for whoever looks at the traffic; now is clock_mono. */
void call_record(const struct call_run *run, int64_t now, int status, struct str type,
                 struct str reply);
/* The same of a request that the server refused before it was a call; arg is the api. */
void refusal_record(void *arg, int status, const struct refused_request *r);

/* --- spoil.c --------------------------------------------------------------------------- */

/* False: it has met no fault. Else its answer is the fault's, or it goes on later. */
bool run_spoil(struct call_run *run);

/* --- cors.c ------------------------------------------------------------------------ */

/* The lines of every answer, from the options. */
void cors_init(struct api *api);
/* Does a browser ask whether its page may call? */
bool cors_is_preflight(const struct api *api, const struct http_request *r);
/* Allows the page what it asked for. */
void cors_allow(struct call *call);

/* --- known.c ----------------------------------------------------------------------- */

/* Is it an operation of the published interface? path: as it was asked for. */
bool known_operation(enum http_method method, struct str path);
/* What of the interface no row serves, as a part of the reference. */
void known_write(const struct domain *const *domains, struct buf *out);

/* --- token_uses.c ------------------------------------------------------------------ */

struct token_uses *token_uses_new(struct api *api);
/* From now on it is noted once an hour which tokens were used. */
void token_uses_start(struct token_uses *u, struct loop *loop);
/* What is being written goes on until api_wait. */
void token_uses_stop(struct token_uses *u);
void token_uses_free(struct token_uses *u);

/* --- jobs.c ------------------------------------------------------------------------ */

struct jobs *jobs_new(struct api *api);
/* From now on they are looked after. */
void jobs_start(struct jobs *jobs, struct loop *loop);
/* No new ones are begun; what runs goes on until api_wait. */
void jobs_stop(struct jobs *jobs);
void jobs_free(struct jobs *jobs);
/* Something will be due then; from any thread. */
void jobs_expect(struct jobs *jobs, int64_t due);
uint64_t jobs_taken(const struct jobs *jobs); /* by this process, so far */

/* --- life.c, checks.c ------------------------------------------------------------------ */

/* Looks at the head of an exchange: refuses it, or lets its body come. */
void call_admit(struct api *api, struct exchange *x);
/* Takes a whole exchange to its answer. */
void call_begin(struct api *api, struct exchange *x);

/* What the query and the body say; a refusal is kept in call->decoded. Takes a millisecond for
 * so many bytes, so a longer one is not decoded on a loop. */
enum { LONG_INPUT = 128 * 1024 };
bool input_is_long(const struct call *call);
void decode_input(struct call *call);

/* All that can be said without the store: first of the head, then of the body. A bad body is
 * kept in call->decoded where something in the path must be looked at first. */
enum err check_head(struct call_run *run);
enum err check_body(struct call_run *run);
/* What check_head found out about how often, as lines of the answer. */
void add_limit_lines(struct call_run *run);

/* Named schemas, in the order in which the rows lead to them. */
struct schema_set {
    const struct schema *list[512];
    size_t count;
};
/* The same path, whatever its parameters are called? */
bool route_shares_path(const struct route *a, const struct route *b);

void schemas_gather(const struct domain *const *domains, struct schema_set *ret);

/* The answer for an error, into out. */
void error_body(enum err e, const struct form *form, struct buf *out);

#endif
