/* large_rooms.c - changes that affect everyone in a large voice room are made in steps. */
#include "apps.h"
#include "model/permissions/permissions.h"
#include "platforms.h"
#include "statements.h"
#include "voice/state_rows.h"
#include "test_voice.h"
#include "waits.h"

enum { MANY = 400, STEPS = MANY / LARGE_ROOM_STEP };

static void configure_several_voice_regions(struct config *config)
{
    config->voice_regions = "eu:Europe, us:America";
    config->voice_endpoint = "{region}.example";
}

static void configure_regions_and_watch_statements(struct config *config)
{
    configure_several_voice_regions(config);
    if (!config->store)
        statements_watch();
}

#define NUMBERS " with recursive n (i) as (select 1 union all select i + 1 from n where i < 400) "

/* Inserts members into a user's voice channel; their ids are lower than all others. */
static void fill_voice_room(const struct test_voice *h, const struct client *with)
{
    world_sql(h->world, "insert into users (id, username)" NUMBERS "select i, 'one' || i from n");
    world_sql(h->world,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS "select %s, i, i from n",
              h->guild);
    world_sql(
        h->world,
        "insert into voice_states (guild_id, user_id, channel_id, session_id, "
        "session_number, node, region, salt, connected_at, active_at)" NUMBERS
        "select guild_id, i, channel_id, 'x', 1, 0, region, salt, 1, 1 from n, voice_states v "
        "where v.user_id = %s",
        with->id);
}

/* Creates a full voice room; bob has the highest id in it. */
static struct test_voice create_full_room(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    fill_voice_room(&h, h.bob);
    return h;
}

static int64_t count_writes(struct world *w)
{
    return world_counter(w, "guildhall_store_writes_total");
}

static void set_speak_permission_of_everyone(const struct test_voice *h, bool may)
{
    const char *body = TEXT(h->world, "{'type': 0, '%s': '%llu'}", may ? "allow" : "deny",
                            (unsigned long long)PERMISSION(SPEAK));

    expect_status(client_put(h->ada, body, "/channels/%s/permissions/%s", h->voice, h->guild), 204);
}

static void large_room_is_suppressed_in_batches(struct world *w)
{
    struct test_voice h = create_full_room(w);
    int64_t before = count_writes(w);

    set_speak_permission_of_everyone(&h, false);
    expect_number(w, MANY + 1, "select count(*) from voice_states where suppress = 1");
    expect(count_writes(w) - before > STEPS);
    world_settle(w);
    const struct dom *event = world_last_event(w, "VOICE_STATE_UPDATE");
    expect(str_is(dom_at(event, "user_id")->text, h.bob->id));
    expect(dom_at(event, "suppress")->truth && dom_at(event, "member.user.username"));
    /* After changes in quick succession the last one applies to everyone. */
    set_speak_permission_of_everyone(&h, true);
    set_speak_permission_of_everyone(&h, false);
    set_speak_permission_of_everyone(&h, true);
    world_settle(w);
    expect_number(w, 0, "select count(*) from voice_states where suppress = 1");
}

/* A step reads its 64 members without scanning others. */
static void each_batch_of_a_large_room_reads_only_its_own_rows(struct world *w)
{
    struct test_voice h = create_full_room(w);

    set_speak_permission_of_everyone(&h, false);
    expect_number(w, MANY + 1, "select count(*) from voice_states where suppress = 1");
    if (world_config(w)->store)
        return;
    struct statement_seen step = statements_seen("v.channel_id = $4 order by v.user_id");
    expect(step.runs == STEPS + 1);
    expect(step.scanned == 0 && step.sorted == 0 && step.indexed == 0);
}

/* Roles affect all rooms of the guild, and no other guild. */
static void role_change_suppresses_members_in_all_rooms_of_the_guild(struct world *w)
{
    struct test_voice h = create_full_room(w), other = another_test_voice(&h);

    struct client *cleo = test_voice_member(&h, "cleo", 0), *robot = test_voice_bot(&h, "robot");
    join_voice(&h, cleo, h.other, NULL);
    put_member(other.guild, robot);
    ask_voice(robot, other.guild, other.voice, "");
    expect_number(w, MANY + 3, "select count(*) from voice_states");
    expect_status(
        client_patch(h.ada, "{'permissions': '1024'}", "/guilds/%s/roles/%s", h.guild, h.guild),
        200);
    world_settle(w);
    expect_number(w, MANY + 2, "select count(*) from voice_states where suppress = 1");
    expect_number(w, 1, "select count(*) from voice_states where suppress = 0");
}

