/* webhook_avatars.c - avatar_url of webhook messages. */
#include <string.h>

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

#define PICTURE "https://x.y/%C3%A9.png?a=b"

struct webhook_test {
    struct client *ada, *nobody;
    struct test_guild test_guild;
    const char *id, *token;
};

static struct webhook_test create_test_webhook(struct world *w)
{
    struct webhook_test s = { .ada = world_client(w, "ada"), .nobody = world_anonymous(w) };

    s.test_guild = world_test_guild(w, s.ada);
    struct answer a =
        client_post(s.ada, "{'name': 'Post'}", "/channels/%s/webhooks", s.test_guild.channel);
    expect_status(a, 200);
    s.id = answer_text(a, "id");
    s.token = answer_text(a, "token");
    return s;
}

static struct answer post_webhook_message(const struct webhook_test *s, const char *json)
{
    return client_post(s->nobody, json, "/webhooks/%s/%s?wait=true", s->id, s->token);
}

static struct answer fetch_avatar(const struct webhook_test *s, const char *hash,
                                  const char *headers)
{
    const char *path = TEXT(s->ada->world, "/avatars/%s/%s.webp?size=64", s->id, hash);

    return client_request(s->nobody, "GET", path, headers, (struct str){ 0 });
}

static void avatar_url_of_a_webhook_message_is_stored_and_redirected(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);
    struct channel_events room = world_channel_events(w, s.test_guild.channel);
    struct answer a = post_webhook_message(
        &s, "{'content': 'dong', 'username': 'Bell', 'avatar_url': '" PICTURE "'}");

    expect_status(a, 200);
    const char *hash = answer_text(a, "author.avatar"), *id = answer_text(a, "id");
    expect(strlen(hash) == 32);
    expect_json(a, "{'author': {'id': '%s', 'username': 'Bell', 'bot': true}}", s.id);
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'author': {'username': 'Bell', 'avatar': '%s'}}", hash);

    struct answer where = fetch_avatar(&s, hash, NULL);
    expect_status(where, 302);
    expect(str_is(answer_header(where, "Location"), PICTURE));
    /* The same URL has the same hash; another URL has another; without one the webhook's own
     * avatar is used. */
    expect_json(post_webhook_message(&s, "{'content': 'x', 'avatar_url': '" PICTURE "'}"),
                "{'author': {'username': 'Post', 'avatar': '%s'}}", hash);
    a = post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'http://x.y/other'}");
    expect(strcmp(answer_text(a, "author.avatar"), hash) != 0);
    expect_json(post_webhook_message(&s, "{'content': 'x', 'avatar_url': null}"),
                "{'author': {'avatar': null}}");

    /* Every view of the message contains it. */
    a = client_patch(s.nobody, "{'content': 'ding'}", "/webhooks/%s/%s/messages/%s", s.id, s.token,
                     id);
    expect_json(a, "{'content': 'ding', 'author': {'username': 'Bell', 'avatar': '%s'}}", hash);
    expect_json(client_get(s.ada, "/channels/%s/messages/%s", s.test_guild.channel, id),
                "{'author': {'username': 'Bell', 'avatar': '%s'}}", hash);
    expect_json(
        client_get(s.ada, "/channels/%s/messages?limit=1&around=%s", s.test_guild.channel, id),
        "[{'author': {'username': 'Bell', 'avatar': '%s'}}]", hash);
    expect_json(client_get(s.ada, "/guilds/%s/messages/search?content=ding", s.test_guild.id),
                "{'messages': [[{'author': {'username': 'Bell', 'avatar': '%s'}}]]}", hash);
}

static void avatar_redirects_are_refused_for_document_requests(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);
    struct answer a = post_webhook_message(&s, "{'content': 'x', 'avatar_url': '" PICTURE "'}");
    const char *hash = answer_text(a, "author.avatar");

    expect_error(fetch_avatar(&s, hash, "Sec-Fetch-Dest: document\r\n"), 404, 0);
    expect_error(fetch_avatar(&s, hash, "Sec-Fetch-Dest: iframe\r\nAccept: image/png\r\n"), 404, 0);
    /* Over plain HTTP a browser sends Accept, but no Sec-Fetch headers. */
    expect_error(fetch_avatar(&s, hash, "Accept: application/xml, Text/HTML;q=0.9, */*;q=0.8\r\n"),
                 404, 0);
    expect_status(fetch_avatar(&s, hash, "Accept: image/avif,image/webp,*/*;q=0.8\r\n"), 302);
    a = fetch_avatar(&s, hash, "Sec-Fetch-Dest: image\r\n");
    expect_status(a, 302);
    expect(str_is(answer_header(a, "Vary"),
                  "Sec-Fetch-Dest, Accept")); /* or caches would forget that */
    /* A hash is valid only for its webhook, and only while the webhook exists. */
    a = client_request(s.nobody, "GET", TEXT(w, "/avatars/%s/%s.png", s.ada->id, hash), NULL,
                       (struct str){ 0 });
    expect_error(a, 404, 0);
    expect_status(client_delete(s.ada, "/webhooks/%s", s.id), 204);
    expect_error(fetch_avatar(&s, hash, NULL), 404, 0);
    expect(world_number(w, "select count(*) from picture_addresses") == 0);
}

