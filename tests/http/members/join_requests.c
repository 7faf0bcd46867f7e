/* join_requests.c - member verification forms, and join requests of pending members. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

#define FORM     "/guilds/%s/member-verification"
#define REQUESTS "/guilds/%s/requests"
#define MINE     REQUESTS "/@me"
#define RULES    "{'field_type': 'TERMS', 'label': 'Rules', 'values': ['Be kind'], 'required': true}"
#define ACCEPTED \
    "{'field_type': 'TERMS', 'label': 'Rules', 'values': ['Be kind'], 'response': true}"
#define WHY "{'field_type': 'TEXT_INPUT', 'label': 'Why?', 'required': true}"

/* Guild of ada with a verification form; eve joins by an invite. */
struct screened_guild {
    struct test_guild test_guild;
    struct client *ada, *eve;
    const char *invite, *version;
};

static struct screened_guild create_screened_guild(struct world *w, const char *fields)
{
    struct screened_guild s = { .ada = world_client(w, "ada"), .eve = world_client(w, "eve") };
    struct answer a;

    s.test_guild = world_test_guild(w, s.ada);
    a = client_post(s.ada, "{}", "/channels/%s/invites", s.test_guild.channel);
    s.invite = answer_text(a, "code");
    a = client_patch(s.ada, TEXT(w, "{'enabled': true, 'form_fields': [%s]}", fields), FORM,
                     s.test_guild.id);
    expect_status(a, 200);
    s.version = answer_text(a, "version");
    expect_status(client_post(s.eve, "{}", "/invites/%s", s.invite), 200);
    discard_received(w);
    return s;
}

static struct answer submit_form(struct screened_guild *s, const char *answers)
{
    return client_put(
        s->eve, TEXT(s->eve->world, "{'version': '%s', 'form_fields': [%s]}", s->version, answers),
        MINE, s->test_guild.id);
}

static struct answer send_as_eve(struct screened_guild *s)
{
    return client_post(s->eve, "{'content': 'hello'}", "/channels/%s/messages",
                       s->test_guild.channel);
}

/* Trailing spaces count towards the maximum length of the list. */
static void verification_form_is_limited_to_256_kib(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    expect_status(client_patch(ada,
                               TEXT(w, "{'form_fields': [%s%*s]}", RULES,
                                    (int)(256 * 1024 - 2 - strlen(RULES)), ""),
                               FORM, v.id),
                  200);
    expect_invalid(client_patch(ada,
                                TEXT(w, "{'form_fields': [%s%*s]}", RULES,
                                     (int)(256 * 1024 - 1 - strlen(RULES)), ""),
                                FORM, v.id),
                   "form_fields", "BASE_TYPE_MAX_LENGTH");
}

static void accepting_the_rules_ends_the_pending_state(struct world *w)
{
    struct screened_guild s = create_screened_guild(w, RULES);
    const char *guild = s.test_guild.id;
    struct audience reviewers =
        audience_of_members_with_permission(id_of(guild), 0, PERMISSION(KICK_MEMBERS));
    struct answer a;

    expect_json(client_get(s.eve, "/users/@me/guilds/%s/member", guild), "{'pending': true}");
    expect_json(client_get(s.ada, "/guilds/%s", guild),
                "{'features': ['MEMBER_VERIFICATION_GATE_ENABLED']}");
    expect_error(send_as_eve(&s), 403, 50013);
    expect_json(client_get(s.eve, FORM, guild),
                "{'version': '%s', 'description': null, 'form_fields': [{'field_type': 'TERMS', "
                "'label': 'Rules', 'values': ['Be kind'], 'required': true}]}",
                s.version);
    expect_invalid(submit_form(&s, RULES), "form_fields.0.response", "BASE_TYPE_REQUIRED");
    expect_invalid(submit_form(&s, "{'field_type': 'TERMS', 'label': 'Rules', 'response': false}"),
                   "form_fields.0.response", "BASE_TYPE_CHOICES");
    expect_invalid(submit_form(&s, ""), "form_fields", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(s.eve, "{'version': '2020-01-01T00:00:00+00:00', 'form_fields': []}",
                              MINE, guild),
                   "version", "BASE_TYPE_CHOICES");
    a = submit_form(&s, ACCEPTED);
    expect_status(a, 201);
    expect_json(a,
                "{'application_status': 'APPROVED', 'guild_id': '%s', 'user_id': '%s', "
                "'rejection_reason': null, 'form_responses': [{'response': true}]}",
                guild, s.eve->id);
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_MEMBER_UPDATE",
                    "{'pending': false, 'user': {'id': '%s'}}", s.eve->id);
    expect_received(w, reviewers, "GUILD_JOIN_REQUEST_CREATE",
                    "{'status': 'APPROVED', 'guild_id': '%s', 'request': {'user_id': '%s'}}", guild,
                    s.eve->id);
    expect_nothing_received(w);
    expect_status(send_as_eve(&s), 200);
    expect_error(submit_form(&s, ACCEPTED), 400, 40108);
}

