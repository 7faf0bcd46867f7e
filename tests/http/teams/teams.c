/* teams.c - teams of developers. */
#include "apps.h"

/* A team of ada in which bob has a role. */
struct team_with_bob {
    struct client *ada, *bob;
    const char *team;
};

static struct team_with_bob team_with_bob(struct world *w, const char *role)
{
    struct team_with_bob c = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    c.team = make_team(c.ada, "Makers");
    join_team(c.ada, c.team, c.bob, role);
    return c;
}

/* --- creating and reading ------------------------------------------------------------- */

static void creator_of_a_team_is_its_owner_and_member(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': ' Makers '}", "/teams");

    expect_status(a, 200);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'name': 'Makers', 'icon': null, 'owner_user_id': '%s', 'members': "
                "[{'user': {'id': '%s', 'username': 'ada'}, 'team_id': '%s', "
                "'membership_state': 2, 'role': 'admin', 'permissions': ['*']}]}",
                ada->id, ada->id, id);
    expect_json(client_get(ada, "/teams"), "[{'id': '%s', 'name': 'Makers'}]", id);
    expect_json(client_get(ada, "/teams/%s", id), "{'id': '%s'}", id);
    expect_json(client_get(ada, "/teams/%s/members", id), "[{'user': {'id': '%s'}}]", ada->id);
}

static void team_name_must_have_1_to_32_characters(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_invalid(client_post(ada, "{}", "/teams"), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'name': '  '}", "/teams"), "name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(ada, TEXT(w, "{'name': '%033d'}", 1), "/teams"), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_status(client_post(ada, TEXT(w, "{'name': '%032d'}", 1), "/teams"), 200);
    expect_status(client_post(ada, "{'name': 'x'}", "/teams"), 200);
}

static void user_is_limited_to_30_teams(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    for (int i = 0; i < 30; i++)
        make_team(ada, "Makers");
    expect_error(client_post(ada, "{'name': 'one too many'}", "/teams"), 400, 30023);

    befriend(ada, bob);
    const char *team = make_team(bob, "Others");
    struct answer a = client_post(bob, "{'username': 'ada'}", "/teams/%s/members", team);
    expect_status(a, 200);
    expect_error(client_post(ada, TEXT(w, "{'token': '%s'}", answer_text(a, "invite_token")),
                             "/teams/invite/accept"),
                 400, 30023);
}

static void team_routes_require_membership(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *team = make_team(ada, "Makers");

    expect_error(client_get(eve, "/teams/%s", team), 403, 50001);
    expect_error(client_get(eve, "/teams/%s/members", team), 403, 50001);
    expect_error(client_patch(eve, "{'name': ''}", "/teams/%s", team), 403, 50001);
    expect_error(client_post(eve, NULL, "/teams/%s/delete", team), 403, 50001);
    expect_error(client_get(eve, "/teams/%s", eve->id), 404, 10039);
    expect_json(client_get(eve, "/teams"), "[]");
    expect_error(client_get(world_bot(w, "robot"), "/teams"), 403, 20001);
}

/* --- changing ------------------------------------------------------------------------- */

static void team_admins_can_change_the_team(struct world *w)
{
    struct team_with_bob c = team_with_bob(w, "admin");

    struct answer a = client_patch(c.bob, "{'name': 'Builders'}", "/teams/%s", c.team);
    expect_status(a, 200);
    expect_json(a, "{'name': 'Builders', 'icon': null, 'owner_user_id': '%s'}", c.ada->id);
    expect_status(client_patch(c.bob, "{}", "/teams/%s", c.team), 200);
    expect_json(client_get(c.ada, "/teams/%s", c.team), "{'name': 'Builders'}");
}

static void team_developers_and_readers_can_only_read(struct world *w)
{
    static const char *const roles[] = { "developer", "read_only" };

    for (int i = 0; i < 2; i++) {
        struct client *ada = world_client(w, "ada");
        struct client *bob = world_client(w, i ? "bob" : "bill");
        const char *team = make_team(ada, "Makers");

        join_team(ada, team, bob, roles[i]);
        expect_status(client_get(bob, "/teams/%s", team), 200);
        /* The permission is checked before the body. */
        expect_error(client_patch(bob, "{'name': ''}", "/teams/%s", team), 403, 50013);
        expect_error(client_post(bob, "{}", "/teams/%s/members", team), 403, 50013);
        expect_error(client_patch(bob, "{}", "/teams/%s/members/%s", team, bob->id), 403, 50013);
        expect_error(client_delete(bob, "/teams/%s/members/%s", team, ada->id), 403, 50013);
        expect_error(client_post(bob, NULL, "/teams/%s/delete", team), 403, 50013);
    }
}

