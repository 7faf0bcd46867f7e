/* gateway_capabilities.c - READY in the forms that newer clients ask for. */
#include "channels.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "test_guild.h"

/* Ada, who has a friend, a private channel and a guild with two others. */
struct scene {
    struct client *ada, *bob, *cleo;
    struct test_guild test_guild;
    const char *direct;
};

static struct scene open_scene(struct world *w)
{
    struct scene s = { .ada = world_client(w, "ada"),
                       .bob = world_client(w, "bob"),
                       .cleo = world_client(w, "cleo") };
    struct answer a;

    s.test_guild = world_test_guild(w, s.ada);
    test_guild_add(&s.test_guild, s.bob);
    test_guild_add(&s.test_guild, s.cleo);
    make_friends(s.ada, s.bob);
    a = client_post(s.ada, TEXT(w, "{'recipient_id': '%s'}", s.bob->id), "/users/@me/channels");
    expect_status(a, 200);
    s.direct = answer_text(a, "id");
    return s;
}

static struct gateway_conn *greet(struct client *c, int capabilities)
{
    struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

    expect_op(g, 10);
    conn_identify(g, TEXT(c->world, "'capabilities': %d", capabilities));
    return g;
}

static bool has(const struct dom *d, const char *path)
{
    return dom_at(d, path) != NULL;
}

static void end(struct gateway_conn *g)
{
    expect_quiet(g);
    conn_close(g, 1000);
}

static void without_capabilities_everything_is_plain(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *g = greet(s.ada, 0);
    const struct dom *d = expect_dispatch(
        g, "READY",
        "{'notes': {}, 'read_state': [], 'user_guild_settings': [], 'user_settings': {}, 'users': "
        "[], 'guilds': [{'name': 'Hall', 'members': [{'user': {}}, {}, {}], 'voice_states': []}],"
        " 'private_channels': [{'recipients': [{'id': '%s'}]}],"
        " 'relationships': [{'user': {'id': '%s'}}]}",
        s.bob->id, s.bob->id);

    expect(!has(d, "merged_members") && !has(d, "merged_presences"));
    end(g);
    /* Bits that mean nothing here change nothing. */
    g = greet(s.ada, 1 << 6 | 1 << 8 | 1 << 13 | 1 << 14);
    expect_dispatch(g, "READY", "{'notes': {}, 'users': [], 'read_state': []}");
    end(g);
}

static void settings_are_those_of_the_account(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *g = greet(s.bob, 0);

    expect_dispatch(g, "READY",
                    "{'user_settings': {'theme': 'dark', 'locale': 'en-US', 'guild_folders': [], "
                    "'custom_status': null, 'afk_timeout': 600}, 'notification_settings': "
                    "{'flags': 0}, 'broadcaster_user_ids': [], 'explicit_content_scan_version': 0, "
                    "'ad_personalization_toggles_disabled': true, 'regional_feature_config': "
                    "{'age_gated_features': 0, 'teen_by_default_settings': 0}}");
    end(g);
    expect_status(
        client_patch(s.bob, "{'theme': 'light', 'afk_timeout': 60}", "/users/@me/settings"), 200);
    g = greet(s.bob, 0);
    expect_dispatch(g, "READY", "{'user_settings': {'theme': 'light', 'afk_timeout': 60}}");
    end(g);
}

static void notes_and_settings_may_be_left_out(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *g = greet(s.ada, 1);
    const struct dom *d = expect_dispatch(g, "READY", "{'user_settings': {}, 'read_state': []}");

    expect(!has(d, "notes"));
    end(g);
    g = greet(s.ada, 1 << 9);
    d = expect_dispatch(g, "READY", "{'notes': {}, 'user_settings_proto': ''}");
    expect(!has(d, "user_settings"));
    struct announcement n = { .event = EVENT_USER_SETTINGS_UPDATE,
                              .to = to_user(id_of(s.ada->id)),
                              .payload = STR("{}") };
    gateway_announce(guildhall_gateway(world_server(w)), &n);
    end(g);
    g = greet(s.ada, 0);
    expect_dispatch(g, "READY", "{}");
    gateway_announce(guildhall_gateway(world_server(w)), &n);
    expect_dispatch(g, "USER_SETTINGS_UPDATE", "{}");
    end(g);
}

static void states_and_settings_have_versions(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *g = greet(s.ada, 1 << 2);

    expect_dispatch(g, "READY",
                    "{'read_state': {'entries': [], 'partial': false, 'version': 0},"
                    " 'user_guild_settings': []}");
    end(g);
    g = greet(s.ada, 1 << 3);
    expect_dispatch(g, "READY",
                    "{'user_guild_settings': {'entries': [], 'partial': false, 'version': 0},"
                    " 'read_state': []}");
    end(g);
}

/* Every user stands once, in the list of all. */
static void expect_users(const struct scene *s, const struct dom *d, bool cleo)
{
    const struct dom *users = dom_at(d, "users");

    expect(users->count == (cleo ? 3 : 2) + 0u);
    for (size_t i = 0; i < users->count; i++)
        expect(has(&users->items[i], "username") && has(&users->items[i], "avatar"));
    expect(!has(d, "relationships.0.user") && !has(d, "private_channels.0.recipients"));
    expect(str_is(dom_at(d, "relationships.0.user_id")->text, s->bob->id));
    expect(str_is(dom_at(d, "private_channels.0.recipient_ids.0")->text, s->bob->id));
    expect(!has(d, "guilds.0.members") && !has(d, "guilds.0.presences") && !has(d, "presences"));
}

