/* call.h - struct call: one API request while it is processed, and the functions that a handler may
 * use.
 *
 * A handler reads, decides, writes and emits events. The store may run the handler again after a
 * conflict, so it stores nothing outside the call. */
#ifndef API_CALL_H
#define API_CALL_H

#include "api/route.h"
#include "base/arena.h"
#include "base/errors.h"
#include "json/schema.h"
#include "model/user.h"
#include "store/store.h"

enum {
    CALL_MAX_PARAMS = 8,
    CALL_MAX_REPLY = 64 * 1024 * 1024,
};

/* Kind of a token. Refresh tokens are stored like other tokens, but cannot authenticate a call. */
enum caller_kind { CALLER_USER = 1, CALLER_BOT, CALLER_BEARER, CALLER_REFRESH };

/* The account that a credential authenticates. */
struct caller {
    snowflake id;             /* id of the user or bot account */
    snowflake application_id; /* application of a bot or an OAuth2 token; 0 for users */
    unsigned char session[8]; /* session id that the token contains */
    int64_t expires_at;       /* microseconds; 0 means never */
    uint64_t scopes; /* bits of the OAuth2 scopes (auth_oauth2_scope_bit); only for OAuth2 tokens */
    enum caller_kind kind;
    bool disabled, deleting;
};

/* The objects of the path, such as guild and channel, which the path's resolvers have read. Their
 * structs are in platform/ and model/. */
struct call_path_objects {
    struct user *user;
    struct guild *guild;
    struct member_access *member_access; /* roles and permissions of the caller in the guild of the
                                          * path */
    struct channel *channel;
    uint64_t permissions; /* permissions of the caller in the channel of the path, or in the guild
                           * if the path has no channel */
    struct role *role;
    struct emoji *emoji;
    struct member *member;
    struct message *message;
    struct webhook *webhook;
    struct application *application;
    struct command *command;
    struct team *team;
    struct invite *invite;
    struct integration_row *integration;
    struct interaction *interaction;
};

struct api;
struct http_exchange; /* net/http/server.h */
struct loop;          /* net/loop.h */
struct multipart;     /* net/http/multipart.h */
struct shared_text;
struct relay_voice_state;

/* The stages of a call, in order. stages.c moves a call from one stage to the next. A stage that
 * the route does not need is skipped. An error in any stage ends the call with an error response,
 * which is written on the loop. An internal call (internal_call.h) begins with DECODE and sends no
 * response.
 *
 *   stage       runs on           what it does, and what it may use
 *   CREDENTIAL  loop, or read tx  matches the route; checks credential, rate limits, kind of
 *                                 caller and path syntax; reads the store only if the credential
 *                                 is not cached. A long body is read after this stage, and the
 *                                 credential is then checked again
 *   HEAD        read tx           service routes: resolvers and admit, before a long body is read
 *   KNOWN_BODY  read tx           a body that before_decode recognises: resolvers, permissions,
 *                                 admit, then call->read writes the response, or returns
 *                                 call_restart_at_read_stage, which continues with DECODE
 *   DECODE      loop, or pool     decodes query and body into structs; on the pool if they are long
 *   (prepare)   loop              route->prepare checks the body and may request the four stages
 *                                 below; no transaction
 *   READ        read tx           resolvers, permissions, admit, then call->read, which may set or
 *                                 clear await, hash and compute
 *   AWAIT       loop              call->await sends a request to another server and returns; no
 *                                 transaction is open. call_resume_after_await continues the
 *                                 call, once, on this loop
 *   HASH        password threads  call->hash; uses memory of the call only
 *   COMPUTE     pool              call->compute; uses memory of the call, and files
 *                                 (call_write_blob)
 *   HANDLE      route's tx        resolvers, permissions, admit, the result of DECODE, then
 *                                 route->handle; may run again, and call_restart_at_read_stage
 * returns to READ. Events are published after the commit (after)     loop              call->after,
 * if the handler has set it; then the response */
