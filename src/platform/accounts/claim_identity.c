/* claim_identity.c - claiming a placeholder account by logging in at the server from which its
 * guild was copied (OAuth2, scope identify).
 *
 * 1. POST /auth/claim/identity returns the address of the other server's consent page and a proof,
 *    which the browser stores. The address contains a state.
 * 2. The other server redirects the browser to /claim with the state and a code. The page sends
 *    both with the proof to POST /auth/claim/identity/callback. The code is exchanged for the id of
 *    the person there; the answer is a claim code of the placeholder account with this id.
 * 3. The page sends the claim code with the new password to POST /auth/claim.
 *
 * State and proof belong together: a link with the state of an attacker is refused, because the
 * browser of the victim has another proof or none. Only a digest of both is stored. They end after
 * ten minutes and with the first successful log-in. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/configured/claim_provider.h"

enum { SECRET_BYTES = 24, STATE_SECONDS = 600 };

/* --- states --------------------------------------------------------------------------- */

static const char ADD_STATE[] = "insert into claim_states (digest, expires_at) values ($1, $2)";
static const char FIND_STATE[] = "select 1 from claim_states where digest = $1 and expires_at > $2";
static const char DELETE_STATE[] = "delete from claim_states where digest = $1 and expires_at > $2";
static const char DELETE_EXPIRED_STATES[] =
    "delete from claim_states where digest in (select digest from claim_states "
    "where expires_at <= $1 limit 100)";

static struct str new_secret(struct arena *arena)
{
    unsigned char bytes[SECRET_BYTES];

    randombytes_buf(bytes, sizeof bytes);
    return str_base64url_encode(arena, bytes, sizeof bytes);
}

static struct value digest_claim_state(struct call *call, struct str state, struct str proof)
{
    return v_text(
        random_secret_compute_digest(call->arena, STR_CONCAT(call->arena, state, STR(" "), proof)));
}

/* --- POST /auth/claim/identity --------------------------------------------------------- */

struct identity_claim_start {
    struct str url, proof;
};
static const struct type type_claim_url = { .kind = KIND_STRING,
                                            .doc = "Consent page of the other server" };
static const struct type type_new_proof = { .kind = KIND_STRING,
                                            .doc = "Secret of the browser, for the callback" };
static const struct field start_fields[] = {
    { FIELD(struct identity_claim_start, proof), .type = &type_new_proof },
    { FIELD(struct identity_claim_start, url), .type = &type_claim_url },
    { 0 },
};
static const struct schema start_schema = {
    .name = "IdentityClaimStart",
    .size = sizeof(struct identity_claim_start),
    .fields = start_fields,
    .doc = "Where a person of a copied guild logs in.",
};
const struct type identity_claim_start_reply = { .kind = KIND_OBJECT, .schema = &start_schema };

static struct str build_consent_url(struct call *call, struct str state)
{
    return STR_CONCAT(call->arena, claim_provider_get_api_origin(),
                      STR("/oauth2/authorize?response_type=code&scope=identify&client_id="),
                      claim_provider_get_client_id(), STR("&redirect_uri="),
                      str_percent_encode(call->arena, claim_provider_get_redirect_uri()),
                      STR("&state="), state);
}

enum err require_claim_provider_configured(struct call *call)
{
    (void)call;
    return claim_provider_is_configured() ? OK : ERR_CLAIM_BY_IDENTITY_OFF;
}

enum err start_identity_claim(struct call *call)
{
    struct str state = new_secret(call->arena), proof = new_secret(call->arena);
    int64_t now = clock_us();
    enum err e = tx_exec(call->tx, DELETE_EXPIRED_STATES, BIND(v_int(now)), NULL);

    if (!e)
        e = tx_exec(call->tx, ADD_STATE,
                    BIND(digest_claim_state(call, state, proof),
                         v_int(now + STATE_SECONDS * INT64_C(1000000))),
                    NULL);
    return e ? e
             : call_reply_with_object(
                   call, &(struct identity_claim_start){ build_consent_url(call, state), proof });
}

/* --- POST /auth/claim/identity/callback ------------------------------------------------ */

struct identity_claim {
    struct str state, proof, code;
};
static const struct type type_state = { .kind = KIND_STRING,
                                        .min = 1,
                                        .max = 100,
                                        .doc =
                                            "From the URL to which the other server redirected" };
static const struct type type_proof = {
    .kind = KIND_STRING, .min = 1, .max = 100, .doc = "From the reply that started the claim"
};
static const struct type type_grant = { .kind = KIND_STRING,
                                        .min = 1,
                                        .max = 512,
                                        .doc =
                                            "From the URL to which the other server redirected" };
