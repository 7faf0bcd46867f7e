/* guild_settings.c - notification settings per guild and client settings. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"

#define SETTINGS "/users/@me/guilds/%s/settings"

static void guild_settings_are_stored_sent_and_in_ready(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    client_connect(ada);
    struct answer a = client_patch(
        ada,
        TEXT(w,
             "{'muted': true, 'mute_config': {'selected_time_window': 900, 'end_time': "
             "null}, 'channel_overrides': {'%s': {'muted': true, 'flags': 512}, '1': "
             "{'muted': true}, 'x': {}}}",
             v.channel),
        SETTINGS, v.id);
    expect_json(a,
                "{'guild_id': '%s', 'message_notifications': 3, 'muted': true, 'mute_config': "
                "{'selected_time_window': 900}, 'suppress_everyone': false, 'mobile_push': true, "
                "'notify_highlights': 0, 'flags': 0, 'version': 1, 'channel_overrides': "
                "[{'channel_id': '%s', 'collapsed': false, 'muted': true, 'mute_config': null, "
                "'message_notifications': 3, 'flags': 512}]}",
                v.id, v.channel);
    expect_event(ada, "USER_GUILD_SETTINGS_UPDATE", "{'guild_id': '%s', 'version': 1}", v.id);
    /* Absent fields keep their values. */
    a = client_patch(ada,
                     TEXT(w,
                          "{'suppress_roles': true, 'channel_overrides': {'%s': {'collapsed': "
                          "true}}}",
                          v.channel),
                     SETTINGS, v.id);
    expect_json(a,
                "{'muted': true, 'suppress_roles': true, 'version': 2, 'channel_overrides': "
                "[{'collapsed': true, 'muted': true}]}%s",
                "");
    expect_event(ada, "USER_GUILD_SETTINGS_UPDATE", "{'version': 2}");
    struct gateway_conn *g = conn_open(ada, "v=9&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "'capabilities': 8");
    expect_dispatch(g, "READY",
                    "{'user_guild_settings': {'entries': [{'guild_id': '%s', 'muted': true}], "
                    "'partial': false, 'version': 2}, 'notification_settings': {'flags': 0}}",
                    v.id);
    conn_close(g, 1000);
    g = conn_open(bob, "v=9&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "'capabilities': 0");
    expect_dispatch(g, "READY", "{'user_guild_settings': []}");
    conn_close(g, 1000);
}

static void settings_of_several_guilds_and_of_private_channels_can_be_set(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, eve);

    expect_json(client_patch(ada, "{'muted': true}", SETTINGS, "@me"),
                "{'guild_id': null, 'muted': true}");
    expect_json(client_patch(ada,
                             TEXT(w,
                                  "{'guilds': {'%s': {'suppress_everyone': true}, '@me': "
                                  "{'muted': false}}}",
                                  v.id),
                             "/users/@me/guilds/settings"),
                "[{'guild_id': '%s', 'suppress_everyone': true, 'version': 1}, {'guild_id': null, "
                "'muted': false, 'version': 2}]",
                v.id);
    /* A request with one invalid change applies no change. */
    expect_error(client_patch(ada,
                              TEXT(w,
                                   "{'guilds': {'%s': {'muted': true}, '%s': {'muted': "
                                   "true}}}",
                                   v.id, other.id),
                              "/users/@me/guilds/settings"),
                 404, 10004);
    expect(world_number(w, "select version from user_guild_settings where guild_id = %s", v.id) ==
           1);
    expect_error(client_patch(ada, "{}", SETTINGS, other.id), 403, 50001);
    expect_invalid(client_patch(ada, "{'message_notifications': 4}", SETTINGS, v.id),
                   "message_notifications", "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(ada,
                                TEXT(w, "{'channel_overrides': {'%s': {'muted': 3}}}", v.channel),
                                SETTINGS, v.id),
                   TEXT(w, "channel_overrides.%s.muted", v.channel), "BOOLEAN_TYPE_CONVERT");
    expect_error(client_patch(world_bot(w, "robot"), "{}", SETTINGS, "@me"), 403, 20001);
}

