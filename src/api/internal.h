/* internal.h - declarations shared by the files of api/. */
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

/* Builds the router from the routes of all feature folders; aborts the process if routes contradict
 * each other. */
struct router *router_new(const struct domain *const *domains);
void router_free(struct router *r);

struct route_match {
    const struct route *route; /* the matched route; NULL if no route matches (then see error) */
    unsigned group;            /* index of the route's domain (feature folder) */
    const struct rate_limit *limit;
    const struct path_resolver *resolvers[CALL_MAX_PARAMS];
    struct str params[CALL_MAX_PARAMS]; /* decoded texts of the path parameters */
    size_t count;
    int version;      /* API version 6 to 10; 10 if the path has none */
    enum err error;   /* ERR_NOT_FOUND, ERR_METHOD_NOT_ALLOWED or ERR_INVALID_API_VERSION */
    unsigned allowed; /* methods that the path allows, one bit per http_method, for the header Allow
                       * and for OPTIONS */
    snowflake as_me;  /* id that the path has where "@me" is expected; if it is not the caller's id,
                       * the response is 404 */
};

void router_match_request(const struct router *r, struct arena *arena, enum http_method method,
                          struct str target, struct route_match *ret);
/* Finds the route of a request, before the body is read. */
const struct route *router_find_route(const struct router *r, enum http_method method,
                                      struct str target);
const struct path_resolver *router_find_path_resolver(const struct domain *const *domains,
                                                      struct str name);

struct job_scheduler;

/* A response that is the same for all callers: plain and gzipped text, and its ETag. */
struct static_document {
    struct buf plain, zipped, tag;
};

/* To create a document, call static_document_new, write `plain`, then call
 * static_document_compress_and_compute_etag, which takes long, because it compresses the text. */
struct static_document *static_document_new(void);
void static_document_compress_and_compute_etag(struct static_document *d);
void static_document_free(struct static_document *d);
/* Responds with the document. If the caller already has it (If-None-Match), responds with 304. The
 * document must outlive the call. */
enum err call_reply_with_static_document(struct call *call, const struct static_document *d);

struct api {
    struct api_options options;
    uint64_t number;
    const struct domain *const *domains;
    struct router *router;
    struct rate_limit_counters *limits;
    _Atomic uint64_t counts_received; /* number of rate-limited calls that other nodes have
                                       * reported */
    struct call_durations *durations; /* created by api_start */
    struct injected_faults *faults;
    struct job_scheduler *jobs;
    struct password_hasher *hashing; /* set while the loops run */
    struct file_removal *file_removal;
    struct token_use_writer *token_uses;
    struct fetcher **fetchers; /* HTTP clients, one per loop, created at their first use */
    struct loops *loops;
    struct http_server *_Atomic server; /* NULL during startup */
    enum err (*check_permissions)(struct call *call, uint64_t needs);
    enum err (*read_private_members)(struct tx *tx, snowflake channel_id, struct list *ret);
    struct buf cors; /* CORS headers of every response; empty if CORS is off */
    struct static_document *_Atomic openapi; /* the OpenAPI document; NULL until it is requested for
                                              * the first time */
    _Atomic int64_t proxy_warned_at; /* clock_monotonic_ns of the last warning about an unconfigured
                                      * proxy, or 0 */
    _Atomic bool draining;
    _Atomic uint64_t running;      /* number of calls that have no response yet */
    _Atomic uint64_t responses[6]; /* number of responses by the first digit of their status */
};

/* --- local_calls.c -------------------------------------------------------------------- */

/* Logs a warning, at most once an hour, if a proxy that is not configured has sent the request.
 * Called only for the first request of each connection: a proxy adds its headers to every request,
 * and searching for them in each request would take a fifth of the time of a short call. */
void api_warn_untrusted_proxy(struct api *api, const struct http_exchange *x);

/* --- struct call_context: a call with its internal state ---------------------------------- */

enum { CALL_MAX_HEADERS = 8 * 1024, CALL_MOST_COUNTED = 4 };

/* The response, except for call->reply. At most one of borrowed, shared and file is set. The one
 * that is set is the body, and call->reply is not used. */
struct call_response {
    int status;          /* status of the response; 0 means the success status of the route */
    struct str type;     /* content type; NULL pointer means JSON */
    struct buf headers;  /* header lines of the response */
    struct str borrowed; /* body that outlives the call */
    struct shared_text *shared;
    int file; /* descriptor of the file that is sent as the body; -1 if there is no file */
    int64_t file_size;
    bool zipped;  /* whether the body is gzip */
    bool no_gzip; /* whether to send the body as it is, because Content-Encoding is already set */
};

/* Effects of the call that are applied after the commit. Each attempt of the transaction resets
 * them, except blobs, which the COMPUTE stage has written. */
struct call_commit_effects {
    struct emitted_event *announced, **announced_end;
    enum err announce_error; /* error that occurred while the recipients of an event were read;
                              * makes the call fail */
    struct revocation_record *revocations;
    struct voice_state_change *voice_changes, **voice_changes_end;
    struct written_blob *blobs;
    bool files_marked_deleted; /* whether the call has marked rows of the table `files` as
                                * deleted */
    int64_t job_due; /* due time of the earliest job that the call has scheduled, in µs, or 0 */
};

