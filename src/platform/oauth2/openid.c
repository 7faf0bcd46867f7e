/* openid.c - OpenID Connect: with the scope openid, a code exchange also returns an id token. It is
 * signed with a key whose public part /oauth2/keys publishes. The thread pool creates the key at
 * the first request. The database stores it encrypted, so that all nodes use the same key. */
#include "platform/oauth2/internal.h"

#include <sodium.h>

#include "api/auth/secret_encryption.h"
#include "base/clock.h"
#include "platform/oauth2/signing.h"

enum { ID_TOKEN_SECONDS = 3600, THE_KEY = 1, MOST_CLAIMS = 16 * 1024 };

static const char SECRET_WORD[] = "signing key";

/* --- the key -------------------------------------------------------------------------- */

static const char FIND_KEY[] = "select kid, modulus, exponent, secret from signing_keys";
static const char ADD_KEY[] =
    "insert into signing_keys (id, kid, modulus, exponent, secret) values ($1, $2, $3, $4, $5) "
    "on conflict do nothing";

/* Reads the signing key. Its member .secret is still encrypted. */
static enum err read_signing_key(struct tx *tx, struct signing_key *ret, bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, FIND_KEY, NO_BIND, &row, ret_found);

    if (!e && *ret_found)
        *ret = (struct signing_key){ row_text(&row, 0), row_text(&row, 1), row_text(&row, 2),
                                     row_bytes(&row, 3) };
    return e;
}

static enum err create_signing_key(struct call *call)
{
    struct signing_key *key = call_store_stage_data(call, "signing_key", sizeof *key);

    return openid_signing_key_new(call->arena, key) ? OK : ERR_INTERNAL;
}

static enum err request_signing_key_if_missing(struct call *call)
{
    struct signing_key key;
    bool found;
    enum err e = read_signing_key(call->tx, &key, &found);

    if (!e && !found)
        call->compute = create_signing_key;
    return e;
}

enum err schedule_signing_key_creation(struct call *call)
{
    const struct oauth2_authorize_query *q = call->query;
    struct oauth2_scopes scopes;

    if (oauth2_scopes_parse(call->arena, q->scope, &scopes) &&
        oauth2_scopes_contain(&scopes, "openid"))
        call->read = request_signing_key_if_missing;
    return OK;
}

/* Stores the new signing key. If another node has inserted a key since the read stage, uses the key
 * of that node. */
enum err openid_store_signing_key(struct call *call)
{
    const struct signing_key *key = call_get_stage_data(call, "signing_key");

    if (!key)
        return OK;
    struct str sealed = encrypt_secret(call->arena, api_get_options(call->api)->auth, SECRET_WORD,
                                       THE_KEY, key->secret);
    return tx_exec(call->tx, ADD_KEY,
                   BIND(v_id(THE_KEY), v_text(key->kid), v_text(key->modulus),
                        v_text(key->exponent), v_bytes(sealed)),
                   NULL);
}

/* --- id tokens ------------------------------------------------------------------------ */

static struct str encode_id_token_claims(struct call *call, snowflake user_id,
                                         snowflake application_id, struct str nonce)
{
    int64_t now = clock_s();
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MOST_CLAIMS);
    json_begin_object(&j);
    json_write_name(&j, "iss");
    json_write_text(&j, api_get_base_url(call, "http"));
    json_write_name(&j, "sub");
    json_write_id(&j, user_id);
    json_write_name(&j, "aud");
    json_write_id(&j, application_id);
    json_write_name(&j, "iat");
    json_write_int(&j, now);
    json_write_name(&j, "exp");
    json_write_int(&j, now + ID_TOKEN_SECONDS);
    if (nonce.p) {
        json_write_name(&j, "nonce");
        json_write_text(&j, nonce);
    }
    json_end_object(&j);
    return buf_move_to_arena(&out, call->arena);
}

/* Data of an id token: the read stage writes it, then the thread pool signs the token, then the
 * handler uses it. */
struct id_token_request {
    snowflake user_id, application_id;
    struct str nonce, token;
    struct signing_key key;
};

static enum err sign_id_token(struct call *call)
{
    struct id_token_request *p = call_get_stage_data(call, "id_token_request");

    p->key.secret = decrypt_secret(call->arena, api_get_options(call->api)->auth, SECRET_WORD,
                                   THE_KEY, p->key.secret);
    p->token = jwt_sign(call->arena, &p->key,
                        encode_id_token_claims(call, p->user_id, p->application_id, p->nonce));
    sodium_memzero((void *)(uintptr_t)p->key.secret.p, p->key.secret.n);
    return p->token.p ? OK : ERR_INTERNAL;
}

enum err openid_sign_id_token_in_compute_stage(struct call *call, snowflake user_id,
                                               snowflake application_id, struct str nonce)
{
    struct signing_key key;
    bool found;
    enum err e = read_signing_key(call->tx, &key, &found);

    if (e || !found)
        return e ? e : ERR_INTERNAL; /* not expected: granting the scope openid created a key */
    struct id_token_request *p = call_store_stage_data(call, "id_token_request", sizeof *p);
    *p = (struct id_token_request){ user_id, application_id, nonce, { 0 }, key };
    call->compute = sign_id_token;
    return OK;
}

enum err openid_get_signed_id_token(struct call *call, snowflake user_id, snowflake application_id,
                                    struct str nonce, struct opt_str *ret)
{
    const struct id_token_request *p = call_get_stage_data(call, "id_token_request");

    if (!p || p->user_id != user_id || p->application_id != application_id ||
        !str_eq(p->nonce, nonce))
        return call_restart_at_read_stage(call);
    *ret = (struct opt_str){ GIVEN, p->token };
    return OK;
}

/* --- routes for applications ---------------------------------------------------------- */

/* GET /oauth2/keys: replies with an empty list if the scope openid was never granted. */
enum err list_oauth2_keys(struct call *call)
{
    struct oauth2_keys out = { 0 };
    struct signing_key key;
    bool found;
    enum err e = read_signing_key(call->tx, &key, &found);

    if (!e && found)
        *(struct oauth2_key *)list_append(call->arena, &out.keys, sizeof(struct oauth2_key)) =
            (struct oauth2_key){ STR("RSA"),  STR("sig"),   key.kid,
                                 key.modulus, key.exponent, STR("RS256") };
    return e ? e : call_reply_with_object(call, &out);
}

/* GET /oauth2/userinfo */
enum err get_userinfo(struct call *call)
{
    uint64_t scopes = call->caller->scopes;
    struct user u;
    enum err e = user_find(call->tx, call->caller->id, &u);

    if (e)
        return e;
    struct openid_userinfo out = { .sub = u.id };
    if (scopes & auth_oauth2_scope_bit(STR("email"))) {
        out.email = (struct opt_str){ u.email.given == GIVEN ? GIVEN : GIVEN_NULL, u.email.value };
        out.email_verified = (struct opt_bool){ GIVEN, u.verified };
    }
    if (scopes & auth_oauth2_scope_bit(STR("identify"))) {
        out.preferred_username = (struct opt_str){ GIVEN, u.username };
        out.nickname = (struct opt_str){ u.global_name.given == GIVEN ? GIVEN : GIVEN_NULL,
                                         u.global_name.value };
        out.picture = (struct opt_str){ GIVEN, user_avatar_url(call, &u) };
        out.locale = (struct opt_str){ GIVEN, u.locale };
    }
    return call_reply_with_object(call, &out);
}