static void users_may_stand_in_one_list(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *g = greet(s.ada, 1 << 4);
    const struct dom *d = expect_dispatch(
        g, "READY",
        "{'merged_members': [[{'user_id': '%s'}, {'user_id': '%s'}, {'user_id': '%s'}]],"
        " 'merged_presences': {'friends': [], 'guilds': [[]]},"
        " 'guilds': [{'id': '%s', 'voice_states': []}]}",
        s.ada->id, s.bob->id, s.cleo->id, s.test_guild.id);

    expect_users(&s, d, true);
    expect(!has(d, "merged_members.0.0.user"));
    end(g);
    /* The same when a friend is seen, of whom a presence says no more than the id. */
    conn_session(s.bob, "v=9", "");
    g = greet(s.ada, 1 << 4);
    d = expect_dispatch(g, "READY", "{'merged_presences': {'friends': [{'user_id': '%s'}]}}",
                        s.bob->id);
    expect_users(&s, d, true);
}

static void ready_may_come_in_two_parts(struct world *w)
{
    struct scene s = open_scene(w);
    /* 509 is what a plugin for a messenger sends. */
    static const int capabilities[] = { 1 << 4 | 1 << 5, 509 };

    for (int i = 0; i < 2; i++) {
        struct gateway_conn *g = greet(s.ada, capabilities[i]);
        const struct dom *d = expect_dispatch(
            g, "READY", "{'merged_members': [[{'user_id': '%s'}]], 'guilds': [{'id': '%s'}]}",
            s.ada->id, s.test_guild.id);

        expect_users(&s, d, true);
        expect(!has(d, "guilds.0.voice_states") && !has(d, "merged_presences"));
        expect(dom_at(d, "merged_members.0")->count == 1);
        d = expect_dispatch(
            g, "READY_SUPPLEMENTAL",
            "{'guilds': [{'id': '%s', 'voice_states': [], 'activity_instances': []}],"
            " 'merged_members': [[{'user_id': '%s'}, {'user_id': '%s'}]],"
            " 'merged_presences': {'friends': [], 'guilds': [[]]},"
            " 'lazy_private_channels': [], 'disclose': [], 'game_invites': []}",
            s.test_guild.id, s.bob->id, s.cleo->id);
        end(g);
    }
    /* The second part needs the list of users. */
    struct gateway_conn *g = greet(s.ada, 1 << 5);
    expect_dispatch(g, "READY", "{'guilds': [{'members': [{}, {}, {}], 'voice_states': []}]}");
    end(g);
}

static void a_guilds_own_fields_may_stand_apart(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *g = greet(s.ada, 1 << 10);
    const struct dom *d = expect_dispatch(
        g, "READY",
        "{'guilds': [{'id': '%s', 'data_mode': 'full', 'version': 0, 'member_count': 3,"
        " 'channels': [{'id': '%s'}], 'roles': [{}], 'members': [{}, {}, {}],"
        " 'properties': {'id': '%s', 'name': 'Hall', 'owner_id': '%s'}}]}",
        s.test_guild.id, s.test_guild.channel, s.test_guild.id, s.ada->id);

    expect(!has(d, "guilds.0.name") && !has(d, "guilds.0.owner_id"));
    expect(!has(d, "guilds.0.properties.channels") && !has(d, "guilds.0.properties.members"));
    end(g);
}

static void bots_get_the_plain_form(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct gateway_conn *g = conn_open(bot, "v=10");

    expect_op(g, 10);
    conn_identify(g, "'intents': 0, 'capabilities': 2047");
    const struct dom *d = expect_dispatch(g, "READY", "{'guilds': [], 'user_settings': {}}");
    expect(!has(d, "merged_members"));
    end(g);
}

static void calls_that_run_may_follow(struct world *w)
{
    struct scene s = open_scene(w);
    struct gateway_conn *b = conn_session(s.bob, "v=9&encoding=json", "");

    conn_send(b,
              "{'op':4,'d':{'guild_id':null,'channel_id':'%s','self_mute':false,"
              "'self_deaf':false}}",
              s.direct);
    for (const struct dom *m; (m = conn_read(b, 60000));) {
        conn_count(b, m);
        if (str_is(dom_at(m, "t")->text, "VOICE_SERVER_UPDATE"))
            break;
    }
    struct gateway_conn *g = greet(s.ada, 1 << 12);
    expect_dispatch(g, "READY", "{'notes': {}, 'guilds': [{'name': 'Hall'}]}");
    expect_dispatch(g, "CALL_CREATE", "{'channel_id': '%s', 'voice_states': [{'user_id': '%s'}]}",
                    s.direct, s.bob->id);
    end(g);
    g = greet(s.ada, 0);
    expect_dispatch(g, "READY", "{}");
    end(g);
    g = greet(s.cleo, 1 << 12); /* not in that channel */
    expect_dispatch(g, "READY", "{}");
    end(g);
}

const struct test gateway_capabilities_tests[] = {
    TEST(without_capabilities_everything_is_plain),
    TEST(settings_are_those_of_the_account),
    TEST(notes_and_settings_may_be_left_out),
    TEST(states_and_settings_have_versions),
    TEST(users_may_stand_in_one_list),
    TEST(ready_may_come_in_two_parts),
    TEST(a_guilds_own_fields_may_stand_apart),
    TEST(bots_get_the_plain_form),
    TEST(calls_that_run_may_follow),
    { 0 },
};
