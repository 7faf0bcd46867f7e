/* onboarding.c - onboarding prompts, and the roles that answers give. */
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

#define ONBOARDING "/guilds/%s/onboarding"
#define ANSWERS    "/guilds/%s/onboarding-responses"
#define MANAGING   (PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_ROLES))

static struct audience auditor_audience(const char *guild)
{
    return audience_of_members_with_permission(id_of(guild), 0, PERMISSION(VIEW_AUDIT_LOG));
}

/* Inserts text channels 501 to 507. */
static const char *insert_seven_channels(struct world *w, const char *guild)
{
    for (int i = 501; i <= 507; i++)
        world_sql(w, "insert into channels (id, guild_id, type, name) values (%d, %s, 0, 'c')", i,
                  guild);
    return "'default_channel_ids': ['501', '502', '503', '504', '505', '506', '507']";
}

static void onboarding_of_a_new_guild_is_empty_and_disabled(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    expect_json(client_get(h.bob, ONBOARDING, h.guild),
                "{'guild_id': '%s', 'prompts': [], 'default_channel_ids': [], 'enabled': false, "
                "'mode': 0}",
                h.guild);
    expect_error(client_get(world_client(w, "eve"), ONBOARDING, h.guild), 403, 50001);
}

static void onboarding_prompts_can_be_created_changed_and_deleted(struct world *w)
{
    struct ranks h = world_ranks(w, MANAGING);
    struct answer a;
    const char *prompt, *option;

    discard_received(w);
    a = client_put(h.bob,
                   TEXT(w,
                        "{'prompts': [{'id': '1', 'title': 'Which?', 'options': [{'title': 'One', "
                        "'role_ids': ['%s'], 'emoji_name': '\xf0\x9f\x94\xa5'}, {'id': '2', "
                        "'title': 'Two', 'description': 'The other'}], 'single_select': true}]}",
                        h.low),
                   ONBOARDING, h.guild);
    expect_status(a, 200);
    prompt = answer_text(a, "prompts.0.id");
    option = answer_text(a, "prompts.0.options.0.id");
    expect(id_of(prompt) > 1000 && id_of(answer_text(a, "prompts.0.options.1.id")) > 1000);
    expect_json(a,
                "{'enabled': false, 'prompts': [{'type': 0, 'title': 'Which?', 'single_select': "
                "true, 'required': false, 'in_onboarding': false, 'options': [{'title': 'One', "
                "'description': '', 'role_ids': ['%s'], 'channel_ids': [], 'emoji': {'id': null, "
                "'name': '\xf0\x9f\x94\xa5', 'animated': false}}, {'description': 'The other', "
                "'emoji': {'id': null, 'name': null, 'animated': false}}]}]}",
                h.low);
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 163, 'target_id': '%s', 'changes': [{'key': 'id'}, {'key': "
                    "'type', 'new_value': 0}, {'key': 'title', 'new_value': 'Which?'}, {'key': "
                    "'options', 'new_value': [{'title': 'One'}, {'title': 'Two'}]}, {'key': "
                    "'single_select', 'new_value': true}, {'key': 'required'}, {'key': "
                    "'in_onboarding'}]}",
                    prompt);
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 166, 'target_id': '%s'}", h.guild);
    expect_nothing_received(w);
    /* Known ids stay; other prompts are created. */
    a = client_put(h.bob,
                   TEXT(w,
                        "{'prompts': [{'id': '%s', 'title': 'What?', 'options': [{'id': '%s', "
                        "'title': 'One'}]}, {'id': '%s', 'title': 'Again', 'options': [{'id': "
                        "'%s', 'title': 'One'}]}]}",
                        prompt, option, prompt, option),
                   ONBOARDING, h.guild);
    expect_json(a, "{'prompts': [{'id': '%s', 'options': [{'id': '%s', 'role_ids': []}]}, {}]}",
                prompt, option);
    expect(id_of(answer_text(a, "prompts.1.id")) != id_of(prompt));
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 164, 'target_id': '%s'}", prompt);
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 163}");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 167}");
    expect_json(client_put(h.bob, "{'prompts': []}", ONBOARDING, h.guild), "{'prompts': []}");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 165, 'target_id': '%s'}", prompt);
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 165}");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 167}");
    expect_nothing_received(w);
}

