/* role_connections.c - role connection metadata of apps, and values for users. */
#include "apps.h"

#include "test_guild.h"

#define METADATA "/applications/%s/role-connections/metadata"
#define MINE     "/users/@me/applications/%s/role-connection"
#define ITEM     "{'type': 2, 'key': 'rolls', 'name': 'Rolls', 'description': 'Dice rolled'}"

static void put_role_connection_metadata_replaces_the_list(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *app = make_application(ada, "Dice");
    struct client *bot = application_bot(ada, app);

    expect(client_get(bot, METADATA, app).json->count == 0);
    struct answer a = client_put(bot,
                                 "[" ITEM ", {'type': 7, 'key': 'lucky', 'name': 'Lucky', "
                                 "'description': 'x', 'name_localizations': {'de': 'Glück'}, "
                                 "'description_localizations': null}]",
                                 METADATA, app);
    expect_status(a, 200);
    expect_json(client_get(ada, METADATA, app),
                "[{'type': 2, 'key': 'rolls', 'name': 'Rolls', 'description': 'Dice rolled'}, "
                "{'key': 'lucky', 'name_localizations': {'de': 'Glück'}}]");
    expect_status(client_put(bot, "[]", METADATA, app), 200);
    expect(client_get(bot, METADATA, app).json->count == 0);
}

static void invalid_role_connection_metadata_is_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *app = make_application(ada, "Dice");
    static const struct {
        const char *item, *path, *code;
    } cases[] = {
        { "{'type': 0, 'key': 'k', 'name': 'n', 'description': 'd'}", "0.type",
          "BASE_TYPE_CHOICES" },
        { "{'type': 9, 'key': 'k', 'name': 'n', 'description': 'd'}", "0.type",
          "BASE_TYPE_CHOICES" },
        { "{'type': 1, 'key': 'K', 'name': 'n', 'description': 'd'}", "0.key",
          "STRING_TYPE_REGEX" },
        { "{'type': 1, 'key': '', 'name': 'n', 'description': 'd'}", "0.key",
          "BASE_TYPE_BAD_LENGTH" },
        { "{'type': 1, 'key': 'k', 'name': '', 'description': 'd'}", "0.name",
          "BASE_TYPE_BAD_LENGTH" },
        { "{'type': 1, 'key': 'k', 'name': 'n'}", "0.description", "BASE_TYPE_REQUIRED" },
        { ITEM "," ITEM, "1.key", "APPLICATION_ROLE_CONNECTION_DUPLICATE_KEY" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_put(ada, TEXT(w, "[%s]", cases[i].item), METADATA, app),
                       cases[i].path, cases[i].code);
    expect_status(client_put(ada,
                             TEXT(w,
                                  "[{'type': 8, 'key': '%050d', 'name': '%0100d', "
                                  "'description': '%0200d'}]",
                                  1, 1, 1),
                             METADATA, app),
                  200);
    expect_invalid(client_put(ada,
                              TEXT(w,
                                   "[{'type': 8, 'key': '%051d', 'name': '%0101d', "
                                   "'description': '%0201d'}]",
                                   1, 1, 1),
                              METADATA, app),
                   "0.key", "BASE_TYPE_BAD_LENGTH");
    const char *five = "{'type':1,'key':'a','name':'n','description':'d'},"
                       "{'type':1,'key':'b','name':'n','description':'d'},"
                       "{'type':1,'key':'c','name':'n','description':'d'},"
                       "{'type':1,'key':'e','name':'n','description':'d'},"
                       "{'type':1,'key':'f','name':'n','description':'d'}";
    expect_status(client_put(ada, TEXT(w, "[%s]", five), METADATA, app), 200);
    expect_invalid(client_put(ada, TEXT(w, "[%s," ITEM "]", five), METADATA, app), "",
                   "BASE_TYPE_MAX_LENGTH");
}

static void role_connection_metadata_requires_access_to_the_app(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *app = make_application(ada, "Dice");

    expect_error(client_get(eve, METADATA, app), 403, 20012);
    expect_error(client_put(eve, "[]", METADATA, app), 403, 20012);
    expect_error(
        client_put(application_bot(eve, make_application(eve, "Other")), "[]", METADATA, app), 403,
        20012);
    expect_error(client_get(ada, METADATA, "77"), 404, 10002);
}

static struct client *issue_bearer_token(struct client *c, const char *app, const char *scopes)
{
    struct client *b = world_token(c->world, c, CALLER_BEARER, scopes, 0);

    world_sql(c->world, "update tokens set application_id = %s where kind = 3", app);
    return b;
}

static void role_connection_values_must_match_the_apps_metadata(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *app = make_application(ada, "Dice"), *other = make_application(ada, "Cards");
    struct client *b = issue_bearer_token(bob, app, "role_connections.write");

    expect_status(client_put(ada,
                             "[" ITEM ", {'type': 7, 'key': 'lucky', 'name': 'n', 'description': "
                             "'d'}, {'type': 5, 'key': 'since', 'name': 'n', 'description': 'd'}]",
                             METADATA, app),
                  200);
    expect_json(client_get(b, MINE, app), "{'metadata': {}}");
    struct answer a = client_put(b,
                                 "{'platform_name': 'Dice World', 'platform_username': 'bob', "
                                 "'metadata': {'rolls': '12', 'lucky': '1', 'since': "
                                 "'2026-01-01'}}",
                                 MINE, app);
    expect_status(a, 200);
    expect_json(client_get(b, MINE, app),
                "{'platform_name': 'Dice World', 'platform_username': 'bob', "
                "'metadata': {'rolls': '12', 'lucky': '1', 'since': '2026-01-01'}}");
    static const char *const bad[][2] = { { "{'metadata': {'rolls': 'x'}}", "metadata.rolls" },
                                          { "{'metadata': {'lucky': '2'}}", "metadata.lucky" },
                                          { "{'metadata': {'since': 'now'}}", "metadata.since" },
                                          { "{'metadata': {'none': '1'}}", "metadata.none" } };
    for (size_t i = 0; i < 4; i++)
        expect_invalid(client_put(b, bad[i][0], MINE, app), bad[i][1],
                       "APPLICATION_ROLE_CONNECTION_INVALID_METADATA_VALUE");
    expect_invalid(client_put(b, TEXT(w, "{'platform_name': '%051d'}", 1), MINE, app),
                   "platform_name", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(client_put(b, TEXT(w, "{'platform_username': '%0101d'}", 1), MINE, app),
                   "platform_username", "BASE_TYPE_MAX_LENGTH");
    expect_error(client_get(b, MINE, other), 403, 20012);
    expect_error(client_get(issue_bearer_token(ada, app, "identify"), MINE, app), 403, 50026);
}

const struct test role_connections_tests[] = {
    TEST(put_role_connection_metadata_replaces_the_list),
    TEST(invalid_role_connection_metadata_is_refused),
    TEST(role_connection_metadata_requires_access_to_the_app),
    TEST(role_connection_values_must_match_the_apps_metadata),
    { 0 },
};
