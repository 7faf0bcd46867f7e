/* guild_resources.c - guild resources in world files: forums and threads, welcome screens, widgets,
 * vanity codes, forms, onboarding, events, stages, sounds, templates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

#define HOME "'guilds': [{'id': '50', 'name': 'Home', 'owner': 'ada', "
#define ADA  "'users': [{'username': 'ada'}, {'username': 'bob'}], "

/* --- forums and threads --------------------------------------------------------------- */

static const char FORUM[] =
    "{" ADA HOME
    "'emojis': [{'id': '71', 'name': 'bug'}], 'members': [{'user': 'bob'}], 'channels': ["
    "  {'id': '92', 'name': 'first', 'type': 'thread', 'parent': 'help', 'owner': 'bob',"
    "   'applied_tags': ['open', '82'], 'people': ['ada', 'bob'], 'messages': ["
    "     {'id': '92', 'author': 'bob', 'content': 'what?'},"
    "     {'id': '920', 'author': 'ada', 'content': 'that!'}]},"
    "  {'id': '91', 'name': 'help', 'type': 'forum', 'default_reaction': 'bug',"
    "   'default_sort_order': 1, 'default_forum_layout': 2, 'default_tag_setting': 'match_all',"
    "   'default_thread_rate_limit_per_user': 7, 'tags': [{'id': '81', 'name': 'open',"
    "   'moderated': true, 'emoji': '\xf0\x9f\x94\xa5'}, {'id': '82', 'name': 'bugs', 'emoji': 'bug'}]},"
    "  {'id': '93', 'name': 'pictures', 'type': 'media'},"
    "  {'id': '94', 'name': 'talk'},"
    "  {'id': '95', 'name': 'secret', 'type': 'private_thread', 'parent': 'talk', 'owner': 'ada',"
    "   'invitable': false, 'people': ['ada']}]}]}";

static void world_file_forums_and_threads_are_imported_and_exported(struct world *w)
{
    expect_file_refused(
        w,
        "{" ADA HOME "'channels': [{'name': 'help', 'type': 'forum', 'tags': [{'name': 'x'}, "
        "{'name': 'x'}, {'name': 'y', 'emoji': 'none'}]}, {'name': 'p', 'type': 'thread', "
        "'parent': 'help', 'applied_tags': ['z'], 'people': ['eve']}]}]}",
        "guilds.0.channels.0.tags.1: two tags have this name\n"
        "guilds.0.channels.0.tags.2.emoji: there is no emoji 'none'\n"
        "guilds.0.channels.1.applied_tags.0: there is no tag 'z'\n"
        "guilds.0.channels.1.people.0: there is no user 'eve'\n");

    struct client *ada = world_client(w, "ada");
    world_file_here(w, FORUM);
    world_file_here(w, FORUM);
    struct answer a = client_get(ada, "/channels/91");
    expect_json(a, "{'type': 15, 'default_sort_order': 1, 'default_forum_layout': 2, "
                   "'default_tag_setting': 'match_all', 'default_thread_rate_limit_per_user': 7, "
                   "'default_reaction_emoji': {'emoji_id': '71', 'emoji_name': null}, "
                   "'available_tags': [{'id': '81', 'name': 'open', 'moderated': true}, "
                   "{'id': '82', 'emoji_id': '71'}]}");
    a = client_get(ada, "/channels/92");
    expect_json(a, "{'applied_tags': ['81', '82'], 'member_count': 2, 'message_count': 1, "
                   "'total_message_sent': 1}");
    expect_json(client_get(ada, "/channels/92/messages/920"), "{'position': 1}");
    expect_json(client_get(ada, "/channels/93"), "{'type': 16}");
    expect_json(client_get(ada, "/channels/95"), "{'thread_metadata': {'invitable': false}}");
    expect_round_trip(w);
}

/* --- pages ---------------------------------------------------------------------------- */

static const char SHOWN[] =
    "{" ADA HOME
    "'emojis': [{'id': '71', 'name': 'wave'}], 'channels': [{'id': '90', 'name': 'rules'}], "
    "'vanity_code': 'home-sweet', 'vanity_uses': 3, 'widget': {'enabled': true, 'channel': 'rules'}, "
    "'welcome_screen': {'enabled': true, 'description': 'Come in', 'channels': [{'channel': "
    "'rules', 'description': 'Read me', 'emoji': 'wave'}, {'channel': '90', 'description': "
    "'Again', 'emoji': '\xf0\x9f\x94\xa5'}, {'channel': 'rules', 'description': 'Bare'}]}}]}";

