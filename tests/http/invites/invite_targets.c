/* invite_targets.c - invites that give roles, are for guests, or for some people only. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

#define MAKING (PERMISSION(CREATE_INSTANT_INVITE) | PERMISSION(MANAGE_ROLES))
#define HEAD   "Content-Type: multipart/form-data; boundary=X\r\n"

static const char *text_channel(struct client *c, const char *guild)
{
    return answer_text(client_get(c, "/guilds/%s/channels", guild), "2.id");
}

static struct answer send_file(struct client *c, const char *method, const char *path,
                               const char *json, const char *csv)
{
    const char *body = TEXT(c->world,
                            "--X\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n"
                            "%s\r\n--X\r\nContent-Disposition: form-data; "
                            "name=\"target_users_file\"; filename=\"u.csv\"\r\n\r\n%s\r\n--X--\r\n",
                            json, csv);

    return client_request(c, method, path, HEAD, str_of(body));
}

static void an_invite_for_others_makes_no_account(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_stranger(w);
    struct test_guild v = world_test_guild(w, ada);
    struct answer a =
        send_file(ada, "POST", TEXT(w, "/api/v10/channels/%s/invites", v.channel), "{}", ada->id);
    const char *body = TEXT(w, "{'username': 'kim', 'invite': '%s'}", answer_text(a, "code"));

    expect_invalid(client_post(nobody, body, "/auth/register"), "invite", "INVITE_CODE_INVALID");
    expect_status(client_post(nobody, "{'username': 'kim'}", "/auth/register"), 200);
}

static void a_timed_out_maker_keeps_the_targets_as_they_are(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bob, 1, PERMISSION(CREATE_INSTANT_INVITE));
    const char *code =
        answer_text(client_post(bob, "{}", "/channels/%s/invites", v.channel), "code");
    const char *path = TEXT(w, "/api/v10/invites/%s/target-users", code);
    expect_status(send_file(bob, "PUT", path, "{}", ada->id), 204);
    world_sql(w, "update members set timed_out_until = 9000000000000000 where user_id = %s",
              bob->id);
    expect_error(send_file(bob, "PUT", path, "{}", bob->id), 403, 50013);
    expect_status(client_get(bob, "/invites/%s/target-users", code), 200);
}

static void roles_are_given_to_those_who_come(struct world *w)
{
    struct ranks h = world_ranks(w, MAKING);
    const char *channel = text_channel(h.ada, h.guild), *code;
    struct client *eve = world_client(w, "eve");
    struct answer a = client_post(h.bob, TEXT(w, "{'role_ids': ['%s'], 'flags': 8}", h.low),
                                  "/channels/%s/invites", channel);

    expect_json(a, "{'flags': 8, 'roles': [{'id': '%s', 'position': 1, 'icon': null}]}", h.low);
    code = answer_text(a, "code");
    /* An invite that gives something is never taken for one that gives nothing. */
    a = client_post(h.bob, "{}", "/channels/%s/invites", channel);
    expect_absent(a, "roles");
    expect_absent(a, "flags");
    expect_json(client_get(eve, "/invites/%s", code), "{'roles': [{'id': '%s'}]}", h.low);
    forget_told(w);
    expect_status(client_post(eve, NULL, "/invites/%s", code), 200);
    expect_told(w, to_guild(id_of(h.guild)), "GUILD_MEMBER_ADD", "{'roles': ['%s']}", h.low);
    expect_json(client_get(h.ada, "/guilds/%s/members/%s", h.guild, eve->id), "{'roles': ['%s']}",
                h.low);
    /* One could not give it by hand. */
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

/* --- who is shown the code of an invite that gives roles -------------------------------- */

/* The code by which ada, who owns the guild, gives a role. */
static const char *role_invite(struct client *maker, const char *channel, const char *role)
{
    struct answer a = client_post(maker, TEXT(maker->world, "{'role_ids': ['%s']}", role),
                                  "/channels/%s/invites", channel);

    expect_status(a, 200);
    return answer_text(a, "code");
}

static bool mentions(struct answer a, const char *code)
{
    expect_status(a, 200);
    return memmem(a.body.p, a.body.n, code, strlen(code)) != NULL;
}

/* Lists, the audit log; events are below. */
static void expect_shown(struct client *c, const char *guild, const char *channel, const char *code,
                         bool shown)
{
    expect(mentions(client_get(c, "/guilds/%s/invites", guild), code) == shown);
    expect(mentions(client_get(c, "/channels/%s/invites", channel), code) == shown);
    expect(!mentions(client_get(c, "/guilds/%s/audit-logs", guild), code));
}

