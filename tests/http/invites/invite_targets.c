/* invite_targets.c - invites that give roles, are for guests, or for some people only. */
#include "guilds.h"
#include "venues.h"

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
    TEST(roles_are_given_to_those_who_come),
    TEST(a_right_in_one_channel_gives_no_roles),
    TEST(an_invite_may_be_for_some_people_only),
    { 0 },
};
