/* invites.c - creating, accepting and deleting invites. */
#include "test_guild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANAGERS PERMISSION(MANAGE_CHANNELS)
#define AUDIT    PERMISSION(VIEW_AUDIT_LOG)

static const char *create_invite(struct client *c, struct test_guild *p, const char *body)
{
    struct answer a = client_post(c, body, "/channels/%s/invites", p->channel);

    expect_status(a, 200);
    return answer_text(a, "code");
}

/* --- creating ------------------------------------------------------------------------- */

static void invite_shows_its_guild_channel_and_counts(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);

    struct answer a = client_post(ada, "{}", "/channels/%s/invites", p.channel);
    expect_status(a, 200);
    expect_json(
        a,
        "{'type': 0, 'channel': {'id': '%s', 'name': 'general', 'type': 0}, 'guild': {'id': "
        "'%s', 'name': 'Hall', 'icon': null, 'features': []}, 'guild_id': '%s', 'inviter': "
        "{'id': '%s'}, 'uses': 0, 'max_uses': 0, 'max_age': 86400, 'temporary': false}",
        p.channel, p.id, p.id, ada->id);
    const char *code = answer_text(a, "code");
    expect(strlen(code) == 8);
    expect(strspn(code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == 8);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
    expect_guild_event(&p, MANAGERS, "INVITE_CREATE",
                       "{'code': '%s', 'channel_id': '%s', 'guild_id': '%s', 'inviter': {'id': "
                       "'%s'}, 'uses': 0, 'max_uses': 0, 'max_age': 86400, 'temporary': false, "
                       "'type': 0}",
                       code, p.channel, p.id, ada->id);

    a = client_get(world_anonymous(w), "/invites/%s", code);
    expect_status(a, 200);
    expect_json(a, "{'code': '%s', 'guild': {'id': '%s'}}", code, p.id);
    expect_absent(a, "uses");
    expect_absent(a, "created_at");
    expect_absent(a, "approximate_member_count");
    expect_json(client_get(world_anonymous(w), "/invites/%s?with_counts=true", code),
                "{'approximate_member_count': 1, 'approximate_presence_count': 0}");
    expect_error(client_get(world_anonymous(w), "/invites/nowhere1"), 404, 10006);
}

static void equal_invite_is_reused_unless_unique_is_set(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    const char *first = create_invite(ada, &p, "{}");
    expect(strcmp(first, create_invite(ada, &p, "{'unique': false}")) == 0);
    expect(strcmp(first, create_invite(ada, &p, "{'unique': true}")) != 0);
    expect(strcmp(first, create_invite(ada, &p, "{'max_age': 60}")) != 0);
    expect(strcmp(first, create_invite(ada, &p, "{'max_uses': 1}")) != 0);
    expect(strcmp(first, create_invite(ada, &p, "{'temporary': true}")) != 0);
    expect(strcmp(first, create_invite(bob, &p, "{}")) != 0);
    world_wait(w, 86401);
    expect(strcmp(first, create_invite(ada, &p, "{}")) != 0);
}

static void invite_fields_outside_their_limits_are_refused(struct world *w)
{
    static const struct {
        const char *body, *field, *code;
    } cases[] = {
        { "{'max_age': 5184001}", "max_age", "NUMBER_TYPE_MAX" },
        { "{'max_age': -1}", "max_age", "NUMBER_TYPE_MIN" },
        { "{'max_uses': 101}", "max_uses", "NUMBER_TYPE_MAX" },
        { "{'max_uses': -1}", "max_uses", "NUMBER_TYPE_MIN" },
        { "{'temporary': 'x'}", "temporary", "BOOLEAN_TYPE_CONVERT" },
        { "{'target_type': 3}", "target_type", "BASE_TYPE_CHOICES" },
        { "{'target_type': 1}", "target_user_id", "BASE_TYPE_REQUIRED" },
        { "{'target_type': 2}", "target_application_id", "BASE_TYPE_REQUIRED" },
    };
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_post(ada, cases[i].body, "/channels/%s/invites", p.channel),
                       cases[i].field, cases[i].code);
    expect_error(client_post(ada, "{'target_type': 1, 'target_user_id': '5'}",
                             "/channels/%s/invites", p.channel),
                 404, 10013);
    expect_error(client_post(ada, "{'target_type': 2, 'target_application_id': '5'}",
                             "/channels/%s/invites", p.channel),
                 404, 10002);
    create_invite(ada, &p, "{'max_age': 5184000, 'max_uses': 100}");
    expect_json(client_post(ada, "{'max_age': 0}", "/channels/%s/invites", p.channel),
                "{'expires_at': null, 'max_age': 0}");
}

