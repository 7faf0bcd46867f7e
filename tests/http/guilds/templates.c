/* templates.c - guild templates: creating, syncing and using them. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

#define TEMPLATES "/guilds/%s/templates"
#define TEMPLATE  TEMPLATES "/%s"
#define BY_CODE   "/guilds/templates/%s"

/* Gives the guild a category, a forum in it, a role and an overwrite of each type. */
static void fill_template_guild(struct server_loop *h)
{
    struct world *w = h->ada->world;
    const char *category;

    expect_status(client_patch(h->ada, "{'verification_level': 2, 'afk_timeout': 900}",
                               "/guilds/%s", h->guild),
                  200);
    category = answer_text(
        client_post(h->ada,
                    TEXT(w,
                         "{'name': 'Cat', 'type': 4, 'permission_overwrites': [{'id': '%s', "
                         "'type': 0, 'allow': '1024'}, {'id': '%s', 'type': 0, 'deny': '2048'}, "
                         "{'id': '%s', 'type': 1, 'allow': '1024'}]}",
                         h->role, h->guild, h->bob->id),
                    "/guilds/%s/channels", h->guild),
        "id");
    expect_status(client_post(h->ada,
                              TEXT(w,
                                   "{'name': 'ideas', 'type': 15, 'parent_id': '%s', 'topic': "
                                   "'All', 'available_tags': [{'name': 'one', 'emoji_name': "
                                   "'\xf0\x9f\x94\xa5'}], 'permission_overwrites': []}",
                                   category),
                              "/guilds/%s/channels", h->guild),
                  201);
}

static const char *make_template(struct client *c, const char *guild)
{
    struct answer a = client_post(c, "{'name': 'Base', 'description': 'Plain'}", TEMPLATES, guild);

    expect_status(a, 200);
    return answer_text(a, "code");
}

static void guild_template_stores_roles_channels_and_settings(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct answer a;
    const char *code;

    fill_template_guild(&h);
    expect_json(client_get(h.bob, TEMPLATES, h.guild), "[]");
    discard_received(w);
    a = client_post(h.bob, "{'name': ' Base ', 'description': 'Plain'}", TEMPLATES, h.guild);
    expect_status(a, 200);
    code = answer_text(a, "code");
    expect(strlen(code) == 12);
    expect_json(
        a,
        "{'name': 'Base', 'description': 'Plain', 'usage_count': 0, 'creator_id': '%s', "
        "'creator': {'id': '%s'}, 'source_guild_id': '%s', 'is_dirty': null, "
        "'serialized_source_guild': {'name': 'The Guild', 'description': null, 'region': null, "
        "'verification_level': 2, 'afk_timeout': 900, 'afk_channel_id': null, "
        "'system_channel_id': 3, 'preferred_locale': 'en-US', 'icon_hash': null}}",
        h.bob->id, h.bob->id, h.guild);
    expect_json(a, "{'serialized_source_guild': {'roles': [{'id': 0, 'name': '@everyone', 'icon': "
                   "null, 'unicode_emoji': null}, {'id': 1, 'permissions': '32', 'hoist': false, "
                   "'colors': {'primary_color': 0}}]}}");
    expect_json(
        a, "{'serialized_source_guild': {'channels': [{'id': 1, 'type': 4}, {'id': 2}, "
           "{'id': 3, 'type': 0, 'parent_id': 1, 'topic': null, 'template': '', 'theme_color': "
           "null, 'available_tags': null, 'default_reaction_emoji': null, "
           "'default_sort_order': null}, {'id': 4, 'type': 2, 'bitrate': 64000}, "
           "{'id': 5, 'name': 'Cat', 'permission_overwrites': [{'id': 0, 'type': 0, "
           "'allow': '0', 'deny': '2048'}, {'id': 1, 'type': 0, 'allow': '1024'}]}, "
           "{'id': 6, 'parent_id': 5, 'topic': 'All', 'permission_overwrites': [], "
           "'available_tags': [{'id': 0, 'name': 'one', 'emoji_id': null, 'emoji_name': "
           "'\xf0\x9f\x94\xa5', 'moderated': false}], 'default_tag_setting': "
           "'match_some'}]}}");
    expect_nothing_received(w);
    expect_json(client_get(world_anonymous(w), BY_CODE, code), "{'code': '%s', 'is_dirty': null}",
                code);
    expect_json(client_get(h.bob, TEMPLATES, h.guild), "[{'code': '%s'}]", code);
}

