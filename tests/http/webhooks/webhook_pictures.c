/* webhook_pictures.c - what a webhook's message shows of who speaks: avatar_url. */
#include <string.h>

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

#define PICTURE "https://x.y/%C3%A9.png?a=b"

struct speaker {
    struct client *ada, *nobody;
    struct test_guild test_guild;
    const char *id, *token;
};

static struct speaker speaker_made(struct world *w)
{
    struct speaker s = { .ada = world_client(w, "ada"), .nobody = world_stranger(w) };

    s.test_guild = world_test_guild(w, s.ada);
    struct answer a =
        client_post(s.ada, "{'name': 'Post'}", "/channels/%s/webhooks", s.test_guild.channel);
    expect_status(a, 200);
    s.id = answer_text(a, "id");
    s.token = answer_text(a, "token");
    return s;
}

static struct answer speak(const struct speaker *s, const char *json)
{
    return client_post(s->nobody, json, "/webhooks/%s/%s?wait=true", s->id, s->token);
}

static struct answer picture(const struct speaker *s, const char *hash, const char *headers)
{
    const char *path = TEXT(s->ada->world, "/avatars/%s/%s.webp?size=64", s->id, hash);

    return client_request(s->nobody, "GET", path, headers, (struct str){ 0 });
}

static void a_message_brings_a_picture_along(struct world *w)
{
    struct speaker s = speaker_made(w);
    struct channel_events room = world_channel_events(w, s.test_guild.channel);
    struct answer a =
        speak(&s, "{'content': 'dong', 'username': 'Bell', 'avatar_url': '" PICTURE "'}");

    expect_status(a, 200);
    const char *hash = answer_text(a, "author.avatar"), *id = answer_text(a, "id");
    expect(strlen(hash) == 32);
    expect_json(a, "{'author': {'id': '%s', 'username': 'Bell', 'bot': true}}", s.id);
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'author': {'username': 'Bell', 'avatar': '%s'}}", hash);

    struct answer where = picture(&s, hash, NULL);
    expect_status(where, 302);
    expect(str_is(answer_header(where, "Location"), PICTURE));
    /* The same one has the same name; another has another; without one it is the webhook's own. */
    expect_json(speak(&s, "{'content': 'x', 'avatar_url': '" PICTURE "'}"),
                "{'author': {'username': 'Post', 'avatar': '%s'}}", hash);
    a = speak(&s, "{'content': 'x', 'avatar_url': 'http://x.y/other'}");
    expect(strcmp(answer_text(a, "author.avatar"), hash) != 0);
    expect_json(speak(&s, "{'content': 'x', 'avatar_url': null}"), "{'author': {'avatar': null}}");

    /* It stays, wherever the message is shown. */
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

static void a_picture_elsewhere_is_no_way_for_pages(struct world *w)
{
    struct speaker s = speaker_made(w);
    struct answer a = speak(&s, "{'content': 'x', 'avatar_url': '" PICTURE "'}");
    const char *hash = answer_text(a, "author.avatar");

    expect_error(picture(&s, hash, "Sec-Fetch-Dest: document\r\n"), 404, 0);
    expect_error(picture(&s, hash, "Sec-Fetch-Dest: iframe\r\nAccept: image/png\r\n"), 404, 0);
    /* Without https a browser only says what it accepts. */
    expect_error(picture(&s, hash, "Accept: application/xml, Text/HTML;q=0.9, */*;q=0.8\r\n"), 404,
                 0);
    expect_status(picture(&s, hash, "Accept: image/avif,image/webp,*/*;q=0.8\r\n"), 302);
    a = picture(&s, hash, "Sec-Fetch-Dest: image\r\n");
    expect_status(a, 302);
    expect(str_is(answer_header(a, "Vary"),
                  "Sec-Fetch-Dest, Accept")); /* or caches would forget that */
    /* A name leads there for its webhook alone, and as long as this is there. */
    a = client_request(s.nobody, "GET", TEXT(w, "/avatars/%s/%s.png", s.ada->id, hash), NULL,
                       (struct str){ 0 });
    expect_error(a, 404, 0);
    expect_status(client_delete(s.ada, "/webhooks/%s", s.id), 204);
    expect_error(picture(&s, hash, NULL), 404, 0);
    expect(world_number(w, "select count(*) from picture_addresses") == 0);
}

