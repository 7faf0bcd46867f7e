/* webauthn_credentials.c - security keys of accounts: challenges, rows, and checks of what a key
 * signed. */
#include "platform/accounts/mfa/webauthn_credentials.h"

#include <sodium.h>
#include <string.h>

#include "api/api.h"
#include "base/clock.h"
#include "net/http/server.h"
#include "platform/accounts/mfa/webauthn.h"

enum { CHALLENGE = 32, TIMEOUT_MS = 60000, LONGEST_HOST = 253, LONGEST_OPTIONS = 32 * 1024 };

/* Derives the challenge from the ticket. So the server need not store the challenge. */
static void derive_challenge(const struct call *call, snowflake user_id, struct str ticket,
                             unsigned char ret[CHALLENGE])
{
    auth_derive_key(api_get_options(call->api)->auth, "webauthn-challenge", user_id, ticket, ret,
                    CHALLENGE);
}

/* Returns the host of the page that sent the request (header Origin), or this server's host if
 * there is no such header. */
static struct str get_host_of_requesting_page(const struct call *call)
{
    struct str origin = http_find_header(call->exchange->request, STR("Origin"));
    struct str host = webauthn_host_of_origin(call->arena, origin);

    return host.n ? host : webauthn_host_of_origin(call->arena, api_get_base_url(call, "http"));
}

/* --- rows ------------------------------------------------------------------------------- */

struct credential_row {
    struct webauthn_credential shown;
    struct str credential_id, public_key, rp_id;
    int64_t sign_count;
};

#define FIND                                                                            \
    "select id, name, last_used_at, credential_id, public_key, rp_id, sign_count from " \
    "webauthn_credentials where user_id = $1 "

static void credential_from_row(struct arena *a, const struct rows *r, struct credential_row *ret)
{
    *ret = (struct credential_row){
        .shown = { .id = row_id(r, 0),
                   .type = 1,
                   .name = row_text(r, 1),
                   .last_used = { row_column_is_null(r, 2) ? GIVEN_NULL : GIVEN, row_int(r, 2) } },
        .credential_id = row_bytes(r, 3),
        .public_key = row_bytes(r, 4),
        .rp_id = row_text(r, 5),
        .sign_count = row_int(r, 6),
    };
    ret->shown.cred_id = str_base64url_encode(a, ret->credential_id.p, ret->credential_id.n);
}

