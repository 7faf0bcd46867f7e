/* restricted_members.c - members who may only read: timed out, pending, quarantined, or below the
 * guild's verification level; and guilds with paused invites. */
#include <inttypes.h>
#include <string.h>

#include "apps.h"
#include "base/buf.h"
#include "base/clock.h"
#include "gateway_conn.h"
#include "http/walk.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"

struct restricted_guild {
    struct client *ada, *bob;
    struct test_guild v;
    const char *own, *other; /* messages of bob and of ada */
};

static struct restricted_guild create_restricted_guild(struct world *w)
{
    struct restricted_guild s = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    s.v = world_test_guild(w, s.ada);
    test_guild_add(&s.v, s.bob);
    s.own = say_text(s.bob, s.v.channel, "mine");
    s.other = say_text(s.ada, s.v.channel, "hers");
    return s;
}

static void set_verification_level(struct restricted_guild *s, int level)
{
    expect_status(client_patch(s->ada, TEXT(s->v.world, "{'verification_level': %d}", level),
                               "/guilds/%s", s->v.id),
                  200);
}

static void expect_bob_can_send_a_message(struct restricted_guild *s, int code)
{
    struct answer a = client_post(s->bob, "{'content': 'x'}", MESSAGES, s->v.channel);

    if (code)
        expect_error(a, 403, code);
    else
        expect_status(a, 200);
}

/* --- every route ---------------------------------------------------------------------- */

static struct restricted_guild at;
static const char *role;
static struct client *outsider;
static int expected_code, refused;

/* Write routes that restricted members may call. */
static const char *const exceptions[] = {
    "ack_guild",
    "ack_guild_feature",
    "ack_message",
    "ack_pins",
    "create_onboarding_responses",
    "put_onboarding_responses",
    "delete_message",
    "delete_own_burst_reaction",
    "delete_own_join_request",
    "delete_own_normal_reaction",
    "delete_own_reaction",
    "delete_user_burst_reaction",
    "delete_user_normal_reaction",
    "delete_user_reaction",
    "forget_event_exception_answer",
    "get_post_data",
    "join_guild",
    "leave_guild",
    "leave_scheduled_event",
    "modify_guild_profile",
    "modify_notification_settings",
    "modify_own_member",
    "modify_own_nick",
    "modify_private_settings",
    "modify_thread_settings",
    "modify_user_guild_settings",
    "bulk_modify_user_guild_settings",
    "put_own_join_request",
    "remove_thread_member",
};

static bool is_exception(const char *name)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i], name) == 0)
            return true;
    return false;
}

static void check_route_is_listed_as_exception(struct world *w, const struct route *r)
{
    (void)w;
    if (r->allowed_when_restricted != is_exception(r->name))
        fail_test(__FILE__, __LINE__,
                  "%s: .allowed_when_restricted and the list of exceptions differ", r->name);
}

static void routes_for_restricted_members_match_the_list(struct world *w)
{
    each_route(w, check_route_is_listed_as_exception);
}

static const char *path_parameter(struct str name)
{
    return str_is(name, "guild.id")     ? at.v.id
           : str_is(name, "channel.id") ? at.v.channel
           : str_is(name, "message.id") ? at.own
           : str_is(name, "role.id")    ? role
           : str_is(name, "user.id")    ? outsider->id
           : str_is(name, "member.id")  ? at.ada->id
                                        : NULL;
}

/* Writes the path with existing ids; *ret_known: every id in the path exists. */
static const char *write_existing_url(struct world *w, const struct route *r, bool *ret_known)
{
    struct buf out;

    *ret_known = true;
    buf_init(&out, 2000);
    buf_add_lit(&out, "/api/v10");
    for (struct str rest = str_of(r->path); rest.n;) {
        buf_add_str(&out, str_cut(&rest, '{'));
        struct str name = str_cut(&rest, '}');

        if (!name.n)
            continue;
        const struct path_resolver *p = resolver_named(name);
        const char *value = path_parameter(name);

        *ret_known &= value || !p->resolve;
        buf_add_str(&out, str_of(p->prefix ? p->prefix : ""));
        buf_add_str(&out, str_of(value ? value : p->is_text ? "text" : "1"));
    }
    const char *url = str_dup_cstring(world_arena(w), buf_as_str(&out));
    buf_clear(&out);
    return url;
}