/* A struct that one stage of a call passes to later stages; type is the tag of the struct. */
struct call_stage_data {
    struct call_stage_data *next;
    const char *type;
    void *value;
};

/* A limit against which this call was already counted. If the handler runs again, it does not count
 * the call again. */
struct counted_rate_limit {
    const struct rate_limit *limit;
    uint64_t key;
};

/* A call from its first byte to its response: struct call and the state that only api/ uses. */
struct call_context {
    struct call call;
    struct call_stage_data *slots;
    struct counted_rate_limit counted[CALL_MOST_COUNTED];
    struct call_response response;
    struct call_commit_effects effects;
    enum call_stage stage;
    bool outdated; /* whether call_restart_at_read_stage was called */
    struct work_item work;
    snowflake ids[CALL_MAX_PARAMS]; /* parsed match.params */
    struct call_refusal_cause refusal;
    struct str cause;       /* sentence with the cause of the refusal; empty if there is none */
    snowflake recorded_app; /* set by call_set_application_in_traffic_record, or 0 */
    int64_t began; /* clock_monotonic_ns at which the call began, if traffic is recorded; otherwise
                    * 0 */
    /* call_context_init clears all members above this one. */
    struct route_match match;
    struct parsed_credential credential;
    struct caller caller;
    struct rate_limit_result limit_result;
    bool admitting; /* true while only the head was received, and not yet the whole body */
    bool admitted;  /* whether the head was checked before the body arrived */
    size_t header_bytes_before; /* length of response.headers before this stage */
    struct password_hash_task hash;
    struct loop_message hashed;
    uv_work_t compute;
    enum err computed; /* result of call->hash or call->compute */
    int read_restarts; /* number of calls of call_restart_at_read_stage so far */
    /* State of the wait until all nodes have applied a revocation. */
    struct cluster_log_position_wait revocation_wait;
    int64_t started;  /* clock_monotonic_ns at which the whole request had been received */
    enum err refused; /* error of the response, or OK */
};

static inline struct call_context *call_get_context(const struct call *call)
{
    return container_of(call, struct call_context, call);
}

/* --- blob_rows.c ----------------------------------------------------------------------- */

/* A blob (stored file) that the COMPUTE stage has written. */
struct written_blob {
    struct written_blob *next;
    snowflake id;
    const char *name;
    int64_t size;
    char digest[BLOB_DIGEST_SIZE];
    uint64_t since_ms;  /* time of the write (monotonic clock) */
    bool delete_anyway; /* whether the blob is deleted even if the call succeeds */
};

/* Inserts the database rows of the blobs that a call has written. Called after the handler has
 * succeeded. */
enum err insert_call_file_rows(struct call *call);
void reset_call_files_before_retry(struct call *call);
/* Deletes those blobs of the call that have no row, on the thread pool. Called on the loop at the
 * end of the call. */
void call_delete_unused_blobs(struct call *call, enum err e);

/* --- file_removal.c -------------------------------------------------------------------- */

struct file_removal *file_removal_new(struct api *api);
/* Starts the periodic deletion of blobs. First deletes blobs that a crashed process left. */
void file_removal_start(struct file_removal *r, struct loop *loop);
/* Stops the periodic deletion of blobs. If a step is running, api_wait_until_all_calls_end waits
 * for it. */
void file_removal_stop(struct file_removal *r);
void file_removal_free(struct file_removal *r);
/* Starts the deletion of blobs soon; call it when rows of the table `files` were marked as deleted.
 * May be called from any thread. */
void file_removal_schedule(struct file_removal *r);

/* --- stages.c -------------------------------------------------------------------------- */

void call_context_init(struct call_context *run, struct api *api, struct arena *arena,
                       struct loop *loop);

/* Passes a pointer to later stages of the call, without a copy: the value must outlive the call.
 * See call_store_stage_data. */
void call_store_borrowed_stage_data(struct call *call, const char *type, void *value);

/* Authenticates the caller and starts the next stage; the route must be set. */
void call_authenticate(struct call_context *run);

/* Starts an internal call at the DECODE stage. If the parameter call_input_is_long is true, decodes
 * the input on the thread pool. */
void start_internal_call_at_decode_stage(struct call_context *run, bool call_input_is_long);

/* --- internal_call.c --------------------------------------------------------------- */

enum err internal_call_decode(struct call *call);
/* Calls the function `done` of the internal call and frees the internal call. */
void internal_call_finish_and_free(struct call_context *run, enum err e);

/* --- transaction_attempt.c --------------------------------------------------------- */

/* Callback work.run of a call: runs the current stage in its transaction. */
enum err call_run_stage_in_transaction(struct work_item *w, struct tx *tx);
/* Applies the effects of a call on a thread of the store, in commit order (work.committed). */
void on_call_committed(struct work_item *w);

/* --- response.c -------------------------------------------------------------------- */

/* The functions from response_send_success to response_send_to_options_request end the call and may
 * free it. */