static void world_file_welcome_screen_and_widget_are_imported(struct world *w)
{
    expect_file_refused(
        w,
        "{" ADA HOME "'widget': {'channel': 'none'}, 'welcome_screen': {'channels': [{'channel': "
        "'none', 'description': 'x', 'emoji': 'nope'}]}}]}",
        "guilds.0.welcome_screen.channels.0.channel: there is no channel 'none'\n"
        "guilds.0.welcome_screen.channels.0.emoji: there is no emoji 'nope'\n"
        "guilds.0.widget.channel: there is no channel 'none'\n");
    expect_file_refused(w,
                        "{" ADA "'guilds': [{'name': 'AA', 'owner': 'ada', 'vanity_code': 'same'}, "
                        "{'name': 'BB', 'owner': 'ada', 'vanity_code': 'same'}]}",
                        "guilds.1.vanity_code: another guild or an invite has this code\n");

    struct client *ada = world_client(w, "ada");
    world_file_here(w, SHOWN);
    world_file_here(w, SHOWN);
    expect_json(client_get(ada, "/guilds/50/welcome-screen"),
                "{'description': 'Come in', 'welcome_channels': [{'channel_id': '90', 'emoji_id': "
                "'71', 'emoji_name': 'wave'}, {'emoji_id': null}, {'emoji_name': null}]}");
    expect_json(client_get(ada, "/guilds/50/widget"), "{'enabled': true, 'channel_id': '90'}");
    expect_json(client_get(ada, "/guilds/50/vanity-url"), "{'code': 'home-sweet', 'uses': 3}");
    expect_json(client_get(ada, "/guilds/50"),
                "{'features': ['VANITY_URL', 'WELCOME_SCREEN_ENABLED']}");
    expect_round_trip(w);
}

/* --- new members ---------------------------------------------------------------------- */

static const char ASKED[] =
    "{" ADA HOME
    "'emojis': [{'id': '71', 'name': 'wave'}], 'roles': [{'id': '60', 'name': 'Birds'}], "
    "'channels': [{'id': '90', 'name': 'rules'}], 'members': [{'user': 'bob', 'pending': true}], "
    "'member_form': {'enabled': true, 'description': 'Be kind', 'version': "
    "'2026-01-02T03:04:05.000000+00:00', 'form_fields': [{'field_type': 'TERMS', 'label': 'Rules', "
    "'values': ['No cats']}, {'field_type': 'TEXT_INPUT', 'label': 'Why?'}]}, "
    "'join_requests': [{'id': '400', 'user': 'bob', 'status': 'SUBMITTED', 'responses': "
    "[{'field_type': 'TEXT_INPUT', 'label': 'Why?', 'response': 'Birds'}]}], "
    "'onboarding': {'mode': 1, 'default_channels': ['rules'], 'prompts': [{'id': '300', 'title': "
    "'Which?', 'single_select': true, 'options': [{'id': '301', 'title': 'Birds', 'emoji': 'wave', "
    "'roles': ['Birds'], 'channels': ['rules']}, {'id': '302', 'title': 'None', 'description': "
    "'Nothing'}]}]}}]}";