/* Writes "{'5000': {'muted': true}, …}". */
static const char *write_muted_channels(struct world *w, int first, int count)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    for (int i = 0; i < count; i++)
        buf_printf(&out, "%s'%d': {'muted': true}", i ? ", " : "{", first + i);
    buf_add_lit(&out, "}");
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&out));
    buf_clear(&out);
    return text;
}

static void insert_threads(struct world *w, const char *guild, const char *channel, int first)
{
    world_sql(w,
              "insert into channels (id, guild_id, type, parent_id, thread_archived) with "
              "recursive n (i) as (select cast(%d as bigint) union all select i + 1 from n where i "
              "< %d) select i, %s, 11, %s, 1 from n",
              first, first + 1000, guild, channel);
}

/* The number of threads is unlimited, and all overrides of a guild are read and written at once. */
static void guild_settings_are_limited_to_1000_channel_overrides(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    insert_threads(w, v.id, v.channel, 5000);
    expect_status(
        client_patch(ada, TEXT(w, "{'channel_overrides': %s}", write_muted_channels(w, 5000, 1000)),
                     SETTINGS, v.id),
        200);
    expect_invalid(
        client_patch(ada, "{'channel_overrides': {'6000': {'muted': true}}}", SETTINGS, v.id),
        "channel_overrides", "BASE_TYPE_MAX_LENGTH");
    /* An override with default values is removed. */
    expect_status(client_patch(ada,
                               "{'channel_overrides': {'5000': {'muted': false}, '6000': {'muted': "
                               "true}}}",
                               SETTINGS, v.id),
                  200);
    expect_status(client_patch(ada, "{'muted': true}", SETTINGS, v.id), 200);
}

static void settings_request_is_limited_to_4000_channel_overrides(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v[5];
    struct buf body;

    buf_init(&body, 1 << 20);
    for (int i = 0; i < 5; i++) {
        v[i] = world_test_guild(w, ada);
        insert_threads(w, v[i].id, v[i].channel, 5000 + 2000 * i);
        buf_printf(&body, "%s'%s': {'channel_overrides': %s}", i ? ", " : "{'guilds': {", v[i].id,
                   write_muted_channels(w, 5000 + 2000 * i, i < 4 ? 1000 : 1));
    }
    buf_add_lit(&body, "}}");
    const char *more = str_dup_cstring(world_arena(w), buf_as_str(&body));
    char *most = mem_dup_cstring(more);
    buf_clear(&body);
    char *last = strstr(most, TEXT(w, ", '%s'", v[4].id));
    strcpy(last, "}}");
    struct answer a = client_patch(ada, more, "/users/@me/guilds/settings");
    expect_invalid(a, TEXT(w, "guilds.%s.channel_overrides", v[4].id), "BASE_TYPE_MAX_LENGTH");
    expect(world_number(w, "select count(*) from user_guild_settings") == 0);
    a = client_patch(ada, most, "/users/@me/guilds/settings");
    mem_free(most);
    expect_status(a, 200);
}

static void notification_settings_flags_are_stored_and_sent(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_connect(ada);
    expect_json(client_patch(ada, "{'flags': 16}", "/users/@me/notification-settings"),
                "{'flags': 16}");
    expect_event(ada, "NOTIFICATION_SETTINGS_UPDATE", "{'flags': 16}");
    expect_json(client_patch(ada, "{}", "/users/@me/notification-settings"), "{'flags': 0}");
    expect_event(ada, "NOTIFICATION_SETTINGS_UPDATE", "{'flags': 0}");
    expect_json(client_patch(ada, "{'flags': null}", "/users/@me/notification-settings"),
                "{'flags': 0}");
}

