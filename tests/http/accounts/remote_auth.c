/* remote_auth.c - log-in by a QR code that a device shows and a logged-in device scans. */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "base/mem.h"
#include "gateway_conn.h"
#include "people.h"
#include "test_guild.h"
#include "waits.h"

#define SCAN   "/users/@me/remote-auth"
#define FINISH "/users/@me/remote-auth/finish"
#define CANCEL "/users/@me/remote-auth/cancel"
#define LOGIN  "/users/@me/remote-auth/login"

enum { LONGEST_MS = 60000 };

/* --- a device that shows a QR code -------------------------------------------------------- */

struct desktop {
    struct world *world;
    struct gateway_conn *conn;
    EVP_PKEY *key;
    const char *fingerprint;
};

static const char *base64_of(struct world *w, const unsigned char *bytes, size_t n, int variant)
{
    char *out = arena_alloc(world_arena(w), sodium_base64_encoded_len(n, variant));

    return sodium_bin2base64(out, sodium_base64_encoded_len(n, variant), bytes, n, variant);
}

static const char *spki_of(struct desktop *d, const char **ret_fingerprint)
{
    unsigned char *der = NULL, digest[crypto_hash_sha256_BYTES];
    int n = i2d_PUBKEY(d->key, &der);

    expect(n > 0);
    crypto_hash_sha256(digest, der, (size_t)n);
    *ret_fingerprint =
        base64_of(d->world, digest, sizeof digest, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    const char *text = base64_of(d->world, der, (size_t)n, sodium_base64_VARIANT_ORIGINAL);
    OPENSSL_free(der);
    return text;
}

/* Returns a public key whose exponent is as long as its modulus, which makes encryption slow. */
static const char *spki_with_a_long_exponent(struct desktop *d)
{
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    BIGNUM *n = NULL, *e = BN_new();
    const char *ignored;

    expect(EVP_PKEY_get_bn_param(d->key, OSSL_PKEY_PARAM_RSA_N, &n) == 1);
    expect(BN_copy(e, n) && BN_sub_word(e, 2) == 1);
    expect(OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
           OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, e) == 1);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(parts);
    expect(EVP_PKEY_fromdata_init(ctx) == 1 &&
           EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) == 1);
    struct desktop other = { .world = d->world, .key = key };
    const char *text = spki_of(&other, &ignored);
    EVP_PKEY_free(key);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(parts);
    EVP_PKEY_CTX_free(ctx);
    BN_free(n);
    BN_free(e);
    return text;
}

/* Decrypts base64 text with RSA-OAEP and SHA-256, as a client does. */
static struct str decrypt(struct desktop *d, struct str text)
{
    unsigned char *in = arena_alloc(world_arena(d->world), text.n), *out;
    size_t in_n = 0, n = 512;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(d->key, NULL);

    out = arena_alloc(world_arena(d->world), n);
    expect(sodium_base642bin(in, text.n, text.p, text.n, NULL, &in_n, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0);
    expect(EVP_PKEY_decrypt_init(ctx) == 1 &&
           EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_oaep_md(ctx, EVP_sha256()) == 1 &&
           EVP_PKEY_decrypt(ctx, out, &n, in, in_n) == 1);
    EVP_PKEY_CTX_free(ctx);
    return str_slice((const char *)out, n);
}

static const struct dom *expect_message(struct desktop *d, const char *op)
{
    const struct dom *m = conn_read(d->conn, LONGEST_MS);

    expect(m && dom_at(m, "op") && str_is(dom_at(m, "op")->text, op));
    return m;
}

/* Returns one of three keys in turn, because the generation of a key takes up to a second. */
static EVP_PKEY *next_key(void)
{
    static EVP_PKEY *keys[3];
    static size_t used;
    EVP_PKEY **key = &keys[used++ % COUNT_OF(keys)];

    if (!*key)
        *key = EVP_RSA_gen(2048);
    return *key;
}

static struct desktop *desktop_connect(struct world *w)
{
    struct desktop *d = arena_alloc(world_arena(w), sizeof *d);