static void team_icon_can_be_set_served_and_removed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': 'Makers', 'icon': '" PNG "'}", "/teams");

    expect_status(a, 200);
    const char *id = answer_text(a, "id"), *icon = answer_text(a, "icon");
    struct answer picture =
        client_request(world_anonymous(w), "GET", TEXT(w, "/team-icons/%s/%s.png", id, icon), NULL,
                       (struct str){ 0 });
    expect_status(picture, 200);
    expect(str_is(answer_header(picture, "Content-Type"), "image/png"));
    expect_json(client_patch(ada, "{'icon': null}", "/teams/%s", id), "{'icon': null}");
    a = client_patch(ada, "{'icon': '" PNG "'}", "/teams/%s", id);
    expect(strlen(answer_text(a, "icon")) == 32);
    expect_invalid(client_patch(ada, "{'icon': 'data:image/png;base64,AAAA'}", "/teams/%s", id),
                   "icon", "IMAGE_INVALID");
    expect_error(client_patch(world_client(w, "eve"), "{'icon': '" PNG "'}", "/teams/%s", id), 403,
                 50001);
}

static void only_the_owner_can_transfer_a_team(struct world *w)
{
    struct team_with_bob c = team_with_bob(w, "admin");
    struct client *eve = world_client(w, "eve");

    expect_error(
        client_patch(c.bob, TEXT(w, "{'owner_user_id': '%s'}", c.bob->id), "/teams/%s", c.team),
        403, 50013);
    expect_error(
        client_patch(c.ada, TEXT(w, "{'owner_user_id': '%s'}", eve->id), "/teams/%s", c.team), 404,
        10040);
    expect_json(
        client_patch(c.ada, TEXT(w, "{'owner_user_id': '%s'}", c.bob->id), "/teams/%s", c.team),
        "{'owner_user_id': '%s'}", c.bob->id);
    expect_error(client_post(c.ada, NULL, "/teams/%s/delete", c.team), 403, 50013);
    expect_status(client_delete(c.ada, "/teams/%s/members/@me", c.team), 204);
}

static void team_with_applications_cannot_be_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *team = make_team(ada, "Makers");
    struct answer a =
        client_post(ada, TEXT(w, "{'name': 'App', 'team_id': '%s'}", team), "/applications");

    expect_status(a, 201);
    expect_invalid(client_post(ada, NULL, "/teams/%s/delete", team), "", "TEAM_HAS_APPLICATIONS");
    expect_status(client_post(ada, NULL, "/applications/%s/delete", answer_text(a, "id")), 204);
    expect_status(client_post(ada, NULL, "/teams/%s/delete", team), 204);
    expect_error(client_get(ada, "/teams/%s", team), 404, 10039);
}

/* --- members -------------------------------------------------------------------------- */

static void invited_friend_becomes_a_member_by_accepting(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *team = make_team(ada, "Makers");

    befriend(ada, bob);
    struct answer a = client_post(ada,
                                  "{'username': 'BOB', 'role': 'developer', "
                                  "'discriminator': null}",
                                  "/teams/%s/members", team);
    expect_status(a, 200);
    expect_json(a,
                "{'user': {'id': '%s'}, 'team_id': '%s', 'membership_state': 1, "
                "'role': 'developer'}",
                bob->id, team);
    const char *token = answer_text(a, "invite_token");

    /* An invited user sees the team, but nothing more. */
    expect_json(client_get(bob, "/teams"), "[{'id': '%s'}]", team);
    expect_error(client_get(bob, "/teams/%s", team), 403, 50001);

    const char *accept = TEXT(w, "{'token': '%s'}", token);
    expect_error(client_post(world_client(w, "eve"), accept, "/teams/invite/accept"), 404, 10012);
    expect_error(client_post(bob, "{'token': 'nonsense'}", "/teams/invite/accept"), 404, 10012);
    expect_invalid(client_post(bob, "{}", "/teams/invite/accept"), "token", "BASE_TYPE_REQUIRED");
    a = client_post(bob, accept, "/teams/invite/accept");
    expect_status(a, 200);
    expect_json(a, "{'id': '%s'}", team);
    expect_error(client_post(bob, accept, "/teams/invite/accept"), 400, 40027);
    expect_json(client_get(bob, "/teams/%s/members", team),
                "[{'membership_state': 2}, {'membership_state': 2, 'role': 'developer'}]");
}