static void invite_can_target_a_stream_or_an_embedded_application(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);
    char body[200];

    snprintf(body, sizeof body, "{'target_type': 1, 'target_user_id': '%s'}", ada->id);
    expect_json(client_post(ada, body, "/channels/%s/invites", p.channel),
                "{'target_type': 1, 'target_user': {'id': '%s'}}", ada->id);
    world_sql(w,
              "insert into applications (id, name, owner_id, key_salt, verify_key) "
              "values (77, 'Chess', %s, '', '')",
              ada->id);
    expect_json(client_post(ada, "{'target_type': 2, 'target_application_id': '77'}",
                            "/channels/%s/invites", p.channel),
                "{'target_type': 2, 'target_application': {'id': '77', 'name': 'Chess'}}");
}

static void creating_an_invite_requires_create_instant_invite(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    create_invite(bob, &p, "{}");
    expect_error(client_post(eve, "{}", "/channels/%s/invites", p.channel), 403, 50001);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              (unsigned long long)PERMISSION(VIEW_CHANNEL), p.id);
    /* The permission is checked before the body. */
    expect_error(client_post(bob, "{'max_age': -1}", "/channels/%s/invites", p.channel), 403,
                 50013);
    expect_error(client_post(ada, "{}", "/channels/5/invites"), 404, 10003);
    world_sql(w, "update channels set type = 4 where id = %s", p.channel);
    expect_error(client_post(ada, "{}", "/channels/%s/invites", p.channel), 400, 50024);
}

static void guild_is_limited_to_1000_invites(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);

    for (int i = 0; i < 999; i++)
        world_sql(w,
                  "insert into invites (code, type, guild_id, channel_id, inviter_id, created_at, "
                  "max_age, max_uses) values ('old%d', 0, %s, %s, %s, 0, 0, 0)",
                  i, p.id, p.channel, ada->id);
    create_invite(ada, &p, "{'unique': true, 'max_age': 60}");
    expect_error(client_post(ada, "{'unique': true}", "/channels/%s/invites", p.channel), 400,
                 30016);
    /* Expired invites do not count. */
    world_wait(w, 61);
    create_invite(ada, &p, "{'unique': true}");
}

/* --- listing and deleting ------------------------------------------------------------- */

static void manage_guild_allows_listing_and_deleting_invites(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 1, PERMISSION(MANAGE_GUILD));

    const char *code = create_invite(ada, &p, "{}");
    expect_error(client_get(mod, "/channels/%s/invites", p.channel), 403, 50013);
    expect_json(client_get(mod, "/guilds/%s/invites", p.id), "[{'code': '%s'}]", code);
    expect_status(client_delete(mod, "/invites/%s", code), 200);
}

static void manage_channels_allows_listing_and_deleting_invites(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *mod = world_client(w, "mod"), *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);
    test_guild_add_with(&p, mod, 1, PERMISSION(MANAGE_CHANNELS));

    const char *code = create_invite(ada, &p, "{}"),
               *other = create_invite(bob, &p, "{'max_age': 60}");
    struct answer a = client_get(ada, "/guilds/%s/invites", p.id);
    expect(a.json->count == 2);
    expect_json(client_get(mod, "/channels/%s/invites", p.channel),
                "[{'code': '%s', 'uses': 0, 'inviter': {'id': '%s'}}, {'code': '%s'}]", code,
                ada->id, other);
    expect_error(client_get(mod, "/guilds/%s/invites", p.id), 403, 50013);
    expect_error(client_get(bob, "/channels/%s/invites", p.channel), 403, 50013);
    world_wait(w, 61);
    expect(client_get(ada, "/guilds/%s/invites", p.id).json->count == 1);

    expect_error(client_delete(bob, "/invites/%s", code), 403, 50013);
    expect_error(client_delete(eve, "/invites/%s", code), 403, 50001);
    a = client_delete(mod, "/invites/%s", code);
    expect_status(a, 200);
    expect_json(a, "{'code': '%s', 'guild': {'id': '%s'}}", code, p.id);
    expect_error(client_get(ada, "/invites/%s", code), 404, 10006);
    expect_error(client_delete(mod, "/invites/%s", code), 404, 10006);
    for (int i = 0; i < 2; i++) {
        expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
        expect_guild_event(&p, MANAGERS, "INVITE_CREATE", "{}");
    }
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 42}");
    expect_guild_event(&p, MANAGERS, "INVITE_DELETE",
                       "{'code': '%s', 'channel_id': '%s', 'guild_id': '%s'}", code, p.channel,
                       p.id);
    expect_guild_silence(&p);
}

