/* web_push.c - web push: who receives which message, encrypted, and when subscriptions end. */
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <sodium.h>
#include <string.h>

#include "channel_events.h"
#include "channels.h"
#include "endpoint.h"
#include "people.h"
#include "platform/web_push/encryption.h"
#include "test_guild.h"
#include "waits.h"

#define WEB_PUSH "/users/@me/web-push"

/* A push service, and browsers with one key pair. */
struct browser {
    struct world *world;
    struct endpoint *service;
    struct p256_key_pair pair;
    unsigned char auth[PUSH_AUTH_BYTES];
};

static void configure_web_push(struct config *config)
{
    config->web_push_contact = "mailto:admin@chat.example";
    config->private_endpoints = "on";
}

static void configure_web_push_to_public_addresses(struct config *config)
{
    config->web_push_contact = "https://chat.example/contact";
    config->private_endpoints = "off";
}

static struct browser browser_open(struct world *w)
{
    struct browser b = { .world = w };

    b.service = endpoint_open(w, "");
    endpoint_behave(b.service, ENDPOINT_PUSH_SERVICE);
    endpoint_answer(b.service, 201, "text/plain", "", 0);
    expect(p256_key_pair_new(&b.pair));
    randombytes_buf(b.auth, sizeof b.auth);
    return b;
}

static struct answer subscribe_at(const struct browser *b, struct client *c, const char *url)
{
    struct arena *a = world_arena(b->world);

    return client_put(
        c,
        TEXT(b->world, "{'endpoint': '%s', 'keys': {'p256dh': '%s', 'auth': '%s'}}", url,
             str_dup_cstring(a, str_base64url_encode(a, b->pair.point, sizeof b->pair.point)),
             str_dup_cstring(a, str_base64url_encode(a, b->auth, sizeof b->auth))),
        WEB_PUSH);
}

static void subscribe(const struct browser *b, struct client *c)
{
    expect_status(subscribe_at(b, c, endpoint_url(b->service)), 204);
}

/* Returns the direct channel of two friends. */
static const char *talk_to_friend(struct client *c, struct client *friend)
{
    make_friends(c, friend);
    return talk_to(c, friend->id);
}

static int64_t subscriptions(struct world *w)
{
    return world_number(w, "select count(*) from web_push_subscriptions");
}

/* Waits until all jobs are done; then the push service has received this number of messages. */
static void expect_web_pushes_received(const struct browser *b, int n)
{
    expect_soon((world_wait(b->world, 1),
                 world_number(b->world, "select count(*) from jobs where kind = 'web-push'") == 0));
    expect(endpoint_count(b->service) == n);
}

/* --- decryption, as a browser does it ------------------------------------------------- */

static void hmac(const void *key, size_t n, const void *text, size_t size, unsigned char ret[32])
{
    crypto_auth_hmacsha256_state state;

    crypto_auth_hmacsha256_init(&state, key, n);
    crypto_auth_hmacsha256_update(&state, text, size);
    crypto_auth_hmacsha256_final(&state, ret);
}

/* Computes the X coordinate of the sender's point multiplied by the browser's secret. */
static void agree(const struct browser *b, const unsigned char *point, unsigned char ret[32])
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *sender = EC_POINT_new(group), *shared = EC_POINT_new(group);
    BIGNUM *secret = BN_bin2bn(b->pair.secret, sizeof b->pair.secret, NULL);
    unsigned char bytes[P256_POINT_BYTES];

    expect(EC_POINT_oct2point(group, sender, point, P256_POINT_BYTES, NULL) == 1);
    expect(EC_POINT_mul(group, shared, NULL, sender, secret, NULL) == 1);
    expect(EC_POINT_point2oct(group, shared, POINT_CONVERSION_UNCOMPRESSED, bytes, sizeof bytes,
                              NULL) == sizeof bytes);
    memcpy(ret, bytes + 1, 32);
    BN_free(secret);
    EC_POINT_free(shared);
    EC_POINT_free(sender);
    EC_GROUP_free(group);
}