static enum err read_credential_rows(struct tx *tx, snowflake user_id, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, FIND "order by id", BIND(v_id(user_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        credential_from_row(tx_arena(tx), &rows,
                            list_append(tx_arena(tx), ret, sizeof(struct credential_row)));
    return rows_end(&rows);
}

enum err webauthn_credentials_list(struct tx *tx, snowflake user_id, struct list *ret)
{
    struct list rows;
    enum err e = read_credential_rows(tx, user_id, &rows);
    const struct credential_row *row = rows.items;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < rows.count; i++) {
        struct webauthn_credential *key = list_append(tx_arena(tx), ret, sizeof *key);

        *key = row[i].shown;
    }
    return e;
}

enum err webauthn_credential_find(struct tx *tx, snowflake user_id, snowflake id,
                                  struct webauthn_credential *ret)
{
    struct credential_row row;
    struct rows r;
    enum err e =
        tx_one_or(tx, FIND "and id = $2", BIND(v_id(user_id), v_id(id)), ERR_NOT_FOUND, &r);

    if (e)
        return e;
    credential_from_row(tx_arena(tx), &r, &row);
    *ret = row.shown;
    return OK;
}

enum err webauthn_credential_rename(struct tx *tx, const struct webauthn_credential *key)
{
    return tx_exec(tx, "update webauthn_credentials set name = $2 where id = $1",
                   BIND(v_id(key->id), v_text(key->name)), NULL);
}

enum err webauthn_credential_delete(struct tx *tx, const struct webauthn_credential *key)
{
    return tx_exec(tx, "delete from webauthn_credentials where id = $1", BIND(v_id(key->id)), NULL);
}

/* --- challenges ------------------------------------------------------------------------- */

static void write_credential_descriptors(struct json_writer *j, const struct list *rows,
                                         struct str rp_id)
{
    const struct credential_row *row = rows->items;

    json_begin_array(j);
    for (size_t i = 0; i < rows->count; i++) {
        if (!str_eq(row[i].rp_id, rp_id))
            continue;
        json_begin_object(j);
        json_write_name(j, "type");
        json_write_text(j, STR("public-key"));
        json_write_name(j, "id");
        json_write_text(j, row[i].shown.cred_id);
        json_end_object(j);
    }
    json_end_array(j);
}

/* Begins {"publicKey": {"challenge": …, "timeout": …. */
static void begin_webauthn_options_json(struct json_writer *j, const struct call *call,
                                        snowflake user_id, struct str ticket)
{
    unsigned char challenge[CHALLENGE];

    derive_challenge(call, user_id, ticket, challenge);
    json_begin_object(j);
    json_write_name(j, "publicKey");
    json_begin_object(j);
    json_write_name(j, "challenge");
    json_write_text(j, str_base64url_encode(call->arena, challenge, sizeof challenge));
    json_write_name(j, "timeout");
    json_write_int(j, TIMEOUT_MS);
}

static struct str end_webauthn_options_json(struct json_writer *j, const struct call *call)
{
    json_end_object(j);
    json_end_object(j);
    return buf_move_to_arena(j->out, call->arena);
}

static void write_supported_key_algorithms(struct json_writer *j)
{
    static const enum webauthn_algorithm algorithms[] = { WEBAUTHN_ES256, WEBAUTHN_EDDSA,
                                                          WEBAUTHN_RS256 };

    json_begin_array(j);
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        json_begin_object(j);
        json_write_name(j, "type");
        json_write_text(j, STR("public-key"));
        json_write_name(j, "alg");
        json_write_int(j, algorithms[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_user_of_creation_options(struct json_writer *j, const struct call *call,
                                           const struct user *user)
{
    struct str id = str_printf(call->arena, "%llu", (unsigned long long)user->id);

    json_begin_object(j);
    json_write_name(j, "id");
    json_write_text(j, str_base64url_encode(call->arena, id.p, id.n));
    json_write_name(j, "name");
    json_write_text(j, user->username);
    json_write_name(j, "displayName");
    json_write_text(j, user->global_name.given == GIVEN ? user->global_name.value : user->username);
    json_end_object(j);
}

enum err webauthn_encode_creation_options(struct call *call, const struct user *user,
                                          struct str ticket, struct str *ret)
{
    struct str host = get_host_of_requesting_page(call);
    struct list rows;
    struct buf text;
    struct json_writer j = json_writer_to_buf(&text);
    enum err e = read_credential_rows(call->tx, user->id, &rows);

    if (e)
        return e;
    buf_init(&text, LONGEST_OPTIONS);
    begin_webauthn_options_json(&j, call, user->id, ticket);
    json_write_name(&j, "rp");
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_text(&j, host);
    json_write_name(&j, "name");
    json_write_text(&j, host);
    json_end_object(&j);
    json_write_name(&j, "user");
    write_user_of_creation_options(&j, call, user);
    json_write_name(&j, "pubKeyCredParams");
    write_supported_key_algorithms(&j);
    json_write_name(&j, "excludeCredentials");
    write_credential_descriptors(&j, &rows, host);
    json_write_name(&j, "authenticatorSelection");
    json_begin_object(&j);
    json_write_name(&j, "userVerification");
    json_write_text(&j, STR("preferred"));
    json_end_object(&j);
    json_write_name(&j, "attestation");
    json_write_text(&j, STR("none"));
    *ret = end_webauthn_options_json(&j, call);
    return OK;
}

enum err webauthn_encode_request_options(struct call *call, snowflake user_id, struct str ticket,
                                         struct opt_str *ret)
{
    struct str host = get_host_of_requesting_page(call);
    struct list rows;
    struct buf text;
    struct json_writer j = json_writer_to_buf(&text);
    enum err e = read_credential_rows(call->tx, user_id, &rows);
    const struct credential_row *row = rows.items;
    bool any = false;

    *ret = (struct opt_str){ .given = GIVEN_NULL };
    for (size_t i = 0; !e && i < rows.count; i++)
        any = any || str_eq(row[i].rp_id, host);
    if (e || !any)
        return e;
    buf_init(&text, LONGEST_OPTIONS);
    begin_webauthn_options_json(&j, call, user_id, ticket);
    json_write_name(&j, "rpId");
    json_write_text(&j, host);
    json_write_name(&j, "allowCredentials");
    write_credential_descriptors(&j, &rows, host);
    json_write_name(&j, "userVerification");
    json_write_text(&j, STR("preferred"));
    *ret = (struct opt_str){ GIVEN, end_webauthn_options_json(&j, call) };
    return OK;
}

/* --- checks ------------------------------------------------------------------------------- */

/* Checks the client data: type, challenge (derived from the ticket), and origin (a page of this
 * host). */
static bool check_client_data(const struct call *call, const struct webauthn_response *r,
                              const char *type, snowflake user_id, struct str ticket,
                              struct str host)
{
    struct webauthn_client_data d;
    unsigned char challenge[CHALLENGE];

    derive_challenge(call, user_id, ticket, challenge);
    return webauthn_client_data_parse(call->arena, r->client_data, &d) && str_is(d.type, type) &&
           d.challenge_length == CHALLENGE &&
           sodium_memcmp(d.challenge, challenge, CHALLENGE) == 0 && host.n &&
           str_eq(webauthn_host_of_origin(call->arena, d.origin), host);
}

/* Checks that the user touched the key and that the key signed for this host. */
static bool check_authenticator_data(const struct webauthn_authenticator_data *d, struct str host)
{
    unsigned char hash[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(hash, (const unsigned char *)host.p, host.n);
    return d->user_present && str_eq(d->rp_id_hash, str_slice((const char *)hash, sizeof hash));
}

static enum err refuse_invalid_security_key(struct call *call, const char *code,
                                            const char *message)
{
    return call_add_field_error(call, "credential", code, message);
}

static const char INSERT[] =
    "insert into webauthn_credentials (id, user_id, credential_id, public_key, rp_id, name, "
    "sign_count, last_ticket) values ($1, $2, $3, $4, $5, $6, $7, 0)";

enum err webauthn_credential_register(struct call *call, snowflake user_id, struct str ticket,
                                      struct str credential, struct webauthn_credential *key)
{
    struct str host = get_host_of_requesting_page(call);
    struct webauthn_authenticator_data d;
    struct webauthn_response r;
    struct list known;
    enum err e = read_credential_rows(call->tx, user_id, &known);
    const struct credential_row *row = known.items;

    if (e)
        return e;
    if (!webauthn_response_parse(call->arena, credential, &r) ||
        !webauthn_attestation_parse(r.attestation, &d))
        return refuse_invalid_security_key(call, "WEBAUTHN_INVALID",
                                           "This is not the JSON of a public key credential.");
    if (host.n > LONGEST_HOST ||
        !check_client_data(call, &r, "webauthn.create", user_id, ticket, host) ||
        !check_authenticator_data(&d, host))
        return refuse_invalid_security_key(
            call, "WEBAUTHN_CHALLENGE",
            "The key did not sign this challenge for this page. Request a new challenge.");
    if (!webauthn_key_is_supported(d.public_key))
        return refuse_invalid_security_key(call, "WEBAUTHN_ALGORITHM",
                                           "The server supports keys with ES256, EdDSA or RS256.");
    if (known.count >= WEBAUTHN_MAX_CREDENTIALS)
        return refuse_invalid_security_key(
            call, "WEBAUTHN_LIMIT", "An account has at most 10 security keys. Delete one first.");
    for (size_t i = 0; i < known.count; i++)
        if (str_eq(row[i].credential_id, d.credential_id))
            return refuse_invalid_security_key(call, "WEBAUTHN_KNOWN",
                                               "This account already has this key.");
    key->id = snowflake_new();
    key->type = 1;
    key->last_used.given = GIVEN_NULL;
    key->cred_id = str_base64url_encode(call->arena, d.credential_id.p, d.credential_id.n);
    return tx_exec(call->tx, INSERT,
                   BIND(v_id(key->id), v_id(user_id), v_bytes(d.credential_id),
                        v_bytes(d.public_key), v_text(host), v_text(key->name),
                        v_int(d.sign_count)),
                   NULL);
}

static const char USE[] =
    "update webauthn_credentials set sign_count = $2, last_used_at = $3, last_ticket = $4 "
    "where id = $1 and last_ticket < $4";

enum err webauthn_consume_assertion(struct call *call, snowflake user_id, struct str ticket,
                                    struct str credential)
{
    struct webauthn_authenticator_data d;
    struct webauthn_response r;
    struct credential_row row;
    struct rows found;
    int64_t changed = 0;

    if (!webauthn_response_parse(call->arena, credential, &r) ||
        !webauthn_authenticator_data_parse(r.authenticator_data, &d))
        return ERR_MFA_CODE;
    enum err e = tx_one_or(call->tx, FIND "and credential_id = $2",
                           BIND(v_id(user_id), v_bytes(r.credential_id)), ERR_MFA_CODE, &found);
    if (e)
        return e;
    credential_from_row(call->arena, &found, &row);
    if (!check_client_data(call, &r, "webauthn.get", user_id, ticket, row.rp_id) ||
        !check_authenticator_data(&d, row.rp_id) ||
        !webauthn_verify_signature(call->arena, row.public_key, &r))
        return ERR_MFA_CODE;
    /* A key increases its counter with each use. If the counter has not increased, somebody uses a
     * copy of the key. */
    if ((d.sign_count || row.sign_count) && d.sign_count <= row.sign_count)
        return ERR_MFA_CODE;
    e = tx_exec(call->tx, USE,
                BIND(v_id(row.shown.id), v_int(d.sign_count), v_int(clock_us()),
                     v_int(mfa_ticket_expiry(ticket))),
                &changed);
    return e ? e : changed ? OK : ERR_MFA_CODE;
}