static const struct field claim_fields[] = {
    { FIELD(struct identity_claim, code), .type = &type_grant },
    { FIELD(struct identity_claim, proof), .type = &type_proof },
    { FIELD(struct identity_claim, state), .type = &type_state },
    { 0 },
};
static const struct schema claim_schema = {
    .name = "IdentityClaim",
    .size = sizeof(struct identity_claim),
    .fields = claim_fields,
    .doc = "Proves who a person is at the server from which a guild was copied.",
};
const struct type identity_claim_body = { .kind = KIND_OBJECT, .schema = &claim_schema };

struct identity_claim_code {
    struct str code, username;
};
static const struct type type_new_claim_code = {
    .kind = KIND_STRING, .doc = "Code for POST /auth/claim, valid for 15 minutes"
};
static const struct type type_claimed_name = { .kind = KIND_STRING, .doc = "Name of the account" };
static const struct field code_fields[] = {
    { FIELD(struct identity_claim_code, code), .type = &type_new_claim_code },
    { FIELD(struct identity_claim_code, username), .type = &type_claimed_name },
    { 0 },
};
static const struct schema code_schema = {
    .name = "IdentityClaimCode",
    .size = sizeof(struct identity_claim_code),
    .fields = code_fields,
    .doc = "The account that a person may claim.",
};
const struct type identity_claim_code_reply = { .kind = KIND_OBJECT, .schema = &code_schema };

static enum err refuse_claim_state(struct call *call)
{
    return call_add_field_error(
        call, "state", "CLAIM_STATE_INVALID",
        "The log-in took more than ten minutes, is used, or began in another browser or tab. Start "
        "again.");
}

/* The state is checked before a request is sent to the other server. */
static enum err check_claim_state(struct call *call)
{
    const struct identity_claim *in = call->body;
    bool found;
    enum err e =
        tx_exists(call->tx, FIND_STATE,
                  BIND(digest_claim_state(call, in->state, in->proof), v_int(clock_us())), &found);

    return e || found ? e : refuse_claim_state(call);
}

enum err schedule_identity_claim_verification(struct call *call)
{
    const struct identity_claim *in = call->body;
    struct claimed_identity *r = call_store_stage_data(call, "claimed_identity", sizeof *r);

    if (!claim_provider_is_configured())
        return ERR_CLAIM_BY_IDENTITY_OFF;
    if (!in)
        return OK;
    r->code = in->code;
    call->read = check_claim_state;
    call->await = request_identity_from_claim_provider;
    return OK;
}

static enum err delete_claim_state(struct call *call)
{
    const struct identity_claim *in = call->body;
    int64_t deleted = 0;
    enum err e =
        tx_exec(call->tx, DELETE_STATE,
                BIND(digest_claim_state(call, in->state, in->proof), v_int(clock_us())), &deleted);

    return e || deleted ? e : refuse_claim_state(call);
}

static enum err refuse_unanswered_claim(struct call *call, enum claim_provider_result result)
{
    if (result == CLAIM_PROVIDER_REFUSES_CODE)
        return call_add_field_error(
            call, "code", "CLAIM_GRANT_INVALID",
            "The other server does not accept this code, because it is used or expired. Start "
            "again.");
    return result == CLAIM_PROVIDER_REFUSES_SERVER ? ERR_CLAIM_CLIENT_REFUSED
                                                   : ERR_CLAIM_PROVIDER_UNAVAILABLE;
}

static const char FIND_ACCOUNT_STATE[] =
    "select case when u.disabled <> 0 or u.deleting <> 0 then 1 else 0 end, "
    "case when u.bot <> 0 then 1 else 0 end from users u where u.id = $1";

/* Refuses a person whose account cannot be claimed, with the reason. */
static enum err refuse_claim_of_account(struct call *call, snowflake id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_ACCOUNT_STATE, BIND(v_id(id)), &row, &found);

    if (e)
        return e;
    if (!found || row_int(&row, 1))
        return call_add_field_error(
            call, "code", "CLAIM_ACCOUNT_UNKNOWN",
            "No copied guild has your account. Log in there with the account that is in the guild, "
            "or register here.");
    if (row_int(&row, 0))
        return call_add_field_error(
            call, "code", "CLAIM_ACCOUNT_DISABLED",
            "Your account here is disabled or erased. Ask the people who run this server.");
    return call_add_field_error(
        call, "code", "CLAIM_ACCOUNT_IN_USE",
        "Your account was claimed before. Log in with its password, or set a new one.");
}

enum err complete_identity_claim(struct call *call)
{
    const struct claimed_identity *r = call_get_stage_data(call, "claimed_identity");
    struct identity_claim_code out = { 0 };
    struct user user;
    enum err e = delete_claim_state(call);

    if (!e && r->result != CLAIM_PROVIDER_OK)
        e = refuse_unanswered_claim(call, r->result);
    if (!e)
        e = placeholder_account_create_login_claim_code(call->tx, r->user_id, &out.code);
    if (!e && !out.code.n)
        e = refuse_claim_of_account(call, r->user_id);
    if (!e)
        e = user_find(call->tx, r->user_id, &user);
    if (e)
        return e;
    out.username = user.username;
    return call_reply_with_object(call, &out);
}
