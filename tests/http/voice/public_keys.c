/* public_keys.c - persistent public keys of sessions: uploading, self-signatures, matching. The key
 * pairs and signatures are made with the OpenSSL command line. */
#include "gateway_conn.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS    "/voice/public-keys"
#define SERVICE "ServiceSelfSignature"

/* --- client side ---------------------------------------------------------------------- */

static void run_command(const char *command)
{
    if (system(command) != 0)
        fail_test(__FILE__, __LINE__, "failed: %s", command);
}

static struct str read_file(struct world *w, const char *name)
{
    char path[600], bytes[4096];

    snprintf(path, sizeof path, "%s/%s", world_folder(w), name);
    FILE *f = fopen(path, "rb");
    expect(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return str_dup(world_arena(w), str_slice(bytes, n));
}

static void write_file(struct world *w, const char *name, struct str bytes)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", world_folder(w), name);
    FILE *f = fopen(path, "wb");
    expect(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0);
}

/* Creates a key pair with a name; returns its public key in one of the two forms. */
static struct str make_key(struct world *w, const char *name, const char *form)
{
    char command[2000];
    size_t n = strcmp(form, "compressed") == 0 ? 33 : 65;

    snprintf(command, sizeof command,
             "cd '%s' && (test -f %s.pem || openssl ecparam -name prime256v1 -genkey -noout -out "
             "%s.pem) 2>/dev/null && openssl ec -in %s.pem -pubout -conv_form %s -outform DER -out "
             "%s.der 2>/dev/null",
             world_folder(w), name, name, name, form, name);
    run_command(command);
    snprintf(command, sizeof command, "%s.der", name);
    struct str der = read_file(w, command);
    expect(der.n > n);
    return str_skip_bytes(der, der.n - n);
}

/* Signs label and content with their lengths, encoded here by hand. */
static struct str sign_key(struct world *w, const char *name, const char *label, const char *login,
                           struct str key)
{
    struct arena *a = world_arena(w);
    struct str content = STR_CONCAT(a, str_of(login), STR(":"), key);
    char lengths[4] = { (char)(8 + strlen(label)), 0x40, (char)content.n };
    char command[2000];

    write_file(w, "signed",
               STR_CONCAT(a, str_slice(lengths, 1), STR("MLS 1.0 "), str_of(label),
                          str_slice(lengths + 1, 2), content));
    snprintf(command, sizeof command,
             "cd '%s' && openssl dgst -sha256 -sign %s.pem -out signature signed", world_folder(w),
             name);
    run_command(command);
    return read_file(w, "signature");
}

static const char *encode_base64(struct world *w, struct str bytes)
{
    char *out = arena_alloc(world_arena(w), 4096);

    return sodium_bin2base64(out, 4096, (const unsigned char *)bytes.p, bytes.n,
                             sodium_base64_VARIANT_ORIGINAL);
}

/* Returns the session id of the login from READY. */
static const char *read_login_id(struct client *c)
{
    struct gateway_conn *g = conn_open(c, "v=10&encoding=json");

    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *ready = conn_read(g, 30000);
    const struct dom *id = dom_at(ready, "d.static_client_session_id");
    expect(id && id->text.n == 36);
    return str_dup_cstring(world_arena(c->world), id->text);
}

static struct answer put_key_text(struct client *c, const char *key, const char *signature)
{
    return client_put(c,
                      str_printf(world_arena(c->world),
                                 "{'key_version': 1, 'public_key': '%s', 'signature': '%s'}", key,
                                 signature)
                          .p,
                      KEYS);
}

static struct answer put_key(struct client *c, struct str key, struct str signature)
{
    struct world *w = c->world;
    const char *head = "data:application/octet-stream;base64,";

    return put_key_text(c, str_printf(world_arena(w), "%s%s", head, encode_base64(w, key)).p,
                        str_printf(world_arena(w), "%s%s", head, encode_base64(w, signature)).p);
}

/* Uploads a new key of that name. */
static struct str upload_new_key(struct client *c, const char *name, const char *form)
{
    struct str key = make_key(c->world, name, form);

    expect_status(put_key(c, key, sign_key(c->world, name, SERVICE, read_login_id(c), key)), 204);
    return key;
}

static struct answer match_key(struct client *c, const char *user_id, struct str key)
{
    return client_post(c,
                       str_printf(world_arena(c->world), "{'key_version': 1, 'public_key': '%s'}",
                                  encode_base64(c->world, key))
                           .p,
                       "/voice/%s/match-public-key", user_id);
}

/* --- uploading ------------------------------------------------------------------------ */