enum call_stage {
    STAGE_CREDENTIAL,
    STAGE_HEAD,
    STAGE_KNOWN_BODY,
    STAGE_DECODE,
    STAGE_READ,
    STAGE_AWAIT,
    STAGE_HASH,
    STAGE_COMPUTE,
    STAGE_HANDLE
};

/* The part of a call that handlers may use. struct call_context (internal.h) contains the rest. */
struct call {
    struct api *api;
    const struct route *route;
    struct arena *arena;
    struct http_exchange *exchange; /* NULL for an internal call (internal_call.h) */
    const struct multipart *parts;  /* multipart parts, or NULL */
    struct loop *loop;              /* the event loop of the call */
    struct tx *tx;                  /* NULL outside of transactions */

    const struct caller *caller; /* NULL for an anonymous caller */
    struct str token;            /* the credential without its scheme ("Bot", "Bearer") */
    struct call_path_objects target;
    const void *query, *body;
    enum err decoded; /* error of decoding the query or body, reported after the checks of the path;
                       * prepare may set it */
    struct form form; /* validation errors of the body, per field */
    struct buf reply; /* response body, as far as written */

    /* Functions of stages; route->prepare requests a stage by setting its function (see enum
     * call_stage). */
    enum err (*read)(struct call *call);
    void (*await)(struct call *call);
    enum err (*hash)(struct call *call);
    enum err (*compute)(struct call *call);
    /* Called on the loop after the commit of the handler's transaction, if the handler has set this
     * member. */
    void (*after)(struct call *call);
    snowflake files_of; /* account whose upload quota is used for files of this call; 0 means the
                         * caller */
    bool decides; /* whether the handler runs as STORE_WRITE; set by prepare on APPEND routes */
    bool needs_primary; /* whether the handler must not run on a standby; set by prepare on routes
                         * with before_standby */
    bool reads_standby; /* whether the handler may run on a standby; before_standby may clear it */
    bool may_share; /* whether several calls may share a transaction (work_item.may_share); set by
                     * prepare on APPEND routes */
};

/* Pass structs from one stage of the call to later stages. Each struct is identified by its tag.
 * call_store_stage_data allocates a zeroed struct, which replaces an earlier struct with the same
 * tag; call_get_stage_data returns the struct with that tag, or NULL if there is none.
 *
 *     struct login_attempt *a = call_store_stage_data(call, "login_attempt", sizeof *a);
 *     const struct login_attempt *a = call_get_stage_data(call, "login_attempt"); */
void *call_store_stage_data(struct call *call, const char *type, size_t size);
void *call_get_stage_data(const struct call *call, const char *type);

/* Continues a call that waits in the AWAIT stage. If e is an error, ends the call with this error.
 * The call may be freed when this function returns. */
void call_resume_after_await(struct call *call, enum err e);

/* A handler returns the result of this function if rows have changed since call->read has read
 * them. The transaction is rolled back, and the call returns to the READ stage, up to eight times.
 * In the KNOWN_BODY stage, the call instead continues with the DECODE stage. */
enum err call_restart_at_read_stage(struct call *call);

/* Returns the id in a path parameter; name is the name of its resolver, such as "user.id". */
snowflake call_get_path_id(const struct call *call, const char *name);
struct str call_get_path_text(const struct call *call, const char *name);
/* Returns the API version in the path, 6 to 10; 10 if the path has none. */
int call_get_api_version(const struct call *call);
/* Parses the id in a path parameter that may also be a keyword such as "@me". */
enum err call_parse_path_id(struct call *call, const char *name, snowflake *ret);

/* Returns the account id or address hash that schedules this call's background reads, or 0. */
uint64_t call_scheduling_key(const struct call *call);

/* A value for call->read that reads nothing: the READ stage then only resolves the path and checks
 * permissions. */
enum err call_read_nothing_but_path_objects(struct call *call);

/* Responds with an object of the type route->reply. */
enum err call_reply_with_object(struct call *call, const void *value);
/* Returns a JSON writer for the response body, for handlers that write the JSON themselves. */
struct json_writer call_get_reply_json_writer(struct call *call);
/* Responds with an object of a type other than route->reply, such as a special error. */
enum err call_reply_with_object_of_type(struct call *call, const struct type *type,
                                        const void *value);
