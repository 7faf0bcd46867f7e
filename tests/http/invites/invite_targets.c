/* invite_targets.c - invites that give roles, are for guests, or for certain users only. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

#define MAKING (PERMISSION(CREATE_INSTANT_INVITE) | PERMISSION(MANAGE_ROLES))
#define HEAD   "Content-Type: multipart/form-data; boundary=X\r\n"

static const char *read_text_channel(struct client *c, const char *guild)
{
    return answer_text(client_get(c, "/guilds/%s/channels", guild), "2.id");
}

static struct answer upload_target_users(struct client *c, const char *method, const char *path,
                                         const char *json, const char *csv)
{
    const char *body = TEXT(c->world,
                            "--X\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n"
                            "%s\r\n--X\r\nContent-Disposition: form-data; "
                            "name=\"target_users_file\"; filename=\"u.csv\"\r\n\r\n%s\r\n--X--\r\n",
                            json, csv);

    return client_request(c, method, path, HEAD, str_of(body));
}

static void invite_for_other_users_cannot_be_used_to_register(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = upload_target_users(
        ada, "POST", TEXT(w, "/api/v10/channels/%s/invites", v.channel), "{}", ada->id);
    const char *body = TEXT(w, "{'username': 'kim', 'invite': '%s'}", answer_text(a, "code"));

    expect_invalid(client_post(nobody, body, "/auth/register"), "invite", "INVITE_CODE_INVALID");
    expect_status(client_post(nobody, "{'username': 'kim'}", "/auth/register"), 200);
}

static void timed_out_inviter_cannot_change_target_users(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bob, 1, PERMISSION(CREATE_INSTANT_INVITE));
    const char *code =
        answer_text(client_post(bob, "{}", "/channels/%s/invites", v.channel), "code");
    const char *path = TEXT(w, "/api/v10/invites/%s/target-users", code);
    expect_status(upload_target_users(bob, "PUT", path, "{}", ada->id), 204);
    world_sql(w, "update members set timed_out_until = 9000000000000000 where user_id = %s",
              bob->id);
    expect_error(upload_target_users(bob, "PUT", path, "{}", bob->id), 403, 50013);
    expect_status(client_get(bob, "/invites/%s/target-users", code), 200);
}

static void invite_with_roles_gives_them_to_joining_members(struct world *w)
{
    struct ranks h = world_ranks(w, MAKING);
    const char *channel = read_text_channel(h.ada, h.guild), *code;
    struct client *eve = world_client(w, "eve");
    struct answer a = client_post(h.bob, TEXT(w, "{'role_ids': ['%s'], 'flags': 8}", h.low),
                                  "/channels/%s/invites", channel);

    expect_json(a, "{'flags': 8, 'roles': [{'id': '%s', 'position': 1, 'icon': null}]}", h.low);
    code = answer_text(a, "code");
    /* An invite with roles is not reused for a request without roles. */
    a = client_post(h.bob, "{}", "/channels/%s/invites", channel);
    expect_absent(a, "roles");
    expect_absent(a, "flags");
    expect_json(client_get(eve, "/invites/%s", code), "{'roles': [{'id': '%s'}]}", h.low);
    discard_received(w);
    expect_status(client_post(eve, NULL, "/invites/%s", code), 200);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_MEMBER_ADD", "{'roles': ['%s']}",
                    h.low);
    expect_json(client_get(h.ada, "/guilds/%s/members/%s", h.guild, eve->id), "{'roles': ['%s']}",
                h.low);
    /* Bob cannot give this role. */
    expect_error(client_post(h.bob, TEXT(w, "{'role_ids': ['%s']}", h.high), "/channels/%s/invites",
                             channel),
                 403, 50013);
    expect_invalid(client_post(h.bob, "{'role_ids': ['5']}", "/channels/%s/invites", channel),
                   "role_ids.0", "BASE_TYPE_CHOICES");
    expect_invalid(client_post(h.ada, TEXT(w, "{'role_ids': ['%s']}", h.guild),
                               "/channels/%s/invites", channel),
                   "role_ids.0", "BASE_TYPE_CHOICES");
    expect_error(
        client_post(eve, TEXT(w, "{'role_ids': ['%s']}", h.low), "/channels/%s/invites", channel),
        403, 50013);
    expect_invalid(client_post(h.bob, "{'flags': 2}", "/channels/%s/invites", channel), "flags",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_post(h.bob, "{'flags': 1}", "/channels/%s/invites", channel), "flags",
                   "BASE_TYPE_CHOICES");
}

