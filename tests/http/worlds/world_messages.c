/* world_messages.c - webhook messages, forwards and application texts in world files. */
#include <stdio.h>
#include <string.h>

#include "test_guild.h"
#include "world_files.h"

#define TOKEN "ada-who-is-in-a-file"

static const char SPOKEN_WORLD[] =
    "{'users': [{'username': 'ada', 'token': '" TOKEN "'}],"
    " 'applications': [{'name': 'Helper', 'owner': 'ada', 'bot': 'helper'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada',"
    "   'webhooks': [{'id': '51', 'name': 'Post', 'channel': 'talk', 'by': 'ada'},"
    "     {'name': 'App', 'channel': 'talk', 'application': 'Helper'}],"
    "   'applications': [{'application': 'Helper', 'by': 'ada'}],"
    "   'channels': [{'id': '41', 'name': 'talk', 'messages': ["
    "     {'id': '1001', 'webhook': 'Post', 'content': 'plain'},"
    "     {'id': '1002', 'webhook': '51', 'content': 'ding', 'username': 'Bell',"
    "      'avatar_url': 'https://x.y/z.png'},"
    "     {'id': '1003', 'author': 'ada', 'content': 'look', 'forward': {'message_id': '7',"
    "      'channel_id': '8', 'guild_id': '9', 'content': 'taken', 'timestamp':"
    "      '2020-01-02T03:04:05+00:00', 'flags': 4, 'embeds': [{'title': 'T'}],"
    "      'mention_roles': ['12']}},"
    "     {'id': '1004', 'author': 'ada', 'content': '', 'forward': {'channel_id': '8',"
    "      'content': '', 'timestamp': '2020-01-02T03:04:05+00:00', 'edited_timestamp':"
    "      '2020-01-02T03:04:06+00:00'}}]}]}]}";

static void world_file_webhook_messages_are_imported_and_exported(struct world *w)
{
    world_file_here(w, SPOKEN_WORLD);
    world_file_here(w, SPOKEN_WORLD);
    struct client *ada = world_client_with(w, TOKEN);
    struct answer a = client_get(ada, "/channels/41/messages?before=1003");

    expect_json(a, "[{'content': 'ding', 'webhook_id': '51', 'author': {'id': '51', 'username': "
                   "'Bell', 'bot': true}}, {'author': {'username': 'Post', 'avatar': null}}]");
    char path[128];
    snprintf(path, sizeof path, "/avatars/51/%s.png", answer_text(a, "0.author.avatar"));
    expect_status(client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 }), 302);
    expect_json(client_get(ada, "/channels/41/webhooks"),
                "[{'id': '51', 'user': {'username': 'ada'}}, {'name': 'App'}]");
    struct str file = world_exported_here(w);
    expect(memmem(file.p, file.n, "https://x.y/z.png", 17) && memmem(file.p, file.n, "Bell", 4));
    expect_round_trip(w);
}

static void world_file_forwards_are_imported_and_exported(struct world *w)
{
    world_file_here(w, SPOKEN_WORLD);
    struct client *ada = world_client_with(w, TOKEN);

    expect_json(
        client_get(ada, "/channels/41/messages?limit=2"),
        "[{'content': '', 'message_snapshots': [{'message': {'content': '', "
        "'edited_timestamp': '2020-01-02T03:04:06+00:00', 'embeds': []}}]}, "
        "{'content': 'look', 'flags': 16384, 'message_reference': {'type': 1, 'message_id': "
        "'7', 'channel_id': '8', 'guild_id': '9'}, 'message_snapshots': [{'message': "
        "{'type': 0, 'content': 'taken', 'timestamp': '2020-01-02T03:04:05+00:00', "
        "'edited_timestamp': null, 'flags': 4, 'mentions': [], 'mention_roles': ['12'], "
        "'embeds': [{'title': 'T'}], 'components': [], 'attachments': []}}]}]");
    /* A forward created here is exported in the same form. */
    expect_status(client_post(ada,
                              "{'message_reference': {'type': 1, 'channel_id': '41', "
                              "'message_id': '1002'}}",
                              "/channels/41/messages"),
                  200);
    struct str file = world_exported_here(w);
    expect(memmem(file.p, file.n, "\"taken\"", 7));
    expect_round_trip(w);
}

