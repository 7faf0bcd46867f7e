/* rows.c - SQL of authorization codes, authorizations and their tokens. */
#include "platform/oauth2/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"

/* --- codes ---------------------------------------------------------------------------- */

static const char DELETE_EXPIRED_CODES[] = "delete from authorization_codes where expires_at <= $1";
static const char ADD_CODE[] =
    "insert into authorization_codes (digest, user_id, application_id, redirect_uri, scopes, "
    "integration_type, guild_id, permissions, pending, expires_at, challenge, nonce, "
    "webhook_channel_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

enum err authorization_code_insert(struct tx *tx, struct str digest,
                                   const struct authorization_code *c)
{
    enum err e = tx_exec(tx, DELETE_EXPIRED_CODES, BIND(v_int(clock_us())), NULL);

    if (e)
        return e;
    return tx_exec(tx, ADD_CODE,
                   BIND(v_bytes(digest), v_id(c->user_id), v_id(c->application_id),
                        v_text(c->redirect_uri), v_text(c->scopes), v_int(c->integration_type),
                        c->guild_id ? v_id(c->guild_id) : v_null(), v_int((int64_t)c->permissions),
                        v_int(c->pending), v_int(c->expires_at),
                        c->challenge.p ? v_text(c->challenge) : v_null(),
                        c->nonce.p ? v_text(c->nonce) : v_null(),
                        c->webhook_channel_id ? v_id(c->webhook_channel_id) : v_null()),
                   NULL);
}

static const char FIND_CODE[] =
    "select user_id, application_id, redirect_uri, scopes, integration_type, "
    "coalesce(guild_id, 0), permissions, pending, expires_at, challenge, used, nonce, "
    "coalesce(webhook_channel_id, 0), coalesce(webhook_id, 0) from authorization_codes where digest = $1";

enum err authorization_code_find(struct tx *tx, struct str digest, struct authorization_code *ret,
                                 bool *found)
{
    struct rows row;
    enum err e = tx_one(tx, FIND_CODE, BIND(v_bytes(digest)), &row, found);

    if (e || !*found)
        return e;
    *ret = (struct authorization_code){
        .user_id = row_id(&row, 0),
        .application_id = row_id(&row, 1),
        .redirect_uri = row_text(&row, 2),
        .scopes = row_text(&row, 3),
        .integration_type = row_int(&row, 4),
        .guild_id = row_id(&row, 5),
        .permissions = (uint64_t)row_int(&row, 6),
        .pending = row_bool(&row, 7),
        .expires_at = row_int(&row, 8),
        .challenge = row_column_is_null(&row, 9) ? (struct str){ 0 } : row_text(&row, 9),
        .used = row_bool(&row, 10),
        .nonce = row_column_is_null(&row, 11) ? (struct str){ 0 } : row_text(&row, 11),
        .webhook_channel_id = row_id(&row, 12),
        .webhook_id = row_id(&row, 13),
    };
    return OK;
}

static const char MARK_USED[] = "update authorization_codes set used = 1 where digest = $1";

enum err authorization_code_mark_used(struct tx *tx, struct str digest)
{
    return tx_exec(tx, MARK_USED, BIND(v_bytes(digest)), NULL);
}

static const char RECORD_WEBHOOK[] =
    "update authorization_codes set webhook_id = $2 where digest = $1";

enum err authorization_code_record_webhook(struct tx *tx, struct str digest, snowflake webhook_id)
{
    return tx_exec(tx, RECORD_WEBHOOK, BIND(v_bytes(digest), v_id(webhook_id)), NULL);
}

/* --- authorizations ------------------------------------------------------------------- */

#define AUTHORIZATION_COLUMNS "id, user_id, application_id, scopes, installed"

static void authorization_from_row(const struct rows *r, void *ret)
{
    struct oauth2_authorization *a = ret;

    struct oauth2_scopes scopes;

    oauth2_scopes_parse(tx_arena(r->tx), row_text(r, 3), &scopes);
    *a = (struct oauth2_authorization){
        .id = row_id(r, 0),
        .user_id = row_id(r, 1),
        .application_id = row_id(r, 2),
        .scopes = scopes.list,
        .installed = row_bool(r, 4),
    };
}

static const char AUTHORIZATION_OF[] =
    "select " AUTHORIZATION_COLUMNS " from authorizations where user_id = $1 and "
    "application_id = $2";

enum err oauth2_authorization_find_of_user(struct tx *tx, snowflake user_id,
                                           snowflake application_id,
                                           struct oauth2_authorization *ret, bool *ret_found)
{
    return tx_find_first(tx, AUTHORIZATION_OF, BIND(v_id(user_id), v_id(application_id)),
                         authorization_from_row, ret, ret_found);
}

static const char FIND_AUTHORIZATION[] =
    "select " AUTHORIZATION_COLUMNS " from authorizations where id = $1 and user_id = $2";

enum err oauth2_authorization_find(struct tx *tx, snowflake id, snowflake user_id,
                                   struct oauth2_authorization *ret)
{
    return tx_read_first(tx, FIND_AUTHORIZATION, BIND(v_id(id), v_id(user_id)),
                         authorization_from_row, ret, ERR_UNKNOWN_TOKEN);
}

static const char AUTHORIZATIONS_OF[] =
    "select " AUTHORIZATION_COLUMNS
    " from authorizations where user_id = $1 and application_id in (select id from applications "
    "where removed = 0) order by created_at desc, id desc";