static void guild_change_sets_is_dirty_until_the_template_is_synced(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    const char *code = make_template(h.bob, h.guild);

    client_patch(h.ada, "{'name': 'Other'}", "/guilds/%s/roles/%s", h.guild, h.role);
    expect_json(
        client_get(h.bob, TEMPLATES, h.guild),
        "[{'is_dirty': true, 'serialized_source_guild': {'roles': [{}, {'name': 'helpers'}]}}]");
    expect_json(
        client_patch(h.bob, "{'name': 'New', 'description': null}", TEMPLATE, h.guild, code),
        "{'name': 'New', 'description': null, 'is_dirty': true}");
    expect_json(client_put(h.bob, NULL, TEMPLATE, h.guild, code),
                "{'name': 'New', 'is_dirty': null, 'creator': {'id': '%s'}, "
                "'serialized_source_guild': {'roles': [{}, {'name': 'Other'}]}}",
                h.bob->id);
    expect_json(client_get(h.bob, BY_CODE, code), "{'is_dirty': null}");
    expect_json(client_delete(h.bob, TEMPLATE, h.guild, code), "{'code': '%s', 'name': 'New'}",
                code);
    expect_error(client_get(h.bob, BY_CODE, code), 404, 10057);
    expect_error(client_put(h.bob, NULL, TEMPLATE, h.guild, code), 404, 10057);
    expect_error(client_patch(h.bob, "{}", TEMPLATE, h.guild, code), 404, 10057);
    expect_error(client_delete(h.bob, TEMPLATE, h.guild, code), 404, 10057);
}

static void invalid_template_requests_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *other = found_guild(h.bob, "Other"), *code;

    expect_error(client_post(h.bob, "{'name': 'x'}", TEMPLATES, h.guild), 403, 50013);
    expect_error(client_get(h.bob, TEMPLATES, h.guild), 403, 50013);
    expect_invalid(client_post(h.ada, "{}", TEMPLATES, h.guild), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(h.ada, "{'name': ''}", TEMPLATES, h.guild), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(h.ada, TEXT(w, "{'name': '%0101d'}", 0), TEMPLATES, h.guild), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(h.ada, TEXT(w, "{'name': 'x', 'description': '%0121d'}", 0),
                               TEMPLATES, h.guild),
                   "description", "BASE_TYPE_MAX_LENGTH");
    expect_status(client_post(h.ada, TEXT(w, "{'name': '%0100d', 'description': '%0120d'}", 0, 0),
                              TEMPLATES, h.guild),
                  200);
    expect_error(client_post(h.ada, "{'name': 'x'}", TEMPLATES, h.guild), 400, 30031);
    code = answer_text(client_get(h.ada, TEMPLATES, h.guild), "0.code");
    /* A template of another guild is unknown. */
    expect_error(client_patch(h.bob, "{}", TEMPLATE, other, code), 404, 10057);
    expect_error(client_put(h.bob, NULL, TEMPLATE, other, code), 404, 10057);
    expect_error(client_delete(h.bob, TEMPLATE, other, code), 404, 10057);
    expect_error(client_post(h.bob, "{'name': 'New'}", BY_CODE, "nothing"), 404, 10057);
    expect_error(client_post(world_bot(w, "robot"), "{'name': 'New'}", BY_CODE, code), 403, 20001);
    expect_error(client_post(world_anonymous(w), "{'name': 'New'}", BY_CODE, code), 401, 0);
    expect_invalid(client_post(h.bob, "{'name': 'x'}", BY_CODE, code), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    expect_error(client_get(h.bob, BY_CODE, code), 404, 10057);
    expect_soon((world_wait(w, 1), world_number(w, "select count(*) from jobs where kind = "
                                                   "'guild-leftovers'")) == 0);
    expect(world_number(w, "select count(*) from guild_templates") == 0);
}

static void guild_can_be_created_from_a_template(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct client *eve = world_client(w, "eve");
    const char *code, *made;
    struct answer a;

    fill_template_guild(&h);
    code = make_template(h.bob, h.guild);
    discard_received(w);
    client_connect(eve);
    a = client_post(eve, "{'name': 'Copy', 'icon': '" PNG "'}", BY_CODE, code);
    expect_status(a, 201);
    made = answer_text(a, "id");
    expect_json(a,
                "{'name': 'Copy', 'owner_id': '%s', 'verification_level': 2, 'afk_timeout': 900, "
                "'features': [], 'roles': [{'id': '%s', 'name': '@everyone', 'position': 0}, "
                "{'name': 'helpers', 'permissions': '32', 'position': 1}]}",
                eve->id, made);
    expect(strlen(answer_text(a, "icon")) > 8);
    expect_event(eve, "GUILD_CREATE",
                 "{'id': '%s', 'name': 'Copy', 'member_count': 1, 'large': false, 'icon': '%s', "
                 "'system_channel_id': '%s', 'members': [{'user': {'id': '%s'}, 'roles': []}], "
                 "'channels': [{'type': 4, 'name': 'Text Channels'}, {}, {'type': 0}, {}, "
                 "{'name': 'Cat'}, {'name': 'ideas', 'topic': 'All', 'available_tags': [{'name': "
                 "'one'}]}]}",
                 made, answer_text(a, "icon"), answer_text(a, "system_channel_id"), eve->id);
    a = client_get(eve, "/guilds/%s/channels", made);
    expect_json(a,
                "[{}, {}, {'parent_id': '%s'}, {}, {'permission_overwrites': [{'id': '%s', 'type': "
                "0, 'allow': '0', 'deny': '2048'}, {'type': 0, 'allow': '1024'}]}, "
                "{'parent_id': '%s', 'permission_overwrites': []}]",
                answer_text(a, "0.id"), made, answer_text(a, "4.id"));
    expect_json(client_get(eve, BY_CODE, code), "{'usage_count': 1, 'is_dirty': null}");
    /* The new guild sends events like any other. */
    expect_status(
        client_post(eve, "{'content': 'hi'}", "/channels/%s/messages", answer_text(a, "2.id")),
        200);
    expect_event(eve, "MESSAGE_CREATE", "{'content': 'hi', 'guild_id': '%s'}", made);
    /* The job that deletes incomplete guilds does not delete it. */
    world_wait(w, 3600);
    expect_status(client_get(eve, "/guilds/%s", made), 200);
    expect(world_number(w, "select count(*) from jobs where kind = 'guild-leftovers'") == 0);
}