static void decrypt_web_push_record(const unsigned char *key, const unsigned char *nonce,
                                    struct str sealed, unsigned char *out)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    unsigned char tag[16];
    int n = 0, end = 0, size = (int)sealed.n - 16;

    memcpy(tag, sealed.p + size, sizeof tag);
    expect(EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce) == 1);
    expect(EVP_DecryptUpdate(context, out, &n, (const unsigned char *)sealed.p, size) == 1);
    expect(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, sizeof tag, tag) == 1);
    expect(EVP_DecryptFinal_ex(context, out + n, &end) == 1);
    EVP_CIPHER_CTX_free(context);
}

/* Decrypts the n-th message (RFC 8291, section 3.4). */
static const char *push_text(const struct browser *b, int n)
{
    struct str body = endpoint_body(b->service, n);
    const unsigned char *salt = (const unsigned char *)body.p, *point = salt + 21;
    unsigned char shared[32], mixed[32], key[32], nonce[32], info[200];
    struct arena *a = world_arena(b->world);

    expect(body.n > 86 + 17 && body.n <= 4096 && body.p[20] == P256_POINT_BYTES);
    agree(b, point, shared);
    memcpy(info, "WebPush: info", 14);
    memcpy(info + 14, b->pair.point, P256_POINT_BYTES);
    memcpy(info + 14 + P256_POINT_BYTES, point, P256_POINT_BYTES);
    info[14 + 2 * P256_POINT_BYTES] = 1;
    hmac(b->auth, sizeof b->auth, shared, sizeof shared, mixed);
    hmac(mixed, sizeof mixed, info, 15 + 2 * P256_POINT_BYTES, mixed);
    hmac(salt, 16, mixed, sizeof mixed, mixed);
    hmac(mixed, sizeof mixed, "Content-Encoding: aes128gcm\0\1", 29, key);
    hmac(mixed, sizeof mixed, "Content-Encoding: nonce\0\1", 25, nonce);
    unsigned char *text = arena_alloc(a, body.n);
    decrypt_web_push_record(key, nonce, str_slice(body.p + 86, body.n - 86), text);
    size_t end = body.n - 86 - 17;
    expect(text[end] == 2); /* the delimiter of the last record */
    text[end] = '\0';
    return (const char *)text;
}

static void expect_web_push_contains_text(const struct browser *b, int n, const char *fmt,
                                          const char *value)
{
    char word[200];

    snprintf(word, sizeof word, fmt, value);
    for (char *p = word; *p; p++)
        if (*p == '\'')
            *p = '"';
    expect(strstr(push_text(b, n), word));
}

/* --- tests ---------------------------------------------------------------------------- */

static void pushed_direct_messages_are_encrypted_and_signed(struct world *w)
{
    struct people p = world_people(w);
    struct browser b = browser_open(w);
    const char *channel = talk_to_friend(p.ada, p.bob);

    expect_json(client_get(p.bob, WEB_PUSH), "{'subscribed': false}");
    subscribe(&b, p.bob);
    struct answer state = client_get(p.bob, WEB_PUSH);
    expect_json(state, "{'subscribed': true}");
    const char *key = answer_text(state, "public_key");
    expect(strlen(key) == 87);
    const char *sent = say_text(p.ada, channel, "A secret, ||spoiler||");
    expect_web_pushes_received(&b, 1);

    expect_web_push_contains_text(&b, 1, "'channel_id':'%s'", channel);
    expect_web_push_contains_text(&b, 1, "'message_id':'%s'", sent);
    expect_web_push_contains_text(&b, 1, "'guild_id':null,'author':'%s'", "ada");
    expect_web_push_contains_text(&b, 1, "'content':'A secret, %s'", "▇▇▇");
    const char *head = endpoint_head(b.service, 1);
    expect(strstr(head, "Content-Encoding: aes128gcm\r\n"));
    expect(strstr(head, "TTL: 86400\r\n"));
    expect(strstr(head, "Authorization: vapid t=ey"));
    expect(strstr(head, TEXT(w, ", k=%s", key)));
    expect(strstr(head, TEXT(w, "Topic: %s", channel)));
    expect(!memmem(endpoint_body(b.service, 1).p, endpoint_body(b.service, 1).n, "secret", 6));
    /* The author receives nothing. */
    subscribe(&b, p.ada);
    say_text(p.ada, channel, "Again");
    expect_web_pushes_received(&b, 2);
    expect_web_push_contains_text(&b, 2, "'content':'%s'", "Again");
    endpoint_close(b.service);
}