static void self_signed_public_key_is_accepted_and_matched(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    struct str key = upload_new_key(ada, "a", "compressed");
    expect_json(match_key(bob, ada->id, key), "{'is_match': true}");
    expect_json(match_key(bob, ada->id, make_key(w, "a", "uncompressed")), "{'is_match': true}");
    expect_json(match_key(bob, bob->id, key), "{'is_match': false}");
    expect_json(match_key(bob, ada->id, make_key(w, "b", "compressed")), "{'is_match': false}");
    expect_json(match_key(ada, "@me", key), "{'is_match': true}");
    /* Bearer tokens with the scope may match keys, too. */
    struct client *app = world_token(w, bob, CALLER_BEARER, "voice", 3600);
    expect_json(match_key(app, ada->id, key), "{'is_match': true}");
    app = world_token(w, bob, CALLER_BEARER, "identify", 3600);
    expect_error(match_key(app, ada->id, key), 403, 50026);
}

static void uncompressed_key_must_be_signed_uncompressed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct str whole = make_key(w, "a", "uncompressed"), half = make_key(w, "a", "compressed");
    const char *login = read_login_id(ada);

    expect_invalid(put_key(ada, whole, sign_key(w, "a", SERVICE, login, half)), "signature",
                   "SIGNATURE_INVALID");
    expect_status(put_key(ada, whole, sign_key(w, "a", SERVICE, login, whole)), 204);
    expect_json(match_key(ada, "@me", half), "{'is_match': true}");
}

static void key_signature_covers_label_and_login(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *phone = world_token(w, ada, CALLER_USER, "", 0);
    struct str key = make_key(w, "a", "compressed");
    const char *login = read_login_id(ada);

    expect(strcmp(login, read_login_id(phone)) != 0 && strcmp(login, read_login_id(ada)) == 0);
    expect_invalid(put_key(ada, key, sign_key(w, "a", SERVICE, read_login_id(phone), key)),
                   "signature", "SIGNATURE_INVALID");
    expect_invalid(put_key(ada, key, sign_key(w, "a", "ServiceSelfSignaturf", login, key)),
                   "signature", "SIGNATURE_INVALID");
    make_key(w, "b", "compressed");
    expect_invalid(put_key(ada, key, sign_key(w, "b", SERVICE, login, key)), "signature",
                   "SIGNATURE_INVALID");
    expect_status(put_key(ada, key, sign_key(w, "a", "DiscordSelfSignature", login, key)), 204);
}

static void configure_without_discord_signature_label(struct config *c)
{
    c->voice_second_label = false;
}

static void discord_signature_label_can_be_disabled_for_public_keys(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct str key = make_key(w, "a", "compressed");
    const char *login = read_login_id(ada);

    expect_invalid(put_key(ada, key, sign_key(w, "a", "DiscordSelfSignature", login, key)),
                   "signature", "SIGNATURE_INVALID");
    expect_status(put_key(ada, key, sign_key(w, "a", SERVICE, login, key)), 204);
}

static void keys_and_signatures_are_accepted_as_data_urls(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct str key = make_key(w, "a", "compressed");
    const char *k = encode_base64(w, key);
    const char *s = encode_base64(w, sign_key(w, "a", SERVICE, read_login_id(ada), key));
    static const char *const good[] = { "%s", "data:image/png;base64,%s", "data: a/b; base64, %s",
                                        "DATA:;BASE64,%s", "data:a/b;charset=c; base64,%s" };
    static const char *const bad[] = { "%s!",
                                       "=%s",
                                       "data:a/b,%s",
                                       "file:a/b;base64,%s",
                                       "data:a/b;base32,%s",
                                       "data:base64,%s",
                                       "data:a/b;base64;c=d,%s" };
    char text[400];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, good[i], k);
        expect_status(put_key_text(ada, text, s), 204);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, bad[i], k);
        expect_invalid(put_key_text(ada, text, s), "public_key", "PUBLIC_KEY_INVALID");
        snprintf(text, sizeof text, bad[i], s);
        expect_invalid(put_key_text(ada, k, text), "signature", "SIGNATURE_INVALID");
    }
}