void response_send_success(struct call_context *run);
void response_send_error(struct call_context *run, enum err e);
/* Sends a response with a status for which there is no API error code. */
void response_send_status_without_error_code(struct call_context *run, int status);
/* Closes the connection without a response. */
void response_close_connection(struct call_context *run);
void response_send_to_options_request(struct call_context *run);
/* Discards the part of the response that was written so far. */
void response_discard_written_part(struct call_context *run);
/* Adds a header with this name, such as Allow, whose value lists the methods that the path
 * allows. */
void response_add_allow_header(struct call_context *run, const char *name);

/* --- refusal_cause.c ----------------------------------------------------------------- */

/* Calls the hook call_refused in the transaction of a refused call. The hook sets the cause of the
 * refusal. */
void call_find_refusal_cause(struct call_context *run, enum err e);
void call_set_rate_limit_refusal_cause(struct call_context *run, const struct rate_limit *limit);
/* Adds the header X-Guildhall-Cause, if missing permissions or a too low rank are the cause. */
void add_refusal_cause_header(struct call_context *run);

/* --- traffic_records.c ----------------------------------------------------------------- */

/* Records a call and its response for the traffic view; now is clock_monotonic_ns. */
void record_call_traffic(const struct call_context *run, int64_t now, int status, struct str type,
                         struct str reply);
/* Records a request that the HTTP server refused before it became a call; arg is the api. */
void record_refused_request(void *arg, int status, const struct refused_request *r);

/* --- apply_fault.c --------------------------------------------------------------------- */

/* Applies an injected fault. Returns false if no fault matches, true if the call has ended or
 * continues later. */
bool call_apply_injected_fault(struct call_context *run);

/* --- cors.c ------------------------------------------------------------------------ */

/* Writes the CORS headers that every response has. They allow the first allowed origin. */
void cors_init(struct api *api);
void cors_append_headers(const struct api *api, const struct http_request *r, struct buf *out);
bool cors_is_preflight(const struct api *api, const struct http_request *r);
void cors_add_preflight_headers(struct call *call);

/* --- documented_operations.c ------------------------------------------------------- */

/* Returns true if Discord's documentation lists this operation; path is the requested path. */
bool is_operation_documented_by_discord(enum http_method method, struct str path);
/* Lists the operations that Discord documents but no route implements, for the reference. */
void write_unimplemented_discord_operations(const struct domain *const *domains, struct buf *out);

/* --- token_last_used.c ------------------------------------------------------------- */

struct token_use_writer *token_last_use_writer_new(struct api *api);
/* Writes the last-used times of tokens to the store, once an hour. */
void token_last_use_writer_start(struct token_use_writer *u, struct loop *loop);
/* Stops the hourly writes of last-used times. api_wait_until_all_calls_end waits for a running
 * write. */
void token_last_use_writer_stop(struct token_use_writer *u);
void token_last_use_writer_free(struct token_use_writer *u);

/* --- jobs.c ------------------------------------------------------------------------ */

struct job_scheduler *job_scheduler_new(struct api *api);
void job_scheduler_start(struct job_scheduler *jobs, struct loop *loop);
/* Stops the scheduler: no more jobs start. api_wait_until_all_calls_end waits for running jobs. */
void job_scheduler_stop(struct job_scheduler *jobs);
void job_scheduler_free(struct job_scheduler *jobs);
/* Makes the scheduler check for due jobs at time `due`; may be called from any thread. */
void job_scheduler_wake_at(struct job_scheduler *jobs, int64_t due);
/* Returns the number of jobs that this process has run. */
uint64_t job_scheduler_run_count(const struct job_scheduler *jobs);

/* --- stages.c, checks.c ---------------------------------------------------------------- */

/* Checks the head of a request before its body is read. Refuses the request or accepts the body. */
void call_check_request_head_before_body(struct api *api, struct http_exchange *x);
/* Processes a request whose body is complete. */
void call_start_complete_request(struct api *api, struct http_exchange *x);

/* Decodes the query and the body; an error is stored in call->decoded. Decoding LONG_INPUT bytes
 * takes about one millisecond; longer input is decoded on the thread pool. */
enum { LONG_INPUT = 128 * 1024 };
bool call_input_is_long(const struct call *call);
void call_decode_query_and_body(struct call *call);

/* Check a request without the store: check_request_head_against_route checks the head,
 * check_request_body_against_route the body. If objects of the path must be checked before the
 * body, check_request_body_against_route stores an error of the body in call->decoded. */
enum err check_request_head_against_route(struct call_context *run);
enum err check_request_body_against_route(struct call_context *run);
/* Adds the rate-limit headers to the response, with the values that
 * check_request_head_against_route has computed. */
void add_rate_limit_headers(struct call_context *run);

/* A set of named schemas, in the order in which the routes refer to them. */
struct schema_set {
    const struct schema *list[512];
    size_t count;
};
/* Returns true if the paths differ at most in the names of their parameters. */
bool routes_have_same_path(const struct route *a, const struct route *b);

void collect_route_schemas(const struct domain *const *domains, struct schema_set *ret);

void write_error_response_json(enum err e, const struct form *form, struct buf *out);

#endif