enum err oauth2_authorizations_read_of_user(struct tx *tx, snowflake user_id, struct list *ret)
{
    struct arena *arena = tx_arena(tx);

    *ret = (struct list){ 0 };
    enum err e = tx_read_list(tx, AUTHORIZATIONS_OF, BIND(v_id(user_id)),
                              sizeof(struct oauth2_authorization), authorization_from_row, ret);
    for (size_t i = 0; i < ret->count && !e; i++) {
        struct oauth2_authorization *a = (struct oauth2_authorization *)ret->items + i;
        struct application *application = arena_alloc(arena, sizeof *application);

        e = application_find(tx, a->application_id, application);
        a->application = application;
    }
    return e;
}

static const char ADD_AUTHORIZATION[] =
    "insert into authorizations (id, user_id, application_id, scopes, installed, created_at) "
    "values ($1, $2, $3, $4, $5, $6)";
static const char SAVE_AUTHORIZATION[] =
    "update authorizations set scopes = $2, installed = $3, created_at = $4 where id = $1";

static enum err save_authorization(struct tx *tx, const struct oauth2_authorization *old,
                                   const struct account_app_installation *who,
                                   const struct oauth2_scopes *scopes, bool installed)
{
    if (!old)
        return tx_exec(tx, ADD_AUTHORIZATION,
                       BIND(v_id(snowflake_new()), v_id(who->user_id), v_id(who->application_id),
                            v_text(scopes->text), v_int(installed), v_int(clock_us())),
                       NULL);
    struct oauth2_scopes all =
        oauth2_scopes_union(tx_arena(tx), &(struct oauth2_scopes){ .list = old->scopes }, scopes);
    return tx_exec(tx, SAVE_AUTHORIZATION,
                   BIND(v_id(old->id), v_text(all.text), v_int(old->installed || installed),
                        v_int(clock_us())),
                   NULL);
}

enum err oauth2_authorization_add_scopes(struct call *call,
                                         const struct account_app_installation *who,
                                         const struct oauth2_scopes *scopes, bool installed)
{
    struct oauth2_authorization old;
    bool found;
    enum err e = oauth2_authorization_find_of_user(call->tx, who->user_id, who->application_id,
                                                   &old, &found);

    if (!e)
        e = save_authorization(call->tx, found ? &old : NULL, who, scopes, installed);
    return e || !installed || (found && old.installed) ? e : hook_account_app_changing(call, who);
}

static const char DELETE_AUTHORIZATION[] = "delete from authorizations where id = $1";

enum err oauth2_authorization_delete(struct call *call, const struct oauth2_authorization *a)
{
    struct account_app_installation who = { a->user_id, a->application_id };
    enum err e = a->installed ? hook_account_app_changing(call, &who) : OK;

    return e ? e : tx_exec(call->tx, DELETE_AUTHORIZATION, BIND(v_id(a->id)), NULL);
}

/* --- tokens --------------------------------------------------------------------------- */

static const char DELETE_TOKENS[] =
    "delete from tokens where user_id = $1 and application_id = $2 and kind in (3, 4)";
static const char DELETE_CODES[] =
    "delete from authorization_codes where user_id = $1 and application_id = $2";

enum err revoke_oauth2_tokens_of_application(struct call *call, snowflake user_id,
                                             snowflake application_id)
{
    enum err e = tx_exec(call->tx, DELETE_TOKENS, BIND(v_id(user_id), v_id(application_id)), NULL);

    call_revoke_oauth2_tokens(call, user_id);
    return e ? e : tx_exec(call->tx, DELETE_CODES, BIND(v_id(user_id), v_id(application_id)), NULL);
}

static const char DELETE_TOKENS_OF_CODE[] = "delete from tokens where code_digest = $1";

enum err revoke_oauth2_tokens_of_code(struct call *call, snowflake user_id, struct str digest)
{
    call_revoke_oauth2_tokens(call, user_id);
    return tx_exec(call->tx, DELETE_TOKENS_OF_CODE, BIND(v_bytes(digest)), NULL);
}

static const char TOKEN_CODE[] = "select code_digest from tokens where id = $1";

enum err oauth2_token_read_code_digest(struct tx *tx, const unsigned char session[8],
                                       struct str *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, TOKEN_CODE, BIND(v_bytes(str_slice((const char *)session, 8))), &row, &found);

    *ret = !e && found && !row_column_is_null(&row, 0) ? row_bytes(&row, 0) : (struct str){ 0 };
    return e;
}

static const char TOKEN_SCOPES[] = "select scopes from tokens where id = $1";

enum err oauth2_token_read_scopes(struct tx *tx, const unsigned char session[8], struct str *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, TOKEN_SCOPES, BIND(v_bytes(str_slice((const char *)session, 8))),
                           ERR_UNAUTHORIZED, &row);

    if (e)
        return e;
    *ret = row_text(&row, 0);
    return OK;
}

static const char DELETE_EXPIRED[] =
    "delete from tokens where user_id = $1 and application_id = $2 "
    "and kind = 3 and expires_at <= $3";

enum err delete_expired_oauth2_tokens(struct tx *tx, snowflake user_id, snowflake application_id)
{
    return tx_exec(tx, DELETE_EXPIRED, BIND(v_id(user_id), v_id(application_id), v_int(clock_us())),
                   NULL);
}
