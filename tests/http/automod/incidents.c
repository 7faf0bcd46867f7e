/* incidents.c - incident actions that disable invites and direct messages for a time. */
#include "base/clock.h"
#include "guilds.h"
#include "json/schema.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "test_guild.h"

#define INCIDENTS "/guilds/%s/incident-actions"

/* Returns the quoted time so many hours from now. */
static const char *in_hours(struct world *w, int hours)
{
    int64_t at = clock_us() + hours * INT64_C(3600000000);

    return TEXT(w, "%.*s", STR_ARGS(json_column_encode(world_arena(w), &type_time, &at)));
}

static void invites_disabled_until_blocks_and_unblocks_joining(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct client *eve = world_client(w, "eve");
    struct answer a = client_get(h.ada, "/guilds/%s/channels", h.guild);
    const char *text = answer_text(a, "2.id"),
               *code = answer_text(client_post(h.ada, "{}", "/channels/%s/invites", text), "code");
    struct audience auditors =
        audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG));

    expect_status(client_patch(h.ada, TEXT(w, "{'safety_alerts_channel_id': '%s'}", text),
                               "/guilds/%s", h.guild),
                  200);
    discard_received(w);
    expect_json(client_put(h.bob, TEXT(w, "{'invites_disabled_until': %s}", in_hours(w, 2)),
                           INCIDENTS, h.guild),
                "{'dms_disabled_until': null}");
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 1}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE",
                    "{'incidents_data': {'dms_disabled_until': null, 'raid_detected_at': null, "
                    "'dm_spam_detected_at': null}}");
    expect_received(w, audience_of_channel_viewers(id_of(h.guild), id_of(text)), "MESSAGE_CREATE",
                    "{'type': 36, 'author': {'id': '%s'}}", h.bob->id);
    expect_nothing_received(w);
    expect_error(client_post(eve, NULL, "/invites/%s", code), 403, 40069);
    expect_json(client_put(h.bob, "{'invites_disabled_until': null}", INCIDENTS, h.guild),
                "{'invites_disabled_until': null, 'dms_disabled_until': null}");
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 1}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE",
                    "{'incidents_data': null}");
    expect_received(w, audience_of_channel_viewers(id_of(h.guild), id_of(text)), "MESSAGE_CREATE",
                    "{'type': 37, 'content': ''}");
    expect_status(client_post(eve, NULL, "/invites/%s", code), 200);
}

static void invites_disabled_until_expires(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct answer a = client_get(h.ada, "/guilds/%s/channels", h.guild);
    const char *code = answer_text(
        client_post(h.ada, "{'max_age': 0}", "/channels/%s/invites", answer_text(a, "2.id")),
        "code");

    client_put(h.bob, TEXT(w, "{'invites_disabled_until': %s}", in_hours(w, 2)), INCIDENTS,
               h.guild);
    world_wait(w, 2 * 3600 + 1);
    expect_json(client_get(h.bob, "/guilds/%s", h.guild), "{'incidents_data': null}");
    expect_status(client_post(world_client(w, "eve"), NULL, "/invites/%s", code), 200);
}

static void dms_disabled_until_blocks_direct_messages_of_members(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *dm = answer_text(
        client_post(h.bob, TEXT(w, "{'recipient_id': '%s'}", h.ada->id), "/users/@me/channels"),
        "id");

    expect_json(client_put(h.ada, TEXT(w, "{'dms_disabled_until': %s}", in_hours(w, 24)), INCIDENTS,
                           h.guild),
                "{'invites_disabled_until': null}");
    expect_error(client_post(h.bob, "{'content': 'x'}", "/channels/%s/messages", dm), 403, 50007);
    expect_status(client_put(h.ada, "{'dms_disabled_until': null}", INCIDENTS, h.guild), 200);
    expect_status(client_post(h.bob, "{'content': 'x'}", "/channels/%s/messages", dm), 200);
}

static void incident_actions_require_manage_guild_and_last_24_hours(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    expect_error(client_put(h.bob, "{}", INCIDENTS, h.guild), 403, 50013);
    expect_invalid(client_put(h.ada, TEXT(w, "{'dms_disabled_until': %s}", in_hours(w, 25)),
                              INCIDENTS, h.guild),
                   "dms_disabled_until", "NUMBER_TYPE_MAX");
}

const struct test incidents_tests[] = {
    TEST(invites_disabled_until_blocks_and_unblocks_joining),
    TEST(invites_disabled_until_expires),
    TEST(dms_disabled_until_blocks_direct_messages_of_members),
    TEST(incident_actions_require_manage_guild_and_last_24_hours),
    { 0 },
};