/* Fields 2 (a message "ab") and 5 (the number 1), then 5 again, then 1, which the server sets. */
static void settings_proto_is_merged_by_field(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(client_get(ada, "/users/@me/settings-proto/1"), "{'settings': ''}");
    client_connect(ada);
    expect_json(client_patch(ada, "{'settings': 'EgJhYigB'}", "/users/@me/settings-proto/1"),
                "{'settings': 'CgIYARICYWIoAQ=='}");
    expect_event(ada, "USER_SETTINGS_PROTO_UPDATE",
                 "{'settings': {'type': 1, 'proto': 'CgIYARICYWIoAQ=='}, 'partial': false}");
    expect_json(client_patch(ada, "{'settings': 'KAIKAhhj', 'required_data_version': 1}",
                             "/users/@me/settings-proto/1"),
                "{'settings': 'CgIYAhICYWIoAg=='}");
    expect_event(ada, "USER_SETTINGS_PROTO_UPDATE", "{'partial': false}");
    expect_json(client_patch(ada, "{'settings': 'KAM=', 'required_data_version': 1}",
                             "/users/@me/settings-proto/1"),
                "{'settings': 'CgIYAhICYWIoAg==', 'out_of_date': true}");
    expect_silence(ada);
    expect_invalid(client_patch(ada, "{'settings': 'x'}", "/users/@me/settings-proto/1"),
                   "settings", "INVALID_USER_SETTINGS_DATA");
    expect_invalid(client_patch(ada, "{'settings': 'KA=='}", "/users/@me/settings-proto/1"),
                   "settings", "INVALID_USER_SETTINGS_DATA");
    expect_error(client_get(ada, "/users/@me/settings-proto/4"), 404, 0);
    expect_json(client_get(ada, "/users/@me/settings-proto/2"), "{'settings': ''}");
}

static void json_settings_are_merged_by_member(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct answer a;

    expect_json(client_get(ada, "/users/@me/settings-proto/2/json"), "{'settings': {}}");
    a = client_patch(ada, "{'settings': {'a': {'b': [1, null]}, 'c': 'x'}}",
                     "/users/@me/settings-proto/2/json");
    expect_json(a, "{'settings': {'a': {'b': [1, null]}, 'c': 'x'}}");
    a = client_patch(ada, "{'settings': {'c': 2, 'd': true}}", "/users/@me/settings-proto/2/json");
    expect(str_is(a.body, "{\"settings\":{\"a\":{\"b\": [1, null]},\"c\":2,\"d\":true}}"));
    expect_json(client_get(ada, "/users/@me/settings-proto/2/json"), "{'settings': {'d': true}}");
    /* Each type, the protocol buffers and other accounts are separate. */
    expect_json(client_get(ada, "/users/@me/settings-proto/1/json"), "{'settings': {}}");
    expect_json(client_get(ada, "/users/@me/settings-proto/2"), "{'settings': ''}");
    expect_json(client_get(bob, "/users/@me/settings-proto/2/json"), "{'settings': {}}");
    expect_error(client_get(ada, "/users/@me/settings-proto/4/json"), 404, 0);
    expect_error(client_get(world_bot(w, "robot"), "/users/@me/settings-proto/2/json"), 403, 20001);
    static const char *const bad[] = { "{'settings': []}", "{'settings': 'x'}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_invalid(client_patch(ada, bad[i], "/users/@me/settings-proto/2/json"), "settings",
                       "INVALID_USER_SETTINGS_DATA");
    expect_json(
        client_patch(ada, "{'settings': {'d': 1, 'd': 2}}", "/users/@me/settings-proto/2/json"),
        "{'settings': {'a': {}, 'c': 2, 'd': 2}}");
    expect_invalid(client_patch(ada, "{}", "/users/@me/settings-proto/2/json"), "settings",
                   "BASE_TYPE_REQUIRED");
}

static const char *object_with_members(struct world *w, int from, int count)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    buf_add_lit(&out, "{'settings': {");
    for (int i = 0; i < count; i++)
        buf_printf(&out, "%s'k%d': 1", i ? ", " : "", from + i);
    buf_add_lit(&out, "}}");
    buf_add_char(&out, 0);
    return buf_move_to_arena(&out, world_arena(w)).p;
}

