/* operator.c - how the operator's own tools come in as anybody. */
#include "platform/accounts/operator.h"

#include <sodium.h>

#include "base/clock.h"
#include "platform/accounts/internal.h"

void operator_proof(const struct auth *auth, struct str username, int64_t at,
                    char out[OPERATOR_PROOF + 1])
{
    unsigned char bytes[OPERATOR_PROOF / 2];

    auth_derive(auth, "operator", (snowflake)at, username, bytes, sizeof bytes);
    sodium_bin2hex(out, OPERATOR_PROOF + 1, bytes, sizeof bytes);
}

struct operator_login {
    struct str username, proof;
    int64_t at;
};
static const struct field login_fields[] = {
    { FIELD(struct operator_login, username), .type = &type_username },
    { FIELD(struct operator_login, at), .type = &type_count, .doc = "Seconds since 1970" },
    { FIELD(struct operator_login, proof), .type = &type_text,
      .doc = "Follows from both and the server's key file" },
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

static bool is_proof(struct call *call, const struct operator_login *in)
{
    int64_t age = clock_s() - in->at;
    char good[OPERATOR_PROOF + 1];

    operator_proof(api_options(call->api)->auth, in->username, in->at, good);
    return in->proof.n == OPERATOR_PROOF && sodium_memcmp(in->proof.p, good, OPERATOR_PROOF) == 0 &&
           age <= OPERATOR_WINDOW_S && age >= -OPERATOR_WINDOW_S;
}

static const char FIND_PERSON[] = "select id from users where username = $1 and bot = 0";

/* POST /auth/operator: a token of anybody's, for who has the key file. */
static enum err log_in_as_operator(struct call *call)
{
    const struct operator_login *in = call->body;
    struct operator_reply out = { 0 };
    struct rows row;
    bool found;

    if (!is_proof(call, in))
        return ERR_UNAUTHORIZED;
    enum err e = tx_one(call->tx, FIND_PERSON, BIND(v_text(in->username)), &row, &found);
    if (e || !found)
        return e ? e : ERR_UNKNOWN_USER;
    out.user_id = row_id(&row, 0);
    struct token_grant grant = {
        .user_id = out.user_id,
        .kind = CALLER_USER,
        .scopes = STR(""),
        .client = STR("guildhall"),
    };
    e = auth_issue(api_options(call->api)->auth, call->tx, &grant, &out.token);
    return e ? e : call_reply(call, &out);
}

static const struct limit limit_operator = {
    .name = "operator", .count = 100, .window_s = 10, .by_address = true
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/auth/operator",
        .name = "log_in_as_operator",
        .doc = "A token of any account, for tools that can read the server's key file.",
        .auth = AUTH_OPEN,
        .body = &operator_body,
        .reply = &operator_reply_type,
        .limit = &limit_operator,
        .handle = log_in_as_operator,
    },
    { 0 },
};

const struct domain operator_domain = {
    .name = "Operator",
    .doc = "What the server's own tools use.",
    .routes = routes,
};