/* Responds with text that is not JSON. */
enum err call_reply_with_text(struct call *call, struct str content_type, struct str text);
/* Responds with the contents of a buffer that is not JSON, and clears the buffer. */
enum err call_reply_with_buf(struct call *call, struct str content_type, struct buf *text);
/* Responds with JSON text that a cache shares; takes over the caller's reference. */
enum err call_reply_with_shared_text(struct call *call, struct shared_text *text);
/* Responds with bytes that outlive the call; they are not compressed. */
enum err call_reply_with_static_bytes(struct call *call, struct str content_type, struct str bytes);
enum err call_reply_with_file(struct call *call, struct str content_type, int fd, int64_t size);
/* Opens a blob (stored file) inside a transaction. If the blob must be read from the database while
 * the call runs on a loop, returns an error that makes the store restart the read in the
 * background. */
enum err call_open_blob(struct call *call, const char *name, int *ret_fd, int64_t *ret_size);
/* Responds with the part of a file that the Range header requests (status 206), or with the whole
 * file, or with status 416. */
enum err call_reply_with_file_range(struct call *call, struct str content_type, int fd,
                                    int64_t size);
/* Sets a status that differs from the route's, such as 201 for a new object. */
void call_set_status(struct call *call, int status);
void call_add_header(struct call *call, const char *name, struct str value);

/* Return the error for a caller who lacks permissions in the guild or channel of the path.
 * call_get_missing_permissions_error is for a caller who lacks some of `needs`;
 * call_get_missing_any_permission_error is for a caller who has none of `any`. The error is
 * ERR_GUILD_MFA_REQUIRED if only a second factor is missing, otherwise ERR_MISSING_PERMISSIONS. */
enum err call_get_missing_permissions_error(const struct call *call, uint64_t needs);
enum err call_get_missing_any_permission_error(const struct call *call, uint64_t any);
/* Returns call_get_missing_permissions_error unless the caller has all permissions of `needs`. */
enum err call_require_permissions(const struct call *call, uint64_t needs);
/* Returns the error (ERR_MISSING_PERMISSIONS) for a caller whose highest role is not above the role
 * or member that the call changes, or who grants permissions that the caller lacks. */
enum err call_get_rank_too_low_error(const struct call *call);
/* Returns the error (ERR_MISSING_PERMISSIONS) for a caller who is not the owner of the guild, if
 * only the owner may make the call. */
enum err call_get_not_guild_owner_error(const struct call *call);

/* --- refusal_cause.c ------------------------------------------------------------------- */

/* Why a call is refused. The traffic log gets a sentence with the cause; it is written by listeners
 * of the hook call_refused and by the functions below. The response gets the header
 * X-Guildhall-Cause if missing permissions or a too low rank are the cause. */
struct call_refusal_cause {
    enum err error;
    uint64_t all; /* missing permissions, all of which are required */
    uint64_t any; /* permissions, one of which is required */
    bool rank;    /* see call_get_rank_too_low_error */
    bool owner;   /* see call_get_not_guild_owner_error */
};
/* Sets the sentence with cause and fix, which must not contain secrets. Has no effect if the call
 * already has a sentence, or if causes are not recorded. */