    *d = (struct desktop){ .world = w, .key = next_key() };
    d->conn = conn_open_at(world_anonymous(w), "/remote-auth?v=2");
    const struct dom *hello = expect_message(d, "hello");
    expect(dom_at(hello, "timeout_ms") && dom_at(hello, "heartbeat_interval"));
    return d;
}

/* Sends the key and returns the decrypted nonce. */
static struct str desktop_begin(struct desktop *d)
{
    conn_send(d->conn, "{'op': 'init', 'encoded_public_key': '%s'}", spki_of(d, &d->fingerprint));
    return decrypt(d, dom_at(expect_message(d, "nonce_proof"), "encrypted_nonce")->text);
}

static void desktop_client_prove_key(struct desktop *d, struct str nonce)
{
    conn_send(d->conn, "{'op': 'nonce_proof', 'nonce': '%s'}",
              base64_of(d->world, (const unsigned char *)nonce.p, nonce.n,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING));
}

/* Returns a device that shows a QR code. */
static struct desktop *desktop_open(struct world *w)
{
    struct desktop *d = desktop_connect(w);

    desktop_client_prove_key(d, desktop_begin(d));
    expect(str_is(dom_at(expect_message(d, "pending_remote_init"), "fingerprint")->text,
                  d->fingerprint));
    return d;
}

static const char *ticket_of(struct desktop *d)
{
    const struct dom *m = expect_message(d, "pending_login");
    const char *ticket = TEXT(d->world, "%.*s", STR_ARGS(dom_at(m, "ticket")->text));

    expect_close(d->conn, 1000);
    return ticket;
}

static struct answer scan(struct client *c, const struct desktop *d)
{
    return client_post(c, TEXT(c->world, "{'fingerprint': '%s'}", d->fingerprint), SCAN);
}

/* Scans the code; the device receives the name. Returns the handshake token. */
static const char *scan_code(struct client *c, struct desktop *d)
{
    struct answer a = scan(c, d);

    expect_status(a, 200);
    const struct dom *m = expect_message(d, "pending_ticket");
    struct str who = decrypt(d, dom_at(m, "encrypted_user_payload")->text);
    struct str expected = str_of(TEXT(d->world, "%s:0:0:%s", c->id, c->name));
    expect(str_eq(who, expected));
    return answer_text(a, "handshake_token");
}

static struct answer decide(struct client *c, const char *handshake, const char *more,
                            const char *path)
{
    return client_post(c, TEXT(c->world, "{'handshake_token': '%s'%s}", handshake, more), "%s",
                       path);
}

static struct answer exchange(struct world *w, const char *ticket)
{
    return client_post(world_anonymous(w), TEXT(w, "{'ticket': '%s'}", ticket), LOGIN);
}

/* Returns a ticket that ada has confirmed. */
static const char *confirmed_ticket(struct client *c, struct desktop *d)
{
    expect_status(decide(c, scan_code(c, d), "", FINISH), 204);
    return ticket_of(d);
}

/* --- tests --------------------------------------------------------------------------------- */

static void device_can_log_in_once_by_a_scanned_qr_code(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct desktop *d = desktop_open(w);
    const char *ticket = confirmed_ticket(ada, d);

    /* Neither fingerprint nor handshake token nor ticket is stored in plain text. */
    expect(world_number(w,
                        "select count(*) from remote_logins where fingerprint_digest = '%s' or "
                        "ticket_digest = '%s'",
                        d->fingerprint, ticket) == 0);
    expect_invalid(exchange(w, "nonsense"), "ticket", "TICKET_INVALID");
    struct answer a = exchange(w, ticket);
    expect_status(a, 200);
    struct str token = decrypt(d, str_of(answer_text(a, "encrypted_token")));
    struct client *desk = world_client_with(w, TEXT(w, "%.*s", STR_ARGS(token)));
    expect_json(client_get(desk, "/users/@me"), "{'id': '%s'}", ada->id);
    expect_invalid(exchange(w, ticket), "ticket", "TICKET_INVALID");
    expect(store_count(w, "select count(*) from remote_logins") == 0);
}

static void scanned_log_in_can_be_cancelled(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *phone = world_token(w, ada, CALLER_USER, "", 0);
    struct desktop *d = desktop_open(w);

    conn_send(d->conn, "{'op': 'heartbeat'}");
    expect_message(d, "heartbeat_ack");
    const char *handshake = scan_code(ada, d);
    /* A code is scanned once, and only the session that scanned it decides. */
    expect_error(scan(bob, d), 404, 10020);
    expect_error(decide(bob, handshake, "", FINISH), 404, 10020);
    expect_error(decide(bob, handshake, "", CANCEL), 404, 10020);
    expect_error(decide(phone, handshake, "", FINISH), 404, 10020);
    expect_error(decide(ada, "nonsense", "", CANCEL), 404, 10020);
    expect_status(decide(ada, handshake, "", CANCEL), 204);
    expect_message(d, "cancel");
    expect_close(d->conn, 1000);
    expect_error(decide(ada, handshake, "", FINISH), 404, 10020);
    expect_error(client_post(ada, "{'fingerprint': 'nonsense'}", SCAN), 404, 10020);
    expect_invalid(client_post(ada, "{}", SCAN), "fingerprint", "BASE_TYPE_REQUIRED");
    expect_error(scan(world_bot(w, "robot"), d), 403, 20001);
    expect_status(scan(world_anonymous(w), d), 401);
}

static void confirming_a_qr_code_log_in_requires_the_password(struct world *w)
{
    struct answer a = client_post(
        world_anonymous(w), "{'username': 'ada', 'password': 'correct horse'}", "/auth/register");
    struct client *ada = world_client_with(w, answer_text(a, "token"));
    struct desktop *d = desktop_open(w);

    a = scan(ada, d);
    const char *handshake = answer_text(a, "handshake_token");
    expect_message(d, "pending_ticket");
    expect_error(decide(ada, handshake, "", FINISH), 401, 60003);
    expect_invalid(decide(ada, handshake, ", 'password': 'wrong horse'", FINISH), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    expect_status(decide(ada, handshake, ", 'password': 'correct horse'", FINISH), 204);
    const char *ticket = ticket_of(d);
    /* A new password ends the session that scanned the code, and with it the ticket. */
    expect_status(client_patch(ada,
                               "{'password': 'correct horse', 'new_password': 'another horse'}",
                               "/users/@me"),
                  200);
    expect_invalid(exchange(w, ticket), "ticket", "TICKET_INVALID");
}

/* Everything that ends the scanning session ends the log-in, before and after the ticket. */
static void ending_the_scanning_session_cancels_the_qr_code_log_in(struct world *w)
{
    static const char *const ends[] = { "/auth/logout", "/users/@me/disable", "/users/@me/delete" };

    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct client *c = world_client(w, TEXT(w, "user%zu", i));
        struct client *phone = world_token(w, c, CALLER_USER, "", 0);
        struct desktop *d = desktop_open(w), *other = desktop_open(w);

        snprintf(phone->name, sizeof phone->name, "%s", c->name);
        snprintf(phone->id, sizeof phone->id, "%s", c->id);
        const char *ticket = confirmed_ticket(phone, d);
        scan_code(phone, other);
        expect_status(client_post(phone, "{'password': ''}", "%s", ends[i]), 204);
        expect_invalid(exchange(w, ticket), "ticket", "TICKET_INVALID");
        expect_message(other, "cancel");
        expect_close(other->conn, 1000);
    }
}

static void qr_code_log_in_ends_when_the_scanning_session_expires(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *phone = world_token(w, ada, CALLER_USER, "", 60);
    struct desktop *d = desktop_open(w);

    snprintf(phone->name, sizeof phone->name, "%s", ada->name);
    snprintf(phone->id, sizeof phone->id, "%s", ada->id);
    const char *ticket = confirmed_ticket(phone, d);
    world_wait(w, 61);
    expect_invalid(exchange(w, ticket), "ticket", "TICKET_INVALID");
}

static void qr_codes_and_login_tickets_expire(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct desktop *d = desktop_open(w), *other = desktop_open(w);
    const char *ticket = confirmed_ticket(ada, d);
    const char *handshake = scan_code(ada, other);

    world_wait(w, 151);
    expect_invalid(exchange(w, ticket), "ticket", "TICKET_INVALID");
    expect_error(decide(ada, handshake, "", FINISH), 404, 10020);
    expect_message(other, "cancel");
    /* The next code deletes expired rows. */
    desktop_open(w);
    expect(store_count(w, "select count(*) from remote_logins") == 1);
}

static void invalid_remote_auth_handshakes_are_closed(struct world *w)
{
    static const struct {
        const char *message;
        int code;
    } wrong[] = {
        { "{'op': 'unknown'}", 4001 },
        { "nonsense", 4001 },
        { "{'op': 'init'}", 4002 },
        { "{'op': 'init', 'encoded_public_key': 'AAAA'}", 4002 },
        { "{'op': 'nonce_proof', 'nonce': 'AAAA'}", 4002 },
    };

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct desktop *d = desktop_connect(w);

        conn_send(d->conn, "%s", wrong[i].message);
        expect_close(d->conn, wrong[i].code);
    }
    struct desktop *slow = desktop_connect(w);
    conn_send(slow->conn, "{'op': 'init', 'encoded_public_key': '%s'}",
              spki_with_a_long_exponent(slow));
    expect_close(slow->conn, 4002);
    struct gateway_conn *old = conn_open_at(world_anonymous(w), "/remote-auth?v=1");
    expect_close(old, 4000);
    struct desktop *d = desktop_connect(w);
    desktop_begin(d);
    desktop_client_prove_key(d, STR("01234567890123456789012345678901"));
    expect_close(d->conn, 4002);
    expect(store_count(w, "select count(*) from remote_logins") == 0);
}

