/* operator.c - how the operator's own tools come in as anybody. */
#include "platform/accounts/operator.h"

#include <inttypes.h>
#include <sodium.h>

#include "api/jobs.h"
#include "base/clock.h"
#include "platform/accounts/internal.h"

void operator_proof(const struct auth *auth, const struct operator_claim *claim,
                    char out[OPERATOR_PROOF + 1])
{
    struct arena *arena = arena_new();
    unsigned char bytes[OPERATOR_PROOF / 2];

    /* The nonce has one length, so nobody can move its end into the name. */
    auth_derive(auth, "operator", (snowflake)claim->at,
                STR_CONCAT(arena, claim->nonce, claim->username), bytes, sizeof bytes);
    sodium_bin2hex(out, OPERATOR_PROOF + 1, bytes, sizeof bytes);
    arena_free(arena);
}

struct operator_login {
    struct operator_claim claim; /* first: its rows hold for it too */
    struct str proof;
};
static const struct type type_nonce = { .kind = KIND_STRING,
                                        .min = OPERATOR_NONCE,
                                        .max = OPERATOR_NONCE };
static const struct field login_fields[] = {
    { FIELD(struct operator_claim, username), .type = &type_username },
    { FIELD(struct operator_claim, nonce), .type = &type_nonce, .doc = "Never the same twice" },
    { FIELD(struct operator_claim, at), .type = &type_count, .doc = "Seconds since 1970" },
    { FIELD(struct operator_login, proof), .type = &type_text,
      .doc = "Follows from these and the server's key file" },
    { 0 },
};
static const struct schema login_schema = {
    .name = "OperatorLogin",
    .size = sizeof(struct operator_login),
    .fields = login_fields,
    .doc = "Somebody who has the server's key file.",
};
static const struct type operator_body = { .kind = KIND_OBJECT, .schema = &login_schema };

struct operator_reply {
    snowflake user_id;
    struct str token;
};
static const struct field reply_fields[] = {
    { FIELD(struct operator_reply, user_id), .type = &type_id },
    { FIELD(struct operator_reply, token), .type = &type_text },
    { 0 },
};
static const struct schema reply_schema = {
    .name = "OperatorReply",
    .size = sizeof(struct operator_reply),
    .fields = reply_fields,
    .doc = "A token of an account.",
};
static const struct type operator_reply_type = { .kind = KIND_OBJECT, .schema = &reply_schema };

/* --- proofs ------------------------------------------------------------------------- */

static bool is_proof(struct call *call, const struct operator_login *in)
{
    int64_t age = clock_s() - in->claim.at;
    char good[OPERATOR_PROOF + 1];

    operator_proof(api_options(call->api)->auth, &in->claim, good);
    return in->proof.n == OPERATOR_PROOF && sodium_memcmp(in->proof.p, good, OPERATOR_PROOF) == 0 &&
           age <= OPERATOR_WINDOW_S && age >= -OPERATOR_WINDOW_S;
}

static const char EXPIRED[] = "select id from tokens where user_id = $1 and kind = 1 and "
                              "expires_at is not null and expires_at <= $2";
static const char DROP_EXPIRED[] = "delete from tokens where user_id = $1 and kind = 1 and "
                                   "expires_at is not null and expires_at <= $2";

/* The proof was remembered for longer than it was good. What it gave is over now, with the
 * connections that were opened with it. */
static enum err end_tokens(struct call *call, const struct job *job)
{
    int64_t now = clock_us();
    snowflake user_id;
    struct rows rows;

    if (!snowflake_parse(job->data, &user_id))
        return OK;
    enum err e = tx_query(call->tx, EXPIRED, BIND(v_id(user_id), v_int(now)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        unsigned char session[8];

        memcpy(session, row_bytes(&rows, 0).p, sizeof session);
        call_forget_session(call, session);
    }
    e = rows_end(&rows);
    return e ? e : tx_exec(call->tx, DROP_EXPIRED, BIND(v_id(user_id), v_int(now)), NULL);
}

static const struct job_kind used_proofs = {
    .name = "operator_proofs",
    .doc = "Ends what operators' tools were given, and forgets for which proof.",
    .run = end_tokens,
};

/* Remembers a good proof; in the store, so for all servers on it, and after a restart. */
static enum err use_proof(struct call *call, struct str proof, snowflake user_id, int64_t until)
{
    unsigned char digest[sizeof(snowflake)];
    snowflake key;
    bool first;

    /* Not the proof itself: nothing that lets anybody in lies in the store. */
    crypto_generichash(digest, sizeof digest, (const unsigned char *)proof.p, proof.n, NULL, 0);
    memcpy(&key, digest, sizeof key);
    enum err e = job_add(call, &used_proofs, key >> 1, until,
                         str_printf(call->arena, "%" PRIu64, user_id), &first);
    return e || first ? e : ERR_UNAUTHORIZED;
}

/* --- the route ---------------------------------------------------------------------- */

static const char FIND_PERSON[] = "select id from users where username = $1 and bot = 0";

/* POST /auth/operator: a token of anybody's, for who has the key file. */
static enum err log_in_as_operator(struct call *call)
{
    const struct operator_login *in = call->body;
    int64_t until = clock_us() + OPERATOR_TOKEN_S * INT64_C(1000000);
    struct operator_reply out = { 0 };
    struct rows row;
    bool found;

    if (!is_proof(call, in))
        return ERR_UNAUTHORIZED;
    enum err e = tx_one(call->tx, FIND_PERSON, BIND(v_text(in->claim.username)), &row, &found);
    if (e || !found)
        return e ? e : ERR_UNKNOWN_USER;
    out.user_id = row_id(&row, 0);
    e = use_proof(call, in->proof, out.user_id, until);
    if (e)
        return e;
    struct token_grant grant = {
        .user_id = out.user_id,
        .kind = CALLER_USER,
        .scopes = STR(""),
        .expires_at = until,
        .client = STR("guildhall"),
    };
    e = auth_issue(api_options(call->api)->auth, call->tx, &grant, &out.token);
    return e ? e : call_reply(call, &out);
}

/* A test suite may run the tool again and again; a proof cannot be guessed anyway. */
static const struct limit limit_operator = {
    .name = "operator", .count = 100, .window_s = 10, .by_address = true
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/auth/operator",
        .name = "log_in_as_operator",
        .doc = "A token of any account for 15 minutes, for tools that can read the server's key "
               "file.",
        .auth = AUTH_OPEN,
        .body = &operator_body,
        .reply = &operator_reply_type,
        .limit = &limit_operator,
        .handle = log_in_as_operator,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &used_proofs, NULL };

const struct domain operator_domain = {
    .name = "Operator",
    .doc = "What the server's own tools use.",
    .routes = routes,
    .jobs = jobs,
};
