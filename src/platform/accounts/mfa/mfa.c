/* mfa.c - second factor of accounts: database rows, TOTP and backup codes, tickets. */
#include "platform/accounts/mfa/mfa.h"

#include <sodium.h>
#include <string.h>

#include "api/api.h"
#include "api/auth/secret_encryption.h"
#include "base/clock.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/mfa/bodies.h"

enum { SALT_BYTES = 16, TICKET_LIFE_S = 300, TICKET_MARK = 9, TICKET_MAC = 24 };

static const char MFA_SECRET_LABEL[] = "mfa-secret";

static const struct auth *get_auth_of_call(const struct call *call)
{
    return api_get_options(call->api)->auth;
}

static const char FIND_MFA[] =
    "select secret, last_step, codes_salt, codes_used from mfa where user_id = $1";

enum err mfa_settings_find(struct call *call, snowflake user_id, struct mfa_settings *ret)
{
    struct rows row;
    enum err e = tx_one_or(call->tx, FIND_MFA, BIND(v_id(user_id)), ERR_MFA_OFF, &row);

    if (e)
        return e;
    struct str encrypted = row_bytes(&row, 0);
    *ret = (struct mfa_settings){ .user_id = user_id,
                                  .has_totp = encrypted.n > 0,
                                  .last_step = row_int(&row, 1),
                                  .codes_salt = row_bytes(&row, 2),
                                  .codes_used = row_int(&row, 3) };
    if (!ret->has_totp)
        return OK;
    struct str secret =
        decrypt_secret(call->arena, get_auth_of_call(call), MFA_SECRET_LABEL, user_id, encrypted);
    if (secret.n != TOTP_SECRET)
        return ERR_INTERNAL; /* the stored secret was encrypted with another server key */
    memcpy(ret->secret, secret.p, TOTP_SECRET);
    return OK;
}

enum err write_authenticator_types_json(struct tx *tx, snowflake user_id, struct json_writer *out)
{
    enum { TYPE_WEBAUTHN = 1, TYPE_TOTP = 2 };
    struct rows row;
    enum err e = tx_one_or(
        tx,
        "select case when exists (select 1 from webauthn_credentials where user_id = $1) then 1 "
        "else 0 end, case when exists (select 1 from mfa where user_id = $1 and length(secret) > "
        "0) then 1 else 0 end",
        BIND(v_id(user_id)), ERR_INTERNAL, &row);

    if (e)
        return e;
    json_begin_array(out);
    if (row_int(&row, 0))
        json_write_int(out, TYPE_WEBAUTHN);
    if (row_int(&row, 1))
        json_write_int(out, TYPE_TOTP);
    json_end_array(out);
    return OK;
}

static struct str create_random_salt(struct arena *a)
{
    unsigned char *salt = arena_alloc(a, SALT_BYTES);

    randombytes_buf(salt, SALT_BYTES);
    return str_slice((const char *)salt, SALT_BYTES);
}

static const char ADD_MFA[] =
    "insert into mfa (user_id, secret, last_step, codes_salt, codes_used) "
    "values ($1, $2, $3, $4, 0)";
static const char MARK_USER[] = "update users set mfa_enabled = $2 where id = $1";

/* Returns the encrypted TOTP secret; empty if the account has no TOTP. */
static struct str encrypt_totp_secret(const struct call *call, const struct mfa_settings *m)
{
    struct str secret = str_slice((const char *)m->secret, TOTP_SECRET);

    return m->has_totp ? encrypt_secret(call->arena, get_auth_of_call(call), MFA_SECRET_LABEL,
                                        m->user_id, secret)
                       : STR("");
}

enum err mfa_settings_insert(struct call *call, struct mfa_settings *m)
{
    m->codes_salt = create_random_salt(call->arena);
    enum err e = tx_exec(call->tx, ADD_MFA,
                         BIND(v_id(m->user_id), v_bytes(encrypt_totp_secret(call, m)),
                              v_int(m->last_step), v_bytes(m->codes_salt)),
                         NULL);
    return e ? e : tx_exec(call->tx, MARK_USER, BIND(v_id(m->user_id), v_int(1)), NULL);
}

static const char SET_SECRET[] = "update mfa set secret = $2, last_step = $3 where user_id = $1";

