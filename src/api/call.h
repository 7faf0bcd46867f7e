/* call.h - one call, as its handler sees it.
 *
 * A handler reads, decides, writes, announces. It may run more than once (the
 * store tries again after a conflict), so it keeps nothing outside the call. */
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

/* A refresh token is kept like the others, but nobody calls with one. */
enum caller_kind { CALLER_USER = 1, CALLER_BOT, CALLER_BEARER, CALLER_REFRESH };

/* The account behind the credential. */
struct caller {
    snowflake id;             /* the user's, or the bot's */
    snowflake application_id; /* bots and bearers; else 0 */
    unsigned char session[8]; /* names the token */
    int64_t expires_at;       /* microseconds; 0: never */
    uint64_t scopes;          /* bearers: bits of auth_scope */
    enum caller_kind kind;
    bool disabled, deleting;
};

/* What the path's resolvers found. The structs are the platform's. */
struct target {
    struct user *user;
    struct guild *guild;
    struct standing *standing; /* the caller's, in the guild or in the channel's guild */
    struct channel *channel;
    uint64_t rights; /* the caller's in the channel, else in the guild */
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
struct exchange;  /* net/http/server.h */
struct loop;      /* net/loop.h */
struct multipart; /* net/http/multipart.h */
struct shared_text;
struct voice_fact;

/* The stages of a call, in their order; life.c takes it from one to the next. A stage that
 * nobody asks for is left out, and an error in any of them ends the call with its answer, which
 * is written on the loop. An errand (errand.h) begins with DECODE and has no answer.
 *
 *   stage       where             what it is, and what it may touch
 *   CREDENTIAL  loop, or read tx  route, credential, limits, kind of caller, path's form; the
 *                                 store only for a credential that is not remembered. A long
 *                                 body is read after this, and the credential looked at again
 *   HEAD        read tx           of a service route: resolvers and admit, before a long body is
 *                                 read
 *   RECALL      read tx           for a body that the row's before_decode knows: resolvers, rights,
 *                                 admit, then call->look gives the answer, or call_look_again
 *                                 leads to DECODE
 *   DECODE      loop, or pool     query and body into structs; on the pool when they are long
 *   (prepare)   loop              the row's: checks the body, asks for the four stages below;
 *                                 no transaction
 *   LOOK        read tx           resolvers, rights, admit, then call->look; may set or take
 *                                 back await, hash and compute
 *   AWAIT       loop              call->await asks another server and returns; no transaction,
 *                                 nothing is held. call_resume goes on, once, on this loop
 *   HASH        password threads  call->hash; memory of the call only
 *   COMPUTE     pool              call->compute; memory of the call, files (call_keep_blob)
 *   HANDLE      row's transaction resolvers, rights, admit, what the decoding said, then the
 *                                 row's handle; may run again, and back to LOOK by
 *                                 call_look_again. Commit: announcements leave
 *   (after)     loop              call->after, which the handler may set; then the answer */
enum call_stage {
    STAGE_CREDENTIAL,
    STAGE_HEAD,
    STAGE_RECALL,
    STAGE_DECODE,
    STAGE_LOOK,
    STAGE_AWAIT,
    STAGE_HASH,
    STAGE_COMPUTE,
    STAGE_HANDLE
};

/* What a handler sees of a call. The api keeps the rest around it (struct call_run). */
struct call {
    struct api *api;
    const struct route *route;
    struct arena *arena;
    struct exchange *exchange;     /* net/http/server.h; NULL: an errand */
    const struct multipart *parts; /* what was uploaded; NULL: nothing */
    struct loop *loop;             /* where the call lives */
    struct tx *tx;                 /* inside look and handle */

    const struct caller *caller; /* NULL: nobody, on open routes */
    struct str token;            /* the credential as sent, without its scheme word */
    struct target target;
    const void *query, *body;
    enum err
        decoded; /* the refusal of the body, which counts after the path's; prepare may set it */
    struct form form; /* problems of the body, by field */
    struct buf reply; /* the answer's text so far */