/* --- accepting ------------------------------------------------------------------------ */

static void accepting_an_invite_adds_the_member_and_sends_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    const char *code = create_invite(ada, &p, "{}");

    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_guild_event(&p, MANAGERS, "INVITE_CREATE", "{}");
    struct answer a = client_post(bob, "{'session_id': null}", "/invites/%s", code);
    expect_status(a, 200);
    expect_json(a, "{'code': '%s', 'new_member': true, 'guild': {'id': '%s'}}", code, p.id);
    /* Spacebar's client opens the channel with these two. */
    expect_json(a, "{'guild_id': '%s', 'channel_id': '%s'}", p.id, answer_text(a, "channel.id"));
    expect_event(bob, "GUILD_CREATE",
                 "{'id': '%s', 'name': 'Hall', 'member_count': 2, 'channels': [{'id': '%s'}]}",
                 p.id, p.channel);
    expect_guild_event(&p, 0, "GUILD_MEMBER_ADD",
                       "{'guild_id': '%s', 'user': {'id': '%s'}, 'roles': []}", p.id, bob->id);
    expect_json(client_get(ada, "/guilds/%s/invites", p.id), "[{'uses': 1}]");

    expect_json(client_post(bob, "{}", "/invites/%s", code), "{'new_member': false}");
    expect_guild_silence(&p);
    expect_silence(bob);
    expect_json(client_get(ada, "/guilds/%s/invites", p.id), "[{'uses': 1}]");
    expect_error(client_post(world_bot(w, "robot"), "{}", "/invites/%s", code), 403, 20001);
}

static void banned_users_and_full_guilds_refuse_an_invite(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    const char *code = create_invite(ada, &p, "{}");

    client_put(ada, "{}", "/guilds/%s/bans/%s", p.id, bob->id);
    expect_error(client_post(bob, "{}", "/invites/%s", code), 403, 40007);
    for (int i = 0; i < 100; i++) {
        world_sql(w, "insert into guilds (id, name, owner_id) values (%d, 'x', %s)", i + 1,
                  ada->id);
        world_sql(w, "insert into members (guild_id, user_id, joined_at) values (%d, %s, 0)", i + 1,
                  eve->id);
    }
    expect_error(client_post(eve, "{}", "/invites/%s", code), 400, 30001);
    world_sql(w, "delete from members where guild_id = 1 and user_id = %s", eve->id);
    expect_status(client_post(eve, "{}", "/invites/%s", code), 200);
    world_sql(w, "update guilds set member_count = 500000 where id = %s", p.id);
    expect_error(client_post(world_client(w, "kim"), "{}", "/invites/%s", code), 400, 30019);
    expect_json(client_get(ada, "/guilds/%s/invites", p.id), "[{'uses': 1}]");
}

static void invite_is_deleted_after_its_last_use(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);
    const char *code = create_invite(ada, &p, "{'max_uses': 2}");

    expect_status(client_post(world_client(w, "bob"), "{}", "/invites/%s", code), 200);
    expect_status(client_get(ada, "/invites/%s", code), 200);
    expect_status(client_post(world_client(w, "eve"), "{}", "/invites/%s", code), 200);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_guild_event(&p, MANAGERS, "INVITE_CREATE", "{'max_uses': 2}");
    expect_guild_event(&p, 0, "GUILD_MEMBER_ADD", "{}");
    expect_guild_event(&p, 0, "GUILD_MEMBER_ADD", "{}");
    expect_guild_event(&p, MANAGERS, "INVITE_DELETE", "{'code': '%s'}", code);
    expect_error(client_post(world_client(w, "kim"), "{}", "/invites/%s", code), 404, 10006);
}