static void invalid_avatar_urls_are_refused(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);
    char most[2048 - sizeof "https://x.y/" + 2];

    memset(most, 'a', sizeof most - 1);
    most[sizeof most - 1] = '\0';
    expect_invalid(post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'ftp://x.y/z'}"),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(
        post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'https://x.y/\\r\\nX-Own: 1'}"),
        "avatar_url", "URL_TYPE_INVALID_URL");
    expect_status(
        post_webhook_message(&s, TEXT(w, "{'content': 'x', 'avatar_url': 'https://x.y/%s'}", most)),
        200);
    expect_invalid(post_webhook_message(
                       &s, TEXT(w, "{'content': 'x', 'avatar_url': 'https://x.y/a%s'}", most)),
                   "avatar_url", "BASE_TYPE_MAX_LENGTH");
    /* Non-ASCII characters are three times as long when encoded, too long for a header. */
    for (size_t i = 0; i + 1 < sizeof most; i += 2)
        memcpy(most + i, "\xc3\xa9", 2);
    expect_invalid(
        post_webhook_message(&s, TEXT(w, "{'content': 'x', 'avatar_url': 'https://x.y/%s'}", most)),
        "avatar_url", "BASE_TYPE_BAD_LENGTH");
    /* Non-ASCII characters are percent-encoded in the Location header. */
    struct answer a =
        post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'https://x.y/\xc3\xa9'}");
    a = fetch_avatar(&s, answer_text(a, "author.avatar"), NULL);
    expect(str_is(answer_header(a, "Location"), "https://x.y/%C3%A9"));
}

static void disable_private_endpoints(struct config *config)
{
    config->private_endpoints = "off";
}

/* A redirect to a private host would make viewers' browsers call into their own network. */
static void avatar_urls_of_private_hosts_are_refused(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);
    struct answer a = post_webhook_message(&s, "{'content': 'x', 'avatar_url': '" PICTURE "'}");
    const char *hash = answer_text(a, "author.avatar");

    expect_status(fetch_avatar(&s, hash, NULL), 302);
    expect_invalid(
        post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'http://10.0.0.1/x.png'}"),
        "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(
        post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'http://localhost:80/x.png'}"),
        "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(client_post(s.nobody, "{'text': 'x', 'icon_url': 'http://[fd00::1]/x.png'}",
                               "/webhooks/%s/%s/slack?wait=true", s.id, s.token),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'http://nas/x.png'}"),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    /* URLs of this server are allowed, wherever it is. */
    expect_status(client_post(s.nobody,
                              TEXT(w, "{'content': 'x', 'avatar_url': 'http://127.0.0.1:%d/x.png'}",
                                   world_port(w)),
                              "/webhooks/%s/%s?wait=true", s.id, s.token),
                  200);
    /* URLs stored earlier, or in a world file. */
    world_sql(w, "update picture_addresses set url = 'http://127.0.0.1/x.png'");
    expect_status(fetch_avatar(&s, hash, NULL), 404);
}

static void avatar_urls_of_private_hosts_are_allowed_if_configured(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);
    struct answer a =
        post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'http://127.0.0.1/x.png'}");

    expect_status(fetch_avatar(&s, answer_text(a, "author.avatar"), NULL), 302);
}

static void webhook_keeps_the_last_2000_avatar_urls(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);
    struct answer first =
        post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'https://x.y/first'}");

    world_sql(
        w,
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1999) "
        "insert into picture_addresses (owner_id, hash, url, since) select %s, cast(i as text), "
        "'https://x.y', 9000000000000000 from n",
        s.id);
    expect_status(fetch_avatar(&s, answer_text(first, "author.avatar"), NULL), 302);
    expect_status(post_webhook_message(&s, "{'content': 'x', 'avatar_url': 'https://x.y/last'}"),
                  200);
    expect_error(fetch_avatar(&s, answer_text(first, "author.avatar"), NULL), 404, 0);
    expect(world_number(w, "select count(*) from picture_addresses") == 2000);
}

static void slack_icon_url_is_used_as_avatar(struct world *w)
{
    struct webhook_test s = create_test_webhook(w);

    expect_status(client_post(s.nobody, "{'text': 'x', 'icon_url': '" PICTURE "'}",
                              "/webhooks/%s/%s/slack", s.id, s.token),
                  200);
    struct answer a = client_get(s.ada, "/channels/%s/messages", s.test_guild.channel);
    expect(
        str_is(answer_header(fetch_avatar(&s, answer_text(a, "0.author.avatar"), NULL), "Location"),
               PICTURE));
}

const struct test webhook_avatars_tests[] = {
    TEST(avatar_url_of_a_webhook_message_is_stored_and_redirected),
    TEST(avatar_redirects_are_refused_for_document_requests),
    TEST(invalid_avatar_urls_are_refused),
    TEST(webhook_keeps_the_last_2000_avatar_urls),
    TEST_WITH(avatar_urls_of_private_hosts_are_refused, disable_private_endpoints),
    TEST(avatar_urls_of_private_hosts_are_allowed_if_configured),
    TEST(slack_icon_url_is_used_as_avatar),
    { 0 },
};
