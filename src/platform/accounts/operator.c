/* operator.c - operator actions on accounts: issue tokens, disable, enable, revoke, delete. */
#include "platform/accounts/operator.h"

#include "api/hooks.h"
#include "base/clock.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/mfa.h"

struct operator_token_request {
    struct auth *auth;
    struct arena *arena;
    struct str username;
    struct str *ret;
};

static const char FIND_PERSON[] = "select id from users where username = $1 and bot = 0";

static enum err issue_operator_token(struct tx *tx, void *arg)
{
    const struct operator_token_request *w = arg;
    struct rows row;
    struct str token;
    enum err e = tx_one_or(tx, FIND_PERSON, BIND(v_text(w->username)), ERR_UNKNOWN_USER, &row);

    if (e)
        return e;
    struct token_to_issue grant = {
        .user_id = row_id(&row, 0),
        .kind = CALLER_USER,
        .scopes = STR(""),
        .expires_at = clock_us() + (int64_t)OPERATOR_TOKEN_S * 1000 * 1000,
        .client = STR("guildhall"),
    };
    e = auth_issue_token(w->auth, tx, &grant, &token);
    if (!e)
        *w->ret = str_dup(w->arena, token);
    return e;
}

enum err issue_token_for_operator(struct store *store, struct auth *auth, struct str username,
                                  struct arena *arena, struct str *ret)
{
    struct operator_token_request w = { auth, arena, username, ret };

    return store_run_transaction_and_wait(store, STORE_WRITE, NULL, issue_operator_token, &w);
}

/* --- actions on an account ----------------------------------------------------------- */

static const char REVOKE[] = "delete from tokens where user_id = $1";

/* Revokes all tokens. hook_account_revoked also deletes OAuth2 codes that apps have not yet
 * exchanged for tokens. */
enum err account_revoke_tokens(struct call *call, snowflake id)
{
    call_revoke_account_tokens(call, id);
    enum err e = tx_exec(call->tx, REVOKE, BIND(v_id(id)), NULL);
    if (!e)
        e = placeholder_account_delete_claim_code(call->tx, id);
    return e ? e : hook_account_revoked(call, id);
}

static const char SET_DISABLED[] = "update users set disabled = $2 where id = $1";

enum err account_set_disabled(struct call *call, const struct user *u, bool disabled)
{
    enum err e = tx_exec(call->tx, SET_DISABLED, BIND(v_id(u->id), v_int(disabled)), NULL);

    call_revoke_account_tokens(call, u->id);
    return e || !disabled || u->bot.value ? e : account_revoke_tokens(call, u->id);
}

/* Disables an account at its owner's request. Does not change an account that the operator
 * disabled (disabled = 1), because otherwise its owner could enable it again. */
static const char PAUSE[] = "update users set disabled = $2 where id = $1 and disabled = 0";

enum err account_disable_by_owner(struct call *call, const struct user *u)
{
    int64_t paused = 0;
    enum err e = tx_exec(call->tx, PAUSE, BIND(v_id(u->id), v_int(ACCOUNT_PAUSED)), &paused);

    if (!e && !paused)
        e = ERR_ACCOUNT_DISABLED;
    return e ? e : account_revoke_tokens(call, u->id);
}

static const char SET_PASSWORD[] = "update users set password_hash = $2 where id = $1";

enum err account_set_password(struct call *call, snowflake id, struct str hash)
{
    enum err e = tx_exec(call->tx, SET_PASSWORD, BIND(v_id(id), v_text(hash)), NULL);

    if (!e)
        e = known_login_addresses_delete(call, id);
    if (!e)
        e = placeholder_account_make_ordinary(call->tx, id);
    return e ? e : account_revoke_tokens(call, id);
}

enum err account_remove_mfa(struct call *call, struct user *u)
{
    enum err e = mfa_settings_remove(call, u->id);

    if (e)
        return e;
    u->mfa_enabled = false;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(u->id), &current_user_schema, u);
    return OK;
}

static const char SET_PREMIUM[] = "update users set premium_type = $2 where id = $1";

enum err account_set_premium(struct call *call, struct user *u, int64_t type)
{
    enum err e = tx_exec(call->tx, SET_PREMIUM, BIND(v_id(u->id), v_int(type)), NULL);

    if (e)
        return e;
    u->premium_type = type;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(u->id), &current_user_schema, u);
    return OK;
}