    /* Stages that prepare may ask for; see enum call_stage. */
    enum err (*look)(struct call *call);
    void (*await)(struct call *call);
    enum err (*hash)(struct call *call);
    enum err (*compute)(struct call *call);
    /* What a handler may ask for: when its transaction has committed. */
    void (*after)(struct call *call);
    snowflake files_of; /* whose quota files count for; 0: the caller's */
    bool decides;       /* set by prepare of a route that appends: this call needs more */
    bool alone;         /* the same: it is not done together with others (struct work) */
};

/* The stages of a call pass structs on, each known by its tag. call_pass makes one, all zeros, and
 * replaces the one with the same tag; call_passed returns it, or NULL if there is none.
 *
 *     struct login_attempt *a = call_pass(call, "login_attempt", sizeof *a);
 *     const struct login_attempt *a = call_passed(call, "login_attempt"); */
void *call_pass(struct call *call, const char *type, size_t size);
void *call_passed(const struct call *call, const char *type);

/* Goes on with a call that waits, or ends it with an error; the call may be gone when this
 * returns. */
void call_resume(struct call *call, enum err e);

/* For a handler that finds what look saw changed: the transaction is taken back, and look and
 * what follows it run again, a few times. In RECALL: the body has to be decoded. */
enum err call_look_again(struct call *call);

/* The id of a path parameter by its resolver's name. */
snowflake call_id(const struct call *call, const char *name);
struct str call_text(const struct call *call, const char *name);
/* The version of the interface that the path names: 6 to 10; 10 for a path without one. */
int call_version(const struct call *call);
/* A text parameter that is an id unless it is a word of the handler's own. */
enum err call_text_id(struct call *call, const char *name, snowflake *ret);

/* The account or address whose turn the call takes where many wait for the store; 0: nobody's. */
uint64_t call_owner(const struct call *call);
/* Was the row's prefetch called for the whole group of appending calls? */
bool call_was_prefetched(const struct call *call);

/* For call->look: the path and the rights are all there is to look at. */
enum err call_looked(struct call *call);

/* Answer with an object of the row's reply type. */
enum err call_reply(struct call *call, const void *value);
/* The same written by hand, one JSON value: for answers of many finished pieces. */
struct json call_reply_json(struct call *call);
/* The same with an object of another type (errors that have a shape of their own). */
enum err call_reply_as(struct call *call, const struct type *type, const void *value);
/* Answer with text of another kind, or a file. */
enum err call_reply_text(struct call *call, struct str content_type, struct str text);
/* The same from a buffer, which is cleared. */
enum err call_reply_buf(struct call *call, struct str content_type, struct buf *text);
/* JSON that others hold too; takes the caller's hold. */
enum err call_reply_shared(struct call *call, struct shared_text *text);
/* Bytes that outlive the call, in the coding that a header of the call names. */
enum err call_reply_kept(struct call *call, struct str content_type, struct str bytes);
enum err call_reply_file(struct call *call, struct str content_type, int fd, int64_t size);
/* Opens a blob inside a transaction. What has to be read from the database is not read on a loop:
 * the error that the call ends with has it begin anew elsewhere. */
enum err call_open_blob(struct call *call, const char *name, int *ret_fd, int64_t *ret_size);
/* The same, but only the part that a Range header asks for: 206, or 416. */
enum err call_reply_range(struct call *call, struct str content_type, int fd, int64_t size);
/* Another status than the row's (201 for new, 200 for old). */
void call_set_status(struct call *call, int status);
/* One more line for the answer's head. */
void call_add_header(struct call *call, const char *name, struct str value);

/* Why somebody is refused who lacks these rights where the path leads, all of which or one of which
 * it takes: ERR_MISSING_PERMISSIONS, or ERR_GUILD_MFA_REQUIRED where a second factor would be
 * enough. */
enum err call_lacks(const struct call *call, uint64_t needs);
enum err call_lacks_any(const struct call *call, uint64_t any);

/* Refuse because of one field; more than one call gathers them. */
enum err call_invalid(struct call *call, const char *field, const char *code, const char *message);

/* Announce when the transaction has committed, not before. */
void call_emit(struct call *call, enum event event, struct subject to, const struct schema *schema,
               const void *object);
/* The same to an account, about something in a guild: a sharded bot hears of it there. */
void call_emit_in(struct call *call, enum event event, snowflake user_id, snowflake guild_id,
                  const struct schema *schema, const void *object);
/* The same with an object that is JSON in the call's arena already, of an event without
 * facts. guild_id: where an account's event belongs to, or 0; a sharded bot hears of it where
 * it hears of the guild. */
void call_emit_text(struct call *call, enum event event, struct subject to, snowflake guild_id,
                    struct str json);

/* The same with an object whose JSON was made in an earlier stage, because it is long. */
void call_emit_made(struct call *call, enum event event, struct subject to,
                    const struct schema *schema, const void *object, struct str json);

/* Sends what a call announced that wrote nothing, since no commit sends it. To the sessions of this
 * server only. */
void call_publish(const struct call *call);

/* What carries voice hears of it when the transaction has committed, in the order of commits
 * and before anybody is told. */
void call_note_voice(struct call *call, const struct voice_fact *fact);

/* Count this call, once, against a limit with a key of the handler's own (a login name), beside the
 * route's. ERR_RATE_LIMITED when there is no room; the answer then says how long to wait,
 * and that the route itself has room. */
enum err call_count(struct call *call, const struct limit *limit, struct str key);
/* The same with the limit that matters here: before the transaction. From now on the answer's
 * lines describe it instead of the route's. */
enum err call_limit(struct call *call, const struct limit *limit, struct str key);
/* Takes back what call_count counted. */
void call_uncount(struct call *call, const struct limit *limit, struct str key);

/* Refuse for now: ERR_RATE_LIMITED, and the answer says how long to wait. */
enum err call_wait(struct call *call, int64_t ms);
/* The same where everybody has to wait, not only this caller. */
enum err call_wait_shared(struct call *call, int64_t ms);

/* Keeps a blob, in a compute stage; it goes again when the call fails after all. id and name
 * were never used before. Its bytes count for call->files_of, else for the caller:
 * ERR_UPLOAD_QUOTA at the end of the transaction when there are too many. */
enum err call_keep_blob(struct call *call, snowflake id, const char *name, struct str bytes);
/* In the transaction: the blob is deleted when it has committed. Fine when there is none. */
enum err call_drop_blob(struct call *call, const char *name);
/* The transaction has marked rows of `files` itself. */
void call_dropped_blobs(struct call *call);

/* Drop what is remembered of an account's credential, or of all of them, as soon as
 * the transaction has committed. */
void call_forget_session(struct call *call, snowflake account, const unsigned char session[8]);
void call_forget_account(struct call *call, snowflake id);
/* Of what apps hold of the account; its own sessions go on. */
void call_forget_grants(struct call *call, snowflake id);
/* Of all that an application holds, whoever gave it. */
void call_forget_application(struct call *call, snowflake id);
/* As soon as the transaction has committed, every server refuses these addresses and ends their
 * sessions; or does not any more. */
struct network;
void call_ban_addresses(struct call *call, const struct network *n, bool banned);

/* --- refusals.c ------------------------------------------------------------------------ */

enum refusal_kind { REFUSED_PASSWORD, REFUSED_TOO_MANY };

/* A line of the log with the client's address, unless there are too many; from any thread. */
void call_note_refusal(const struct call *call, enum refusal_kind kind);

#endif
