/* operator.c - how the operator's own tools come in as anybody. */
#include "platform/accounts/operator.h"

#include "base/clock.h"
#include "platform/accounts/internal.h"

struct account_request {
    struct auth *auth;
    struct arena *arena;
    struct str username;
    struct str *ret;
};

static const char FIND_PERSON[] = "select id from users where username = $1 and bot = 0";

static enum err operator_give(struct tx *tx, void *arg)
{
    const struct account_request *w = arg;
    struct rows row;
    struct str token;
    bool found;
    enum err e = tx_one(tx, FIND_PERSON, BIND(v_text(w->username)), &row, &found);

    if (e || !found)
        return e ? e : ERR_UNKNOWN_USER;
    struct token_grant grant = {
        .user_id = row_id(&row, 0),
        .kind = CALLER_USER,
        .scopes = STR(""),
        .expires_at = clock_us() + (int64_t)OPERATOR_TOKEN_S * 1000 * 1000,
        .client = STR("guildhall"),
    };
    e = auth_issue(w->auth, tx, &grant, &token);
    if (!e)
        *w->ret = str_dup(w->arena, token);
    return e;
}

enum err operator_token(struct store *store, struct auth *auth, struct str username,
                        struct arena *arena, struct str *ret)
{
    struct account_request w = { auth, arena, username, ret };

    return store_run(store, STORE_WRITE, NULL, operator_give, &w);
}
