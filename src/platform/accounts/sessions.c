/* sessions.c - lists and ends the log-in sessions (tokens) of an account. */
#include "platform/accounts/internal.h"

#include "base/clock.h"
#include "model/login_ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/mail/mailed_links.h"
#include "platform/accounts/mfa/mfa.h"

struct client_info {
    struct opt_str os, platform, location;
};
struct login_session {
    unsigned char token[8];
    struct str id_hash;
    int64_t approx_last_used_time, last_seen; /* the same time, with two names */
    const struct client_info *client_info;
};
struct session_list {
    struct list user_sessions;
};
struct session_logout {
    struct list session_id_hashes; /* struct str */
    struct opt_str password, code;
};

static const struct field client_info_fields[] = {
    { FIELD(struct client_info, os), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct client_info, platform), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct client_info, location), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema client_info_schema = {
    .name = "SessionClient",
    .size = sizeof(struct client_info),
    .fields = client_info_fields,
    .doc = "The client that started the session.",
};
static const struct type type_client_info = { .kind = KIND_OBJECT, .schema = &client_info_schema };

static const struct field session_fields[] = {
    { FIELD(struct login_session, id_hash), .type = &type_text },
    { FIELD(struct login_session, approx_last_used_time), .type = &type_time },
    { FIELD(struct login_session, last_seen), .type = &type_time,
      .doc = "The same, for Spacebar's clients" },
    { FIELD(struct login_session, client_info), .type = &type_client_info },
    { 0 },
};
static const struct schema session_schema = {
    .name = "AuthSession",
    .size = sizeof(struct login_session),
    .fields = session_fields,
    .doc = "A login session of the account.",
};
static const struct type type_session = { .kind = KIND_OBJECT, .schema = &session_schema };
static const struct type type_sessions = { .kind = KIND_ARRAY, .of = &type_session };

static const struct field session_list_fields[] = {
    { FIELD(struct session_list, user_sessions), .type = &type_sessions },
    { 0 },
};
static const struct schema session_list_schema = {
    .name = "AuthSessions",
    .size = sizeof(struct session_list),
    .fields = session_list_fields,
    .doc = "The login sessions of the account.",
};
const struct type session_list_reply = { .kind = KIND_OBJECT, .schema = &session_list_schema };

static const struct type type_hashes = {
    .kind = KIND_ARRAY, .of = &type_text, .min = 1, .max = 1000
};
static const struct field session_logout_fields[] = {
    { FIELD(struct session_logout, session_id_hashes), .type = &type_hashes },
    { FIELD(struct session_logout, password), .type = &type_entered_password,
      .flags = OPTIONAL | NULLABLE, .doc = "Proof of an account without a second factor" },
    { FIELD(struct session_logout, code), .type = &type_mfa_code, .flags = OPTIONAL | NULLABLE,
      .doc = "Proof of an account with a second factor" },
    { 0 },
};
static const struct schema session_logout_schema = {
    .name = "AuthSessionLogout",
    .size = sizeof(struct session_logout),
    .fields = session_logout_fields,
    .doc = "Which sessions to end.",
};
const struct type session_logout_body = { .kind = KIND_OBJECT, .schema = &session_logout_schema };

static void login_session_from_row(const struct rows *r, void *ret)
{
    struct login_session *s = ret;
    struct arena *arena = tx_arena(r->tx);
    struct client_info *info = arena_alloc(arena, sizeof *info);
    char hash[LOGIN_HASH_SIZE];

    info->platform = row_optional_text(r, 2);
    memcpy(s->token, row_bytes(r, 0).p, sizeof s->token);
    login_session_write_public_ids(s->token, NULL, hash);
    s->id_hash = str_dup(arena, str_of(hash));
    s->approx_last_used_time = s->last_seen = row_int(r, 1);
    s->client_info = info;
}

static const char SESSIONS_OF[] =
    "select id, coalesce(last_used_at, created_at), client from tokens where user_id = $1 and "
    "kind = 1 and (expires_at is null or expires_at > $2) order by created_at, id";

static enum err list_login_sessions(struct tx *tx, snowflake user_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, SESSIONS_OF, BIND(v_id(user_id), v_int(clock_us())),
                        sizeof(struct login_session), login_session_from_row, ret);
}

enum err get_login_sessions(struct call *call)
{
    struct session_list out;
    enum err e = list_login_sessions(call->tx, call->caller->id, &out.user_sessions);

    return e ? e : call_reply_with_object(call, &out);
}

static bool session_hash_is_in_list(const struct list *hashes, struct str hash)
{
    const struct str *items = hashes->items;

    for (size_t i = 0; i < hashes->count; i++)
        if (str_eq(items[i], hash))
            return true;
    return false;
}

enum err require_proof_to_end_login_sessions(struct call *call)
{
    const struct session_logout *in = call->body;

    return require_identity_proof(call, &in->password, &in->code);
}

enum err end_other_login_sessions(struct call *call)
{
    const struct caller *c = call->caller;
    struct list all;
    enum err e = list_login_sessions(call->tx, c->id, &all);
    const struct login_session *s = all.items;

    for (size_t i = 0; !e && i < all.count; i++) {
        if (memcmp(s[i].token, c->session, sizeof c->session) == 0)
            continue;
        call_revoke_session_token(call, c->id, s[i].token);
        e = auth_delete_token(call->tx, s[i].token);
    }
    if (!e)
        e = mailed_links_invalidate(call, c->id, LINK_RESET);
    if (!e)
        e = known_login_addresses_delete(call, c->id);
    return e ? e : known_login_address_save(call, c->id);
}

/* Needs a proof of identity, because the thief of a token must not be able to log the owner out. */
enum err log_out_login_sessions(struct call *call)
{
    const struct session_logout *in = call->body;
    struct list all;
    struct user user;
    bool verified;
    enum err e = check_caller_identity(call, &user, &verified);

    if (e || !verified)
        return e;
    e = list_login_sessions(call->tx, user.id, &all);
    const struct login_session *s = all.items;

    for (size_t i = 0; !e && i < all.count; i++) {
        if (!session_hash_is_in_list(&in->session_id_hashes, s[i].id_hash))
            continue;
        call_revoke_session_token(call, call->caller->id, s[i].token);
        e = auth_delete_token(call->tx, s[i].token);
    }
    return e;
}