static void only_friends_can_be_invited_and_only_once(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *team = make_team(ada, "Makers");

    expect_error(client_post(ada, "{'username': 'bob'}", "/teams/%s/members", team), 403, 20037);
    expect_error(client_post(ada, "{'username': 'nobody'}", "/teams/%s/members", team), 404, 10013);
    expect_error(client_post(ada, "{'username': 'ada'}", "/teams/%s/members", team), 400, 40024);
    expect_invalid(
        client_post(ada, "{'username': 'bob', 'role': 'king'}", "/teams/%s/members", team), "role",
        "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada, "{}", "/teams/%s/members", team), "username",
                   "BASE_TYPE_REQUIRED");
    befriend(ada, bob);
    struct answer a = client_post(ada, "{'username': 'bob'}", "/teams/%s/members", team);
    expect_status(a, 200);
    expect_json(a, "{'role': 'admin'}");
    expect_error(client_post(ada, "{'username': 'bob'}", "/teams/%s/members", team), 400, 40024);
}

static void only_admins_can_change_team_roles(struct world *w)
{
    struct team_with_bob c = team_with_bob(w, "read_only");

    struct answer a =
        client_patch(c.ada, "{'role': 'developer'}", "/teams/%s/members/%s", c.team, c.bob->id);
    expect_status(a, 200);
    expect_json(a, "{'user': {'id': '%s'}, 'role': 'developer'}", c.bob->id);
    expect_error(client_patch(c.ada, "{'role': 'read_only'}", "/teams/%s/members/@me", c.team), 400,
                 40025);
    expect_error(client_patch(c.ada, "{'role': 'admin'}", "/teams/%s/members/%s", c.team,
                              world_client(w, "eve")->id),
                 404, 10040);
    expect_invalid(client_patch(c.ada, "{}", "/teams/%s/members/%s", c.team, c.bob->id), "role",
                   "BASE_TYPE_REQUIRED");
}

static void team_members_can_leave_be_removed_or_decline(struct world *w)
{
    struct team_with_bob c = team_with_bob(w, "admin");
    struct client *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");

    expect_error(client_delete(c.bob, "/teams/%s/members/%s", c.team, c.ada->id), 400, 40025);
    expect_error(client_delete(c.ada, "/teams/%s/members/@me", c.team), 400, 40025);
    join_team(c.ada, c.team, cleo, "read_only");
    expect_error(client_delete(cleo, "/teams/%s/members/%s", c.team, c.bob->id), 403, 50013);
    expect_status(client_delete(c.bob, "/teams/%s/members/%s", c.team, cleo->id), 204);
    expect_error(client_get(cleo, "/teams/%s", c.team), 403, 50001);
    expect_error(client_delete(c.bob, "/teams/%s/members/%s", c.team, cleo->id), 404, 10040);
    expect_status(client_delete(c.bob, "/teams/%s/members/@me", c.team), 204);

    befriend(c.ada, dan);
    struct answer a = client_post(c.ada, "{'username': 'dan'}", "/teams/%s/members", c.team);
    expect_status(client_delete(dan, "/teams/%s/members/@me", c.team), 204);
    expect_error(client_post(dan, TEXT(w, "{'token': '%s'}", answer_text(a, "invite_token")),
                             "/teams/invite/accept"),
                 404, 10012);
    expect_json(client_get(dan, "/teams"), "[]");
}

extern const struct test teams_tests[];
const struct test teams_tests[] = {
    TEST(creator_of_a_team_is_its_owner_and_member),
    TEST(team_name_must_have_1_to_32_characters),
    TEST(user_is_limited_to_30_teams),
    TEST(team_routes_require_membership),
    TEST(team_admins_can_change_the_team),
    TEST(team_developers_and_readers_can_only_read),
    TEST(team_icon_can_be_set_served_and_removed),
    TEST(only_the_owner_can_transfer_a_team),
    TEST(team_with_applications_cannot_be_deleted),
    TEST(invited_friend_becomes_a_member_by_accepting),
    TEST(only_friends_can_be_invited_and_only_once),
    TEST(only_admins_can_change_team_roles),
    TEST(team_members_can_leave_be_removed_or_decline),
    { 0 },
};