enum err mfa_add_totp(struct call *call, const struct mfa_settings *m)
{
    return tx_exec(
        call->tx, SET_SECRET,
        BIND(v_id(m->user_id), v_bytes(encrypt_totp_secret(call, m)), v_int(m->last_step)), NULL);
}

enum err mfa_remove_totp(struct call *call, snowflake user_id)
{
    return tx_exec(call->tx, SET_SECRET, BIND(v_id(user_id), v_bytes(STR("")), v_int(-1)), NULL);
}

enum err mfa_settings_remove(struct call *call, snowflake user_id)
{
    enum err e = tx_exec(call->tx, "delete from mfa where user_id = $1", BIND(v_id(user_id)), NULL);

    if (!e)
        e = tx_exec(call->tx, "delete from webauthn_credentials where user_id = $1",
                    BIND(v_id(user_id)), NULL);
    return e ? e : tx_exec(call->tx, MARK_USER, BIND(v_id(user_id), v_int(0)), NULL);
}

static const char NEW_CODES[] = "update mfa set codes_salt = $2, codes_used = 0 where user_id = $1";

enum err mfa_replace_backup_codes(struct call *call, struct mfa_settings *m)
{
    m->codes_salt = create_random_salt(call->arena);
    m->codes_used = 0;
    return tx_exec(call->tx, NEW_CODES, BIND(v_id(m->user_id), v_bytes(m->codes_salt)), NULL);
}

/* --- TOTP and backup codes ----------------------------------------------------------- */

static const char USE_STEP[] =
    "update mfa set last_step = $2 where user_id = $1 and last_step < $2";

enum err mfa_consume_totp_code(struct call *call, const struct mfa_settings *m, struct str code)
{
    int64_t step =
        m->has_totp ? totp_find_matching_step(m->secret, code, clock_s(), m->last_step) : -1;
    int64_t changed = 0;

    if (step < 0)
        return ERR_MFA_CODE;
    enum err e = tx_exec(call->tx, USE_STEP, BIND(v_id(m->user_id), v_int(step)), &changed);
    return e ? e : changed ? OK : ERR_MFA_CODE;
}

/* Derives a backup code from the server's key. The alphabet lacks characters that are easily
 * confused, such as 1 and l. */
struct str mfa_derive_backup_code(const struct call *call, const struct mfa_settings *m, int number)
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    unsigned char bytes[MFA_BACKUP_LETTERS];
    char *out = arena_alloc(call->arena, MFA_BACKUP_LETTERS);
    unsigned char code_index = (unsigned char)number;
    struct str salt = STR_CONCAT(call->arena, m->codes_salt,
                                 str_slice((const char *)&code_index, sizeof code_index));

    auth_derive_key(get_auth_of_call(call), "mfa-backup", m->user_id, salt, bytes, sizeof bytes);
    for (int i = 0; i < MFA_BACKUP_LETTERS; i++)
        out[i] = letters[bytes[i] % (sizeof letters - 1)];
    return str_slice(out, MFA_BACKUP_LETTERS);
}

bool mfa_backup_code_is_used(const struct mfa_settings *m, int number)
{
    return m->codes_used >> number & 1;
}

struct list mfa_list_backup_codes(const struct call *call, const struct mfa_settings *m)
{
    struct backup_code *codes = arena_array(call->arena, struct backup_code, MFA_BACKUP_CODES);

    for (int i = 0; i < MFA_BACKUP_CODES; i++)
        codes[i] = (struct backup_code){ m->user_id, mfa_derive_backup_code(call, m, i),
                                         mfa_backup_code_is_used(m, i) };
    return (struct list){ .items = codes, .count = MFA_BACKUP_CODES };
}

static const char USE_BACKUP[] =
    "update mfa set codes_used = $3 where user_id = $1 and codes_used = $2";

static enum err mark_backup_code_used(struct call *call, const struct mfa_settings *m, int number)
{
    int64_t changed = 0;
    enum err e = tx_exec(
        call->tx, USE_BACKUP,
        BIND(v_id(m->user_id), v_int(m->codes_used), v_int(m->codes_used | INT64_C(1) << number)),
        &changed);

    return e ? e : changed ? OK : ERR_MFA_CODE;
}

enum err mfa_consume_backup_code(struct call *call, const struct mfa_settings *m, struct str code)
{
    struct str given = str_lower(call->arena, code);
    int found = -1;

