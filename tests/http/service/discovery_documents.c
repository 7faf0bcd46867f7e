/* discovery_documents.c - discovery documents for web clients that know only the server's
 * address. */
#include "apps.h"
#include "world.h"

static struct answer fetch_cross_origin(struct client *c, const char *path)
{
    return client_request(c, "GET", path, "Origin: https://elsewhere.example\r\n",
                          (struct str){ 0 });
}

static void configure_public_url(struct config *config)
{
    config->public_url = "https://chat.example";
}

static void discovery_documents_contain_all_endpoint_urls(struct world *w)
{
    struct client *c = world_anonymous(w);
    struct answer a = fetch_cross_origin(c, "/.well-known/spacebar");

    expect_json(a, "{'api': 'https://chat.example/api'}");
    expect(str_is(answer_header(a, "Access-Control-Allow-Origin"), "*"));
    expect_json(
        fetch_cross_origin(c, "/.well-known/spacebar/client"),
        "{'api': {'baseUrl': 'https://chat.example', 'apiVersions': {'default': '9', "
        "'active': ['9', '10']}}, 'gateway': {'baseUrl': 'wss://chat.example/spacebar', 'encoding': "
        "['json', 'etf'], 'compression': ['zlib-stream', 'zstd-stream', null]}, 'cdn': "
        "{'baseUrl': 'https://chat.example'}}");
    a = fetch_cross_origin(c, "/api/policies/instance/domains");
    expect_json(a,
                "{'cdn': 'https://chat.example', 'gateway': 'wss://chat.example/spacebar', 'api': "
                "'https://chat.example/api', 'apiEndpoint': 'https://chat.example/api/v9', "
                "'defaultApiVersion': '9'}");
    expect(str_is(answer_header(a, "Access-Control-Allow-Origin"), "*"));
    expect_status(fetch_cross_origin(c, "/api/v9/policies/instance/domains"), 200);
    expect_json(fetch_cross_origin(c, "/api/ping"),
                "{'ping': 'pong!', 'instance': {'name': 'chat.example', "
                "'id': null, 'description': null}}");
    expect_status(client_request(c, "HEAD", "/api/v10/ping", NULL, (struct str){ 0 }), 200);
    expect_json(fetch_cross_origin(c, "/api/policies/instance"),
                "{'name': 'chat.example', 'tosPage': null}");
}

static void telemetry_routes_accept_and_discard_any_body(struct world *w)
{
    struct client *c = world_anonymous(w);

    expect_status(client_post(c, "{'token': 'x', 'events': [{'type': 'a'}]}", "/science"), 204);
    expect_status(client_post(c, NULL, "/track"), 204);
    expect_status(client_post(world_client(w, "ada"), "not json", "/science"), 204);
}

static void configure_closed_registration(struct config *config)
{
    config->registration = "closed";
}

static void instance_policies_show_the_servers_limits(struct world *w)
{
    struct client *c = world_anonymous(w);

    expect_json(fetch_cross_origin(c, "/api/policies/instance/limits"),
                "{'user': {'maxGuilds': 100, 'maxFriends': 1000}, 'guild': {'maxRoles': 250, "
                "'maxChannels': 500}, 'message': {'maxCharacters': 2000, 'maxReactions': 20}, "
                "'channel': {'maxPins': 250, 'maxWebhooks': 15}, 'rate': {'enabled': false}}");
    expect_json(fetch_cross_origin(c, "/api/policies/instance/config"),
                "{'limits_guild_maxRoles': 250, 'register_disabled': true, "
                "'register_requireInvite': false, 'register_allowNewRegistration': false, "
                "'can_recover_account': false, 'guild_autoJoin_guilds_x': []}");
}

static void configure_cors_origin(struct config *config)
{
    config->cors_origin = "https://app.example";
}

static void configured_cors_origin_replaces_the_wildcard(struct world *w)
{
    struct answer a = fetch_cross_origin(world_anonymous(w), "/.well-known/spacebar");

    expect(str_is(answer_header(a, "Access-Control-Allow-Origin"), "https://app.example"));
}

const struct test discovery_documents_tests[] = {
    TEST_WITH(discovery_documents_contain_all_endpoint_urls, configure_public_url),
    TEST(telemetry_routes_accept_and_discard_any_body),
    TEST_WITH(instance_policies_show_the_servers_limits, configure_closed_registration),
    TEST_WITH(configured_cors_origin_replaces_the_wildcard, configure_cors_origin),
    { 0 },
};
