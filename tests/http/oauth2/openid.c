/* openid.c - OpenID Connect: id tokens and userinfo. */
#include "consents.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/application.h"
#include "pool.h"
#include "test_guild.h"

#define KEYS     "/oauth2/keys"
#define USERINFO "/oauth2/userinfo"
#define REFRESH  "grant_type=refresh_token&refresh_token=%s&client_id=%s&client_secret=%s"

static struct client *bearer_client(struct answer a)
{
    struct world *w = a.client->world;

    return world_client_with(w, TEXT(w, "Bearer %s", answer_text(a, "access_token")));
}

/* --- verifying signatures ------------------------------------------------------------- */

static struct str decode_part(struct world *w, struct str text)
{
    char *bytes = arena_alloc(world_arena(w), text.n + 1);
    size_t n;

    expect(str_base64url_decode(text, bytes, text.n, &n));
    return str_slice(bytes, n);
}

static BIGNUM *read_key_number(struct world *w, struct answer keys, const char *name)
{
    struct str bytes = decode_part(w, str_of(answer_text(keys, TEXT(w, "keys.0.%s", name))));

    return BN_bin2bn((const unsigned char *)bytes.p, (int)bytes.n, NULL);
}

static EVP_PKEY *read_public_key(struct world *w, struct answer keys)
{
    BIGNUM *n = read_key_number(w, keys, "n"), *e = read_key_number(w, keys, "e");
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;

    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    expect(EVP_PKEY_fromdata_init(context) == 1);
    expect(EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) == 1);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    EVP_PKEY_CTX_free(context);
    BN_free(n);
    BN_free(e);
    return key;
}