static void check_route_refuses_restricted_member(struct world *w, const struct route *r)
{
    bool in_guild = strstr(r->path, "{guild.id}") || strstr(r->path, "{channel.id}"), known;
    const char *url;

    if (!in_guild || r->method == HTTP_GET || is_exception(r->name) || !(r->auth & AUTH_USER))
        return;
    url = write_existing_url(w, r, &known);
    struct answer a =
        route_call(at.bob, r, url, r->body ? least_body(world_arena(w), r->body).p : NULL);
    if (!known && a.status == 404)
        return;
    if (r->needs && a.status == 400) /* needs a valid image or sound, which is checked first */
        return;
    expect_error(a, 403, expected_code);
    refused++;
}

static void expect_all_write_routes_refused(struct world *w, int code)
{
    expected_code = code;
    refused = 0;
    each_route(w, check_route_refuses_restricted_member);
    expect(refused >= 70);
    /* Reading is allowed. */
    expect_status(client_get(at.bob, MESSAGES, at.v.channel), 200);
    expect_status(client_get(at.bob, "/guilds/%s", at.v.id), 200);
}

static void every_write_route_refuses_restricted_members(struct world *w)
{
    at = create_restricted_guild(w);
    outsider = world_client(w, "eve");
    role = test_guild_role(&at.v, 1, 0);
    world_sql(w, "update members set timed_out_until = 9000000000000000 where user_id = %s",
              at.bob->id);
    expect_all_write_routes_refused(w, 50013);
    world_sql(w, "update members set timed_out_until = null, pending = 1 where user_id = %s",
              at.bob->id);
    expect_all_write_routes_refused(w, 50013);
    world_sql(w, "update members set pending = 0, flags = 128 where user_id = %s", at.bob->id);
    expect_all_write_routes_refused(w, 50013);
    world_sql(w, "update members set flags = 0 where user_id = %s", at.bob->id);
    world_sql(w, "update users set verified = 0 where id = %s", at.bob->id);
    set_verification_level(&at, 1);
    expect_all_write_routes_refused(w, 50009);
    set_verification_level(&at, 0);
    expect_bob_can_send_a_message(&at, 0);
}

/* --- time-outs ------------------------------------------------------------------------ */

static void timed_out_member_cannot_edit_vote_react_or_join_threads(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);
    struct answer a = client_post(s.ada,
                                  "{'poll': {'question': {'text': 'q'}, 'answers': [{'poll_media': "
                                  "{'text': 'a'}}], 'duration': 1}}",
                                  MESSAGES, s.v.channel);
    const char *poll = answer_text(a, "id");
    const char *thread = answer_text(
        client_post(s.ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", s.v.channel), "id");

    world_sql(w, "update members set timed_out_until = 9000000000000000 where user_id = %s",
              s.bob->id);
    struct channel_events room = world_channel_events(w, s.v.channel);
    expect_error(client_patch(s.bob, "{'content': 'y'}", MESSAGES "/%s", s.v.channel, s.own), 403,
                 50013);
    expect_error(client_put(s.bob, "{'answer_ids': [1]}", "/channels/%s/polls/%s/answers/@me",
                            s.v.channel, poll),
                 403, 50013);
    expect_error(client_put(s.bob, "", "/channels/%s/thread-members/@me", thread), 403, 50013);
    expect_error(
        client_put(s.bob, "", MESSAGES "/%s/reactions/%%F0%%9F%%91%%8D/@me", s.v.channel, s.other),
        403, 50013);
    expect_error(client_patch(s.bob, "{'bio': 'x'}", "/guilds/%s/members/@me", s.v.id), 403, 50013);
    expect_error(client_patch(s.bob, "{'nick': 'x'}", "/guilds/%s/members/@me", s.v.id), 403,
                 50013);
    /* Components and commands are refused before the application is read. */
    expect_error(client_post(s.bob,
                             TEXT(w,
                                  "{'type': 3, 'application_id': '1', 'guild_id': '%s', "
                                  "'channel_id': '%s', 'message_id': '%s', 'session_id': 'a', "
                                  "'data': {'component_type': 2, 'custom_id': 'x'}}",
                                  s.v.id, s.v.channel, s.other),
                             "/interactions"),
                 403, 50013);
    expect_channel_silence(&room);
    /* Allowed: changes that affect no one else, and removing one's own content. */
    expect_status(client_delete(s.bob, MESSAGES "/%s", s.v.channel, s.own), 204);
    expect_error(client_delete(s.bob, MESSAGES "/%s", s.v.channel, s.other), 403, 50013);
    expect_status(client_patch(s.bob, "{'muted': true}", "/users/@me/guilds/%s/settings", s.v.id),
                  200);
    expect_status(client_delete(s.bob, "/users/@me/guilds/%s", s.v.id), 204);
}

static void quarantined_member_can_change_only_the_nick(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);

    world_sql(w, "update members set flags = 128 where user_id = %s", s.bob->id);
    expect_status(client_patch(s.bob, "{'nick': 'fine'}", "/guilds/%s/members/@me", s.v.id), 200);
    expect_error(client_patch(s.bob, "{'nick': 'x', 'bio': 'y'}", "/guilds/%s/members/@me", s.v.id),
                 403, 50013);
}