static void set_voice_region_of_channel(const struct test_voice *h, const char *region)
{
    expect_status(client_patch(h->ada, TEXT(h->world, "{'rtc_region': '%s'}", region),
                               "/channels/%s", h->voice),
                  200);
}

static void large_room_moves_to_another_region_in_batches(struct world *w)
{
    struct test_voice h = create_full_room(w);
    int64_t before = count_writes(w);

    set_voice_region_of_channel(&h, "us");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.example'}");
    expect_number(w, MANY + 1, "select count(*) from voice_states where region = 'us'");
    expect(count_writes(w) - before > STEPS);
    set_voice_region_of_channel(&h, "eu");
    set_voice_region_of_channel(&h, "us");
    world_settle(w);
    expect_number(w, MANY + 1, "select count(*) from voice_states where region = 'us'");
    expect_number(w, 0, "select count(*) from jobs where kind = 'voice-migration'");
}

/* The guild gets events of the first members; all others go with CHANNEL_DELETE and get their
 * own event. */
static void deleting_a_channel_empties_a_large_room_in_batches(struct world *w)
{
    struct test_voice h = create_full_room(w);
    int64_t before = count_writes(w);

    expect_status(client_delete(h.ada, "/channels/%s", h.voice), 200);
    for (int i = 1; i <= LARGE_ROOM_STEP; i++)
        expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%d', 'channel_id': null}", i);
    expect_number(w, 0, "select count(*) from voice_states");
    expect(count_writes(w) - before > STEPS);
    expect_voice_silence(h.ada);
    for (int i = 1; i <= LARGE_ROOM_STEP; i++)
        expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%d'}", i);
    expect_voice(h.bob, "VOICE_STATE_UPDATE",
                 "{'user_id': '%s', 'channel_id': null, 'guild_id': '%s'}", h.bob->id, h.guild);
    expect_voice_silence(h.bob);
    expect_number(w, 0, "select count(*) from voice_rooms");
}

static void deleting_a_guild_empties_a_large_room_in_batches(struct world *w)
{
    struct test_voice h = create_full_room(w);
    int64_t before = count_writes(w);

    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    expect_event(h.bob, "GUILD_DELETE", "{}");
    expect_number(w, 0, "select count(*) from voice_states");
    expect(count_writes(w) - before > STEPS);
    expect_voice_silence(h.bob);
}

static void afk_timeout_change_updates_a_large_room_in_batches(struct world *w)
{
    struct test_voice h = create_full_room(w);
    const char *body = TEXT(w, "{'afk_channel_id': '%s', 'afk_timeout': 3600}", h.other);
    int64_t before = count_writes(w);

    /* The activity of all members is recent. */
    world_sql(w, "update voice_states set active_at = %lld", (long long)1 << 60);
    expect_status(client_patch(h.ada, body, "/guilds/%s", h.guild), 200);
    expect_number(w, MANY + 1, "select count(*) from jobs where kind = 'voice-idle'");
    expect(count_writes(w) - before > STEPS);
}

const struct test voice_large_rooms_tests[] = {
    TEST_WITH(large_room_is_suppressed_in_batches, configure_several_voice_regions),
    TEST_WITH(each_batch_of_a_large_room_reads_only_its_own_rows,
              configure_regions_and_watch_statements),
    TEST_WITH(role_change_suppresses_members_in_all_rooms_of_the_guild,
              configure_several_voice_regions),
    TEST_WITH(large_room_moves_to_another_region_in_batches, configure_several_voice_regions),
    TEST_WITH(deleting_a_channel_empties_a_large_room_in_batches, configure_several_voice_regions),
    TEST_WITH(deleting_a_guild_empties_a_large_room_in_batches, configure_several_voice_regions),
    TEST_WITH(afk_timeout_change_updates_a_large_room_in_batches, configure_several_voice_regions),
    { 0 },
};