static void mentions_are_pushed_only_to_channel_viewers(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    struct browser b = browser_open(w);
    const char *role = test_guild_role(&v, 1, 0);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_give(&v, eve, role);
    subscribe(&b, bob);
    subscribe(&b, eve);
    say_text(ada, v.channel, "Nobody in particular");
    expect_web_pushes_received(&b, 0);
    say_text(ada, v.channel, TEXT(w, "Hello <@%s>, <:wave:123>", bob->id));
    expect_web_pushes_received(&b, 1);
    expect_web_push_contains_text(&b, 1, "'guild_id':'%s'", v.id);
    expect_web_push_contains_text(&b, 1, "'content':'%s'", "Hello @bob, :wave:");
    say_text(ada, v.channel, TEXT(w, "Hello <@&%s>", role));
    expect_web_pushes_received(&b, 2);
    say_text(ada, v.channel, "@everyone, and <@&1>");
    expect_web_pushes_received(&b, 4);
    say_text(ada, v.channel, TEXT(w, "@everyone and <@%s>", bob->id)); /* not twice */
    expect_web_pushes_received(&b, 6);
    say_text(ada, v.channel, "@here"); /* is for those who are online */
    expect_web_pushes_received(&b, 6);
    say_text(eve, v.channel, TEXT(w, "<@%s>", eve->id));
    expect_web_pushes_received(&b, 6);
    expect_status(client_post(ada, TEXT(w, "{'content': '<@%s>', 'flags': 4096}", bob->id),
                              "/channels/%s/messages", v.channel),
                  200);
    expect_web_pushes_received(&b, 6);
    test_guild_take_right(&v, PERMISSION(VIEW_CHANNEL));
    say_text(ada, v.channel, TEXT(w, "@everyone and <@%s>", bob->id));
    expect_web_pushes_received(&b, 6);
    endpoint_close(b.service);
}