static void world_file_messages_require_an_author_or_webhook(struct world *w)
{
    expect_file_refused(w, "{'users': [{'username': 'zoe', 'theme_colors': ['x']}]}",
                        "users.0.theme_colors: Must be a list of numbers.\n");
    expect_file_refused(w,
                        "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': "
                        "'ada', 'channels': [{'name': 'talk', 'messages': [{'content': 'x'}]}]}]}",
                        "guilds.0.channels.0.messages.0.author: A message is by an author or by a "
                        "webhook.\n");
    expect_file_refused(w,
                        "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': "
                        "'ada', 'channels': [{'name': 'talk', 'messages': [{'content': 'x', "
                        "'webhook': 'Post'}]}]}]}",
                        "guilds.0.channels.0.messages.0.webhook: there is no webhook 'Post'\n");
    expect_file_refused(
        w,
        "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': "
        "'ada', 'channels': [{'name': 'talk', 'messages': [{'content': 'x', 'author': "
        "'ada', 'forward': {'channel_id': '1', 'content': 'x', 'timestamp': "
        "'2020-01-02T03:04:05+00:00', 'embeds': 5}}]}]}]}",
        "guilds.0.channels.0.messages.0.forward.embeds: Must be a list of "
        "objects.\n");
}

static const char DESCRIBED_WORLD[] =
    "{'users': [{'username': 'ada', 'token': '" TOKEN
    "'}], 'applications': [{'name': 'Helper', 'owner': 'ada',"
    "  'bot': 'helper', 'terms_of_service_url': 'https://x.y/terms',"
    "  'privacy_policy_url': 'https://x.y/privacy', 'event_webhooks_url': 'https://x.y/events',"
    "  'event_webhooks_status': 2, 'event_webhooks_types': ['APPLICATION_AUTHORIZED'],"
    "  'role_connections_metadata': [{'type': 7, 'key': 'fast', 'name': 'Fast', 'description': 'F'}]}]}";

static void world_file_application_urls_are_imported_and_exported(struct world *w)
{
    world_file_here(w, DESCRIBED_WORLD);
    const char *words[] = { "https://x.y/terms",      "https://x.y/privacy",
                            "https://x.y/events",     "\"event_webhooks_status\": 2",
                            "APPLICATION_AUTHORIZED", "\"fast\"" };
    struct client *ada = world_client_with(w, TOKEN);
    struct answer a = client_get(ada, "/applications");

    expect_json(a, "[{'terms_of_service_url': 'https://x.y/terms', 'privacy_policy_url': "
                   "'https://x.y/privacy', 'event_webhooks_url': 'https://x.y/events', "
                   "'event_webhooks_status': 2, 'event_webhooks_types': "
                   "['APPLICATION_AUTHORIZED']}]");
    expect_json(
        client_get(ada, "/applications/%s/role-connections/metadata", answer_text(a, "0.id")),
        "[{'key': 'fast', 'name': 'Fast'}]");
    struct str file = world_exported_here(w);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        expect(memmem(file.p, file.n, words[i], strlen(words[i])));
    expect_round_trip(w);
}

static void world_file_profile_and_account_state_are_exported(struct world *w)
{
    world_file_here(w, "{'users': [{'username': 'ada', 'pronouns': 'she/her', 'theme_colors': [1, "
                       "2]}, {'username': 'bob', 'paused': true}, {'username': 'eve', 'disabled': "
                       "true}]}");
    expect(world_number(w, "select count(*) from users where pronouns = 'she/her' and theme_colors "
                           "= '[1,2]'") == 1);
    expect(world_number(w, "select sum(disabled) from users") == 3);
    struct str file = world_exported_here(w);
    expect(memmem(file.p, file.n, "she/her", 7) && memmem(file.p, file.n, "\"paused\": true", 14));
    expect_round_trip(w);
}

const struct test world_messages_tests[] = {
    TEST(world_file_webhook_messages_are_imported_and_exported),
    TEST(world_file_forwards_are_imported_and_exported),
    TEST(world_file_messages_require_an_author_or_webhook),
    TEST(world_file_application_urls_are_imported_and_exported),
    TEST(world_file_profile_and_account_state_are_exported),
    { 0 },
};
