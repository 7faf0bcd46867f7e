/* rows.c - SQL of log-ins by a QR code. */
#include "platform/accounts/remote_auth/remote_auth.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/accounts/internal.h"

static struct str create_random_secret(struct arena *arena)
{
    unsigned char bytes[32];

    randombytes_buf(bytes, sizeof bytes);
    return str_base64url_encode(arena, bytes, sizeof bytes);
}

static const char DELETE_OLD[] =
    "delete from remote_logins where expires_at <= $1 or fingerprint_digest = $2";
static const char INSERT[] =
    "insert into remote_logins (id, fingerprint_digest, public_key, state, expires_at) "
    "values ($1, $2, $3, 0, $4)";

enum err remote_login_insert(struct tx *tx, snowflake id, struct str public_key,
                             struct str fingerprint)
{
    struct str digest = random_secret_compute_digest(tx_arena(tx), fingerprint);
    int64_t now = clock_us();
    enum err e = tx_exec(tx, DELETE_OLD, BIND(v_int(now), v_text(digest)), NULL);

    return e ? e
             : tx_exec(tx, INSERT,
                       BIND(v_id(id), v_text(digest), v_text(public_key),
                            v_int(now + INT64_C(1000000) * REMOTE_LOGIN_SECONDS)),
                       NULL);
}

/* Selects a row only while the session that scanned the code is logged in: whatever ends that
 * session also ends the log-in by QR code. */
#define FIND                                                                                      \
    "select r.id, r.user_id, r.public_key, r.state from remote_logins r where r.expires_at > $2 " \
    "and (r.token_id is null or exists (select 1 from tokens t where t.id = r.token_id and "      \
    "t.user_id = r.user_id and (t.expires_at is null or t.expires_at > $2))) and "

static void remote_login_from_row(const struct rows *r, void *ret)
{
    *(struct remote_login *)ret = (struct remote_login){
        .id = row_id(r, 0),
        .user_id = row_id(r, 1),
        .public_key = row_text(r, 2),
        .state = row_int(r, 3),
    };
}

enum err remote_login_find(struct tx *tx, snowflake id, struct remote_login *ret, bool *ret_found)
{
    return tx_find_first(tx, FIND "r.id = $1", BIND(v_id(id), v_int(clock_us())),
                         remote_login_from_row, ret, ret_found);
}

enum err remote_login_find_by_ticket(struct tx *tx, struct str ticket, struct remote_login *ret,
                                     bool *ret_found)
{
    return tx_find_first(
        tx, FIND "r.ticket_digest = $1 and r.state = 4",
        BIND(v_text(random_secret_compute_digest(tx_arena(tx), ticket)), v_int(clock_us())),
        remote_login_from_row, ret, ret_found);
}

static const char SCAN[] =
    "update remote_logins set state = 1, user_id = $2, token_id = $3, handshake_digest = $4 "
    "where fingerprint_digest = $1 and state = 0 and expires_at > $5";

enum err remote_login_mark_scanned(struct call *call, struct str fingerprint, struct str *ret_token)
{
    const struct caller *c = call->caller;
    struct str token = create_random_secret(call->arena);
    int64_t changed = 0;
    enum err e =
        tx_exec(call->tx, SCAN,
                BIND(v_text(random_secret_compute_digest(call->arena, fingerprint)), v_id(c->id),
                     v_bytes(str_slice((const char *)c->session, sizeof c->session)),
                     v_text(random_secret_compute_digest(call->arena, token)), v_int(clock_us())),
                &changed);

    *ret_token = changed ? token : (struct str){ 0 };
    return e;
}

static const char DECIDE[] =
    "update remote_logins set state = $2 where handshake_digest = $1 and user_id = $3 and "
    "token_id = $4 and state = 1 and expires_at > $5";

enum err remote_login_confirm_or_cancel(struct call *call, struct str handshake_token,
                                        enum remote_login_state state, bool *ret_found)
{
    const struct caller *c = call->caller;
    int64_t changed = 0;
    enum err e = tx_exec(call->tx, DECIDE,
                         BIND(v_text(random_secret_compute_digest(call->arena, handshake_token)),
                              v_int(state), v_id(c->id),
                              v_bytes(str_slice((const char *)c->session, sizeof c->session)),
                              v_int(clock_us())),
                         &changed);

    *ret_found = changed > 0;
    return e;
}

static const char ISSUE[] =
    "update remote_logins set state = 4, ticket_digest = $2 where id = $1 and state = 2";

enum err remote_login_issue_ticket(struct tx *tx, snowflake id, struct str *ret_ticket)
{
    struct str ticket = create_random_secret(tx_arena(tx));
    int64_t changed = 0;
    enum err e = tx_exec(tx, ISSUE,
                         BIND(v_id(id), v_text(random_secret_compute_digest(tx_arena(tx), ticket))),
                         &changed);

    *ret_ticket = changed ? ticket : (struct str){ 0 };
    return e;
}

enum err remote_login_delete(struct tx *tx, snowflake id, bool *ret_deleted)
{
    int64_t changed = 0;
    enum err e = tx_exec(tx, "delete from remote_logins where id = $1", BIND(v_id(id)), &changed);

    *ret_deleted = changed > 0;
    return e;
}