#define READING                                                                            \
    (PERMISSION(MANAGE_CHANNELS) | PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(MANAGE_GUILD) | \
     PERMISSION(MANAGE_ROLES))

static void codes_that_give_roles_are_shown_to_who_could_give_them(struct world *w)
{
    struct ranks h = world_ranks(w, READING);
    const char *channel = text_channel(h.ada, h.guild);
    const char *above = role_invite(h.ada, channel, h.high);
    const char *below = role_invite(h.ada, channel, h.low), *both, *plain;

    both = answer_text(client_post(h.ada, TEXT(w, "{'role_ids': ['%s', '%s']}", h.low, h.high),
                                   "/channels/%s/invites", channel),
                       "code");
    plain = answer_text(client_post(h.ada, "{}", "/channels/%s/invites", channel), "code");
    expect_shown(h.ada, h.guild, channel, above, true);
    expect_shown(h.bob, h.guild, channel, above, false);
    expect_shown(h.bob, h.guild, channel, both, false);
    expect_shown(h.bob, h.guild, channel, below, true);
    expect(mentions(client_get(h.bob, "/guilds/%s/invites", h.guild), plain));
    expect(mentions(client_get(h.bob, "/guilds/%s/audit-logs", h.guild), plain));
    /* Without MANAGE_ROLES the order of roles does not matter. */
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(READING & ~PERMISSION(MANAGE_ROLES)), h.bobs);
    expect_shown(h.bob, h.guild, channel, below, false);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_AUDIT_LOG)), h.bobs);
    expect(!mentions(client_get(h.bob, "/guilds/%s/invites", h.guild), below));
    /* Whoever made one sees it all the same, and a deleted one is no secret. */
    world_sql(w, "update invites set inviter_id = %s where code = '%s'", h.bob->id, below);
    expect(mentions(client_get(h.bob, "/guilds/%s/invites", h.guild), below));
    expect_status(client_delete(h.ada, "/invites/%s", above), 200);
    expect(mentions(client_get(h.bob, "/guilds/%s/audit-logs", h.guild), above));
}