static void guild_from_template_has_no_custom_emojis_of_the_source(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    const char *code, *made;

    world_sql(w, "insert into emojis (id, guild_id, name) values (77, %s, 'old')", h.guild);
    expect_status(client_post(h.ada,
                              "{'name': 'f', 'type': 15, 'available_tags': [{'name': 'one', "
                              "'emoji_id': '77'}], 'default_reaction_emoji': {'emoji_id': '77'}}",
                              "/guilds/%s/channels", h.guild),
                  201);
    code = make_template(h.bob, h.guild);
    made = answer_text(client_post(h.bob, "{'name': 'Copy'}", BY_CODE, code), "id");
    expect_json(client_get(h.bob, "/guilds/%s/channels", made),
                "[{}, {}, {}, {}, {'default_reaction_emoji': null, 'available_tags': [{'name': "
                "'one', 'emoji_id': null, 'emoji_name': null}]}]");
}

static void template_use_is_refused_at_the_guild_limit(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    const char *code = make_template(h.bob, h.guild);

    world_sql(w,
              "insert into guilds (id, name, owner_id) with recursive n (i) as (select 1 union all "
              "select i + 1 from n where i < 99) select i, 'g', %s from n",
              h.ada->id);
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at) select id, %s, 0 from guilds "
              "where id < 100",
              h.bob->id);
    expect_error(client_post(h.bob, "{'name': 'Copy'}", BY_CODE, code), 400, 30001);
    expect(world_number(w, "select count(*) from guilds where removed = 1") == 0);
}

/* Gives the guild the maximum number of roles and channels, and 10,000 overwrites. */
static void fill_guild_to_all_object_limits(struct world *w, const char *guild)
{
    world_sql(w,
              "insert into roles (id, guild_id, name, permissions, position) with recursive n (i) "
              "as (select 1 union all select i + 1 from n where i < 248) select i + 1000, %s, "
              "'role', 0, i + 1 from n",
              guild);
    world_sql(w,
              "insert into channels (id, guild_id, type, name, topic, position) with recursive n "
              "(i) as (select 1 union all select i + 1 from n where i < 496) select i + 10000, %s, "
              "0, 'channel', 'What it is about', i from n",
              guild);
    world_sql(w, "insert into overwrites (channel_id, target_id, type, allow, deny) select c.id, "
                 "r.id, 0, 1024, 2048 from channels c join roles r on r.id between 1001 and 1020 "
                 "where c.id between 10001 and 10496");
}

static void largest_guild_template_is_stored_and_used_in_batches(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct client *eve = world_client(w, "eve");
    static const char *const parts[] = { "template_begin", "template_step", "use_template",
                                         "create_guild_template", "sync_guild_template" };
    const char *code, *made;
    struct answer a;

    fill_guild_to_all_object_limits(w, h.guild);
    code = make_template(h.bob, h.guild);
    expect_status(client_put(h.bob, NULL, TEMPLATE, h.guild, code), 200);
    a = client_post(eve, "{'name': 'Copy'}", BY_CODE, code);
    expect_status(a, 201);
    made = answer_text(a, "id");
    expect(world_number(w, "select count(*) from roles where guild_id = %s", made) == 250);
    expect(world_number(w, "select count(*) from channels where guild_id = %s", made) == 500);
    expect(world_number(w,
                        "select count(*) from overwrites o join channels c on c.id = o.channel_id "
                        "where c.guild_id = %s",
                        made) == 9920);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        expect_short_writes(parts[i], 20);
}

const struct test templates_tests[] = {
    TEST(guild_template_stores_roles_channels_and_settings),
    TEST(guild_change_sets_is_dirty_until_the_template_is_synced),
    TEST(invalid_template_requests_are_refused),
    TEST(guild_can_be_created_from_a_template),
    TEST(guild_from_template_has_no_custom_emojis_of_the_source),
    TEST(template_use_is_refused_at_the_guild_limit),
    TEST(largest_guild_template_is_stored_and_used_in_batches),
    { 0 },
};
