/* placeholders.c - placeholder accounts of a copied guild, and the codes that claim them.
 *
 * A placeholder has neither password nor email address nor token. It has up to two codes, which are
 * stored only as digests: one is sent to the person on the other server, and one is the answer to a
 * log-in there (claim_identity.c). A code becomes invalid when it is replaced, when it expires, and
 * both become invalid when one is used, and when the tokens of the account are revoked by a new
 * password, a deletion, or the operator. */
#include "platform/accounts/placeholders.h"

#include <sodium.h>

#include "base/clock.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mail/mailed_links.h"
#include "platform/accounts/operator.h"

static const char INSERT_PLACEHOLDER[] =
    "insert into placeholder_accounts (user_id) values ($1) on conflict do nothing";

enum err placeholder_account_insert(struct tx *tx, snowflake user_id)
{
    return tx_exec(tx, INSERT_PLACEHOLDER, BIND(v_id(user_id)), NULL);
}

#define CLAIMABLE                                                                   \
    " and exists (select 1 from users u where u.id = placeholder_accounts.user_id " \
    "and u.bot = 0 and u.disabled = 0 and u.deleting = 0 and u.password_hash is null)"
static const char SET_CODE[] =
    "update placeholder_accounts set code_digest = $2, code_expires_at = $3 where user_id = $1" CLAIMABLE;

static const char SET_IDENTITY_CODE[] =
    "update placeholder_accounts set identity_code_digest = $2, identity_code_expires_at = $3 "
    "where user_id = $1" CLAIMABLE;

enum { IDENTITY_CODE_SECONDS = 900 };

static struct str new_claim_code(struct arena *arena)
{
    unsigned char bytes[16];

    randombytes_buf(bytes, sizeof bytes);
    return STR_CONCAT(arena, STR("claim-"), str_base64url_encode(arena, bytes, sizeof bytes));
}

enum err placeholder_account_create_claim_code(struct tx *tx, snowflake user_id, struct str *ret)
{
    struct str code = new_claim_code(tx_arena(tx));
    int64_t changed = 0, day = INT64_C(86400) * 1000 * 1000;
    enum err e =
        tx_exec(tx, SET_CODE,
                BIND(v_id(user_id), v_text(random_secret_compute_digest(tx_arena(tx), code)),
                     v_int(clock_us() + CLAIM_CODE_DAYS * day)),
                &changed);
    *ret = changed ? code : (struct str){ 0 };
    return e;
}

enum err placeholder_account_create_login_claim_code(struct tx *tx, snowflake user_id,
                                                     struct str *ret)
{
    struct str code = new_claim_code(tx_arena(tx));
    int64_t changed = 0;
    enum err e =
        tx_exec(tx, SET_IDENTITY_CODE,
                BIND(v_id(user_id), v_text(random_secret_compute_digest(tx_arena(tx), code)),
                     v_int(clock_us() + IDENTITY_CODE_SECONDS * INT64_C(1000000))),
                &changed);
    *ret = changed ? code : (struct str){ 0 };
    return e;
}

static const char END_CODES[] =
    "update placeholder_accounts set code_digest = null, code_expires_at = null, "
    "identity_code_digest = null, identity_code_expires_at = null where user_id = $1";

enum err placeholder_account_delete_claim_code(struct tx *tx, snowflake user_id)
{
    return tx_exec(tx, END_CODES, BIND(v_id(user_id)), NULL);
}

enum err placeholder_account_make_ordinary(struct tx *tx, snowflake user_id)
{
    return tx_exec(tx, "delete from placeholder_accounts where user_id = $1", BIND(v_id(user_id)),
                   NULL);
}

/* --- POST /auth/claim ------------------------------------------------------------------ */

struct account_claim {
    struct str code, password;
    struct opt_str email;
};
static const struct type type_claim_code = {
    .kind = KIND_STRING,
    .flags = TYPE_TRIM,
    .min = 1,
    .max = 100,
    .doc = "Code of a direct message, or of a log-in at the other server"
};
static const struct field claim_fields[] = {
    { FIELD(struct account_claim, code), .type = &type_claim_code },
    { FIELD(struct account_claim, password), .type = &type_password },
    { FIELD(struct account_claim, email), .type = &type_email, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema claim_schema = {
    .name = "AccountClaim",
    .size = sizeof(struct account_claim),
    .fields = claim_fields,
    .doc = "Makes the account of a person of a copied guild theirs.",
};
const struct type account_claim_body = { .kind = KIND_OBJECT, .schema = &claim_schema };

static const char FIND_CODE[] =
    "select user_id from placeholder_accounts where ((code_digest = $1 and code_expires_at > $2) "
    "or (identity_code_digest = $1 and identity_code_expires_at > $2))" CLAIMABLE;

static enum err find_account_of_claim_code(struct call *call, snowflake *ret)
{
    const struct account_claim *in = call->body;
    enum err e = tx_read_id(
        call->tx, FIND_CODE,
        BIND(v_text(random_secret_compute_digest(call->arena, in->code)), v_int(clock_us())), ret);

    if (!e && !*ret)
        return call_add_field_error(call, "code", "CLAIM_CODE_INVALID",
                                    "The code is wrong, used or expired. Ask for a new one.");
    return e;
}

/* The code is checked before the password is hashed, so that a wrong code causes no hashing. */
static enum err check_claim_code(struct call *call)
{
    snowflake id;

    return find_account_of_claim_code(call, &id);
}

static enum err hash_claim_password(struct call *call)
{
    const struct account_claim *in = call->body;
    struct str *hash = call_store_stage_data(call, "str", sizeof *hash);

    return password_hash(call->api, call->arena, in->password, hash);
}

enum err validate_account_claim_request(struct call *call)
{
    const struct account_claim *in = call->body;

    call->read = check_claim_code;
    call->hash = hash_claim_password;
    return check_email_is_allowed(call, in->email);
}

/* Sets password and email address of the placeholder account and logs in. The account retains its
 * messages and roles. */
enum err claim_account(struct call *call)
{
    const struct account_claim *in = call->body;
    const struct str *hash = call_get_stage_data(call, "str");
    const char *taken = NULL;
    int64_t wait_ms;
    struct user user;
    snowflake id = 0;
    enum err e = find_account_of_claim_code(call, &id);

    if (!e)
        e = user_find(call->tx, id, &user);
    if (e)
        return e;
    user.email = in->email;
    user.verified = !mail_is_configured(call);
    e = user_update(call->tx, &user, &taken);
    if (!e && taken)
        return refuse_username_or_email_in_use(call, taken);
    if (!e)
        e = account_set_password(call, id, *hash);
    user.password_hash = *hash;
    if (!e && mail_is_configured(call) && in->email.given == GIVEN)
        e = mailed_link_send(call, &user, LINK_VERIFY, &wait_ms);
    return e ? e : reply_to_login_after_password_check(call, &user, false);
}