static void events_of_codes_that_give_roles_go_to_who_could_give_them(struct world *w)
{
    struct ranks h = world_ranks(w, READING);
    const char *channel = text_channel(h.ada, h.guild), *code;

    client_connect(h.ada);
    client_connect(h.bob);
    code = role_invite(h.ada, channel, h.high);
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
    code = role_invite(h.ada, channel, h.low);
    expect_event(h.bob, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
    expect_event(h.bob, "INVITE_CREATE", "{'code': '%s'}", code);
    /* The gateway does not know who has a second factor: only the maker is told. */
    world_sql(w, "update guilds set mfa_level = 1 where id = %s", h.guild);
    world_sql(w, "update users set mfa_enabled = 1 where id = %s", h.ada->id);
    code = role_invite(h.ada, channel, h.low);
    expect_event(h.bob, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
    expect_silence(h.bob);
}

/* --- which roles it gives ---------------------------------------------------------------- */

static void expect_roles(struct client *owner, const char *guild, const char *name,
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

static void an_invite_gives_what_its_maker_could_give_now(struct world *w)
{
    struct ranks h = world_ranks(w, MAKING);
    const char *code = role_invite(h.bob, text_channel(h.ada, h.guild), h.low);

    expect_roles(h.ada, h.guild, "one", code, h.low);
    /* The role rises above the maker's. */
    world_sql(w, "update roles set position = 9 where id = %s", h.low);
    expect_absent(client_get(world_stranger(w), "/invites/%s", code), "roles.0");
    expect_roles(h.ada, h.guild, "two", code, NULL);
    world_sql(w, "update roles set position = 1 where id = %s", h.low);
    expect_roles(h.ada, h.guild, "three", code, h.low);
    /* The maker loses the right, then leaves, then is banned. */
    world_sql(w, "update roles set permissions = 0 where id = %s", h.bobs);
    expect_roles(h.ada, h.guild, "four", code, NULL);
    world_sql(w, "update roles set permissions = %llu where id = %s", BITS(MAKING), h.bobs);
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), 204);
    expect_roles(h.ada, h.guild, "five", code, NULL);
    expect_status(client_post(h.bob, NULL, "/invites/%s", code), 200);
    expect_absent(client_get(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), "roles.0");
    expect_status(client_put(h.ada, "{}", "/guilds/%s/bans/%s", h.guild, h.bob->id), 204);
    expect_roles(h.ada, h.guild, "six", code, NULL);
}

/* The code comes with the account: the same rule. */
static void an_invite_of_a_registration_gives_no_more(struct world *w)
{
    struct ranks h = world_ranks(w, MAKING);
    const char *code = role_invite(h.bob, text_channel(h.ada, h.guild), h.low);
    const char *body = "{'username': '%s', 'email': '%s@example.org', 'password': 'a good one', "
                       "'date_of_birth': '1990-01-01', 'consent': true, 'invite': '%s'}";

    expect_status(
        client_post(world_stranger(w), TEXT(w, body, "uma", "uma", code), "/auth/register"), 200);
    expect(world_number(w, "select count(*) from member_roles where role_id = %s", h.low) == 1);
    world_sql(w, "update roles set permissions = 0 where id = %s", h.bobs);
    expect_status(
        client_post(world_stranger(w), TEXT(w, body, "una", "una", code), "/auth/register"), 200);
    expect(world_number(w, "select count(*) from member_roles where role_id = %s", h.low) == 1);
}

static void a_right_in_one_channel_gives_no_roles(struct world *w)
{
    struct ranks h = world_ranks(w, PERMISSION(CREATE_INSTANT_INVITE));
    const char *channel = text_channel(h.ada, h.guild);

    expect_status(client_put(h.ada, "{'type': 1, 'allow': '268435456'}",
                             "/channels/%s/permissions/%s", channel, h.bob->id),
                  204);
    expect_error(
        client_post(h.bob, TEXT(w, "{'role_ids': ['%s']}", h.low), "/channels/%s/invites", channel),
        403, 50013);
}

static void an_invite_may_be_for_some_people_only(struct world *w)
{
    struct home h = world_home(w, PERMISSION(CREATE_INSTANT_INVITE));
    struct client *eve = world_client(w, "eve"), *cyd = world_client(w, "cyd");
    const char *channel = text_channel(h.ada, h.guild), *code, *path;
    struct answer a = send_file(h.bob, "POST", TEXT(w, "/api/v10/channels/%s/invites", channel),
                                "{}", TEXT(w, "user_id\r\n%s\r\n%s\r\n", eve->id, eve->id));

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
    expect_error(client_get(world_stranger(w), "/invites/%s", code), 404, 10006);
    expect_error(client_post(cyd, NULL, "/invites/%s", code), 404, 10006);
    expect_status(client_get(eve, "/invites/%s", code), 200);
    expect_status(client_post(eve, NULL, "/invites/%s", code), 200);
    expect_error(client_get(eve, "/invites/%s/target-users", code), 403, 50013);
    expect_error(send_file(eve, "PUT", path, "{}", cyd->id), 403, 50013);
    expect_invalid(send_file(h.bob, "PUT", path, "{}", "ada"), "target_users_file",
                   "BASE_TYPE_BAD_FORMAT");
    expect_invalid(send_file(h.bob, "PUT", path, "{}", "user_id"), "target_users_file",
                   "BASE_TYPE_BAD_FORMAT");
    expect_status(send_file(h.bob, "PUT", path, "{}", cyd->id), 204);
    expect_status(client_post(cyd, NULL, "/invites/%s", code), 200);
    /* Who was thrown out says no more whom it is for. */
    const char *bobs = code;
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), 204);
    expect_error(send_file(h.bob, "PUT", path, "{}", cyd->id), 403, 50001);
    expect_error(client_get(h.bob, "/invites/%s/target-users", bobs), 403, 50001);
    expect_status(send_file(h.ada, "PUT", path, "{}", h.bob->id), 204);
    expect_status(client_post(h.bob, NULL, "/invites/%s", bobs), 200);
    expect_status(client_get(h.bob, "/invites/%s/target-users", bobs), 200);
    /* Others have no list. */
    code = answer_text(client_post(h.bob, "{'unique': true}", "/channels/%s/invites", channel),
                       "code");
    expect_error(client_get(h.bob, "/invites/%s/target-users", code), 404, 10129);
    expect_error(client_get(h.bob, "/invites/%s/target-users/job-status", code), 404, 10124);
}

const struct test invite_targets_tests[] = {
    TEST(an_invite_for_others_makes_no_account),
    TEST(a_timed_out_maker_keeps_the_targets_as_they_are),
    TEST(roles_are_given_to_those_who_come),
    TEST(codes_that_give_roles_are_shown_to_who_could_give_them),
    TEST(events_of_codes_that_give_roles_go_to_who_could_give_them),
    TEST(an_invite_gives_what_its_maker_could_give_now),
    TEST(an_invite_of_a_registration_gives_no_more),
    TEST(a_right_in_one_channel_gives_no_roles),
    TEST(an_invite_may_be_for_some_people_only),
    { 0 },
};