static void invite_expires_after_max_age(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    const char *code = create_invite(ada, &p, "{'max_age': 60}"),
               *always = create_invite(ada, &p, "{'max_age': 0}");

    world_wait(w, 59);
    expect_status(client_get(bob, "/invites/%s", code), 200);
    world_wait(w, 2);
    expect_error(client_get(bob, "/invites/%s", code), 404, 10006);
    expect_error(client_post(bob, "{}", "/invites/%s", code), 404, 10006);
    expect_status(client_post(bob, "{}", "/invites/%s", always), 200);
}

static void invite_to_a_deleted_application_can_still_be_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);

    world_sql(w,
              "insert into applications (id, name, owner_id, key_salt, verify_key) "
              "values (77, 'Chess', %s, '', '')",
              ada->id);
    const char *code = create_invite(ada, &p, "{'target_type': 2, 'target_application_id': '77'}");
    expect_json(client_get(ada, "/invites/%s", code), "{'target_application': {'id': '77'}}");
    world_sql(w, "update applications set removed = 1 where id = 77");
    expect_absent(client_get(ada, "/invites/%s", code), "target_application");
    expect_json(client_get(ada, "/guilds/%s/invites", p.id), "[{'code': '%s'}]", code);
    expect_json(client_get(ada, "/channels/%s/invites", p.channel), "[{'code': '%s'}]", code);
    expect_status(client_delete(ada, "/invites/%s", code), 200);
}

static void registering_with_an_invite_joins_its_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild p = world_test_guild(w, ada);
    const char *code = create_invite(ada, &p, "{}");
    char body[200];

    expect_invalid(
        client_post(nobody, "{'username': 'kim', 'invite': 'nowhere1'}", "/auth/register"),
        "invite", "INVITE_CODE_INVALID");
    snprintf(body, sizeof body, "{'username': 'kim', 'invite': '%s'}", code);
    struct answer a = client_post(nobody, body, "/auth/register");
    expect_status(a, 200);
    struct client *kim = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(kim, "/guilds/%s/members/@me", p.id), "{'user': {'username': 'kim'}}");
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_guild_event(&p, MANAGERS, "INVITE_CREATE", "{}");
    expect_guild_event(&p, 0, "GUILD_MEMBER_ADD", "{'user': {'username': 'kim'}}");
}

static void configure_guild_invite_registration(struct config *config)
{
    config->registration = "guild-invite";
}

static void registration_by_guild_invite_requires_a_valid_invite(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild p = world_test_guild(w, ada);
    const char *code = create_invite(ada, &p, "{'max_uses': 1}");
    const char *friendly = answer_text(client_post(ada, "{}", "/users/@me/invites"), "code");
    char body[200];

    expect_invalid(client_post(nobody, "{'username': 'kim'}", "/auth/register"), "invite",
                   "INVITE_REQUIRED");
    expect_invalid(
        client_post(nobody, "{'username': 'kim', 'invite': 'nowhere1'}", "/auth/register"),
        "invite", "INVITE_CODE_INVALID");
    snprintf(body, sizeof body, "{'username': 'kim', 'invite': '%s'}", friendly);
    expect_invalid(client_post(nobody, body, "/auth/register"), "invite", "INVITE_CODE_INVALID");
    snprintf(body, sizeof body, "{'username': 'kim', 'invite': '%s'}", code);
    expect_status(client_post(nobody, body, "/auth/register"), 200);
    snprintf(body, sizeof body, "{'username': 'lee', 'invite': '%s'}", code);
    expect_invalid(client_post(nobody, body, "/auth/register"), "invite", "INVITE_CODE_INVALID");
}

/* --- friends -------------------------------------------------------------------------- */

