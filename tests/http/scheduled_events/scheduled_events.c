/* scheduled_events.c - guild scheduled events: times, locations, users and status changes. */
#include <unistd.h>

#include "base/clock.h"
#include "base/timestamp.h"
#include "files.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "platform/guilds/guilds.h"
#include "test_guild.h"
#include "waits.h"

#define EVENTS "/guilds/%s/scheduled-events"
#define EVENT  EVENTS "/%s"

/* Returns a timestamp so many seconds from now. */
static const char *time_after(struct world *w, double seconds)
{
    char *text = arena_alloc(world_arena(w), TIMESTAMP_TEXT_SIZE);

    timestamp_format(clock_us() / 1000000 * 1000000 + (int64_t)(seconds * 1e6), text);
    return text;
}

struct event_guild {
    struct server_loop h;
    const char *voice, *stage;
};

static struct event_guild create_event_guild(struct world *w, uint64_t perms)
{
    struct event_guild f = { .h = world_home(w, perms) };

    f.voice = answer_text(
        client_post(f.h.ada, "{'name': 'v', 'type': 2}", "/guilds/%s/channels", f.h.guild), "id");
    f.stage = answer_text(
        client_post(f.h.ada, "{'name': 's', 'type': 13}", "/guilds/%s/channels", f.h.guild), "id");
    discard_received(w);
    return f;
}

static const char *write_external_event(struct world *w, const char *more)
{
    return TEXT(w,
                "{'name': 'Walk', 'privacy_level': 2, 'entity_type': 3, 'scheduled_start_time': "
                "'%s', 'scheduled_end_time': '%s', 'entity_metadata': {'location': 'Park'}%s}",
                time_after(w, 3600), time_after(w, 7200), more);
}

static const char *write_channel_event(struct world *w, int type, const char *channel)
{
    return TEXT(w,
                "{'name': 'Talk', 'privacy_level': 2, 'entity_type': %d, 'channel_id': '%s', "
                "'scheduled_start_time': '%s'}",
                type, channel, time_after(w, 3600));
}

static const char *create_event(struct client *c, const struct event_guild *f, const char *body)
{
    struct answer a = client_post(c, body, EVENTS, f->h.guild);

    expect_status(a, 200);
    discard_received(c->world);
    return answer_text(a, "id");
}

static void wait_for_event_status(struct world *w, const char *id, int status)
{
    expect_soon(world_number(
        w, "select count(*) from scheduled_events where id = %s and status = %d", id, status));
}