static void world_file_forms_and_onboarding_are_imported(struct world *w)
{
    expect_file_refused(
        w,
        "{" ADA HOME "'member_form': {'enabled': true, 'form_fields': []}, "
        "'join_requests': [{'user': 'eve', 'status': 'APPROVED'}], "
        "'onboarding': {'default_channels': ['none'], 'prompts': [{'title': 'x', 'options': "
        "[{'title': 'y', 'roles': ['Cats']}]}]}}]}",
        "guilds.0.member_form.form_fields: An enabled form needs at least one field.\n");
    expect_file_refused(
        w,
        "{" ADA HOME "'join_requests': [{'user': 'eve', 'status': 'APPROVED'}], "
        "'onboarding': {'default_channels': ['none'], 'prompts': [{'title': 'x', 'options': "
        "[{'title': 'y', 'roles': ['Cats']}]}]}}]}",
        "guilds.0.join_requests.0.user: there is no user 'eve'\n"
        "guilds.0.onboarding.default_channels.0: there is no channel 'none'\n"
        "guilds.0.onboarding.prompts.0.options.0.roles.0: there is no role 'Cats'\n");

    struct client *ada = world_client(w, "ada");
    world_file_here(w, ASKED);
    world_file_here(w, ASKED);
    expect_json(client_get(ada, "/guilds/50/member-verification"),
                "{'description': 'Be kind', 'form_fields': [{'field_type': 'TERMS'}, "
                "{'field_type': 'TEXT_INPUT'}]}");
    expect_json(client_get(ada, "/guilds/50/requests?status=SUBMITTED"),
                "{'total': 1, 'guild_join_requests': [{'id': '400', 'form_responses': "
                "[{'response': 'Birds'}]}]}");
    expect_json(client_get(ada, "/guilds/50/onboarding"),
                "{'mode': 1, 'default_channel_ids': ['90'], 'prompts': [{'id': '300', "
                "'single_select': true, 'in_onboarding': true, 'options': [{'id': '301', "
                "'role_ids': ['60'], 'channel_ids': ['90'], 'emoji': {'id': '71'}}, {'id': '302', "
                "'description': 'Nothing'}]}]}");
    expect_json(client_get(ada, "/guilds/50"),
                "{'features': ['MEMBER_VERIFICATION_GATE_ENABLED']}");
    expect_round_trip(w);
}

/* --- scheduled events ----------------------------------------------------------------- */

static const char PLANNED[] =
    "{" ADA HOME
    "'channels': [{'id': '90', 'name': 'hall', 'type': 'stage'}, {'id': '91', 'name': 'tea', "
    "'type': 'voice'}], 'scheduled_events': [{'id': '500', 'name': 'Talk', 'by': 'ada', 'channel': "
    "'hall', 'status': 'active', 'scheduled_start_time': '2026-01-01T10:00:00+00:00', 'users': "
    "['ada', 'bob']}, {'id': '501', 'name': 'Walk', 'location': 'The park', 'description': 'Slowly', "
    "'scheduled_start_time': '2027-01-04T10:00:00+00:00', 'scheduled_end_time': "
    "'2027-01-04T11:00:00+00:00', 'recurrence_rule': {'start': '2027-01-04T10:00:00+00:00', "
    "'frequency': 2, 'interval': 1, 'by_weekday': [0]}, 'exceptions': [{'original_start': "
    "'2027-01-11T10:00:00+00:00', 'is_canceled': true}]}], "
    "'stages': [{'id': '600', 'channel': 'hall', 'topic': 'Birds', 'event': '500'}]}]}";

static void world_file_events_and_stages_are_imported_and_exported(struct world *w)
{
    expect_file_refused(
        w,
        "{" ADA HOME
        "'channels': [{'name': 'text'}], 'scheduled_events': [{'name': 'x', 'channel': "
        "'text', 'scheduled_start_time': '2099-01-05T10:00:00+00:00'}], 'stages': [{'channel': "
        "'text', 'topic': 'y', 'event': 'none'}]}]}",
        "guilds.0.scheduled_events.0.channel: an event needs a voice or stage channel\n"
        "guilds.0.stages.0.event: there is no event 'none'\n"
        "guilds.0.stages.0.channel: stages are open in stage channels\n");
    expect_file_refused(
        w,
        "{" ADA HOME "'scheduled_events': [{'name': 'x', 'scheduled_start_time': "
        "'2099-01-05T10:00:00+00:00'}, {'name': 'y', 'location': 'z', 'scheduled_start_time': "
        "'2099-01-05T10:00:00+00:00', 'scheduled_end_time': '2099-01-05T10:00:00+00:00', "
        "'recurrence_rule': {'start': '2099-01-05T10:00:00+00:00', 'frequency': 2, 'interval': 1, "
        "'by_weekday': []}, 'exceptions': [{'original_start': '2099-01-12T10:00:00+00:00'}]}]}]}",
        "guilds.0.scheduled_events.0: An event needs either a channel or a location.\n"
        "guilds.0.scheduled_events.1.exceptions.0.original_start: There are no ids of this "
        "moment.\n"
        "guilds.0.scheduled_events.1.scheduled_end_time: The event must end after it starts.\n"
        "guilds.0.scheduled_events.1.recurrence_rule.by_weekday: A weekly event has one day.\n");

    struct client *ada = world_client(w, "ada");
    world_file_here(w, PLANNED);
    world_file_here(w, PLANNED);
    expect_json(
        client_get(ada, "/guilds/50/scheduled-events?with_user_count=true"),
        "[{'id': '500', 'status': 2, 'entity_type': 1, 'entity_id': '600', 'user_count': 2}, "
        "{'id': '501', 'status': 1, 'entity_type': 3, 'entity_metadata': {'location': 'The "
        "park'}, 'guild_scheduled_event_exceptions': [{'is_canceled': true}]}]");
    expect_json(client_get(ada, "/stage-instances/90"),
                "{'id': '600', 'topic': 'Birds', 'privacy_level': 2, 'guild_scheduled_event_id': "
                "'500'}");
    expect(world_number(w, "select count(*) from jobs where kind = 'scheduled-event'") == 2);
    expect(world_number(w, "select count(*) from jobs where kind = 'stage-silence'") == 1);
    expect_round_trip(w);
}