static void invalid_key_requests_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct str key = make_key(w, "a", "compressed");
    char *bent = str_dup_cstring(world_arena(w), key);

    expect_invalid(client_put(ada, "{'public_key': 'AA==', 'signature': 'AA=='}", KEYS),
                   "key_version", "BASE_TYPE_REQUIRED");
    expect_invalid(
        client_put(ada, "{'key_version': 2, 'public_key': 'AA==', 'signature': 'AA=='}", KEYS),
        "key_version", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(ada, "{'key_version': 1, 'signature': 'AA=='}", KEYS), "public_key",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_put(ada, "{'key_version': 1, 'public_key': 'AA=='}", KEYS), "signature",
                   "BASE_TYPE_REQUIRED");
    bent[0] = 5;
    expect_invalid(put_key(ada, str_slice(bent, 33), STR("x")), "public_key", "PUBLIC_KEY_INVALID");
    expect_invalid(match_key(ada, "@me", str_slice(bent, 33)), "public_key", "PUBLIC_KEY_INVALID");
    expect_invalid(match_key(ada, "@me", str_slice(bent, 32)), "public_key", "PUBLIC_KEY_INVALID");
    expect_error(match_key(ada, "123", key), 404, 10013);
}

/* --- ownership ------------------------------------------------------------------------ */

static void each_login_has_one_key_and_an_account_several(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *phone = world_token(w, ada, CALLER_USER, "", 0);
    struct str first = upload_new_key(ada, "a", "compressed"),
               other = upload_new_key(phone, "b", "compressed");

    expect_json(match_key(ada, ada->id, first), "{'is_match': true}");
    expect_json(match_key(ada, ada->id, other), "{'is_match': true}");
    struct str second = upload_new_key(ada, "c", "compressed"); /* replaces the first key */
    expect_json(match_key(ada, ada->id, first), "{'is_match': false}");
    expect_json(match_key(ada, ada->id, second), "{'is_match': true}");
    expect_json(match_key(ada, ada->id, other), "{'is_match': true}");
}

static void public_key_can_belong_to_one_login_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *phone = world_token(w, ada, CALLER_USER, "", 0);
    struct client *others[] = { bob, phone };
    struct str key = upload_new_key(ada, "a", "compressed"),
               whole = make_key(w, "a", "uncompressed");

    for (int i = 0; i < 2; i++) {
        const char *login = read_login_id(others[i]);

        expect_invalid(put_key(others[i], key, sign_key(w, "a", SERVICE, login, key)), "public_key",
                       "PUBLIC_KEY_ALREADY_USED");
        expect_invalid(put_key(others[i], whole, sign_key(w, "a", SERVICE, login, whole)),
                       "public_key", "PUBLIC_KEY_ALREADY_USED");
    }
    expect_status(put_key(ada, whole, sign_key(w, "a", SERVICE, read_login_id(ada), whole)), 204);
}

static void logging_out_deletes_the_logins_key(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *phone = world_token(w, ada, CALLER_USER, "", 0);
    struct str key = upload_new_key(phone, "a", "compressed"),
               stays = upload_new_key(ada, "b", "compressed");

    expect_status(client_post(phone, "{}", "/auth/logout"), 204);
    expect_json(match_key(bob, ada->id, key), "{'is_match': false}");
    expect_json(match_key(bob, ada->id, stays), "{'is_match': true}");
    upload_new_key(bob, "a", "compressed"); /* another account may upload it now */
}

static void bots_cannot_upload_or_match_keys(struct world *w)
{
    struct client *bot = world_bot(w, "helper");

    expect_error(put_key_text(bot, "AA==", "AA=="), 403, 20001);
    expect_error(match_key(bot, "1", STR("x")), 403, 20001);
}

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
}

static void key_uploads_and_matches_are_rate_limited(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 5; i++)
        expect_status(put_key_text(ada, "AA==", "AA=="), 400);
    expect_status(put_key_text(ada, "AA==", "AA=="), 429);
    for (int i = 0; i < 30; i++)
        expect_status(match_key(ada, "@me", STR("x")), 400);
    expect_status(match_key(ada, "@me", STR("x")), 429);
    world_wait(w, 60);
    expect_status(put_key_text(ada, "AA==", "AA=="), 400);
}

const struct test voice_public_keys_tests[] = {
    TEST(self_signed_public_key_is_accepted_and_matched),
    TEST(uncompressed_key_must_be_signed_uncompressed),
    TEST(key_signature_covers_label_and_login),
    TEST_WITH(discord_signature_label_can_be_disabled_for_public_keys,
              configure_without_discord_signature_label),
    TEST(keys_and_signatures_are_accepted_as_data_urls),
    TEST(invalid_key_requests_are_refused),
    TEST(each_login_has_one_key_and_an_account_several),
    TEST(public_key_can_belong_to_one_login_only),
    TEST(logging_out_deletes_the_logins_key),
    TEST(bots_cannot_upload_or_match_keys),
    TEST_WITH(key_uploads_and_matches_are_rate_limited, configure_enabled_rate_limits),
    { 0 },
};
