/* webauthn.c - security keys as a second factor, with an authenticator of this test. */
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "base/mem.h"
#include "gateway_conn.h"
#include "people.h"
#include "platform/accounts/mfa/totp.h"

#define KEYS   "/users/@me/mfa/webauthn/credentials"
#define ENABLE "/users/@me/mfa/totp/enable"
#define SECRET "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

enum { USER_PRESENT = 1, CREDENTIAL = 64 };

/* --- the authenticator ---------------------------------------------------------------------- */

struct authenticator {
    struct world *world;
    EVP_PKEY *key;
    const char *host; /* host of the page that uses the key */
    unsigned char id[16];
    uint32_t counter;
    unsigned flags;
};

static struct authenticator *authenticator_new(struct world *w)
{
    struct authenticator *a = arena_alloc(world_arena(w), sizeof *a);

    *a = (struct authenticator){
        .world = w, .key = EVP_EC_gen("P-256"), .host = "chat.example", .flags = USER_PRESENT
    };
    randombytes_buf(a->id, sizeof a->id);
    expect(a->key);
    return a;
}

static void authenticator_free(struct authenticator *a)
{
    EVP_PKEY_free(a->key);
}

static const char *base64_of(struct world *w, struct str bytes)
{
    int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    size_t n = sodium_base64_encoded_len(bytes.n, variant);
    char *out = arena_alloc(world_arena(w), n);

    return sodium_bin2base64(out, n, (const unsigned char *)bytes.p, bytes.n, variant);
}

/* Returns the challenge of options for navigator.credentials. */
static const char *challenge_of(struct world *w, const char *options)
{
    const char *p = strstr(options, "\"challenge\":\"");

    expect(p);
    p += strlen("\"challenge\":\"");
    return TEXT(w, "%.*s", (int)strcspn(p, "\""), p);
}

static struct str client_data(struct authenticator *a, const char *type, const char *challenge)
{
    return str_of(TEXT(a->world, "{\"type\":\"%s\",\"challenge\":\"%s\",\"origin\":\"https://%s\"}",
                       type, challenge, a->host));
}

static struct str authenticator_data(struct authenticator *a, unsigned flags, struct str more)
{
    unsigned char head[37];

    crypto_hash_sha256(head, (const unsigned char *)a->host, strlen(a->host));
    head[32] = (unsigned char)(a->flags | flags);
    for (int i = 0; i < 4; i++)
        head[33 + i] = (unsigned char)(a->counter >> (24 - 8 * i));
    return STR_CONCAT(world_arena(a->world), str_slice((const char *)head, sizeof head), more);
}

/* Returns a credential as a string in a JSON string. */
static const char *credential_json(struct authenticator *a, struct str client, const char *rest)
{
    return TEXT(
        a->world,
        "{\\\"rawId\\\":\\\"%s\\\",\\\"response\\\":{\\\"clientDataJSON\\\":\\\"%s\\\",%s}}",
        base64_of(a->world, str_slice((const char *)a->id, sizeof a->id)),
        base64_of(a->world, client), rest);
}

/* Returns what navigator.credentials.create returns. */
static const char *new_credential(struct authenticator *a, const char *challenge)
{
    struct arena *arena = world_arena(a->world);
    unsigned char *der = NULL;
    int n = i2d_PUBKEY(a->key, &der);
    expect(n == 91); /* the last 64 bytes are the point */
    struct str x = str_dup(arena, str_slice((const char *)der + 27, 32)),
               y = str_dup(arena, str_slice((const char *)der + 59, 32));
    OPENSSL_free(der);
    struct str data = authenticator_data(a, CREDENTIAL,
                                         STR_CONCAT(arena, STR("0123456789abcdef\0\x10"),
                                                    str_slice((const char *)a->id, sizeof a->id),
                                                    STR("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"),
                                                    x, STR("\x22\x58\x20"), y));
    unsigned char length = (unsigned char)data.n;
    struct str object = STR_CONCAT(arena,
                                   STR("\xa3\x63"
                                       "fmt\x64none\x67"
                                       "attStmt\xa0\x68"
                                       "authData\x58"),
                                   str_slice((const char *)&length, 1), data);
    return credential_json(
        a, client_data(a, "webauthn.create", challenge),
        TEXT(a->world, "\\\"attestationObject\\\":\\\"%s\\\"", base64_of(a->world, object)));
}