/* Returns the claims of an id token after verifying its signature with /oauth2/keys. */
static const char *signed_claims(struct world *w, struct answer keys, const char *token)
{
    struct str rest = str_of(token), text = rest;
    struct str head = decode_part(w, str_cut(&rest, '.')),
               claims = decode_part(w, str_cut(&rest, '.'));
    struct str signature = decode_part(w, rest);
    EVP_PKEY *key = read_public_key(w, keys);
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    text = str_slice(text.p, (size_t)(rest.p - text.p) - 1);
    expect(EVP_PKEY_get_bits(key) == 2048);
    expect(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1);
    expect(EVP_DigestVerify(context, (const unsigned char *)signature.p, signature.n,
                            (const unsigned char *)text.p, text.n) == 1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    expect(str_is(head, TEXT(w, "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"%s\"}",
                             answer_text(keys, "keys.0.kid"))));
    return str_dup_cstring(world_arena(w), claims);
}

/* --- tests ---------------------------------------------------------------------------- */

static void id_token_contains_signed_claims_of_the_user(struct world *w)
{
    struct consent s = world_consent(w);

    expect_json(client_get(s.nobody, KEYS), "{'keys': []}");
    struct answer a = client_post(s.bob, "{'authorize': true}",
                                  AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK
                                            "&scope=openid+identify&nonce=n-0S6",
                                  s.app);
    a = exchange(&s, url_part(a, "code"));
    expect_status(a, 200);
    struct answer keys = client_get(s.nobody, KEYS);
    expect_json(keys, "{'keys': [{'kty': 'RSA', 'use': 'sig', 'alg': 'RS256', 'e': 'AQAB'}]}");
    const char *claims = signed_claims(w, keys, answer_text(a, "id_token"));
    expect(strstr(claims, TEXT(w, "\"sub\":\"%s\",\"aud\":\"%s\",\"iat\":", s.bob->id, s.app)));
    expect(strstr(claims, "\"nonce\":\"n-0S6\"}"));
    expect(strstr(claims, "{\"iss\":\"http://") == claims);

    a = client_form(s.nobody, TOKEN, REFRESH, answer_text(a, "refresh_token"), s.app, s.secret);
    expect_status(a, 200);
    claims = signed_claims(w, keys, answer_text(a, "id_token"));
    expect(!strstr(claims, "nonce"));
    /* The key is reused. */
    granted(&s, "openid");
    expect(str_eq(client_get(s.nobody, KEYS).body, keys.body));
    expect(world_number(w, "select count(*) from signing_keys") == 1);
}

static void id_token_and_userinfo_require_the_openid_scope(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer a = granted(&s, "identify");

    expect_absent(a, "id_token");
    expect(world_number(w, "select count(*) from signing_keys") == 0);
    expect_error(client_get(bearer_client(a), USERINFO), 403, 50026);
    expect_error(client_get(s.bob, USERINFO), 401, 0);
    a = client_form(s.nobody, TOKEN,
                    "grant_type=client_credentials&scope=openid&client_id=%s&client_secret=%s",
                    s.app, s.secret);
    expect_status(a, 400);
    expect_json(a, "{'error': 'invalid_scope'}");
    world_sql(w, "update applications set flags = flags + %d", APPLICATION_PUBLIC_CLIENT);
    expect_invalid(client_get(s.bob,
                              AUTHORIZE "?client_id=%s&response_type=token&redirect_uri=" BACK
                                        "&scope=openid",
                              s.app),
                   "scope", "ENUM_TYPE_COERCE");
}

static void userinfo_contains_the_claims_of_the_scopes(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer a = client_get(bearer_client(granted(&s, "openid")), USERINFO);

    expect_json(a, "{'sub': '%s'}", s.bob->id);
    expect_absent(a, "email");
    expect_absent(a, "email_verified");
    expect_absent(a, "preferred_username");
    expect_absent(a, "picture");
    expect_status(client_patch(s.bob, "{'global_name': 'Bob B.'}", "/users/@me"), 200);
    a = client_get(bearer_client(granted(&s, "openid%20identify%20email")), USERINFO);
    expect_json(
        a,
        "{'sub': '%s', 'preferred_username': 'bob', 'nickname': 'Bob B.', 'locale': 'en-US', "
        "'email': null, 'email_verified': %s}",
        s.bob->id,
        world_number(w, "select count(*) from users where id = %s and verified = 1", s.bob->id)
            ? "true"
            : "false");
    expect(strstr(answer_text(a, "picture"), "/embed/avatars/"));
}

/* Sends the exchange of a code without waiting for the response; returns the socket. */
static int send_exchange(struct world *w, const struct consent *s, const char *code)
{
    int fd = client_dial(s->nobody);
    const char *body = TEXT(w,
                            "grant_type=authorization_code&code=%s&redirect_uri=" BACK
                            "&client_id=%s&client_secret=%s",
                            code, s->app, s->secret);
    const char *all = TEXT(w,
                           "POST /api/v10" TOKEN " HTTP/1.1\r\nHost: x\r\n"
                           "Content-Type: application/x-www-form-urlencoded\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           strlen(body), body);

    expect(send(fd, all, strlen(all), 0) == (ssize_t)strlen(all));
    return fd;
}

#define UNUSED_CODES "select count(*) from authorization_codes where used = 0"

static void id_token_is_signed_outside_the_write_transaction(struct world *w)
{
    struct consent s = world_consent(w);
    char text[4096] = { 0 };

    granted(&s, "openid"); /* the first token creates the key */
    const char *code = get_code(s.bob, s.app, "openid");
    pool_hold();
    int fd = send_exchange(w, &s, code);
    pool_await(w, 1);
    /* While the signature is computed, writes are possible and the code is unused. */
    expect_status(client_patch(s.bob, "{'global_name': 'Bob B.'}", "/users/@me"), 200);
    expect(world_number(w, UNUSED_CODES) == 1);
    pool_release();
    expect(recv(fd, text, sizeof text - 1, 0) > 0);
    close(fd);
    expect(!strncmp(text, "HTTP/1.1 200", 12) && strstr(text, "\"id_token\":\"ey"));
    expect(world_number(w, UNUSED_CODES) == 0);
}

const struct test openid_tests[] = {
    TEST(id_token_contains_signed_claims_of_the_user),
    TEST(id_token_and_userinfo_require_the_openid_scope),
    TEST(id_token_is_signed_outside_the_write_transaction),
    TEST(userinfo_contains_the_claims_of_the_scopes),
    { 0 },
};