/* --- visibility of invites that give roles -------------------------------------------- */

/* Creates an invite that gives a role and returns its code. */
static const char *create_role_invite(struct client *maker, const char *channel, const char *role)
{
    struct answer a = client_post(maker, TEXT(maker->world, "{'role_ids': ['%s']}", role),
                                  "/channels/%s/invites", channel);

    expect_status(a, 200);
    return answer_text(a, "code");
}

static bool response_contains(struct answer a, const char *code)
{
    expect_status(a, 200);
    return memmem(a.body.p, a.body.n, code, strlen(code)) != NULL;
}

/* Checks the lists and the audit log; events are tested below. */
static void expect_invite_code_shown(struct client *c, const char *guild, const char *channel,
                                     const char *code, bool shown)
{
    expect(response_contains(client_get(c, "/guilds/%s/invites", guild), code) == shown);
    expect(response_contains(client_get(c, "/channels/%s/invites", channel), code) == shown);
    expect(!response_contains(client_get(c, "/guilds/%s/audit-logs", guild), code));
}

#define READING                                                                            \
    (PERMISSION(MANAGE_CHANNELS) | PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(MANAGE_GUILD) | \
     PERMISSION(MANAGE_ROLES))

static void invites_with_roles_are_listed_only_for_members_who_can_give_them(struct world *w)
{
    struct ranks h = world_ranks(w, READING);
    const char *channel = read_text_channel(h.ada, h.guild);
    const char *above = create_role_invite(h.ada, channel, h.high);
    const char *below = create_role_invite(h.ada, channel, h.low), *both, *plain;

    both = answer_text(client_post(h.ada, TEXT(w, "{'role_ids': ['%s', '%s']}", h.low, h.high),
                                   "/channels/%s/invites", channel),
                       "code");
    plain = answer_text(client_post(h.ada, "{}", "/channels/%s/invites", channel), "code");
    expect_invite_code_shown(h.ada, h.guild, channel, above, true);
    expect_invite_code_shown(h.bob, h.guild, channel, above, false);
    expect_invite_code_shown(h.bob, h.guild, channel, both, false);
    expect_invite_code_shown(h.bob, h.guild, channel, below, true);
    expect(response_contains(client_get(h.bob, "/guilds/%s/invites", h.guild), plain));
    expect(response_contains(client_get(h.bob, "/guilds/%s/audit-logs", h.guild), plain));
    /* Without MANAGE_ROLES the role's position does not matter. */
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(READING & ~PERMISSION(MANAGE_ROLES)), h.bobs);
    expect_invite_code_shown(h.bob, h.guild, channel, below, false);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_AUDIT_LOG)), h.bobs);
    expect(!response_contains(client_get(h.bob, "/guilds/%s/invites", h.guild), below));
    /* The inviter sees the code, and codes of deleted invites are shown. */
    world_sql(w, "update invites set inviter_id = %s where code = '%s'", h.bob->id, below);
    expect(response_contains(client_get(h.bob, "/guilds/%s/invites", h.guild), below));
    expect_status(client_delete(h.ada, "/invites/%s", above), 200);
    expect(response_contains(client_get(h.bob, "/guilds/%s/audit-logs", h.guild), above));
}