static void friend_invite_makes_both_users_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct answer a = client_post(ada, "{}", "/users/@me/invites");

    expect_status(a, 200);
    expect_json(a,
                "{'type': 2, 'channel': null, 'inviter': {'id': '%s'}, 'max_age': 604800, "
                "'max_uses': 5, 'uses': 0}",
                ada->id);
    expect_absent(a, "guild");
    const char *code = answer_text(a, "code");
    expect_json(client_get(bob, "/invites/%s", code),
                "{'type': 2, 'inviter': {'username': 'ada'}}");
    expect_error(client_post(ada, "{}", "/invites/%s", code), 400, 50096);
    expect_silence(ada);

    expect_json(client_post(bob, "{}", "/invites/%s", code), "{'new_member': true}");
    expect_event(bob, "RELATIONSHIP_ADD",
                 "{'id': '%s', 'type': 1, 'user': {'username': 'ada'}, 'nickname': null, "
                 "'user_ignored': false}",
                 ada->id);
    expect_event(ada, "RELATIONSHIP_ADD", "{'id': '%s', 'type': 1, 'should_notify': true}",
                 bob->id);
    expect_event(ada, "NOTIFICATION_CENTER_ITEM_CREATE",
                 "{'type': 'friend_request_accepted', 'other_user': {'id': '%s'}}", bob->id);
    expect_json(client_post(bob, "{}", "/invites/%s", code), "{'new_member': false}");
    expect_silence(bob);
    expect_silence(ada);
    expect_json(client_get(ada, "/users/@me/invites"), "[{'code': '%s', 'uses': 1}]", code);
    expect(world_number(w, "select count(*) from relationships where type = 1") == 2);
    expect_error(client_post(world_bot(w, "robot"), "{}", "/users/@me/invites"), 403, 20001);
}

static void friend_invite_is_404_10006_after_a_block(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    const char *code = answer_text(client_post(ada, "{}", "/users/@me/invites"), "code");

    world_sql(w, "insert into relationships (user_id, target_id, type) values (%s, %s, 2)", ada->id,
              bob->id);
    world_sql(w, "insert into relationships (user_id, target_id, type) values (%s, %s, 2)", eve->id,
              ada->id);
    expect_error(client_get(bob, "/invites/%s", code), 404, 10006);
    expect_error(client_post(bob, "{}", "/invites/%s", code), 404, 10006);
    expect_error(client_post(eve, "{}", "/invites/%s", code), 404, 10006);
    expect_silence(bob);
}

static void friend_invite_is_refused_at_1000_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *code = answer_text(client_post(ada, "{}", "/users/@me/invites"), "code");

    world_sql(w,
              "insert into users (id, username) with recursive n(i) as (select 1 union all select "
              "i + 1 from n where i < 1000) select i, 'u' || i from n");
    world_sql(w,
              "insert into relationships (user_id, target_id, type) select %s, id, 1 from users "
              "where id <= 1000",
              ada->id);
    expect_error(client_post(bob, "{}", "/invites/%s", code), 400, 30002);
    world_sql(w, "delete from relationships where target_id = 1");
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
}

static void accepting_a_friend_invite_replaces_a_friend_request(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *code = answer_text(client_post(ada, "{}", "/users/@me/invites"), "code");

    world_sql(w,
              "insert into relationships (user_id, target_id, type, ignored) values (%s, %s, 4, 1)",
              ada->id, bob->id);
    world_sql(w,
              "insert into relationships (user_id, target_id, type, note) "
              "values (%s, %s, 3, 'hi')",
              bob->id, ada->id);
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
    expect_event(ada, "RELATIONSHIP_ADD", "{'type': 1, 'user_ignored': true}");
    expect(world_number(w, "select count(*) from relationships where note is null and type = 1") ==
           2);
}

static void friend_invites_can_be_revoked_together(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *code = answer_text(client_post(ada, "{}", "/users/@me/invites"), "code");
    const char *other = answer_text(
        client_post(ada, "{'max_uses': 1, 'max_age': 60}", "/users/@me/invites"), "code");

    expect_error(client_delete(bob, "/invites/%s", code), 403, 50013);
    expect(client_get(bob, "/users/@me/invites").json->count == 0);
    expect_json(client_delete(ada, "/users/@me/invites"), "[{'code': '%s'}, {'code': '%s'}]", code,
                other);
    expect_error(client_get(bob, "/invites/%s", other), 404, 10006);
    code = answer_text(client_post(ada, "{}", "/users/@me/invites"), "code");
    expect_status(client_delete(ada, "/invites/%s", code), 200);
    expect_invalid(client_post(ada, "{'max_uses': 101}", "/users/@me/invites"), "max_uses",
                   "NUMBER_TYPE_MAX");
}