static void web_push_obeys_notification_settings(struct world *w)
{
    struct people p = world_people(w);
    struct test_guild v = world_test_guild(w, p.ada);
    struct browser b = browser_open(w);
    const char *direct = talk_to_friend(p.ada, p.bob), *hello = TEXT(w, "<@%s>", p.bob->id);
    int n = 0;

    test_guild_add(&v, p.bob);
    subscribe(&b, p.bob);
    const struct {
        const char *off, *on, *channel, *content;
    } settings[] = {
        { "{'muted': true}", "{'muted': false}", v.channel, hello },
        { "{'muted': true, 'mute_config': {'selected_time_window': 60, 'end_time': "
          "'2100-01-01T00:00:00+00:00'}}",
          "{'muted': true, 'mute_config': {'selected_time_window': 60, 'end_time': "
          "'2001-01-01T00:00:00+00:00'}}",
          v.channel, hello },
        { "{'muted': false, 'message_notifications': 2}", "{'message_notifications': 1}", v.channel,
          hello },
        { "{'mobile_push': false}", "{'mobile_push': true}", v.channel, hello },
        { "{'suppress_everyone': true}", "{'suppress_everyone': false}", v.channel, "@everyone" },
        { TEXT(w, "{'channel_overrides': {'%s': {'muted': true}}}", v.channel),
          TEXT(w, "{'channel_overrides': {'%s': {'muted': false}}}", v.channel), v.channel, hello },
        { TEXT(w, "{'channel_overrides': {'%s': {'message_notifications': 2}}}", v.channel),
          TEXT(w, "{'channel_overrides': {'%s': {'message_notifications': 3}}}", v.channel),
          v.channel, hello },
        { TEXT(w, "{'channel_overrides': {'%s': {'muted': true}}}", direct),
          TEXT(w, "{'channel_overrides': {'%s': {'muted': false}}}", direct), direct, "Hello" },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *of = settings[i].channel == direct ? "@me" : v.id;

        expect_status(client_patch(p.bob, settings[i].off, "/users/@me/guilds/%s/settings", of),
                      200);
        say_text(p.ada, settings[i].channel, settings[i].content);
        expect_web_pushes_received(&b, n);
        expect_status(client_patch(p.bob, settings[i].on, "/users/@me/guilds/%s/settings", of),
                      200);
        say_text(p.ada, settings[i].channel, settings[i].content);
        expect_web_pushes_received(&b, ++n);
    }
    expect_status(client_patch(p.bob, "{'status': 'dnd'}", "/users/@me/settings"), 200);
    say_text(p.ada, direct, "Do not disturb");
    expect_web_pushes_received(&b, n);
    expect_status(client_patch(p.bob, "{'status': 'online'}", "/users/@me/settings"), 200);
    ignore_them(p.bob, p.ada);
    say_text(p.ada, direct, "Ignored");
    say_text(p.ada, v.channel, "@everyone ignored");
    expect_web_pushes_received(&b, n);
    endpoint_close(b.service);
}

static void everyone_mention_is_pushed_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct browser b = browser_open(w);

    for (int i = 0; i < 20; i++) {
        struct client *c = world_client(w, TEXT(w, "person%d", i));

        if (i != 7) /* is no member */
            test_guild_add(&v, c);
        subscribe(&b, c);
        for (int more = 0; i < 5 && more < 4; more++) /* a step ends between two of them */
            subscribe(&b, world_token(w, c, CALLER_USER, "", 0));
    }
    say_text(ada, v.channel, "@everyone");
    expect_web_pushes_received(&b, 19 + 5 * 4);
    endpoint_close(b.service);
}

static void push_subscription_ends_at_logout_or_refusal(struct world *w)
{
    struct people p = world_people(w);
    struct browser b = browser_open(w);
    const char *channel = talk_to_friend(p.ada, p.bob);
    struct client *phone = world_token(w, p.bob, CALLER_USER, "", 0);

    subscribe(&b, p.bob);
    subscribe(&b, p.bob); /* replaces the first */
    subscribe(&b, phone);
    expect(subscriptions(w) == 2);
    expect_status(client_post(phone, "{}", "/auth/logout"), 204);
    expect(subscriptions(w) == 1);
    expect_status(client_delete(p.bob, WEB_PUSH), 204);
    expect(subscriptions(w) == 0);
    say_text(p.ada, channel, "Nobody is subscribed");
    expect_web_pushes_received(&b, 0);

    subscribe(&b, p.bob);
    endpoint_answer(b.service, 410, "text/plain", "", 0);
    say_text(p.ada, channel, "Gone");
    expect_web_pushes_received(&b, 1);
    expect(subscriptions(w) == 0);

    /* The tenth failure in a row ends it; a success begins the count again. */
    subscribe(&b, p.bob);
    for (int i = 0; i < 19; i++) {
        endpoint_answer(b.service, i == 9 ? 201 : 500, "text/plain", "", 0);
        say_text(p.ada, channel, "Failed");
        expect_web_pushes_received(&b, 2 + i);
        expect(subscriptions(w) == 1);
    }
    say_text(p.ada, channel, "Failed for the tenth time");
    expect_web_pushes_received(&b, 21);
    expect(subscriptions(w) == 0);
    endpoint_close(b.service);
}