/* Returns what navigator.credentials.get returns. The counter grows with each use. */
static const char *assertion(struct authenticator *a, const char *challenge)
{
    struct str client = client_data(a, "webauthn.get", challenge);
    unsigned char digest[32], signature[128];
    size_t n = sizeof signature;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    a->counter++;
    struct str data = authenticator_data(a, 0, STR(""));
    crypto_hash_sha256(digest, (const unsigned char *)client.p, client.n);
    struct str text =
        STR_CONCAT(world_arena(a->world), data, str_slice((const char *)digest, sizeof digest));
    expect(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, a->key) == 1 &&
           EVP_DigestSign(ctx, signature, &n, (const unsigned char *)text.p, text.n) == 1);
    EVP_MD_CTX_free(ctx);
    return credential_json(a, client,
                           TEXT(a->world,
                                "\\\"authenticatorData\\\":\\\"%s\\\",\\\"signature\\\":\\\"%s\\\"",
                                base64_of(a->world, data),
                                base64_of(a->world, str_slice((const char *)signature, n))));
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Sends a request as a page of a host does; proof may be empty. */
static struct answer request_from(struct client *c, const char *host, const char *method,
                                  const char *path, const char *proof, const char *json)
{
    struct world *w = c->world;
    char *body = str_dup_cstring(world_arena(w), str_of(json));

    for (char *p = body; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return client_request(c, method, TEXT(w, "/api/v9%s", path),
                          TEXT(w,
                               "Content-Type: application/json\r\nOrigin: https://%s\r\n"
                               "X-Discord-MFA-Authorization: %s\r\n",
                               host, proof),
                          str_of(body));
}

static struct answer post(struct client *c, const char *path, const char *json)
{
    return request_from(c, "chat.example", "POST", path, "", json);
}

static struct answer register_key(struct client *c, struct authenticator *a, const char *proof,
                                  const char *name)
{
    struct answer begun = request_from(c, a->host, "POST", KEYS, "", proof);

    expect_status(begun, 200);
    const char *challenge = challenge_of(c->world, answer_text(begun, "challenge"));
    return request_from(c, a->host, "POST", KEYS, "",
                        TEXT(c->world, "{'name': '%s', 'ticket': '%s', 'credential': '%s'}", name,
                             answer_text(begun, "ticket"), new_credential(a, challenge)));
}

static struct client *register_ada(struct world *w)
{
    struct answer a = client_post(
        world_anonymous(w), "{'username': 'ada', 'password': 'correct horse'}", "/auth/register");

    expect_status(a, 200);
    return world_client_with(w, answer_text(a, "token"));
}

static struct answer log_in_from(struct world *w, const char *host)
{
    return request_from(world_anonymous(w), host, "POST", "/auth/login", "",
                        "{'login': 'ada', 'password': 'correct horse'}");
}

static struct answer finish_login(struct world *w, const char *ticket, const char *code)
{
    return post(world_anonymous(w), "/auth/mfa/webauthn",
                TEXT(w, "{'ticket': '%s', 'code': '%s'}", ticket, code));
}

/* Returns a proof of identity that the key gives for a ticket of a refused call. */
static const char *prove(struct client *c, struct authenticator *a, struct answer refused)
{
    expect_error(refused, 401, 60003);
    expect(strcmp(answer_text(refused, "mfa.methods.0.type"), "webauthn") == 0);
    const char *challenge = challenge_of(c->world, answer_text(refused, "mfa.methods.0.challenge"));
    struct answer done = post(c, "/mfa/finish",
                              TEXT(c->world, "{'ticket':'%s','mfa_type':'webauthn','data':'%s'}",
                                   answer_text(refused, "mfa.ticket"), assertion(a, challenge)));
    expect_status(done, 200);
    return answer_text(done, "token");
}

static const char *code_of_step(struct world *w, int steps)
{
    unsigned char secret[TOTP_SECRET];

    expect(totp_secret_parse(STR(SECRET), secret));
    return TEXT(w, "%06u", totp_code_of_step(secret, clock_s() / TOTP_STEP_S + steps));
}

/* --- tests ------------------------------------------------------------------------------------ */

static void log_in_with_a_security_key_works_once_per_challenge(struct world *w)
{
    struct client *ada = register_ada(w);
    struct authenticator *key = authenticator_new(w);
    struct answer a = register_key(ada, key, "{'password': 'correct horse'}", "Alien");

    expect_status(a, 200);
    expect_json(a, "{'type': 1, 'name': 'Alien', 'last_used': null}");
    expect(strlen(answer_text(a, "backup_codes.9.code")) == 8);
    const char *backup = answer_text(a, "backup_codes.0.code");
    expect_json(client_get(ada, "/users/@me"), "{'mfa_enabled': true}");

    world_wait(w, 10);
    a = log_in_from(w, "chat.example");
    expect_json(a, "{'mfa': true, 'totp': false, 'backup': true}");
    expect_absent(a, "token");
    const char *options = answer_text(a, "webauthn"), *ticket = answer_text(a, "ticket");
    expect(strstr(options, "\"rpId\":\"chat.example\"") &&
           strstr(options, "\"allowCredentials\":[{"));
    const char *challenge = challenge_of(w, options);
    const char *code = assertion(key, challenge);

    expect_error(finish_login(w, ticket, "{}"), 400, 60008);
    expect_error(finish_login(w, ticket, "nonsense"), 400, 60008);
    expect_error(finish_login(w, "1.2.3.4", code), 400, 60006);
    struct answer in = finish_login(w, ticket, code);
    expect_status(in, 200);
    expect_json(client_get(world_client_with(w, answer_text(in, "token")), KEYS),
                "[{'name': 'Alien', 'type': 1}]");
    expect(answer_text(client_get(ada, KEYS), "0.last_used"));
    /* The same answer, and another answer to the same challenge, are refused. */
    expect_error(finish_login(w, ticket, code), 400, 60008);
    expect_error(finish_login(w, ticket, assertion(key, challenge)), 400, 60008);

    /* A browser on another host cannot use the key: the log-in offers only backup codes there. */
    a = log_in_from(w, "other.example");
    expect_json(a, "{'mfa': true, 'totp': false, 'backup': true, 'webauthn': null}");
    a = client_post(world_anonymous(w),
                    TEXT(w, "{'ticket': '%s', 'code': '%s'}", answer_text(a, "ticket"), backup),
                    "/auth/mfa/backup");
    expect_status(a, 200);
    authenticator_free(key);
}

static void signature_of_a_security_key_must_fit_the_challenge(struct world *w)
{
    struct client *ada = register_ada(w);
    struct authenticator *key = authenticator_new(w), *other = authenticator_new(w);

    key->counter = 5;
    expect_status(register_key(ada, key, "{'password': 'correct horse'}", "Alien"), 200);
    world_wait(w, 10);
    struct answer a = log_in_from(w, "chat.example");
    const char *ticket = answer_text(a, "ticket");
    const char *challenge = challenge_of(w, answer_text(a, "webauthn"));

    /* An unknown key, another key with the id of this one, and another challenge are refused. */
    expect_error(finish_login(w, ticket, assertion(other, challenge)), 400, 60008);
    memcpy(other->id, key->id, sizeof key->id);
    other->counter = 90;
    expect_error(finish_login(w, ticket, assertion(other, challenge)), 400, 60008);
    expect_error(finish_login(w, ticket, assertion(key, "AAAA")), 400, 60008);
    /* Another page, a missing touch and a counter that did not grow are refused. */
    key->host = "evil.example";
    expect_error(finish_login(w, ticket, assertion(key, challenge)), 400, 60008);
    key->host = "chat.example";
    key->flags = 0;
    expect_error(finish_login(w, ticket, assertion(key, challenge)), 400, 60008);
    /* Five wrong answers end the ticket. */
    key->flags = USER_PRESENT;
    expect_error(finish_login(w, ticket, assertion(key, challenge)), 400, 60006);

    world_wait(w, 70);
    a = log_in_from(w, "chat.example");
    ticket = answer_text(a, "ticket");
    challenge = challenge_of(w, answer_text(a, "webauthn"));
    key->counter = 4;
    expect_error(finish_login(w, ticket, assertion(key, challenge)), 400, 60008);
    expect_status(finish_login(w, ticket, assertion(key, challenge)), 200);
    authenticator_free(key);
    authenticator_free(other);
}

static void adding_a_security_key_requires_an_identity_proof(struct world *w)
{
    struct client *ada = register_ada(w);
    struct client *eve = world_client(w, "eve");
    struct authenticator *key = authenticator_new(w), *second = authenticator_new(w);

    expect_error(post(ada, KEYS, "{}"), 401, 60003);
    expect_invalid(post(ada, KEYS, "{'password': 'wrong horse'}"), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    struct answer a = post(ada, KEYS, "{'password': 'correct horse'}");
    const char *ticket = answer_text(a, "ticket"), *options = answer_text(a, "challenge");
    const char *challenge = challenge_of(w, options);
    expect(strstr(options, "\"alg\":-7") && strstr(options, "\"alg\":-257") &&
           strstr(options, "\"rp\":{\"id\":\"chat.example\""));

    const char *good = new_credential(key, challenge);
    expect_error(
        post(eve, KEYS, TEXT(w, "{'name':'k','ticket':'%s','credential':'%s'}", ticket, good)), 400,
        60006);
    expect_error(post(ada, KEYS, TEXT(w, "{'name':'k','credential':'%s'}", good)), 400, 60006);
    expect_invalid(
        post(ada, KEYS, TEXT(w, "{'name':'','ticket':'%s','credential':'%s'}", ticket, good)),
        "name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(post(ada, KEYS, TEXT(w, "{'name':'k','ticket':'%s','credential':'{}'}", ticket)),
                   "credential", "WEBAUTHN_INVALID");
    expect_invalid(post(ada, KEYS,
                        TEXT(w, "{'name':'k','ticket':'%s','credential':'%s'}", ticket,
                             new_credential(key, "AAAA"))),
                   "credential", "WEBAUTHN_CHALLENGE");
    /* The page of another host cannot register a key for this one. */
    key->host = "evil.example";
    expect_invalid(post(ada, KEYS,
                        TEXT(w, "{'name':'k','ticket':'%s','credential':'%s'}", ticket,
                             new_credential(key, challenge))),
                   "credential", "WEBAUTHN_CHALLENGE");
    key->host = "chat.example";
    expect_json(client_get(ada, KEYS), "[]");
    a = post(ada, KEYS, TEXT(w, "{'name':'k','ticket':'%s','credential':'%s'}", ticket, good));
    expect_status(a, 200);
    /* The ticket was a proof by the password, before the account had a second factor. */
    expect_error(
        post(ada, KEYS, TEXT(w, "{'name':'k','ticket':'%s','credential':'%s'}", ticket, good)), 400,
        60006);

    /* With a second factor, the password is no proof, but a backup code is. */
    expect_error(post(ada, KEYS, "{'password': 'correct horse'}"), 401, 60003);
    const char *backup = answer_text(a, "backup_codes.4.code");
    a = register_key(ada, second, TEXT(w, "{'code': '%s'}", answer_text(a, "backup_codes.3.code")),
                     "Second");
    expect_status(a, 200);
    world_wait(w, 60);
    expect_invalid(register_key(ada, second, TEXT(w, "{'code': '%s'}", backup), "Again"),
                   "credential", "WEBAUTHN_KNOWN");
    expect(dom_at(a.json, "backup_codes.3.consumed")->truth);
    expect_error(post(world_bot(w, "robot"), KEYS, "{}"), 403, 20001);
    world_wait(w, 301);
    expect_error(
        post(ada, KEYS, TEXT(w, "{'name':'k','ticket':'%s','credential':'%s'}", ticket, good)), 400,
        60006);
    authenticator_free(key);
    authenticator_free(second);
}

static void account_has_at_most_ten_security_keys(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct authenticator *first = authenticator_new(w);
    struct answer made = register_key(ada, first, "{}", "Security key");
    struct answer begun =
        post(ada, KEYS, TEXT(w, "{'code': '%s'}", answer_text(made, "backup_codes.0.code")));
    const char *ticket = answer_text(begun, "ticket");
    const char *challenge = challenge_of(w, answer_text(begun, "challenge"));

    authenticator_free(first);
    for (int i = 1; i <= 10; i++) {
        struct authenticator *key = authenticator_new(w);
        struct answer a = post(
            ada, KEYS,
            TEXT(w, "{'ticket':'%s','credential':'%s'}", ticket, new_credential(key, challenge)));

        if (i < 10)
            expect_json(a, "{'name': 'Security key'}");
        else
            expect_invalid(a, "credential", "WEBAUTHN_LIMIT");
        authenticator_free(key);
        world_wait(w, 15);
    }
}

static void changing_a_security_key_requires_an_identity_proof(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct authenticator *key = authenticator_new(w);
    struct answer a = register_key(ada, key, "{}", "Alien");
    const char *id = answer_text(a, "id");
    const char *path = TEXT(w, KEYS "/%s", id);

    expect_event(ada, "USER_UPDATE", "{'mfa_enabled': true}");
    expect_event(ada, "AUTHENTICATOR_CREATE", "{'id': '%s', 'type': 1, 'name': 'Alien'}", id);
    expect_silence(eve);

    expect_error(request_from(ada, "other.example", "DELETE", path, "", ""), 401, 60003);
    expect_error(request_from(eve, "chat.example", "DELETE", path, "", ""), 404, 0);
    world_wait(w, 10);
    const char *proof =
        prove(ada, key, request_from(ada, "chat.example", "PATCH", path, "", "{'name': 'Blue'}"));
    a = request_from(ada, "chat.example", "PATCH", path, proof, "{'name': 'Blue'}");
    expect_json(a, "{'id': '%s', 'name': 'Blue'}", id);
    expect_event(ada, "AUTHENTICATOR_UPDATE", "{'id': '%s', 'name': 'Blue'}", id);
    expect_error(request_from(ada, "chat.example", "PATCH", KEYS "/5", proof, "{}"), 404, 0);
    expect_error(request_from(eve, "chat.example", "PATCH", path, "", "{'name': 'Eve'}"), 404, 0);

    expect_error(request_from(ada, "chat.example", "DELETE", path, "", ""), 401, 60003);
    expect_status(request_from(ada, "chat.example", "DELETE", path, proof, ""), 204);
    expect_event(ada, "USER_UPDATE", "{'mfa_enabled': false}");
    expect_event(ada, "AUTHENTICATOR_DELETE", "{'id': '%s', 'type': 1}", id);
    expect_json(client_get(ada, KEYS), "[]");
    expect_json(client_get(ada, "/users/@me"), "{'mfa_enabled': false}");
    expect(store_count(w, "select count(*) from mfa") == 0);
    authenticator_free(key);
}

static void switching_mfa_on_or_off_ends_other_login_sessions(struct world *w)
{
    struct client *ada = register_ada(w);
    struct authenticator *key = authenticator_new(w);
    snprintf(ada->id, sizeof ada->id, "%s", answer_text(client_get(ada, "/users/@me"), "id"));
    struct client *phone = world_token(w, ada, CALLER_USER, "", 0);
    struct answer refused = post(ada, "/auth/sessions/logout", "{'session_id_hashes': ['x']}");
    struct answer proof =
        post(ada, "/mfa/finish",
             TEXT(w, "{'ticket':'%s','mfa_type':'password','data':'correct horse'}",
                  answer_text(refused, "mfa.ticket")));

    expect_status(proof, 200);
    struct answer a = register_key(ada, key, "{'password': 'correct horse'}", "Alien");
    expect_status(a, 200);
    const char *path = TEXT(w, KEYS "/%s", answer_text(a, "id"));
    expect_status(client_get(phone, "/users/@me"), 401);
    expect_status(client_get(ada, "/users/@me"), 200);
    /* The proof by the password is from before the account had a second factor. */
    a = request_from(ada, "chat.example", "DELETE", path, answer_text(proof, "token"), "");
    const char *with_key = prove(ada, key, a);

    phone = world_token(w, ada, CALLER_USER, "", 0);
    expect_status(client_get(phone, "/users/@me"), 200);
    expect_status(request_from(ada, "chat.example", "DELETE", path, with_key, ""), 204);
    expect_status(client_get(phone, "/users/@me"), 401);
    expect_status(client_get(ada, "/users/@me"), 200);
    authenticator_free(key);
}

static void totp_and_security_keys_are_independent(struct world *w)
{
    struct client *ada = register_ada(w);
    struct authenticator *key = authenticator_new(w);

    world_wait(w, (double)(TOTP_STEP_S - clock_s() % TOTP_STEP_S));
    expect_status(register_key(ada, key, "{'password': 'correct horse'}", "Alien"), 200);
    expect_error(client_post(ada, "{}", "/users/@me/mfa/totp/disable"), 400, 60002);
    /* Without TOTP no code of six digits is accepted. */
    struct answer a = log_in_from(w, "chat.example");
    expect_error(client_post(world_anonymous(w),
                             TEXT(w, "{'ticket': '%s', 'code': '%s'}", answer_text(a, "ticket"),
                                  code_of_step(w, 0)),
                             "/auth/mfa/totp"),
                 400, 60008);
    /* The password does not suffice to add TOTP, because it would replace the key. */
    const char *enable =
        TEXT(w, "{'password': 'correct horse', 'secret': '" SECRET "', 'code': '%s'}",
             code_of_step(w, 0));
    a = post(ada, ENABLE, enable);
    expect_error(a, 401, 60003);
    expect_error(request_from(ada, "chat.example", "POST", ENABLE, "1.2.3.4", enable), 401, 60003);
    a = request_from(ada, "chat.example", "POST", ENABLE, prove(ada, key, a), enable);
    expect_status(a, 200);
    ada = world_client_with(w, answer_text(a, "token"));
    world_wait(w, TOTP_STEP_S);
    a = log_in_from(w, "chat.example");
    expect_json(a, "{'totp': true}");
    expect(answer_text(a, "webauthn"));
    a = client_post(ada, TEXT(w, "{'code': '%s'}", code_of_step(w, 0)),
                    "/users/@me/mfa/totp/disable");
    expect_status(a, 200);
    ada = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'mfa_enabled': true}");
    a = log_in_from(w, "chat.example");
    expect_json(a, "{'mfa': true, 'totp': false}");
    world_wait(w, 2);
    a = log_in_from(w, "chat.example");
    expect_status(finish_login(w, answer_text(a, "ticket"),
                               assertion(key, challenge_of(w, answer_text(a, "webauthn")))),
                  200);
    authenticator_free(key);
}

/* Sends the request without a proof, then with a proof by the key; returns the second answer. */
static struct answer request_with_key(struct client *c, struct authenticator *key,
                                      const char *method, const char *path, const char *json)
{
    struct answer refused = request_from(c, key->host, method, path, "", json);
    const char *proof = prove(c, key, refused);

    world_wait(c->world, 10);
    return request_from(c, key->host, method, path, proof, json);
}

static void security_key_replaces_the_code_where_a_body_has_one(struct world *w)
{
    struct client *ada = register_ada(w);
    struct authenticator *key = authenticator_new(w);
    const char *rename = "{'password': 'correct horse', 'username': 'countess'}";
    const char *wrong = "{'password': 'wrong horse', 'username': 'countess'}";
    const char *password = "{'password': 'correct horse'}";

    expect_status(register_key(ada, key, password, "Alien"), 200);
    world_wait(w, 10);
    /* The key does not replace the password, and it works on the pages of its own host only. */
    expect_invalid(request_from(ada, "chat.example", "PATCH", "/users/@me", "", wrong), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    expect_error(request_from(ada, "other.example", "PATCH", "/users/@me", "", rename), 400, 60008);
    expect_error(request_from(ada, "chat.example", "PATCH", "/users/@me", "1.2.3.4", rename), 401,
                 60003);
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");

    expect_json(request_with_key(ada, key, "PATCH", "/users/@me", rename),
                "{'username': 'countess'}");
    world_wait(w, 10);
    struct answer a =
        request_with_key(ada, key, "POST", "/auth/verify/view-backup-codes-challenge", password);
    expect_status(a, 200);
    expect(answer_text(a, "nonce"));
    world_wait(w, 60);
    expect_error(request_from(ada, "chat.example", "POST", "/users/@me/mfa/totp/disable", "", "{}"),
                 400, 60002);
    expect_status(request_with_key(ada, key, "POST", "/users/@me/disable", password), 204);
    authenticator_free(key);
}

static void expect_factors_in_ready(struct client *c, const char *types)
{
    struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

    expect_op(g, 10);
    conn_identify(g, "");
    expect_dispatch(g, "READY", "{'auth': {'authenticator_types': %s}}", types);
    conn_close(g, 1000);
}

static void ready_event_lists_the_types_of_second_factors(struct world *w)
{
    struct client *ada = register_ada(w);
    struct authenticator *key = authenticator_new(w);

    expect_factors_in_ready(ada, "[]");
    expect_status(register_key(ada, key, "{'password': 'correct horse'}", "Alien"), 200);
    expect_factors_in_ready(ada, "[1]");
    world_wait(w, 60);
    struct answer a =
        request_with_key(ada, key, "POST", ENABLE,
                         TEXT(w, "{'password': 'correct horse', 'secret': '%s', 'code': '%s'}",
                              SECRET, code_of_step(w, 0)));
    expect_status(a, 200);
    expect_factors_in_ready(world_client_with(w, answer_text(a, "token")), "[1, 2]");
    authenticator_free(key);
}

const struct test webauthn_tests[] = {
    TEST(security_key_replaces_the_code_where_a_body_has_one),
    TEST(log_in_with_a_security_key_works_once_per_challenge),
    TEST_WITH(signature_of_a_security_key_must_fit_the_challenge, buckets_only),
    TEST(adding_a_security_key_requires_an_identity_proof),
    TEST(account_has_at_most_ten_security_keys),
    TEST(changing_a_security_key_requires_an_identity_proof),
    TEST(switching_mfa_on_or_off_ends_other_login_sessions),
    TEST(totp_and_security_keys_are_independent),
    TEST(ready_event_lists_the_types_of_second_factors),
    { 0 },
};