static void invalid_onboarding_prompts_are_refused(struct world *w)
{
    struct ranks h = world_ranks(w, MANAGING);
    static const struct {
        const char *option, *path, *code;
    } cases[] = {
        { "'title': ''", "title", "BASE_TYPE_BAD_LENGTH" },
        { "'title': 'x', 'role_ids': ['5']", "role_ids.0", "BASE_TYPE_CHOICES" },
        { "'title': 'x', 'channel_ids': ['5']", "channel_ids.0", "BASE_TYPE_CHOICES" },
        { "'title': 'x', 'emoji_id': '5'", "emoji_id", "BASE_TYPE_CHOICES" },
        { "'title': 'x', 'emoji_name': 'fire'", "emoji_name", "BASE_TYPE_CHOICES" },
    };
    static const char one[] = "{'prompts': [{'id': 1, 'title': 'x', 'options': [{%s}]}]}";

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_put(h.bob, TEXT(w, one, cases[i].option), ONBOARDING, h.guild),
                       TEXT(w, "prompts.0.options.0.%s", cases[i].path), cases[i].code);
    expect_invalid(
        client_put(h.bob, "{'prompts': [{'title': 'x', 'options': []}]}", ONBOARDING, h.guild),
        "prompts.0.id", "BASE_TYPE_REQUIRED");
    expect_invalid(client_put(h.bob, "{'prompts': [{'id': 1, 'title': 'x', 'options': []}]}",
                              ONBOARDING, h.guild),
                   "prompts.0.options", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_put(h.bob, "{'default_channel_ids': ['7']}", ONBOARDING, h.guild),
                   "default_channel_ids.0", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(h.bob, "{'mode': 2}", ONBOARDING, h.guild), "mode",
                   "BASE_TYPE_CHOICES");
    /* An option cannot give a role that the caller could not give. */
    expect_error(client_put(h.bob,
                            TEXT(w, one, TEXT(w, "'title': 'x', 'role_ids': ['%s']", h.high)),
                            ONBOARDING, h.guild),
                 403, 50013);
    expect_error(client_put(h.bob,
                            TEXT(w, one, TEXT(w, "'title': 'x', 'role_ids': ['%s']", h.bobs)),
                            ONBOARDING, h.guild),
                 403, 50013);
    expect_invalid(client_put(h.ada,
                              TEXT(w, one, TEXT(w, "'title': 'x', 'role_ids': ['%s']", h.guild)),
                              ONBOARDING, h.guild),
                   "prompts.0.options.0.role_ids.0", "BASE_TYPE_CHOICES");
    expect(world_number(w, "select count(*) from guild_onboarding") == 0);
}

static void changing_onboarding_requires_manage_guild_and_manage_roles(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));

    expect_error(client_put(h.bob, "{}", ONBOARDING, h.guild), 403, 50013);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(MANAGE_ROLES)), h.role);
    expect_error(client_put(h.bob, "{}", ONBOARDING, h.guild), 403, 50013);
}

static void enabling_onboarding_requires_enough_visible_channels(struct world *w)
{
    struct server_loop h = world_home(w, MANAGING);
    const char *seven = insert_seven_channels(w, h.guild);

    expect_error(client_put(h.bob,
                            "{'enabled': true, 'default_channel_ids': ['501', '502', '503', "
                            "'504', '505', '506', '506']}",
                            ONBOARDING, h.guild),
                 400, 350000);
    for (int i = 501; i <= 503; i++)
        world_sql(w,
                  "insert into overwrites (channel_id, target_id, type, allow, deny) values (%d, "
                  "%s, 0, 0, 2048)",
                  i, h.guild);
    expect_error(client_put(h.bob, TEXT(w, "{'enabled': true, %s}", seven), ONBOARDING, h.guild),
                 400, 350000);
    world_sql(w, "delete from overwrites where channel_id = 503");
    discard_received(w);
    expect_json(client_put(h.bob, TEXT(w, "{'enabled': true, %s}", seven), ONBOARDING, h.guild),
                "{'enabled': true}");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 166}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE",
                    "{'features': ['GUILD_ONBOARDING']}");
    expect_nothing_received(w);
    expect_error(client_put(h.bob, "{'default_channel_ids': []}", ONBOARDING, h.guild), 400,
                 350001);
    /* In advanced mode channels of options count, too. */
    expect_error(client_put(h.bob, "{'mode': 1, 'default_channel_ids': ['501', '502']}", ONBOARDING,
                            h.guild),
                 400, 350001);
    expect_json(client_put(h.bob,
                           "{'mode': 1, 'default_channel_ids': ['501', '502'], 'prompts': [{'id': "
                           "1, 'title': 'x', 'options': [{'title': 'y', 'channel_ids': ['503', "
                           "'504', '505', '506', '507']}]}]}",
                           ONBOARDING, h.guild),
                "{'mode': 1, 'enabled': true}");
    /* Deleted channels are no longer listed. */
    expect_status(client_delete(h.ada, "/channels/504"), 200);
    expect_json(client_get(h.bob, ONBOARDING, h.guild),
                "{'prompts': [{'options': [{'channel_ids': ['503', '505', '506', '507']}]}]}");
    discard_received(w);
    expect_json(client_put(h.bob, "{'enabled': false}", ONBOARDING, h.guild), "{'enabled': false}");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 167}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE", "{'features': []}");
    expect_nothing_received(w);
}