/* --- groups --------------------------------------------------------------------------- */

static void only_the_owner_can_create_group_invites(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *nobody = world_anonymous(w);
    char body[200];

    world_sql(w, "insert into channels (id, type, name, owner_id) values (900, 3, 'Us', %s)",
              ada->id);
    world_sql(w, "insert into recipients (channel_id, user_id, since) values (900, %s, 1)",
              ada->id);
    world_sql(w, "insert into recipients (channel_id, user_id, since) values (900, %s, 2)",
              bob->id);
    expect_error(client_post(bob, "{}", "/channels/900/invites"), 403, 50013);
    expect_error(client_post(eve, "{}", "/channels/900/invites"), 403, 50001);
    struct answer a = client_post(ada, "{}", "/channels/900/invites");
    expect_status(a, 200);
    expect_json(a, "{'type': 1, 'channel': {'id': '900', 'type': 3, 'name': 'Us'}}");
    expect_absent(a, "guild_id");
    const char *code = answer_text(a, "code");

    expect_json(client_post(eve, "{}", "/invites/%s", code), "{'new_member': true}");
    expect_event(bob, "CHANNEL_RECIPIENT_ADD", "{'channel_id': '900', 'user': {'id': '%s'}}",
                 eve->id);
    expect_event(eve, "CHANNEL_CREATE", "{'id': '900', 'type': 3}");
    expect_json(client_post(eve, "{}", "/invites/%s", code), "{'new_member': false}");

    /* Registering a new account accepts the invite, too. */
    snprintf(body, sizeof body, "{'username': 'kim', 'invite': '%s'}", code);
    expect_status(client_post(nobody, body, "/auth/register"), 200);
    expect(world_number(w, "select count(*) from recipients where channel_id = 900") == 4);
    for (int i = 0; i < 6; i++) {
        world_sql(w, "insert into users (id, username) values (%d, 'u%d')", i + 1, i);
        world_sql(w, "insert into recipients (channel_id, user_id, since) values (900, %d, 3)",
                  i + 1);
    }
    expect_error(client_post(world_client(w, "zoe"), "{}", "/invites/%s", code), 400, 30004);
    expect_error(client_delete(eve, "/invites/%s", code), 403, 50013);
    expect_status(client_delete(ada, "/invites/%s", code), 200);
}

static void direct_channel_invites_are_403_50003(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_sql(w, "insert into channels (id, type) values (901, 1)");
    world_sql(w, "insert into recipients (channel_id, user_id, since) values (901, %s, 1)",
              ada->id);
    expect_error(client_post(ada, "{}", "/channels/901/invites"), 403, 50003);
    expect_error(client_get(ada, "/channels/901/invites"), 403, 50003);
}

const struct test invites_tests[] = {
    TEST(invite_shows_its_guild_channel_and_counts),
    TEST(equal_invite_is_reused_unless_unique_is_set),
    TEST(invite_fields_outside_their_limits_are_refused),
    TEST(invite_can_target_a_stream_or_an_embedded_application),
    TEST(creating_an_invite_requires_create_instant_invite),
    TEST(guild_is_limited_to_1000_invites),
    TEST(manage_channels_allows_listing_and_deleting_invites),
    TEST(manage_guild_allows_listing_and_deleting_invites),
    TEST(accepting_an_invite_adds_the_member_and_sends_events),
    TEST(banned_users_and_full_guilds_refuse_an_invite),
    TEST(invite_is_deleted_after_its_last_use),
    TEST(invite_expires_after_max_age),
    TEST(invite_to_a_deleted_application_can_still_be_deleted),
    TEST(registering_with_an_invite_joins_its_guild),
    TEST_WITH(registration_by_guild_invite_requires_a_valid_invite,
              configure_guild_invite_registration),
    TEST(friend_invite_makes_both_users_friends),
    TEST(friend_invite_is_404_10006_after_a_block),
    TEST(friend_invite_is_refused_at_1000_friends),
    TEST(accepting_a_friend_invite_replaces_a_friend_request),
    TEST(friend_invites_can_be_revoked_together),
    TEST(only_the_owner_can_create_group_invites),
    TEST(direct_channel_invites_are_403_50003),
    { 0 },
};