static void account_deletion_deletes_its_push_subscriptions(struct world *w)
{
    struct client *bob = world_client(w, "bob");
    struct browser b = browser_open(w);

    subscribe(&b, bob);
    for (int i = 0; i < 5; i++) {
        world_wait(w, 1);
        subscribe(&b, world_token(w, bob, CALLER_USER, "", 0));
    }
    expect(subscriptions(w) == 5);
    expect_json(client_get(bob, WEB_PUSH), "{'subscribed': false}"); /* was the oldest */
    endpoint_close(b.service);
}

static void push_subscriptions_need_https_and_valid_keys(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct browser b = browser_open(w);

    expect_invalid(subscribe_at(&b, ada, endpoint_url(b.service)), "endpoint",
                   "URL_TYPE_INVALID_URL");
    expect_invalid(subscribe_at(&b, ada, "https://push.example/a b"), "endpoint",
                   "URL_TYPE_INVALID_URL");
    expect_invalid(subscribe_at(&b, ada, ""), "endpoint", "BASE_TYPE_BAD_LENGTH");
    b.pair.point[64] ^= 1;
    expect_invalid(subscribe_at(&b, ada, "https://push.example/"), "keys.p256dh",
                   "WEB_PUSH_INVALID_KEY");
    b.pair.point[64] ^= 1;
    expect_invalid(client_put(ada,
                              TEXT(w,
                                   "{'endpoint': 'https://push.example/', 'keys': {'p256dh': "
                                   "'%s', 'auth': 'AAAAAAAAAAAAAAAAAAAAAA==='}}",
                                   str_dup_cstring(world_arena(w), str_base64url_encode(
                                                                       world_arena(w), b.pair.point,
                                                                       sizeof b.pair.point))),
                              WEB_PUSH),
                   "keys.auth", "WEB_PUSH_INVALID_KEY");
    expect_status(subscribe_at(&b, ada, "https://push.example/"), 204);
    expect_error(client_get(world_bot(w, "robot"), WEB_PUSH), 403, 20001);
    endpoint_close(b.service);
}

static void push_service_on_a_private_address_gets_nothing(struct world *w)
{
    struct people p = world_people(w);
    struct browser b = browser_open(w);
    const char *channel = talk_to_friend(p.ada, p.bob);
    const char *url = TEXT(w, "https%s", endpoint_url(b.service) + strlen("http"));

    expect_status(subscribe_at(&b, p.bob, url), 204);
    say_text(p.ada, channel, "To a private address");
    expect_web_pushes_received(&b, 0);
    expect(subscriptions(w) == 0);
    endpoint_close(b.service);
}

static void server_without_a_contact_sends_no_web_push(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct browser b = browser_open(w);

    expect_json(client_get(ada, WEB_PUSH), "{'public_key': null, 'subscribed': false}");
    expect_error(subscribe_at(&b, ada, "https://push.example/"), 403, 40006);
    endpoint_close(b.service);
}

const struct test web_push_tests[] = {
    TEST_WITH(pushed_direct_messages_are_encrypted_and_signed, configure_web_push),
    TEST_WITH(mentions_are_pushed_only_to_channel_viewers, configure_web_push),
    TEST_WITH(web_push_obeys_notification_settings, configure_web_push),
    TEST_WITH(everyone_mention_is_pushed_in_batches, configure_web_push),
    TEST_WITH(push_subscription_ends_at_logout_or_refusal, configure_web_push),
    TEST_WITH(account_deletion_deletes_its_push_subscriptions, configure_web_push),
    TEST_WITH(push_subscriptions_need_https_and_valid_keys, configure_web_push_to_public_addresses),
    TEST_WITH(push_service_on_a_private_address_gets_nothing,
              configure_web_push_to_public_addresses),
    TEST(server_without_a_contact_sends_no_web_push),
    { 0 },
};