/* Enables onboarding with two prompts, one of them single-select; returns the options' ids. */
static void enable_onboarding(struct ranks *h, const char *ids[3])
{
    struct world *w = h->ada->world;
    struct answer a = client_put(
        h->ada,
        TEXT(w,
             "{'enabled': true, %s, 'prompts': [{'id': 1, 'title': 'x', 'single_select': true, "
             "'required': true, 'in_onboarding': true, 'options': [{'title': 'low', 'role_ids': "
             "['%s']}, {'title': 'high', 'role_ids': ['%s']}]}, {'id': 2, 'title': 'y', "
             "'options': [{'title': 'z', 'role_ids': ['%s']}]}]}",
             insert_seven_channels(w, h->guild), h->low, h->high, h->bobs),
        ONBOARDING, h->guild);

    expect_status(a, 200);
    ids[0] = answer_text(a, "prompts.0.options.0.id");
    ids[1] = answer_text(a, "prompts.0.options.1.id");
    ids[2] = answer_text(a, "prompts.1.options.0.id");
    discard_received(w);
}

static void onboarding_answers_add_and_remove_roles(struct world *w)
{
    struct ranks h = world_ranks(w, 0);
    struct client *eve = world_client(w, "eve");
    const char *ids[3];

    put_member(h.guild, eve);
    enable_onboarding(&h, ids);
    expect_json(client_post(eve,
                            TEXT(w,
                                 "{'onboarding_responses': ['%s', '%s'], "
                                 "'onboarding_prompts_seen': {'1': 1700000000000}}",
                                 ids[0], ids[2]),
                            ANSWERS, h.guild),
                "{'guild_id': '%s', 'user_id': '%s', 'onboarding_responses': ['%s', '%s'], "
                "'onboarding_prompts_seen': {'1': 1700000000000}, 'onboarding_responses_seen': {}}",
                h.guild, eve->id, ids[0], ids[2]);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_MEMBER_UPDATE",
                    "{'user': {'id': '%s'}, 'roles': ['%s', '%s'], 'flags': 10}", eve->id, h.low,
                    h.bobs);
    expect_nothing_received(w);
    /* Another answer replaces the first; roles given otherwise stay. */
    expect_status(
        client_put(eve, TEXT(w, "{'onboarding_responses': ['%s']}", ids[1]), ANSWERS, h.guild),
        200);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_MEMBER_UPDATE",
                    "{'roles': ['%s']}", h.high);
    expect_status(
        client_put(eve, TEXT(w, "{'onboarding_responses': ['%s']}", ids[1]), ANSWERS, h.guild),
        200);
    expect_nothing_received(w);
    put_role_on(h.guild, eve, h.bobs);
    expect_status(
        client_put(eve, TEXT(w, "{'onboarding_responses': ['%s']}", ids[0]), ANSWERS, h.guild),
        200);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_MEMBER_UPDATE",
                    "{'roles': ['%s', '%s']}", h.bobs, h.low);
    expect_status(client_delete(eve, "/users/@me/guilds/%s", h.guild), 204);
    expect(world_number(w, "select count(*) from onboarding_answers") == 0);
}

static void invalid_onboarding_answers_are_refused(struct world *w)
{
    struct ranks h = world_ranks(w, 0);
    const char *ids[3];

    expect_error(client_post(h.bob, "{'onboarding_responses': []}", ANSWERS, h.guild), 404, 0);
    enable_onboarding(&h, ids);
    expect_invalid(client_post(h.bob, "{}", ANSWERS, h.guild), "onboarding_responses",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(h.bob, "{'onboarding_responses': []}", ANSWERS, h.guild),
                   "onboarding_responses", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(h.bob,
                               TEXT(w, "{'onboarding_responses': ['%s', '%s']}", ids[0], ids[1]),
                               ANSWERS, h.guild),
                   "onboarding_responses", "BASE_TYPE_CHOICES");
    expect_invalid(client_post(h.bob, TEXT(w, "{'onboarding_responses': ['%s', '5']}", ids[0]),
                               ANSWERS, h.guild),
                   "onboarding_responses.1", "BASE_TYPE_CHOICES");
    expect_error(
        client_post(world_client(w, "eve"), "{'onboarding_responses': []}", ANSWERS, h.guild), 403,
        50001);
    expect_nothing_received(w);
}

const struct test onboarding_tests[] = {
    TEST(onboarding_of_a_new_guild_is_empty_and_disabled),
    TEST(onboarding_prompts_can_be_created_changed_and_deleted),
    TEST(invalid_onboarding_prompts_are_refused),
    TEST(changing_onboarding_requires_manage_guild_and_manage_roles),
    TEST(enabling_onboarding_requires_enough_visible_channels),
    TEST(onboarding_answers_add_and_remove_roles),
    TEST(invalid_onboarding_answers_are_refused),
    { 0 },
};