static bool device_is_accepted(struct world *w)
{
    const struct dom *m =
        conn_read(conn_open_at(world_anonymous(w), "/remote-auth?v=2"), LONGEST_MS);

    return m && str_is(dom_at(m, "op")->text, "hello");
}

static void sockets_without_a_qr_code_are_limited_by_address(struct world *w)
{
    struct gateway_conn *open[30];

    for (size_t i = 0; i < COUNT_OF(open); i++)
        open[i] = desktop_connect(w)->conn;
    expect_close(conn_open_at(world_anonymous(w), "/remote-auth?v=2"), 1013);
    conn_close(open[0], 1000);
    expect_soon(device_is_accepted(w));
}

static void qr_codes_and_tickets_are_rate_limited_by_address(struct world *w)
{
    for (int i = 0; i < 10; i++) {
        expect_invalid(exchange(w, "nonsense"), "ticket", "TICKET_INVALID");
        desktop_open(w);
    }
    expect_status(exchange(w, "nonsense"), 429);
    struct desktop *d = desktop_connect(w);
    desktop_client_prove_key(d, desktop_begin(d));
    expect_close(d->conn, 1013);
}

const struct test remote_auth_tests[] = {
    TEST(device_can_log_in_once_by_a_scanned_qr_code),
    TEST(scanned_log_in_can_be_cancelled),
    TEST(confirming_a_qr_code_log_in_requires_the_password),
    TEST(ending_the_scanning_session_cancels_the_qr_code_log_in),
    TEST(qr_code_log_in_ends_when_the_scanning_session_expires),
    TEST(qr_codes_and_login_tickets_expire),
    TEST(invalid_remote_auth_handshakes_are_closed),
    TEST(sockets_without_a_qr_code_are_limited_by_address),
    TEST_WITH(qr_codes_and_tickets_are_rate_limited_by_address, buckets_only),
    { 0 },
};