static void form_with_text_answers_needs_approval_by_a_moderator(struct world *w)
{
    struct screened_guild s = create_screened_guild(w, RULES ", " WHY);
    const char *guild = s.test_guild.id, *id;
    const char *answers =
        ACCEPTED ", {'field_type': 'TEXT_INPUT', 'label': 'Why?', 'response': 'Friends'}";
    struct answer a;

    expect_invalid(submit_form(&s, ACCEPTED ", {'field_type': 'TEXT_INPUT', 'label': 'Why?', "
                                            "'response': 5}"),
                   "form_fields.1.response", "BASE_TYPE_CHOICES");
    a = submit_form(&s, answers);
    expect_json(a, "{'application_status': 'SUBMITTED', 'reviewed_at': null}");
    id = answer_text(a, "id");
    expect_event(s.eve, "GUILD_JOIN_REQUEST_CREATE", "{'status': 'SUBMITTED'}");
    expect_error(send_as_eve(&s), 403, 50013);
    expect_error(client_get(s.eve, REQUESTS, guild), 403, 50013);
    expect_json(client_get(s.ada, REQUESTS "?status=SUBMITTED", guild),
                "{'total': 1, 'guild_join_requests': [{'id': '%s', 'user': {'id': '%s'}, "
                "'form_responses': [{}, {'response': 'Friends'}]}]}",
                id, s.eve->id);
    expect_json(client_get(s.ada, REQUESTS "?status=APPROVED", guild),
                "{'total': 0, 'guild_join_requests': []}");
    expect_json(client_get(s.ada, REQUESTS "?before=%s", guild, id),
                "{'total': 1, 'guild_join_requests': []}");
    expect_invalid(client_patch(s.ada, "{'action': 'STARTED'}", REQUESTS "/%s", guild, id),
                   "action", "BASE_TYPE_CHOICES");
    expect_json(client_patch(s.ada, "{'action': 'REJECTED', 'rejection_reason': 'no'}",
                             REQUESTS "/%s", guild, id),
                "{'application_status': 'REJECTED', 'rejection_reason': 'no', "
                "'actioned_by_user': {'id': '%s'}}",
                s.ada->id);
    expect_event(s.eve, "GUILD_JOIN_REQUEST_UPDATE", "{'status': 'REJECTED'}");
    expect_error(client_patch(s.ada, "{'action': 'APPROVED'}", REQUESTS "/%s", guild, id), 404, 0);
    expect_json(submit_form(&s, answers), "{'id': '%s', 'rejection_reason': null}", id);
    expect_json(client_patch(s.ada, "{'action': 'APPROVED'}", REQUESTS "/%s", guild, id),
                "{'application_status': 'APPROVED'}");
    expect_status(send_as_eve(&s), 200);
}