static void role_invite_events_go_only_to_members_who_can_give_the_roles(struct world *w)
{
    struct ranks h = world_ranks(w, READING);
    const char *channel = read_text_channel(h.ada, h.guild), *code;

    client_connect(h.ada);
    client_connect(h.bob);
    code = create_role_invite(h.ada, channel, h.high);
    expect_event(
        h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 40, 'changes': [{'key': 'code', 'new_value': null}, {}, {}, {}, {}, {}, {}]}");
    expect_event(h.ada, "INVITE_CREATE", "{'code': '%s'}", code);
    expect_event(
        h.bob, "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 40, 'changes': [{'key': 'code', 'new_value': null}, {}, {}, {}, {}, {}, {}]}");
    expect_silence(h.bob);
    expect_status(client_delete(h.ada, "/invites/%s", code), 200);
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 42}");
    expect_event(h.ada, "INVITE_DELETE", "{'code': '%s'}", code);
    expect_event(h.bob, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 42}");
    expect_silence(h.bob);
    code = create_role_invite(h.ada, channel, h.low);
    expect_event(h.bob, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
    expect_event(h.bob, "INVITE_CREATE", "{'code': '%s'}", code);
    /* The gateway does not know who has MFA, so only the inviter gets the event. */
    world_sql(w, "update guilds set mfa_level = 1 where id = %s", h.guild);
    world_sql(w, "update users set mfa_enabled = 1 where id = %s", h.ada->id);
    code = create_role_invite(h.ada, channel, h.low);
    expect_event(h.bob, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
    expect_silence(h.bob);
}

/* --- which roles an invite gives ------------------------------------------------------ */

static void expect_joined_with_role(struct client *owner, const char *guild, const char *name,
                                    const char *code, const char *role)
{
    struct client *c = world_client(owner->world, name);

    expect_status(client_post(c, NULL, "/invites/%s", code), 200);
    struct answer a = client_get(owner, "/guilds/%s/members/%s", guild, c->id);
    if (role)
        expect_json(a, "{'roles': ['%s']}", role);
    else
        expect_absent(a, "roles.0");
}

static void role_invite_gives_only_roles_the_inviter_can_still_give(struct world *w)
{
    struct ranks h = world_ranks(w, MAKING);
    const char *code = create_role_invite(h.bob, read_text_channel(h.ada, h.guild), h.low);

    expect_joined_with_role(h.ada, h.guild, "one", code, h.low);
    /* The role is moved above the inviter's. */
    world_sql(w, "update roles set position = 9 where id = %s", h.low);
    expect_absent(client_get(world_anonymous(w), "/invites/%s", code), "roles.0");
    expect_joined_with_role(h.ada, h.guild, "two", code, NULL);
    world_sql(w, "update roles set position = 1 where id = %s", h.low);
    expect_joined_with_role(h.ada, h.guild, "three", code, h.low);
    /* The inviter loses the permission, then leaves, then is banned. */
    world_sql(w, "update roles set permissions = 0 where id = %s", h.bobs);
    expect_joined_with_role(h.ada, h.guild, "four", code, NULL);
    world_sql(w, "update roles set permissions = %llu where id = %s", BITS(MAKING), h.bobs);
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), 204);
    expect_joined_with_role(h.ada, h.guild, "five", code, NULL);
    expect_status(client_post(h.bob, NULL, "/invites/%s", code), 200);
    expect_absent(client_get(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), "roles.0");
    expect_status(client_put(h.ada, "{}", "/guilds/%s/bans/%s", h.guild, h.bob->id), 204);
    expect_joined_with_role(h.ada, h.guild, "six", code, NULL);
}

/* An invite used at registration has the same rule. */
static void registering_with_a_role_invite_checks_the_inviter(struct world *w)
{
    struct ranks h = world_ranks(w, MAKING);
    const char *code = create_role_invite(h.bob, read_text_channel(h.ada, h.guild), h.low);
    const char *body = "{'username': '%s', 'email': '%s@example.org', 'password': 'a good one', "
                       "'date_of_birth': '1990-01-01', 'consent': true, 'invite': '%s'}";

    expect_status(
        client_post(world_anonymous(w), TEXT(w, body, "uma", "uma", code), "/auth/register"), 200);
    expect(world_number(w, "select count(*) from member_roles where role_id = %s", h.low) == 1);
    world_sql(w, "update roles set permissions = 0 where id = %s", h.bobs);
    expect_status(
        client_post(world_anonymous(w), TEXT(w, body, "una", "una", code), "/auth/register"), 200);
    expect(world_number(w, "select count(*) from member_roles where role_id = %s", h.low) == 1);
}