/* --- verification levels -------------------------------------------------------------- */

static void verification_level_1_requires_a_verified_email(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);
    struct channel_events room = world_channel_events(w, s.v.channel);

    world_sql(w, "update users set verified = 0 where id in (%s, %s)", s.bob->id, s.ada->id);
    expect_bob_can_send_a_message(&s, 0);
    set_verification_level(&s, 1);
    expect_channel_event(&room, "MESSAGE_CREATE", "{}");
    expect_bob_can_send_a_message(&s, 50009);
    expect_error(
        client_put(s.bob, "", MESSAGES "/%s/reactions/%%F0%%9F%%91%%8D/@me", s.v.channel, s.other),
        403, 50009);
    expect_error(
        client_post(s.bob, "{'name': 't', 'type': 11}", "/channels/%s/threads", s.v.channel), 403,
        50009);
    expect_error(client_patch(s.bob, "{'content': 'y'}", MESSAGES "/%s", s.v.channel, s.own), 403,
                 50009);
    expect_channel_silence(&room);
    /* The owner is exempt. */
    expect_status(client_post(s.ada, "{'content': 'x'}", MESSAGES, s.v.channel), 200);
    world_sql(w, "update users set verified = 1 where id = %s", s.bob->id);
    expect_bob_can_send_a_message(&s, 0);
}

static void verification_level_2_requires_a_five_minute_old_account(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);

    set_verification_level(&s, 2);
    expect_bob_can_send_a_message(&s, 50009);
    world_wait(w, 295);
    expect_bob_can_send_a_message(&s, 50009);
    world_wait(w, 6);
    expect_bob_can_send_a_message(&s, 0);
}

static void verification_level_3_requires_ten_minutes_of_membership(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);

    world_sql(w, "update members set joined_at = %" PRId64 " where user_id = %s", clock_us(),
              s.bob->id);
    set_verification_level(&s, 3);
    world_wait(w, 301);
    expect_bob_can_send_a_message(&s, 50009);
    world_wait(w, 295);
    expect_bob_can_send_a_message(&s, 50009);
    world_wait(w, 5);
    expect_bob_can_send_a_message(&s, 0);
}