    if (given.n != MFA_BACKUP_LETTERS)
        return ERR_MFA_CODE;
    for (int i = 0; i < MFA_BACKUP_CODES; i++)
        if (!mfa_backup_code_is_used(m, i) &&
            sodium_memcmp(given.p, mfa_derive_backup_code(call, m, i).p, MFA_BACKUP_LETTERS) == 0)
            found = i;
    return found < 0 ? ERR_MFA_CODE : mark_backup_code_used(call, m, found);
}

/* --- tickets for log-ins that await a second factor ---------------------------------- */

static const char *const ticket_labels[] = {
    [TICKET_LOGIN] = "mfa-login",     [TICKET_UNDELETE] = "mfa-undelete",
    [TICKET_CODES] = "mfa-codes",     [TICKET_NEW_CODES] = "mfa-new-codes",
    [TICKET_VERIFY] = "mfa-verify",   [TICKET_VERIFIED] = "mfa-verified",
    [TICKET_NEW_KEY] = "mfa-new-key",
};

/* Returns a fingerprint of the password hash and of whether the account has a second factor. Each
 * ticket contains the fingerprint, so all tickets of an account become invalid when its password
 * changes or its second factor is turned on or off. */
static struct str derive_password_fingerprint(const struct call *call, const struct user *u)
{
    unsigned char mark[TICKET_MARK];
    struct str hash = u->password_hash.p ? u->password_hash : STR("");

    auth_derive_key(get_auth_of_call(call), "mfa-password", u->id,
                    STR_CONCAT(call->arena, hash, u->mfa_enabled ? STR("+") : STR("")), mark,
                    sizeof mark);
    return str_base64url_encode(call->arena, mark, sizeof mark);
}

/* Returns the message authentication code of a ticket. `said` is the text that the code
 * protects: the ticket's account id, expiry and password fingerprint. */
static struct str derive_ticket_mac(const struct call *call, struct str said, snowflake id,
                                    enum mfa_ticket_purpose purpose)
{
    unsigned char mac[TICKET_MAC];

    if (purpose >= TICKET_VERIFY)
        said = STR_CONCAT(
            call->arena, said,
            str_slice((const char *)call->caller->session, sizeof call->caller->session));
    auth_derive_key(get_auth_of_call(call), ticket_labels[purpose], id, said, mac, sizeof mac);
    return str_base64url_encode(call->arena, mac, sizeof mac);
}

struct str mfa_ticket_create(const struct call *call, const struct user *u,
                             enum mfa_ticket_purpose purpose)
{
    struct str mark = derive_password_fingerprint(call, u);
    int64_t end = clock_s() + TICKET_LIFE_S;
    struct str said = str_printf(call->arena, "%llu.%lld.%.*s", (unsigned long long)u->id,
                                 (long long)end, STR_ARGS(mark));

    return STR_CONCAT(call->arena, said, STR("."), derive_ticket_mac(call, said, u->id, purpose));
}

bool mfa_ticket_verify(const struct call *call, struct str ticket, enum mfa_ticket_purpose purpose,
                       snowflake *ret_user_id)
{
    struct str rest = ticket, id = str_cut(&rest, '.'), end = str_cut(&rest, '.'),
               mark = str_cut(&rest, '.');
    snowflake user_id;
    int64_t until;

    if (!snowflake_parse(id, &user_id) || !str_to_i64(end, &until) || until <= clock_s() || !mark.n)
        return false;
    struct str said = str_slice(ticket.p, (size_t)(mark.p + mark.n - ticket.p));
    struct str proof = derive_ticket_mac(call, said, user_id, purpose);
    if (proof.n != rest.n || sodium_memcmp(proof.p, rest.p, proof.n) != 0)
        return false;
    *ret_user_id = user_id;
    return true;
}

bool mfa_ticket_matches_user(const struct call *call, struct str ticket, const struct user *u)
{
    struct str rest = ticket;

    str_cut(&rest, '.');
    str_cut(&rest, '.');
    return str_eq(str_cut(&rest, '.'), derive_password_fingerprint(call, u));
}

int64_t mfa_ticket_expiry(struct str ticket)
{
    struct str rest = ticket;
    int64_t end = 0;

    str_cut(&rest, '.');
    str_to_i64(str_cut(&rest, '.'), &end);
    return end;
}