static void role_invite_requires_manage_roles_in_the_guild(struct world *w)
{
    struct ranks h = world_ranks(w, PERMISSION(CREATE_INSTANT_INVITE));
    const char *channel = read_text_channel(h.ada, h.guild);

    expect_status(client_put(h.ada, "{'type': 1, 'allow': '268435456'}",
                             "/channels/%s/permissions/%s", channel, h.bob->id),
                  204);
    expect_error(
        client_post(h.bob, TEXT(w, "{'role_ids': ['%s']}", h.low), "/channels/%s/invites", channel),
        403, 50013);
}

static void invite_with_target_users_admits_only_these_users(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(CREATE_INSTANT_INVITE));
    struct client *eve = world_client(w, "eve"), *cyd = world_client(w, "cyd");
    const char *channel = read_text_channel(h.ada, h.guild), *code, *path;
    struct answer a =
        upload_target_users(h.bob, "POST", TEXT(w, "/api/v10/channels/%s/invites", channel), "{}",
                            TEXT(w, "user_id\r\n%s\r\n%s\r\n", eve->id, eve->id));

    expect_status(a, 200);
    code = answer_text(a, "code");
    path = TEXT(w, "/api/v10/invites/%s/target-users", code);
    a = client_get(h.bob, "/invites/%s/target-users", code);
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "text/csv"));
    expect(str_is(a.body, TEXT(w, "user_id\n%s\n", eve->id)));
    expect_json(client_get(h.ada, "/invites/%s/target-users/job-status", code),
                "{'status': 2, 'total_users': 1, 'processed_users': 1, 'error_message': null}");
    expect_error(client_get(cyd, "/invites/%s", code), 404, 10006);
    expect_error(client_get(world_anonymous(w), "/invites/%s", code), 404, 10006);
    expect_error(client_post(cyd, NULL, "/invites/%s", code), 404, 10006);
    expect_status(client_get(eve, "/invites/%s", code), 200);
    expect_status(client_post(eve, NULL, "/invites/%s", code), 200);
    expect_error(client_get(eve, "/invites/%s/target-users", code), 403, 50013);
    expect_error(upload_target_users(eve, "PUT", path, "{}", cyd->id), 403, 50013);
    expect_invalid(upload_target_users(h.bob, "PUT", path, "{}", "ada"), "target_users_file",
                   "BASE_TYPE_BAD_FORMAT");
    expect_invalid(upload_target_users(h.bob, "PUT", path, "{}", "user_id"), "target_users_file",
                   "BASE_TYPE_BAD_FORMAT");
    expect_status(upload_target_users(h.bob, "PUT", path, "{}", cyd->id), 204);
    expect_status(client_post(cyd, NULL, "/invites/%s", code), 200);
    /* A kicked inviter cannot change the list. */
    const char *bobs = code;
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), 204);
    expect_error(upload_target_users(h.bob, "PUT", path, "{}", cyd->id), 403, 50001);
    expect_error(client_get(h.bob, "/invites/%s/target-users", bobs), 403, 50001);
    expect_status(upload_target_users(h.ada, "PUT", path, "{}", h.bob->id), 204);
    expect_status(client_post(h.bob, NULL, "/invites/%s", bobs), 200);
    expect_status(client_get(h.bob, "/invites/%s/target-users", bobs), 200);
    /* Other invites have no list. */
    code = answer_text(client_post(h.bob, "{'unique': true}", "/channels/%s/invites", channel),
                       "code");
    expect_error(client_get(h.bob, "/invites/%s/target-users", code), 404, 10129);
    expect_error(client_get(h.bob, "/invites/%s/target-users/job-status", code), 404, 10124);
}

const struct test invite_targets_tests[] = {
    TEST(invite_for_other_users_cannot_be_used_to_register),
    TEST(timed_out_inviter_cannot_change_target_users),
    TEST(invite_with_roles_gives_them_to_joining_members),
    TEST(invites_with_roles_are_listed_only_for_members_who_can_give_them),
    TEST(role_invite_events_go_only_to_members_who_can_give_the_roles),
    TEST(role_invite_gives_only_roles_the_inviter_can_still_give),
    TEST(registering_with_a_role_invite_checks_the_inviter),
    TEST(role_invite_requires_manage_roles_in_the_guild),
    TEST(invite_with_target_users_admits_only_these_users),
    { 0 },
};