static void verification_level_4_requires_a_phone_or_a_role(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);
    struct client *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan"),
                  *robot = world_bot(w, "robot");

    test_guild_add(&s.v, cleo);
    test_guild_add(&s.v, dan);
    test_guild_add(&s.v, robot);
    world_sql(w, "update members set joined_at = 1");
    world_wait(w, 3600);
    set_verification_level(&s, 4);
    expect_bob_can_send_a_message(&s, 50009);
    world_sql(w, "update users set phone = '+15550100' where id = %s", s.bob->id);
    expect_bob_can_send_a_message(&s, 0);
    world_sql(w, "update users set phone = null, verified = 0 where id = %s", s.bob->id);
    expect_bob_can_send_a_message(&s, 50009);
    test_guild_give(&s.v, s.bob, test_guild_role(&s.v, 1, 0));
    expect_bob_can_send_a_message(&s, 0);
    /* member flag BYPASSES_VERIFICATION */
    expect_error(client_post(cleo, "{'content': 'x'}", MESSAGES, s.v.channel), 403, 50009);
    expect_status(client_patch(s.ada, "{'flags': 4}", "/guilds/%s/members/%s", s.v.id, cleo->id),
                  200);
    expect_status(client_post(cleo, "{'content': 'x'}", MESSAGES, s.v.channel), 200);
    expect_status(client_post(robot, "{'content': 'x'}", MESSAGES, s.v.channel), 200);
    /* Private channels have no level, but a shared guild no longer allows direct messages. */
    struct answer a =
        client_post(dan, TEXT(w, "{'recipient_id': '%s'}", s.ada->id), "/users/@me/channels");
    expect_error(client_post(dan, "{'content': 'x'}", MESSAGES, answer_text(a, "id")), 403, 50007);
    expect_status(client_post(s.ada, "{'content': 'x'}", MESSAGES, answer_text(a, "id")), 200);
    expect_status(client_post(dan, "{'content': 'x'}", MESSAGES, answer_text(a, "id")), 200);
    a = client_post(cleo, TEXT(w, "{'recipient_id': '%s'}", s.ada->id), "/users/@me/channels");
    expect_status(client_post(cleo, "{'content': 'x'}", MESSAGES, answer_text(a, "id")), 200);
}

/* Joining voice requires the verification level. */
static void unverified_members_cannot_join_voice_channels(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);
    const char *voice = answer_text(
        client_post(s.ada, "{'name': 'v', 'type': 2}", "/guilds/%s/channels", s.v.id), "id");
    struct gateway_conn *g = conn_session(s.bob, "v=10&encoding=json", "");
    const char *join = TEXT(w,
                            "{'op': 4, 'd': {'guild_id': '%s', 'channel_id': '%s', "
                            "'self_mute': false, 'self_deaf': false}}",
                            s.v.id, voice);

    world_sql(w, "update users set verified = 0 where id = %s", s.bob->id);
    set_verification_level(&s, 1);
    expect_dispatch(g, "GUILD_UPDATE", "{'verification_level': 1}");
    conn_send(g, "%s", join);
    expect_quiet(g);
    world_sql(w, "update users set verified = 1 where id = %s", s.bob->id);
    conn_send(g, "%s", join);
    expect_dispatch(g, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", voice);
}

/* --- paused invites ------------------------------------------------------------------- */

static void invites_disabled_feature_refuses_new_members(struct world *w)
{
    struct restricted_guild s = create_restricted_guild(w);
    struct client *eve = world_client(w, "eve");
    const char *code =
        answer_text(client_post(s.ada, "{}", "/channels/%s/invites", s.v.channel), "code");

    expect_json(client_patch(s.ada, "{'features': ['INVITES_DISABLED']}", "/guilds/%s", s.v.id),
                "{'features': ['INVITES_DISABLED']}");
    expect_error(client_post(eve, "{}", "/invites/%s", code), 403, 40069);
    /* The invite can be read, and existing members are accepted. */
    expect_status(client_get(eve, "/invites/%s", code), 200);
    expect_status(client_post(s.bob, "{}", "/invites/%s", code), 200);
    expect_json(client_get(s.ada, "/invites/%s?with_counts=true", code), "{'code': '%s'}", code);
    expect_status(client_patch(s.ada, "{'features': []}", "/guilds/%s", s.v.id), 200);
    expect_status(client_post(eve, "{}", "/invites/%s", code), 200);
}

const struct test restricted_members_tests[] = {
    TEST(routes_for_restricted_members_match_the_list),
    TEST(every_write_route_refuses_restricted_members),
    TEST(timed_out_member_cannot_edit_vote_react_or_join_threads),
    TEST(quarantined_member_can_change_only_the_nick),
    TEST(verification_level_1_requires_a_verified_email),
    TEST(verification_level_2_requires_a_five_minute_old_account),
    TEST(verification_level_3_requires_ten_minutes_of_membership),
    TEST(verification_level_4_requires_a_phone_or_a_role),
    TEST(unverified_members_cannot_join_voice_channels),
    TEST(invites_disabled_feature_refuses_new_members),
    { 0 },
};