static void json_settings_have_at_most_100_members(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_invalid(
        client_patch(ada, object_with_members(w, 0, 101), "/users/@me/settings-proto/3/json"),
        "settings", "INVALID_USER_SETTINGS_DATA");
    expect_status(
        client_patch(ada, object_with_members(w, 0, 100), "/users/@me/settings-proto/3/json"), 200);
    expect_status(
        client_patch(ada, object_with_members(w, 99, 1), "/users/@me/settings-proto/3/json"), 200);
    expect_invalid(
        client_patch(ada, object_with_members(w, 100, 1), "/users/@me/settings-proto/3/json"),
        "settings", "BASE_TYPE_MAX_LENGTH");
}

/* 1 MiB of base64: a field of so many bytes, then another one that exceeds the limit. */
static void settings_proto_is_limited_in_length(struct world *w)
{
    enum { BYTES = 780000 }; /* three times 260,000 */
    struct client *ada = world_client(w, "ada");
    char *text = arena_alloc(world_arena(w), BYTES / 3 * 4 + 1);

    /* Field 2 of 779,996 bytes: 12 dc cd 2f. All other bytes are zero. */
    memset(text, 'A', BYTES / 3 * 4);
    memcpy(text, "EtzNLw", 6);
    expect_status(
        client_patch(ada, TEXT(w, "{'settings': '%s'}", text), "/users/@me/settings-proto/1"), 200);
    struct answer a = client_get(ada, "/users/@me/settings-proto/1");
    expect(strlen(answer_text(a, "settings")) == BYTES / 3 * 4 + 8);
    expect_status(client_patch(ada, "{'settings': 'KAE='}", "/users/@me/settings-proto/1"), 200);
    memcpy(text, "GtzNLw", 6); /* field 3 */
    expect_invalid(
        client_patch(ada, TEXT(w, "{'settings': '%s'}", text), "/users/@me/settings-proto/1"),
        "settings", "BASE_TYPE_MAX_LENGTH");
}

/* Rows written without their versions. */
static void settings_proto_rows_without_version_get_a_version(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_patch(ada, "{'settings': 'EgJhYg=='}", "/users/@me/settings-proto/1"),
                  200);
    world_sql(w, "update settings_protos set settings = 'EgJhYigB'");
    expect_json(client_get(ada, "/users/@me/settings-proto/1"), "{'settings': 'CgIYARICYWIoAQ=='}");
    expect_json(client_patch(ada, "{'settings': 'KAI='}", "/users/@me/settings-proto/1"),
                "{'settings': 'CgIYAhICYWIoAg=='}");
}

static void suppressed_everyone_mentions_are_not_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    client_post(ada, "{'content': '@everyone'}", "/channels/%s/messages", v.channel);
    client_patch(bob, "{'suppress_everyone': true}", SETTINGS, v.id);
    struct gateway_conn *g = conn_open(bob, "v=9&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "'capabilities': 0");
    expect_dispatch(g, "READY", "{'read_state': []}");
    conn_close(g, 1000);
    expect_status(client_delete(bob, "/users/@me/guilds/%s", v.id), 204);
    expect(world_number(w, "select count(*) from user_guild_settings") == 0);
}

const struct test guild_settings_tests[] = {
    TEST(guild_settings_are_stored_sent_and_in_ready),
    TEST(settings_of_several_guilds_and_of_private_channels_can_be_set),
    TEST(guild_settings_are_limited_to_1000_channel_overrides),
    TEST(settings_request_is_limited_to_4000_channel_overrides),
    TEST(notification_settings_flags_are_stored_and_sent),
    TEST(settings_proto_is_merged_by_field),
    TEST(settings_proto_is_limited_in_length),
    TEST(json_settings_are_merged_by_member),
    TEST(json_settings_have_at_most_100_members),
    TEST(settings_proto_rows_without_version_get_a_version),
    TEST(suppressed_everyone_mentions_are_not_counted),
    { 0 },
};