void call_set_refusal_cause(const struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Records this application's bot as the caller in the traffic log, for calls whose credential is in
 * the path. */
void call_set_application_in_traffic_record(struct call *call, snowflake application_id);

/* Adds a validation error for one field. All errors of a call are sent in one response. */
enum err call_add_field_error(struct call *call, const char *field, const char *code,
                              const char *message);

/* Emits an event, which is published after the commit. */
void call_emit_event(struct call *call, enum event event, struct audience to,
                     const struct schema *schema, const void *object);
/* Emits an event about a guild to one account. If the account is a sharded bot, the shard of that
 * guild receives it. */
void call_emit_guild_event_to_user(struct call *call, enum event event, snowflake user_id,
                                   snowflake guild_id, const struct schema *schema,
                                   const void *object);
/* Emits an event whose payload is already JSON in the call's arena; only for events without routing
 * fields (model/events/event_routing.h). If the event goes to an account and guild_id is not 0, the
 * shard of that guild receives it. */
void call_emit_json_event(struct call *call, enum event event, struct audience to,
                          snowflake guild_id, struct str json);

/* Emits an event whose JSON was written by an earlier stage, because writing long JSON in the
 * transaction would hold it open. */
void call_emit_encoded_event(struct call *call, enum event event, struct audience to,
                             const struct schema *schema, const void *object, struct str json);

/* Publishes the events of a call that has no write transaction. (If a call has a write transaction,
 * its commit publishes them.) Only sessions on this node receive the events. */
void call_publish_events(const struct call *call);

/* Passes a change of a voice state to the voice relay after the commit, in commit order, before the
 * events are published. */
void call_record_voice_state_change(struct call *call, const struct relay_voice_state *fact);

/* Counts this call once against a rate limit with a key that the handler chooses, such as a login
 * name, in addition to the route's limit. Returns ERR_RATE_LIMITED if the limit is exceeded. In
 * that response, Retry-After is about this limit, and X-RateLimit-Remaining about the route's. */
enum err call_count_against_rate_limit(struct call *call, const struct rate_limit *limit,
                                       struct str key);
/* Counts the call against a limit that replaces the route's limit in the rate-limit headers. Call
 * before the transaction. */
enum err call_replace_route_rate_limit(struct call *call, const struct rate_limit *limit,
                                       struct str key);
/* Reverts call_count_against_rate_limit for this call. */
void call_revert_rate_limit_count(struct call *call, const struct rate_limit *limit,
                                  struct str key);

/* Refuses the call with ERR_RATE_LIMITED; `ms` is sent as Retry-After. */
enum err call_refuse_as_rate_limited(struct call *call, int64_t ms);
/* Refuses the call with ERR_RATE_LIMITED and the scope "shared", because the limit applies to all
 * callers together; `ms` is sent as Retry-After. */
enum err call_refuse_as_shared_rate_limited(struct call *call, int64_t ms);

/* Writes a blob (stored file) in the COMPUTE stage; the blob is deleted if the call fails. id and
 * name must be new. The bytes count against the upload quota of call->files_of, or of the caller if
 * that is 0. If the quota is exceeded, the transaction fails with ERR_UPLOAD_QUOTA. */
enum err call_write_blob(struct call *call, snowflake id, const char *name, struct str bytes);
/* Marks the row of a blob in the transaction, so that the blob is deleted after the commit. Returns
 * OK if the blob does not exist. */
enum err call_delete_blob(struct call *call, const char *name);
/* Schedules the deletion of blobs after the commit. Call it after the transaction has marked rows
 * of the table `files` as deleted. */
void call_schedule_blob_deletion_after_commit(struct call *call);

/* The next two functions remove credentials of an account from the credential cache after the
 * commit: one token, or all tokens of the account. */
void call_revoke_session_token(struct call *call, snowflake account,
                               const unsigned char session[8]);
void call_revoke_account_tokens(struct call *call, snowflake id);
/* Removes the account's OAuth2 tokens from the credential cache after the commit. The tokens of its
 * logins stay. */
void call_revoke_oauth2_tokens(struct call *call, snowflake id);
/* Removes all tokens of an application from the credential cache after the commit: tokens of its
 * bot, and OAuth2 tokens of all accounts. */
void call_revoke_application_tokens(struct call *call, snowflake id);
/* After the commit, makes every node refuse these addresses and close their gateway sessions. If
 * banned is false, makes every node accept these addresses again. */
struct ip_network;
void call_set_address_range_banned(struct call *call, const struct ip_network *n, bool banned);

/* --- refusal_log.c --------------------------------------------------------------------- */

enum logged_refusal_kind { REFUSED_PASSWORD, REFUSED_TOO_MANY };

/* Logs a refused call with the client's address, at a limited rate. May be called on any thread. */
void call_log_refusal(const struct call *call, enum logged_refusal_kind kind);

#endif