static void verification_form_is_visible_to_members_and_invited_users(struct world *w)
{
    struct screened_guild s = create_screened_guild(w, RULES);
    struct client *eva = world_client(w, "eva");
    struct test_guild other = world_test_guild(w, s.ada);

    expect_error(client_get(eva, FORM, s.test_guild.id), 403, 50001);
    expect_status(client_get(eva, FORM "?invite_code=%s", s.test_guild.id, s.invite), 200);
    expect_error(client_get(eva, FORM "?invite_code=nothing", s.test_guild.id), 404, 10006);
    expect_error(client_get(eva, FORM "?invite_code=%s", other.id, s.invite), 404, 10006);
    expect_error(client_get(s.ada, FORM, other.id), 404, 10068);
    expect_error(client_put(s.ada, "{'version': '2020-01-01T00:00:00+00:00', 'form_fields': []}",
                            MINE, other.id),
                 404, 10068);
    expect_error(client_patch(s.eve, "{}", FORM, s.test_guild.id), 403, 50013);
    expect_invalid(client_patch(s.ada, "{'enabled': true}", FORM, other.id), "form_fields",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(s.ada, "{'form_fields': 5}", FORM, other.id), "form_fields",
                   "LIST_TYPE_CONVERT");
    expect_invalid(client_patch(s.ada, "{'form_fields': [{'field_type': 'TERMS', 'label': 'x'}]}",
                                FORM, other.id),
                   "form_fields.0.values", "BASE_TYPE_REQUIRED");
    expect_status(client_patch(s.ada,
                               "{'form_fields': '[{\\\"field_type\\\": \\\"TERMS\\\", "
                               "\\\"label\\\": \\\"x\\\", \\\"values\\\": [\\\"y\\\"]}]'}",
                               FORM, other.id),
                  200);
    expect_json(client_get(s.ada, REQUESTS, other.id), "{'guild_join_requests': [], 'total': 0}");
    expect_error(client_patch(s.ada, "{'action': 'APPROVED'}", REQUESTS "/5", other.id), 404, 0);
}

static void disabling_the_form_admits_all_pending_members(struct world *w)
{
    struct screened_guild s = create_screened_guild(w, RULES ", " WHY);

    expect_json(client_patch(s.ada, "{'enabled': false}", FORM, s.test_guild.id), "{}");
    expect_received(w, audience_of_guild(id_of(s.test_guild.id)), "GUILD_UPDATE",
                    "{'features': []}");
    world_settle(w);
    expect_received(w, audience_of_guild(id_of(s.test_guild.id)), "GUILD_MEMBER_UPDATE",
                    "{'pending': false}");
    expect_status(send_as_eve(&s), 200);
}

static void join_request_is_deleted_when_the_member_leaves(struct world *w)
{
    struct screened_guild s = create_screened_guild(w, RULES ", " WHY);
    const char *answers =
        ACCEPTED ", {'field_type': 'TEXT_INPUT', 'label': 'Why?', 'response': 'x'}";

    expect_status(submit_form(&s, answers), 201);
    expect_status(client_delete(s.eve, MINE, s.test_guild.id), 204);
    expect_event(s.eve, "GUILD_JOIN_REQUEST_CREATE", "{}");
    expect_event(s.eve, "GUILD_JOIN_REQUEST_DELETE", "{'user_id': '%s'}", s.eve->id);
    expect_error(client_delete(s.eve, MINE, s.test_guild.id), 404, 0);
    expect_status(submit_form(&s, answers), 201);
    expect_status(client_delete(s.eve, "/users/@me/guilds/%s", s.test_guild.id), 204);
    expect(world_number(w, "select count(*) from join_requests") == 0);
}

const struct test join_requests_tests[] = {
    TEST(verification_form_is_limited_to_256_kib),
    TEST(accepting_the_rules_ends_the_pending_state),
    TEST(form_with_text_answers_needs_approval_by_a_moderator),
    TEST(verification_form_is_visible_to_members_and_invited_users),
    TEST(disabling_the_form_admits_all_pending_members),
    TEST(join_request_is_deleted_when_the_member_leaves),
    { 0 },
};