static void scheduled_event_create_update_and_delete_are_dispatched(struct world *w)
{
    struct event_guild f = create_event_guild(w, PERMISSION(CREATE_EVENTS));
    struct audience guild = audience_of_guild(id_of(f.h.guild));
    struct answer a = client_post(f.h.bob, write_external_event(w, ", 'description': 'By foot'"),
                                  EVENTS, f.h.guild);
    const char *id;

    expect_status(a, 200);
    id = answer_text(a, "id");
    expect_json(a,
                "{'guild_id': '%s', 'channel_id': null, 'creator_id': '%s', 'name': 'Walk', "
                "'description': 'By foot', 'image': null, 'privacy_level': 2, 'status': 1, "
                "'entity_type': 3, 'entity_id': null, 'entity_metadata': {'location': 'Park'}, "
                "'recurrence_rule': null, 'guild_scheduled_event_exceptions': [], "
                "'creator': {'id': '%s'}}",
                f.h.guild, f.h.bob->id, f.h.bob->id);
    expect_absent(a, "user_count");
    expect_received(
        w, audience_of_members_with_permission(id_of(f.h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 100, 'target_id': '%s'}", id);
    expect_received(w, guild, "GUILD_SCHEDULED_EVENT_CREATE", "{'id': '%s', 'auto_start': true}",
                    id);
    expect_received(w, guild, "GUILD_SCHEDULED_EVENT_USER_ADD",
                    "{'guild_scheduled_event_id': '%s', 'user_id': '%s', 'guild_id': '%s', "
                    "'response': 1}",
                    id, f.h.bob->id, f.h.guild);
    expect_nothing_received(w);
    expect_json(client_get(f.h.ada, EVENTS "?with_user_count=true", f.h.guild),
                "[{'id': '%s', 'user_count': 1}]", id);
    expect_json(client_patch(f.h.bob, "{'name': 'Run'}", EVENT, f.h.guild, id), "{'name': 'Run'}");
    expect_received(
        w, audience_of_members_with_permission(id_of(f.h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 101, 'changes': [{'key': 'name', 'old_value': 'Walk', "
        "'new_value': 'Run'}]}");
    expect_received(w, guild, "GUILD_SCHEDULED_EVENT_UPDATE", "{'id': '%s', 'name': 'Run'}", id);
    expect_status(client_delete(f.h.bob, EVENT, f.h.guild, id), 204);
    expect_received(
        w, audience_of_members_with_permission(id_of(f.h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 102}");
    expect_received(w, guild, "GUILD_SCHEDULED_EVENT_DELETE", "{'id': '%s', 'name': 'Run'}", id);
    expect_error(client_get(f.h.ada, EVENT, f.h.guild, id), 404, 10070);
    expect(world_number(w, "select count(*) from scheduled_event_users") == 0);
}

static void scheduled_event_routes_require_permissions(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *id = create_event(f.h.ada, &f, write_external_event(w, ""));

    expect_error(client_post(f.h.bob, write_external_event(w, ""), EVENTS, f.h.guild), 403, 50013);
    expect_error(client_patch(f.h.bob, "{}", EVENT, f.h.guild, id), 403, 50013);
    expect_error(client_delete(f.h.bob, EVENT, f.h.guild, id), 403, 50013);
    expect_error(client_get(world_client(w, "eve"), EVENTS, f.h.guild), 403, 50001);
    world_sql(w, "update roles set permissions = %lld where id = %s",
              (long long)(PERMISSION(CREATE_EVENTS) | PERMISSION(CONNECT)), f.h.role);
    expect_error(client_patch(f.h.bob, "{'name': 'x'}", EVENT, f.h.guild, id), 403, 50013);
    expect_error(client_post(f.h.bob, write_channel_event(w, 1, f.stage), EVENTS, f.h.guild), 403,
                 50013);
    const char *talk = create_event(f.h.bob, &f, write_channel_event(w, 2, f.voice));
    expect_json(client_get(f.h.bob, EVENT, f.h.guild, talk), "{'channel_id': '%s'}", f.voice);
    /* Members who cannot view the channel do not see the event. */
    expect_status(client_put(f.h.ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             f.voice, f.h.guild),
                  204);
    expect_error(client_get(f.h.bob, EVENT, f.h.guild, talk), 404, 10070);
    expect_json(client_get(f.h.bob, EVENTS, f.h.guild), "[{'id': '%s'}]", id);
}

#define REFUSE(body, path, code) \
    expect_invalid(client_post(f.h.ada, body, EVENTS, f.h.guild), path, code)
#define WITH(rule) \
    write_external_event(w, ", 'recurrence_rule': {'start': '2030-01-01T00:00:00Z', " rule "}")

static void invalid_scheduled_events_are_refused(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);

    REFUSE("{}", "name", "BASE_TYPE_REQUIRED");
    REFUSE(TEXT(w,
                "{'name': 'x', 'privacy_level': 2, 'entity_type': 3, 'scheduled_start_time': '%s'}",
                time_after(w, 60)),
           "scheduled_end_time", "BASE_TYPE_REQUIRED");
    REFUSE(TEXT(w,
                "{'name': 'x', 'privacy_level': 2, 'entity_type': 2, 'scheduled_start_time': '%s'}",
                time_after(w, 60)),
           "channel_id", "BASE_TYPE_REQUIRED");
    REFUSE(TEXT(w,
                "{'name': 'x', 'privacy_level': 1, 'entity_type': 2, 'scheduled_start_time': '%s', "
                "'channel_id': '%s'}",
                time_after(w, 60), f.voice),
           "privacy_level", "BASE_TYPE_CHOICES");
    REFUSE(TEXT(w,
                "{'name': 'x', 'privacy_level': 2, 'entity_type': 2, 'scheduled_start_time': '%s', "
                "'channel_id': '%s'}",
                time_after(w, -60), f.voice),
           "scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST");
    REFUSE(TEXT(w,
                "{'name': 'x', 'privacy_level': 2, 'entity_type': 2, 'scheduled_start_time': '%s', "
                "'scheduled_end_time': '%s', 'channel_id': '%s'}",
                time_after(w, 60), time_after(w, 60), f.voice),
           "scheduled_end_time", "GUILD_SCHEDULED_EVENT_END_BEFORE_START");
    expect_error(client_post(f.h.ada, write_channel_event(w, 2, f.stage), EVENTS, f.h.guild), 400,
                 50091);
    REFUSE(WITH("'frequency': 2, 'interval': 1, 'by_weekday': [1, 2]"),
           "recurrence_rule.by_weekday", "BASE_TYPE_CHOICES");
    REFUSE(WITH("'frequency': 3, 'interval': 2"), "recurrence_rule.interval", "BASE_TYPE_CHOICES");
    REFUSE(WITH("'frequency': 3, 'interval': 1, 'by_weekday': [0, 2]"),
           "recurrence_rule.by_weekday", "BASE_TYPE_CHOICES");
    REFUSE(WITH("'frequency': 1, 'interval': 1"), "recurrence_rule.by_n_weekday",
           "BASE_TYPE_CHOICES");
    REFUSE(WITH("'frequency': 0, 'interval': 1, 'by_month': [2]"), "recurrence_rule.by_month",
           "BASE_TYPE_CHOICES");
    REFUSE(WITH("'frequency': 3, 'interval': 1, 'count': 5"), "recurrence_rule.count",
           "BASE_TYPE_CHOICES");
    for (int i = 0; i < 100; i++)
        world_sql(
            w,
            "insert into scheduled_events (id, guild_id, name, start_at, status, entity_type) "
            "values (%d, %s, 'x', 0, %d, 3)",
            100 + i, f.h.guild, i ? 1 : 3);
    expect_status(client_post(f.h.ada, write_external_event(w, ""), EVENTS, f.h.guild), 200);
    expect_error(client_post(f.h.ada, write_external_event(w, ""), EVENTS, f.h.guild), 400, 30038);
}

static void scheduled_event_starts_and_ends_at_its_times(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *id = create_event(f.h.ada, &f, write_external_event(w, ", 'image': '" PNG "'"));
    const char *late = create_event(f.h.ada, &f, write_channel_event(w, 2, f.voice));

    expect_files(w, "guild-events", 1);
    world_wait(w, 3601);
    wait_for_event_status(w, id, 2);
    expect_invalid(client_patch(f.h.ada, "{'status': 1}", EVENT, f.h.guild, id), "status",
                   "BASE_TYPE_CHOICES");
    world_wait(w, 3600);
    wait_for_event_status(w, id, 3);
    expect_error(client_patch(f.h.ada, "{'name': 'x'}", EVENT, f.h.guild, id), 400, 180000);
    expect_error(client_put(f.h.bob, NULL, EVENT "/users/@me", f.h.guild, id), 400, 180000);
    world_wait(w, 6 * 3600);
    wait_for_event_status(w, late, 4); /* nobody started it */
    world_wait(w, 31 * 86400.0);
    expect_soon(world_number(w, "select count(*) from scheduled_events") == 0);
    expect(world_number(w, "select count(*) from scheduled_event_users") == 0);
}

static void starting_a_stage_event_creates_its_stage_instance(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    struct audience viewers = audience_of_channel_viewers(id_of(f.h.guild), id_of(f.stage));
    const char *id = create_event(f.h.ada, &f, write_channel_event(w, 1, f.stage));
    struct answer a = client_patch(f.h.ada, "{'status': 2}", EVENT, f.h.guild, id);

    expect_json(a, "{'status': 2}");
    const char *stage = answer_text(a, "entity_id");
    expect_json(client_get(f.h.ada, "/stage-instances/%s", f.stage),
                "{'id': '%s', 'topic': 'Talk', 'guild_scheduled_event_id': '%s'}", stage, id);
    expect_received(
        w, audience_of_members_with_permission(id_of(f.h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 101}");
    expect_received(w, viewers, "STAGE_INSTANCE_CREATE", "{'id': '%s'}", stage);
    expect_received(w, viewers, "MESSAGE_CREATE", "{'type': 27, 'content': 'Talk'}");
    expect_received(w, viewers, "GUILD_SCHEDULED_EVENT_UPDATE", "{'status': 2, 'entity_id': '%s'}",
                    stage);
    expect_json(client_patch(f.h.ada, "{'status': 3}", EVENT, f.h.guild, id),
                "{'status': 3, 'entity_id': null}");
    expect_error(client_get(f.h.ada, "/stage-instances/%s", f.stage), 404, 10067);
    /* A voice event without participants ends after three minutes. */
    id = create_event(f.h.ada, &f, write_channel_event(w, 2, f.voice));
    expect_status(client_patch(f.h.ada, "{'status': 2}", EVENT, f.h.guild, id), 200);
    for (int minute = 0; minute < 5; minute++) {
        world_wait(w, 61);
        world_settle(w);
    }
    wait_for_event_status(w, id, 3);
}

static void deleting_a_channel_cancels_its_scheduled_events(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *id = create_event(f.h.ada, &f, write_channel_event(w, 2, f.voice));

    expect_status(client_delete(f.h.ada, "/channels/%s", f.voice), 200);
    expect_received(w, audience_of_channel_viewers(id_of(f.h.guild), id_of(f.voice)),
                    "GUILD_SCHEDULED_EVENT_UPDATE", "{'id': '%s', 'status': 4}", id);
}

static void members_can_subscribe_to_a_scheduled_event(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *id = create_event(f.h.ada, &f, write_external_event(w, ""));
    struct client *bot = world_bot(w, "robot");

    put_member(f.h.guild, bot);
    expect_json(client_put(f.h.bob, NULL, EVENT "/users/@me", f.h.guild, id),
                "{'guild_scheduled_event_id': '%s', 'user_id': '%s', 'response': 1}", id,
                f.h.bob->id);
    expect_received(w, audience_of_guild(id_of(f.h.guild)), "GUILD_SCHEDULED_EVENT_USER_ADD",
                    "{'user_id': '%s'}", f.h.bob->id);
    expect_status(client_put(f.h.bob, NULL, EVENT "/users/@me", f.h.guild, id), 200);
    expect_nothing_received(w); /* a second request changes nothing */
    struct answer a = client_get(bot, EVENT "/users?with_member=true", f.h.guild, id);
    expect_json(a, "[{'user_id': '%s', 'user': {'id': '%s'}, 'member': {'nick': null}}, {}]",
                f.h.ada->id, f.h.ada->id);
    expect_json(client_get(f.h.bob, EVENT "/users?after=%s", f.h.guild, id, f.h.ada->id),
                "{'users': [{'id': '%s'}]}", f.h.bob->id);
    expect_json(client_get(bot, EVENT "/users?before=%s&limit=1", f.h.guild, id, f.h.bob->id),
                "[{'user_id': '%s'}]", f.h.ada->id);
    expect_json(client_get(bot, EVENT "/users/counts", f.h.guild, id),
                "{'guild_scheduled_event_count': 2, 'guild_scheduled_event_exception_counts': {}}");
    expect_status(client_delete(f.h.bob, EVENT "/users/@me", f.h.guild, id), 204);
    expect_received(w, audience_of_guild(id_of(f.h.guild)), "GUILD_SCHEDULED_EVENT_USER_REMOVE",
                    "{'user_id': '%s'}", f.h.bob->id);
    expect_error(client_delete(f.h.bob, EVENT "/users/@me", f.h.guild, id), 404, 10071);
    expect_error(client_put(bot, NULL, EVENT "/users/@me", f.h.guild, id), 403, 20001);
    expect_json(client_get(f.h.ada, EVENT "?with_user_count=true", f.h.guild, id),
                "{'user_count': 1}");
}

static void recurring_event_skips_canceled_exceptions(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *start = time_after(w, 3600), *second = time_after(w, 3600 + 86400);
    const char *id = create_event(
        f.h.ada, &f,
        write_external_event(
            w,
            TEXT(w, ", 'recurrence_rule': {'start': '%s', 'frequency': 3, 'interval': 1}", start)));
    struct answer a;

    expect_json(client_get(f.h.ada, EVENT, f.h.guild, id),
                "{'recurrence_rule': {'frequency': 3, 'interval': 1, 'end': null, 'count': null, "
                "'by_weekday': null, 'by_n_weekday': null, 'by_month': null, 'by_month_day': null, "
                "'by_year_day': null}}");
    expect_error(client_post(f.h.ada, TEXT(w, "{'original_scheduled_start_time': '%s'}", second),
                             EVENT "/exceptions", f.h.guild, id),
                 400, 180005);
    a = client_post(f.h.ada,
                    TEXT(w, "{'original_scheduled_start_time': '%s', 'is_canceled': true}", second),
                    EVENT "/exceptions", f.h.guild, id);
    expect_json(a, "{'event_id': '%s', 'is_canceled': true, 'scheduled_start_time': null}", id);
    const char *exception = answer_text(a, "event_exception_id");
    expect_received(
        w, audience_of_members_with_permission(id_of(f.h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 200, 'options': {'event_exception_id': '%s'}}", exception);
    expect_received(w, audience_of_guild(id_of(f.h.guild)),
                    "GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE",
                    "{'event_exception_id': '%s', 'guild_id': '%s'}", exception, f.h.guild);
    expect_json(
        client_put(f.h.bob, "{'response': 0}", EVENT "/%s/users/@me", f.h.guild, id, exception),
        "{'response': 0, 'guild_scheduled_event_exception_id': '%s'}", exception);
    expect_json(client_get(f.h.bob, EVENT "/%s/users", f.h.guild, id, exception),
                "{'users': [{'id': '%s'}]}", f.h.bob->id);
    expect_json(client_get(f.h.ada, EVENT "/users/counts?guild_scheduled_event_exception_ids=%s",
                           f.h.guild, id, exception),
                "{'guild_scheduled_event_exception_counts': {'%s': 0}}", exception);
    discard_received(w);
    world_wait(w, 3601);
    wait_for_event_status(w, id, 2);
    world_wait(w, 3600);
    wait_for_event_status(w, id, 1); /* the third day: the second one is canceled */
    expect(world_number(w,
                        "select (start_at - %lld) / 3600000000 from scheduled_events where "
                        "id = %s",
                        (long long)clock_us(), id) == 46);
    a = client_patch(f.h.ada, "{'is_canceled': false}", EVENT "/exceptions/%s", f.h.guild, id,
                     exception);
    expect_json(a, "{'is_canceled': false}");
    expect_status(client_delete(f.h.ada, EVENT "/exceptions/%s", f.h.guild, id, exception), 204);
    expect_error(client_delete(f.h.ada, EVENT "/exceptions/%s", f.h.guild, id, exception), 404,
                 10070);
    expect_json(client_patch(f.h.ada, "{'status': 4}", EVENT, f.h.guild, id), "{'status': 4}");
}

static const char *snowflake_after(struct world *w, long seconds)
{
    return TEXT(w, "%llu", (unsigned long long)snowflake_from_ms(clock_ms() + seconds * 1000));
}

static void subscription_must_name_an_occurrence_of_the_event(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *start = time_after(w, 3600),
               *once = create_event(f.h.ada, &f, write_external_event(w, ""));
    const char *id = create_event(
        f.h.ada, &f,
        write_external_event(
            w,
            TEXT(w, ", 'recurrence_rule': {'start': '%s', 'frequency': 3, 'interval': 1}", start)));
    struct answer a =
        client_post(f.h.ada,
                    TEXT(w, "{'original_scheduled_start_time': '%s', 'is_canceled': true}",
                         time_after(w, 3600)),
                    EVENT "/exceptions", f.h.guild, id);
    unsigned long long first = id_of(answer_text(a, "event_exception_id"));
    const unsigned long long day = 86400000ULL << 22;
    const struct {
        unsigned long long id;
        int status;
    } times[] = { { first, 200 },
                  { first + 365 * day, 200 },
                  { first + 367 * day, 404 }, /* more than a year ahead */
                  { first - day, 404 },       /* before the first occurrence */
                  { first + (1000ULL << 22), 404 },
                  { first + 1, 404 } };

    expect_status(a, 200);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        expect_status(client_put(f.h.bob, "{'response': 1}", EVENT "/%llu/users/@me", f.h.guild, id,
                                 times[i].id),
                      times[i].status);
    expect_error(
        client_put(f.h.bob, "{}", EVENT "/%s/users/@me", f.h.guild, once, snowflake_after(w, 3600)),
        404, 10070);
    expect(world_number(w, "select count(*) from scheduled_event_users where user_id = %s",
                        f.h.bob->id) == 2);
    expect_invalid(
        client_post(f.h.ada,
                    TEXT(w, "{'original_scheduled_start_time': '%s', 'is_canceled': true}",
                         time_after(w, 7200)),
                    EVENT "/exceptions", f.h.guild, id),
        "original_scheduled_start_time", "BASE_TYPE_CHOICES");
}

static void recurring_event_is_limited_to_100_exceptions(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *id = create_event(
        f.h.ada, &f,
        write_external_event(
            w, TEXT(w, ", 'recurrence_rule': {'start': '%s', 'frequency': 3, 'interval': 1}",
                    time_after(w, 3600))));

    for (int i = 0; i < 100; i++)
        expect_status(
            client_post(f.h.ada,
                        TEXT(w, "{'original_scheduled_start_time': '%s', 'is_canceled': true}",
                             time_after(w, 3600 + i * 86400)),
                        EVENT "/exceptions", f.h.guild, id),
            200);
    expect_invalid(
        client_post(f.h.ada,
                    TEXT(w, "{'original_scheduled_start_time': '%s', 'is_canceled': true}",
                         time_after(w, 3600 + 100 * 86400)),
                    EVENT "/exceptions", f.h.guild, id),
        "original_scheduled_start_time", "BASE_TYPE_CHOICES");
}

static void guild_create_contains_open_scheduled_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    struct answer a = client_post(ada, write_external_event(w, ""), EVENTS, v.id);
    struct gateway_conn *g = conn_session(bot, "v=10&encoding=json", "'intents': 65537");
    expect_dispatch(g, "GUILD_CREATE",
                    "{'guild_scheduled_events': [{'id': '%s', 'user_count': 1}]}",
                    answer_text(a, "id"));
    expect_status(client_patch(ada, "{'name': 'Ride'}", EVENTS "/%s", v.id, answer_text(a, "id")),
                  200);
    expect_dispatch(g, "GUILD_SCHEDULED_EVENT_UPDATE", "{'name': 'Ride'}");
    expect_status(client_post(ada, NULL, "/guilds/%s/delete", v.id), 204);
    expect_soon(world_number(w, "select count(*) from scheduled_events") == 0);
    expect(world_number(w, "select count(*) from scheduled_event_users") == 0);
}

static void stage_instances_and_invites_can_refer_to_an_event(struct world *w)
{
    struct event_guild f = create_event_guild(w, 0);
    const char *talk = create_event(f.h.ada, &f, write_channel_event(w, 1, f.stage)),
               *walk = create_event(f.h.ada, &f, write_external_event(w, ""));
    const char *body = TEXT(w,
                            "{'channel_id': '%s', 'topic': 'Tea', 'guild_scheduled_event_id': "
                            "'%%s', 'send_start_notification': true}",
                            f.stage);

    expect_error(client_post(f.h.ada, TEXT(w, body, "77"), "/stage-instances"), 404, 10070);
    expect_error(client_post(f.h.ada, TEXT(w, body, walk), "/stage-instances"), 404, 10070);
    expect_json(client_post(f.h.ada, TEXT(w, body, talk), "/stage-instances"),
                "{'guild_scheduled_event_id': '%s'}", talk);
    const char *code =
        answer_text(client_post(f.h.ada, "{}", "/channels/%s/invites", f.voice), "code");
    expect_json(
        client_get(world_anonymous(w), "/invites/%s?guild_scheduled_event_id=%s", code, walk),
        "{'guild_scheduled_event': {'id': '%s', 'name': 'Walk'}}", walk);
    /* The event is in another channel than the invite's. */
    expect_absent(
        client_get(world_anonymous(w), "/invites/%s?guild_scheduled_event_id=%s", code, talk),
        "guild_scheduled_event");
    expect_absent(client_get(world_anonymous(w), "/invites/%s", code), "guild_scheduled_event");
}

const struct test scheduled_events_tests[] = {
    TEST(scheduled_event_create_update_and_delete_are_dispatched),
    TEST(scheduled_event_routes_require_permissions),
    TEST(invalid_scheduled_events_are_refused),
    TEST(scheduled_event_starts_and_ends_at_its_times),
    TEST(starting_a_stage_event_creates_its_stage_instance),
    TEST(deleting_a_channel_cancels_its_scheduled_events),
    TEST(members_can_subscribe_to_a_scheduled_event),
    TEST(recurring_event_skips_canceled_exceptions),
    TEST(subscription_must_name_an_occurrence_of_the_event),
    TEST(recurring_event_is_limited_to_100_exceptions),
    TEST(guild_create_contains_open_scheduled_events),
    TEST(stage_instances_and_invites_can_refer_to_an_event),
    { 0 },
};
