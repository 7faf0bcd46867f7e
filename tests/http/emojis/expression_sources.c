/* expression_sources.c - which guild or application an emoji or a sticker is from, and who may see
 * it. */
#include "apps.h"
#include "channel_events.h"
#include "files.h"
#include "guilds.h"
#include "test_guild.h"

#define GUILD    "/emojis/%s/guild"
#define SOURCE   "/emojis/%s/source"
#define STICKERS "/stickers/%s/guild"

struct guild_with_expressions {
    struct client *ada, *eve; /* owner; not a member */
    const char *id, *emoji, *sticker;
};

static void set_features(struct client *manager, const char *guild, const char *features)
{
    expect_status(client_patch(manager, TEXT(manager->world, "{'features': [%s]}", features),
                               "/guilds/%s", guild),
                  200);
}

static struct guild_with_expressions create_guild_with_expressions(struct world *w)
{
    struct guild_with_expressions g = { .ada = world_client(w, "ada"),
                                        .eve = world_client(w, "eve") };
    struct upload parts[] = { { "name", NULL, STR("hello") },
                              { "tags", NULL, STR("wave") },
                              { "description", NULL, STR("") },
                              { "file", "sticker.gif",
                                str_slice(
                                    "GIF89a\x01\0\x01\0\0\0\0!\xf9\x04\0\x0a\0\0\0,\0\0\0\0\x01"
                                    "\0\x01\0\0\x02\x02\x44\x01\0;",
                                    36) },
                              { 0 } };

    g.id = found_guild(g.ada, "Home");
    g.emoji = answer_text(
        client_post(g.ada, "{'name': 'one', 'image': '" PNG "'}", "/guilds/%s/emojis", g.id), "id");
    struct answer a = client_upload(g.ada, "POST", NULL, parts, "/guilds/%s/stickers", g.id);
    expect_status(a, 201);
    g.sticker = answer_text(a, "id");
    return g;
}

static void guild_of_an_emoji_is_shown_if_it_is_in_the_public_list(struct world *w)
{
    struct guild_with_expressions g = create_guild_with_expressions(w);

    set_features(g.ada, g.id, "'DISCOVERABLE'");
    expect_json(client_get(g.eve, GUILD, g.emoji),
                "{'id': '%s', 'name': 'Home', 'features': ['DISCOVERABLE'], "
                "'approximate_member_count': 1, 'emojis': [{'id': '%s', 'name': 'one'}], "
                "'emoji_count': 1, 'primary_category_id': 0, 'is_published': false}",
                g.id, g.emoji);
    expect(!dom_at(client_get(g.eve, GUILD, g.emoji).json, "stickers"));
    expect_json(client_get(g.eve, SOURCE, g.emoji),
                "{'type': 'GUILD', 'application': null, 'guild': {'id': '%s', 'name': 'Home', "
                "'icon': null, 'description': null, 'features': ['DISCOVERABLE'], 'emojis': "
                "[{'id': '%s'}], 'premium_tier': 0, 'premium_subscription_count': 0, "
                "'approximate_member_count': 1, 'approximate_presence_count': 0}}",
                g.id, g.emoji);
    expect_json(client_get(g.eve, STICKERS, g.sticker),
                "{'id': '%s', 'stickers': [{'id': '%s', 'name': 'hello'}], 'sticker_count': 1}",
                g.id, g.sticker);
    expect(!dom_at(client_get(g.eve, STICKERS, g.sticker).json, "emojis"));
    expect(!dom_at(client_get(g.eve, "/discoverable-guilds").json, "guilds.0.emojis"));
}

static void expect_sources_hidden(struct client *c, const struct guild_with_expressions *g)
{
    expect_error(client_get(c, GUILD, g->emoji), 404, 10014);
    expect_error(client_get(c, SOURCE, g->emoji), 404, 10014);
    expect_error(client_get(c, STICKERS, g->sticker), 404, 10060);
}

static void guild_of_an_emoji_is_hidden_like_an_unknown_emoji(struct world *w)
{
    struct guild_with_expressions g = create_guild_with_expressions(w);

    expect_sources_hidden(g.eve, &g);
    expect_sources_hidden(g.ada, &g);
    set_features(g.ada, g.id, "'DISCOVERABLE'");
    expect_status(client_get(g.eve, GUILD, g.emoji), 200);
    expect_status(client_patch(g.ada, "{'emoji_discoverability_enabled': false}",
                               "/guilds/%s/discovery-metadata", g.id),
                  200);
    expect_sources_hidden(g.eve, &g);
    expect_error(client_get(g.eve, SOURCE, "5"), 404, 10014);
    expect_error(client_get(g.eve, GUILD, "5"), 404, 10014);
    expect_error(client_get(g.eve, STICKERS, "5"), 404, 10060);
    expect_invalid(client_get(g.eve, SOURCE, "x"), "emoji_id", "NUMBER_TYPE_COERCE");
    expect_error(client_get(world_bot(w, "robot"), SOURCE, g.emoji), 403, 20001);
    expect_error(client_get(world_bot(w, "robot"), GUILD, g.emoji), 403, 20001);
    expect_error(client_get(world_bot(w, "robot"), STICKERS, g.sticker), 403, 20001);
    expect_status(client_get(world_anonymous(w), SOURCE, g.emoji), 401);
}

static void deleted_guild_is_no_source(struct world *w)
{
    struct guild_with_expressions g = create_guild_with_expressions(w);

    set_features(g.ada, g.id, "'DISCOVERABLE'");
    expect_status(client_delete(g.ada, "/guilds/%s", g.id), 204);
    expect_sources_hidden(g.eve, &g);
}

static void application_of_an_emoji_is_shown(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *app = make_application(ada, "Helper");
    const char *id = answer_text(
        client_post(ada, "{'name': 'one', 'image': '" PNG "'}", "/applications/%s/emojis", app),
        "id");

    expect_json(client_get(world_client(w, "eve"), SOURCE, id),
                "{'type': 'APPLICATION', 'guild': null, 'application': {'id': '%s', 'name': "
                "'Helper'}}",
                app);
    expect_error(client_get(ada, GUILD, id), 404, 10014);
}

static void at_most_thirty_emojis_of_the_guild_are_shown(struct world *w)
{
    struct guild_with_expressions g = create_guild_with_expressions(w);

    set_features(g.ada, g.id, "'DISCOVERABLE'");
    for (int i = 1; i <= 30; i++)
        world_sql(w, "insert into emojis (id, guild_id, name) values (%d, %s, 'e%d')", i, g.id, i);
    struct answer a = client_get(g.eve, GUILD, g.emoji);
    expect(dom_at(a.json, "emojis")->count == 30);
    expect_json(a, "{'emoji_count': 31}");
}

const struct test expression_sources_tests[] = {
    TEST(guild_of_an_emoji_is_shown_if_it_is_in_the_public_list),
    TEST(guild_of_an_emoji_is_hidden_like_an_unknown_emoji),
    TEST(deleted_guild_is_no_source),
    TEST(application_of_an_emoji_is_shown),
    TEST(at_most_thirty_emojis_of_the_guild_are_shown),
    { 0 },
};