static void addresses_of_pictures_have_rules(struct world *w)
{
    struct speaker s = speaker_made(w);
    char most[2048 - sizeof "https://x.y/" + 2];

    memset(most, 'a', sizeof most - 1);
    most[sizeof most - 1] = '\0';
    expect_invalid(speak(&s, "{'content': 'x', 'avatar_url': 'ftp://x.y/z'}"), "avatar_url",
                   "URL_TYPE_INVALID_URL");
    expect_invalid(speak(&s, "{'content': 'x', 'avatar_url': 'https://x.y/\\r\\nX-Own: 1'}"),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_status(speak(&s, TEXT(w, "{'content': 'x', 'avatar_url': 'https://x.y/%s'}", most)),
                  200);
    expect_invalid(speak(&s, TEXT(w, "{'content': 'x', 'avatar_url': 'https://x.y/a%s'}", most)),
                   "avatar_url", "BASE_TYPE_MAX_LENGTH");
    /* Three times as long where it is no ASCII: an answer could not hold it. */
    for (size_t i = 0; i + 1 < sizeof most; i += 2)
        memcpy(most + i, "\xc3\xa9", 2);
    expect_invalid(speak(&s, TEXT(w, "{'content': 'x', 'avatar_url': 'https://x.y/%s'}", most)),
                   "avatar_url", "BASE_TYPE_BAD_LENGTH");
    /* What is no ASCII travels as heads of answers can have it. */
    struct answer a = speak(&s, "{'content': 'x', 'avatar_url': 'https://x.y/\xc3\xa9'}");
    a = picture(&s, answer_text(a, "author.avatar"), NULL);
    expect(str_is(answer_header(a, "Location"), "https://x.y/%C3%A9"));
}

static void public_only(struct config *config)
{
    config->private_endpoints = "off";
}

/* Whoever looks at a message would be sent into their own network, in this server's name. */
static void nobody_is_led_to_a_private_host(struct world *w)
{
    struct speaker s = speaker_made(w);
    struct answer a = speak(&s, "{'content': 'x', 'avatar_url': '" PICTURE "'}");
    const char *hash = answer_text(a, "author.avatar");

    expect_status(picture(&s, hash, NULL), 302);
    expect_invalid(speak(&s, "{'content': 'x', 'avatar_url': 'http://10.0.0.1/x.png'}"),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(speak(&s, "{'content': 'x', 'avatar_url': 'http://localhost:80/x.png'}"),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(client_post(s.nobody, "{'text': 'x', 'icon_url': 'http://[fd00::1]/x.png'}",
                               "/webhooks/%s/%s/slack?wait=true", s.id, s.token),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_invalid(speak(&s, "{'content': 'x', 'avatar_url': 'http://nas/x.png'}"), "avatar_url",
                   "URL_TYPE_INVALID_URL");
    /* This server's own are fine, wherever it is. */
    expect_status(client_post(s.nobody,
                              TEXT(w, "{'content': 'x', 'avatar_url': 'http://127.0.0.1:%d/x.png'}",
                                   world_port(w)),
                              "/webhooks/%s/%s?wait=true", s.id, s.token),
                  200);
    /* Those that were noted before it was so, or in a world file. */
    world_sql(w, "update picture_addresses set url = 'http://127.0.0.1/x.png'");
    expect_status(picture(&s, hash, NULL), 404);
}

static void at_home_private_hosts_are_fine(struct world *w)
{
    struct speaker s = speaker_made(w);
    struct answer a = speak(&s, "{'content': 'x', 'avatar_url': 'http://127.0.0.1/x.png'}");

    expect_status(picture(&s, answer_text(a, "author.avatar"), NULL), 302);
}

static void a_webhook_keeps_two_thousand_addresses(struct world *w)
{
    struct speaker s = speaker_made(w);
    struct answer first = speak(&s, "{'content': 'x', 'avatar_url': 'https://x.y/first'}");

    world_sql(
        w,
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1999) "
        "insert into picture_addresses (owner_id, hash, url, since) select %s, cast(i as text), "
        "'https://x.y', 9000000000000000 from n",
        s.id);
    expect_status(picture(&s, answer_text(first, "author.avatar"), NULL), 302);
    expect_status(speak(&s, "{'content': 'x', 'avatar_url': 'https://x.y/last'}"), 200);
    expect_error(picture(&s, answer_text(first, "author.avatar"), NULL), 404, 0);
    expect(world_number(w, "select count(*) from picture_addresses") == 2000);
}

static void services_bring_pictures_too(struct world *w)
{
    struct speaker s = speaker_made(w);

    expect_status(client_post(s.nobody, "{'text': 'x', 'icon_url': '" PICTURE "'}",
                              "/webhooks/%s/%s/slack", s.id, s.token),
                  200);
    struct answer a = client_get(s.ada, "/channels/%s/messages", s.test_guild.channel);
    expect(str_is(answer_header(picture(&s, answer_text(a, "0.author.avatar"), NULL), "Location"),
                  PICTURE));
}

const struct test webhook_pictures_tests[] = {
    TEST(a_message_brings_a_picture_along),
    TEST(a_picture_elsewhere_is_no_way_for_pages),
    TEST(addresses_of_pictures_have_rules),
    TEST(a_webhook_keeps_two_thousand_addresses),
    TEST_WITH(nobody_is_led_to_a_private_host, public_only),
    TEST(at_home_private_hosts_are_fine),
    TEST(services_bring_pictures_too),
    { 0 },
};