/* --- sounds and templates ------------------------------------------------------------- */

/* Writes a world file with this sound; the test's MP3 has one frame: MPEG 1, layer III, 128
 * kbit/s, 44.1 kHz. */
static const char *write_world_sound(struct world *w, const char *uri)
{
    return str_printf(world_arena(w),
                      "{" ADA HOME "'sounds': [{'id': '81', 'name': 'ding', 'by': 'bob', "
                      "'sound': '%s'}]}]}",
                      uri)
        .p;
}

static void world_file_sounds_contain_their_audio(struct world *w)
{
    static const char head[] = "data:audio/mpeg;base64,//uQ";
    char uri[sizeof head + 552] = "";

    memcpy(uri, head, sizeof head);
    memset(uri + sizeof head - 1, 'A', 552); /* the frame's other 414 bytes */
    expect_file_refused(w, write_world_sound(w, "data:audio/mpeg;base64,AAAA"),
                        "guilds.0.sounds.0.sound: not an MP3 or Ogg file of at most 5.2 seconds "
                        "and 512 KiB, as a data URI\n");
    world_file_here(w, write_world_sound(w, uri));
    world_file_here(w, write_world_sound(w, uri));
    expect_files(w, "sounds", 1);
    struct answer a =
        client_request(world_anonymous(w), "GET", "/soundboard-sounds/81", "", STR(""));
    expect_status(a, 200);
    expect(world_number(w, "select count(*) from sounds s join users u on u.id = s.user_id where "
                           "u.username = 'bob'") == 1);
    expect_round_trip(w);
}

static const char ARRANGED[] =
    "{" ADA HOME
    "'channels': [{'id': '90', 'name': 'hall'}], 'template': {'code': 'abc123', 'name': "
    "'Like home', 'description': 'Warm', 'usage_count': 2, 'created_at': "
    "'2026-01-02T03:04:05+00:00', 'updated_at': '2026-01-03T03:04:05+00:00'}}]}";

static void world_file_template_belongs_to_its_guild(struct world *w)
{
    expect_file_refused(
        w,
        "{" ADA "'guilds': [{'name': 'AA', 'owner': 'ada', 'template': {'code': 'same', "
        "'name': 'x'}}, {'name': 'BB', 'owner': 'ada', 'template': {'code': 'same', "
        "'name': 'y', 'by': 'bob'}}]}",
        "guilds.1.template.code: another guild's template has this code\n");

    struct client *ada = world_client(w, "ada");
    world_file_here(w, ARRANGED);
    world_file_here(w, ARRANGED);
    expect_json(client_get(ada, "/guilds/templates/abc123"),
                "{'name': 'Like home', 'usage_count': 2, 'source_guild_id': '50', 'creator_id': "
                "'%s', 'serialized_source_guild': {'channels': [{'name': 'hall'}]}}",
                ada->id);
    expect_round_trip(w);
}

const struct test guild_resources_tests[] = {
    TEST(world_file_forums_and_threads_are_imported_and_exported),
    TEST(world_file_welcome_screen_and_widget_are_imported),
    TEST(world_file_forms_and_onboarding_are_imported),
    TEST(world_file_events_and_stages_are_imported_and_exported),
    TEST(world_file_sounds_contain_their_audio),
    TEST(world_file_template_belongs_to_its_guild),
    { 0 },
};
