/* capabilities.c - forms of READY that depend on the client's capabilities. */
#include "channels.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "test_guild.h"

/* Ada with a friend, a private channel and a guild with two other members. */
struct ready_fixture {
    struct client *ada, *bob, *cleo;
    struct test_guild test_guild;
    const char *direct;
};

static struct ready_fixture create_ready_fixture(struct world *w)
{
    struct ready_fixture s = { .ada = world_client(w, "ada"),
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

static struct gateway_conn *identify_with_capabilities(struct client *c, int capabilities)
{
    struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

    expect_op(g, 10);
    conn_identify(g, TEXT(c->world, "'capabilities': %d", capabilities));
    return g;
}

static bool has_path(const struct dom *d, const char *path)
{
    return dom_at(d, path) != NULL;
}

static void close_quiet(struct gateway_conn *g)
{
    expect_quiet(g);
    conn_close(g, 1000);
}

static void ready_without_capabilities_uses_the_format_for_old_clients(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct gateway_conn *g = identify_with_capabilities(s.ada, 0);
    const struct dom *d = expect_dispatch(
        g, "READY",
        "{'notes': {}, 'read_state': [], 'user_guild_settings': [], 'user_settings': {}, 'users': "
        "[], 'guilds': [{'name': 'Hall', 'members': [{'user': {}}, {}, {}], 'voice_states': []}],"
        " 'private_channels': [{'recipients': [{'id': '%s'}]}],"
        " 'relationships': [{'user': {'id': '%s'}}]}",
        s.bob->id, s.bob->id);

    expect(!has_path(d, "merged_members") && !has_path(d, "merged_presences"));
    close_quiet(g);
    /* Unknown capability bits change nothing. */
    g = identify_with_capabilities(s.ada, 1 << 6 | 1 << 8 | 1 << 13 | 1 << 14);
    expect_dispatch(g, "READY", "{'notes': {}, 'users': [], 'read_state': []}");
    close_quiet(g);
}

static void ready_contains_the_accounts_settings(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct gateway_conn *g = identify_with_capabilities(s.bob, 0);

    expect_dispatch(g, "READY",
                    "{'user_settings': {'theme': 'dark', 'locale': 'en-US', 'guild_folders': [], "
                    "'custom_status': null, 'afk_timeout': 600}, 'notification_settings': "
                    "{'flags': 0}, 'broadcaster_user_ids': [], 'explicit_content_scan_version': 0, "
                    "'ad_personalization_toggles_disabled': true, 'regional_feature_config': "
                    "{'age_gated_features': 0, 'teen_by_default_settings': 0}}");
    close_quiet(g);
    expect_status(
        client_patch(s.bob, "{'theme': 'light', 'afk_timeout': 60}", "/users/@me/settings"), 200);
    g = identify_with_capabilities(s.bob, 0);
    expect_dispatch(g, "READY", "{'user_settings': {'theme': 'light', 'afk_timeout': 60}}");
    close_quiet(g);
}

static void capabilities_omit_notes_and_legacy_user_settings(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct gateway_conn *g = identify_with_capabilities(s.ada, 1);
    const struct dom *d = expect_dispatch(g, "READY", "{'user_settings': {}, 'read_state': []}");

    expect(!has_path(d, "notes"));
    close_quiet(g);
    g = identify_with_capabilities(s.ada, 1 << 9);
    d = expect_dispatch(g, "READY", "{'notes': {}, 'user_settings_proto': ''}");
    expect(!has_path(d, "user_settings"));
    struct emitted_event n = { .event = EVENT_USER_SETTINGS_UPDATE,
                               .to = audience_of_user(id_of(s.ada->id)),
                               .payload = STR("{}") };
    gateway_publish_announcements(guildhall_get_gateway(world_server(w)), &n);
    close_quiet(g);
    g = identify_with_capabilities(s.ada, 0);
    expect_dispatch(g, "READY", "{}");
    gateway_publish_announcements(guildhall_get_gateway(world_server(w)), &n);
    expect_dispatch(g, "USER_SETTINGS_UPDATE", "{}");
    close_quiet(g);
}

static void versioned_capabilities_wrap_read_states_and_guild_settings(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct gateway_conn *g = identify_with_capabilities(s.ada, 1 << 2);

    expect_dispatch(g, "READY",
                    "{'read_state': {'entries': [], 'partial': false, 'version': 0},"
                    " 'user_guild_settings': []}");
    close_quiet(g);
    g = identify_with_capabilities(s.ada, 1 << 3);
    expect_dispatch(g, "READY",
                    "{'user_guild_settings': {'entries': [], 'partial': false, 'version': 0},"
                    " 'read_state': []}");
    close_quiet(g);
}

/* Expects every user exactly once, in the list of users. */
static void expect_each_user_listed_once(const struct ready_fixture *s, const struct dom *d,
                                         bool cleo)
{
    const struct dom *users = dom_at(d, "users");

    expect(users->count == (cleo ? 3 : 2) + 0u);
    for (size_t i = 0; i < users->count; i++)
        expect(has_path(&users->items[i], "username") && has_path(&users->items[i], "avatar"));
    expect(!has_path(d, "relationships.0.user") && !has_path(d, "private_channels.0.recipients"));
    expect(str_is(dom_at(d, "relationships.0.user_id")->text, s->bob->id));
    expect(str_is(dom_at(d, "private_channels.0.recipient_ids.0")->text, s->bob->id));
    expect(!has_path(d, "guilds.0.members") && !has_path(d, "guilds.0.presences") &&
           !has_path(d, "presences"));
}

static void deduplicated_users_capability_moves_users_to_one_list(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct gateway_conn *g = identify_with_capabilities(s.ada, 1 << 4);
    const struct dom *d = expect_dispatch(
        g, "READY",
        "{'merged_members': [[{'user_id': '%s'}, {'user_id': '%s'}, {'user_id': '%s'}]],"
        " 'merged_presences': {'friends': [], 'guilds': [[]]},"
        " 'guilds': [{'id': '%s', 'voice_states': []}]}",
        s.ada->id, s.bob->id, s.cleo->id, s.test_guild.id);

    expect_each_user_listed_once(&s, d, true);
    expect(!has_path(d, "merged_members.0.0.user"));
    close_quiet(g);
    /* READY is the same with a friend online, whose presence contains only the id. */
    conn_session(s.bob, "v=9", "");
    g = identify_with_capabilities(s.ada, 1 << 4);
    d = expect_dispatch(g, "READY", "{'merged_presences': {'friends': [{'user_id': '%s'}]}}",
                        s.bob->id);
    expect_each_user_listed_once(&s, d, true);
}

static void supplemental_capability_splits_ready_into_two_events(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    /* 509 is sent by a plugin of a multi-protocol messenger. */
    static const int capabilities[] = { 1 << 4 | 1 << 5, 509 };

    for (int i = 0; i < 2; i++) {
        struct gateway_conn *g = identify_with_capabilities(s.ada, capabilities[i]);
        const struct dom *d = expect_dispatch(
            g, "READY", "{'merged_members': [[{'user_id': '%s'}]], 'guilds': [{'id': '%s'}]}",
            s.ada->id, s.test_guild.id);

        expect_each_user_listed_once(&s, d, true);
        expect(!has_path(d, "guilds.0.voice_states") && !has_path(d, "merged_presences"));
        expect(dom_at(d, "merged_members.0")->count == 1);
        d = expect_dispatch(
            g, "READY_SUPPLEMENTAL",
            "{'guilds': [{'id': '%s', 'voice_states': [], 'activity_instances': []}],"
            " 'merged_members': [[{'user_id': '%s'}, {'user_id': '%s'}]],"
            " 'merged_presences': {'friends': [], 'guilds': [[]]},"
            " 'lazy_private_channels': [], 'disclose': [], 'game_invites': []}",
            s.test_guild.id, s.bob->id, s.cleo->id);
        close_quiet(g);
    }
    /* READY_SUPPLEMENTAL requires the users list capability. */
    struct gateway_conn *g = identify_with_capabilities(s.ada, 1 << 5);
    expect_dispatch(g, "READY", "{'guilds': [{'members': [{}, {}, {}], 'voice_states': []}]}");
    close_quiet(g);
}

static void capability_moves_guild_fields_into_a_properties_object(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct gateway_conn *g = identify_with_capabilities(s.ada, 1 << 10);
    const struct dom *d = expect_dispatch(
        g, "READY",
        "{'guilds': [{'id': '%s', 'data_mode': 'full', 'version': 0, 'member_count': 3,"
        " 'channels': [{'id': '%s'}], 'roles': [{}], 'members': [{}, {}, {}],"
        " 'properties': {'id': '%s', 'name': 'Hall', 'owner_id': '%s'}}]}",
        s.test_guild.id, s.test_guild.channel, s.test_guild.id, s.ada->id);

    expect(!has_path(d, "guilds.0.name") && !has_path(d, "guilds.0.owner_id"));
    expect(!has_path(d, "guilds.0.properties.channels") &&
           !has_path(d, "guilds.0.properties.members"));
    close_quiet(g);
}

static void capabilities_do_not_change_the_ready_of_bots(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct gateway_conn *g = conn_open(bot, "v=10");

    expect_op(g, 10);
    conn_identify(g, "'intents': 0, 'capabilities': 2047");
    const struct dom *d = expect_dispatch(g, "READY", "{'guilds': [], 'user_settings': {}}");
    expect(!has_path(d, "merged_members"));
    close_quiet(g);
}

static void calls_capability_sends_running_calls_after_ready(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
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
    struct gateway_conn *g = identify_with_capabilities(s.ada, 1 << 12);
    expect_dispatch(g, "READY", "{'notes': {}, 'guilds': [{'name': 'Hall'}]}");
    expect_dispatch(g, "CALL_CREATE", "{'channel_id': '%s', 'voice_states': [{'user_id': '%s'}]}",
                    s.direct, s.bob->id);
    close_quiet(g);
    g = identify_with_capabilities(s.ada, 0);
    expect_dispatch(g, "READY", "{}");
    close_quiet(g);
    g = identify_with_capabilities(s.cleo, 1 << 12); /* cleo is not in that channel */
    expect_dispatch(g, "READY", "{}");
    close_quiet(g);
}

/* Fermi and Spacebar's own client send capabilities 16381, and read what Spacebar's servers send.
 */
static void ready_of_spacebar_clients_has_settings_and_complete_members(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    static const char *const targets[] = { "/spacebar?v=9&encoding=json",
                                           "/spacebar/?v=9&encoding=json" };

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct gateway_conn *g = conn_open_at(s.ada, targets[i]);
        expect_op(g, 10);
        conn_identify(g, "'capabilities': 16381, 'compress': true");
        const struct dom *d = expect_dispatch(
            g, "READY",
            "{'user_settings': {'guild_folders': [], 'status': 'online'}, 'guilds': [{'id': '%s', "
            "'properties': {'name': 'Hall'}}], 'merged_members': [[{'id': '%s', 'user_id': '%s', "
            "'guild_id': '%s', 'roles': ['%s'], 'user': {'id': '%s', 'username': 'ada'}}]], 'private_channels': "
            "[{'recipients': [{'id': '%s'}]}], 'relationships': [{'id': '%s', 'type': 1, 'user': "
            "{'username': 'bob'}}], 'read_state': {'entries': []}}",
            s.test_guild.id, s.ada->id, s.ada->id, s.test_guild.id, s.test_guild.id, s.ada->id,
            s.bob->id, s.bob->id);
        expect(!has_path(d, "relationships.0.guild_id"));
        expect_dispatch(g, "READY_SUPPLEMENTAL", "{'merged_members': [[{'guild_id': '%s'}, {}]]}",
                        s.test_guild.id);
        /* Settings changes are sent, too, although capability 9 asks to omit them. */
        expect_status(client_patch(s.ada, "{'theme': 'light'}", "/users/@me/settings"), 200);
        expect_dispatch(g, "USER_SETTINGS_UPDATE", "{'theme': 'light'}");
        expect_status(client_patch(s.ada, "{'theme': 'dark'}", "/users/@me/settings"), 200);
        expect_dispatch(g, "USER_SETTINGS_UPDATE", "{'theme': 'dark'}");
        close_quiet(g);
    }
    /* A guild that is created later has the same form. */
    struct gateway_conn *late = conn_open_at(s.ada, targets[0]);
    expect_op(late, 10);
    conn_identify(late, "'capabilities': 16381");
    expect_dispatch(late, "READY", "{}");
    expect_dispatch(late, "READY_SUPPLEMENTAL", "{}");
    struct answer a = client_post(s.ada, "{'name': 'New'}", "/guilds");
    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_dispatch(late, "GUILD_CREATE",
                    "{'id': '%s', 'properties': {'name': 'New'}, 'roles': [{}], "
                    "'members': [{'id': '%s', 'guild_id': '%s', 'roles': ['%s'], 'user': {'id': "
                    "'%s'}}]}",
                    id, s.ada->id, id, id, s.ada->id);
    conn_close(late, 1000);
    expect_status(client_delete(s.ada, "/guilds/%s", id), 204);
    /* A client at the usual path cannot ask for this form. */
    struct gateway_conn *g = identify_with_capabilities(s.ada, 16381 | 1 << 30);
    const struct dom *d = expect_dispatch(g, "READY", "{'merged_members': [[{}]]}");
    expect(!has_path(d, "user_settings") && !has_path(d, "merged_members.0.0.guild_id"));
    expect_dispatch(g, "READY_SUPPLEMENTAL", "{}");
    close_quiet(g);
}

static const char *post_and_react(struct ready_fixture *s)
{
    const char *channel = s->test_guild.channel;
    struct answer a = client_post(s->ada, "{'content': 'Hi'}", "/channels/%s/messages", channel);

    expect_status(a, 200);
    const char *id = answer_text(a, "id");
    expect_status(client_put(s->ada, "", "/channels/%s/messages/%s/reactions/%%F0%%9F%%91%%8D/@me",
                             channel, id),
                  204);
    return id;
}

/* Spacebar's clients find members by their id, compute permissions from the listed roles, and do
 * not show a message whose member has no user. */
static void members_in_events_of_spacebar_clients_are_complete(struct world *w)
{
    static const char *const targets[] = { "/spacebar?v=9&encoding=json",
                                           "/spacebar?v=9&encoding=json&compress=zlib-stream" };
    struct ready_fixture s = create_ready_fixture(w);
    const char *guild = s.test_guild.id;
    const char *whole = TEXT(w,
                             "{'id': '%s', 'guild_id': '%s', 'roles': ['%s'], 'user': {'id': '%s', "
                             "'username': 'ada'}}",
                             s.ada->id, guild, guild, s.ada->id);

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct gateway_conn *g = conn_open_at(s.ada, targets[i]);

        expect_op(g, 10);
        conn_identify(g, "'capabilities': 16381");
        expect_dispatch(g, "READY", "{}");
        expect_dispatch(g, "READY_SUPPLEMENTAL", "{}");
        post_and_react(&s);
        const struct dom *d = expect_dispatch(g, "MESSAGE_CREATE", "{'member': %s}", whole);
        expect(!has_path(d, "author.guild_id"));
        expect_dispatch(g, "MESSAGE_REACTION_ADD", "{'member': %s}", whole);
        conn_send(g,
                  "{'op': 8, 'd': {'guild_id': '%s', 'user_ids': ['%s'], 'limit': 100, 'nonce': "
                  "'7', 'presences': true}}",
                  guild, s.ada->id);
        expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{'nonce': '7', 'members': [%s]}", whole);
        close_quiet(g);
    }
    struct gateway_conn *usual = identify_with_capabilities(s.ada, 0);
    expect_dispatch(usual, "READY", "{}");
    post_and_react(&s);
    const struct dom *d = expect_dispatch(usual, "MESSAGE_CREATE", "{'member': {'roles': []}}");
    expect(!has_path(d, "member.id") && !has_path(d, "member.user"));
    d = expect_dispatch(usual, "MESSAGE_REACTION_ADD", "{'member': {'roles': []}}");
    expect(!has_path(d, "member.id"));
    close_quiet(usual);
}

const struct test gateway_capabilities_tests[] = {
    TEST(ready_without_capabilities_uses_the_format_for_old_clients),
    TEST(ready_contains_the_accounts_settings),
    TEST(capabilities_omit_notes_and_legacy_user_settings),
    TEST(versioned_capabilities_wrap_read_states_and_guild_settings),
    TEST(deduplicated_users_capability_moves_users_to_one_list),
    TEST(supplemental_capability_splits_ready_into_two_events),
    TEST(capability_moves_guild_fields_into_a_properties_object),
    TEST(capabilities_do_not_change_the_ready_of_bots),
    TEST(calls_capability_sends_running_calls_after_ready),
    TEST(ready_of_spacebar_clients_has_settings_and_complete_members),
    TEST(members_in_events_of_spacebar_clients_are_complete),
    { 0 },
};
