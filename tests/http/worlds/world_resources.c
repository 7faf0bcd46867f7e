/* world_resources.c - single resources in world files, imported and exported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "platform/worlds/import_export.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

static const char FOLLOWED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'platform_accounts': [{'platform': 'platform_a', 'id': 'streamer', 'name': 'Streamer',"
    "   'programme': true, 'owner': 'ada', 'subscribers': ['b1', 'other']},"
    "  {'platform': 'platform_a', 'id': 'b1', 'name': 'Bob', 'owner': 'bob',"
    "   'friends': ['streamer']}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'members': [{'user': 'bob'}],"
    "   'roles': [{'name': 'Subscribers'}],"
    "   'integrations': [{'platform': 'platform_a', 'account': 'streamer', 'by': 'ada',"
    "     'role': 'Subscribers', 'expire_grace_period': 14}]}]}";

static void world_file_integrations_are_synced_and_exported(struct world *w)
{
    world_file_here(w, FOLLOWED_WORLD);
    expect_round_trip(w);
    world_restart(w); /* a running server does not notice the import */
    expect_soon(world_number(w, "select subscriber_count from integrations") == 2);
    world_settle(w);
    expect(world_number(w, "select count(*) from member_roles") == 1);
    world_file_here(w, FOLLOWED_WORLD);
    expect(world_number(w, "select count(*) from integrations") == 1);
}

static const char RINGING_WORLD[] =
    "{'users': [{'username': 'ada'}], 'applications': [{'name': 'Helper', 'owner': 'ada',"
    "   'bot': 'helper', 'emojis': [{'id': '61', 'name': 'own', 'by': 'ada', 'image': '" PNG
    "'}]}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'roles': [{'name': 'some'}],"
    "   'emojis': [{'id': '71', 'name': 'wave', 'animated': true, 'roles': ['some'], 'by': 'ada'},"
    "     {'name': 'bell', 'image': '" PNG "'}],"
    "   'sounds': [{'id': '81', 'name': 'ring', 'volume': 0.5, 'emoji': 'bell'},"
    "     {'name': 'knock', 'unicode_emoji': '!'}]}]}";

static void world_file_emojis_and_sounds_are_imported_and_exported(struct world *w)
{
    world_file_here(w, RINGING_WORLD);
    world_file_here(w, RINGING_WORLD);
    expect(world_number(w, "select count(*) from emojis") == 2);
    expect(world_number(w, "select count(*) from emojis where id = 71 and animated = 1") == 1);
    expect(world_number(w,
                        "select count(*) from emojis e join roles r on e.roles like '%%' || r.id "
                        "|| '%%' where e.id = 71 and e.user_id is not null") == 1);
    expect(world_number(w, "select count(*) from application_emojis where id = 61") == 1);
    expect_files(w, "emojis", 2);
    expect_status(client_request(world_anonymous(w), "GET", "/emojis/61.png", "", STR("")), 200);
    expect(world_number(w, "select count(*) from sounds") == 2);
    expect(world_number(w, "select count(*) from sounds s join emojis e on e.id = s.emoji_id "
                           "where s.id = 81 and s.volume = 0.5 and e.name = 'bell'") == 1);
    expect_round_trip(w);
}

static const char RULED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'roles': [{'name': 'some'}],"
    "   'members': [{'user': 'bob'}], 'channels': [{'id': '90', 'name': 'general'}],"
    "   'automod': [{'name': 'Cats', 'by': 'ada', 'trigger_type': 1,"
    "     'trigger_metadata': {'keyword_filter': ['cat']}, 'actions': [{'type': 1}],"
    "     'exempt_roles': ['some'], 'exempt_channels': ['general']},"
    "     {'name': 'Off', 'by': 'ada', 'trigger_type': 3, 'actions': [{'type': 1}],"
    "     'enabled': false}]}]}";

static void world_file_automod_rules_are_imported_and_exported(struct world *w)
{
    expect_file_refused(
        w,
        "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': 'ada', 'automod': [{'name': 'x', 'by': "
        "'ada', 'trigger_type': 1, 'actions': [{'type': 4}], 'trigger_metadata': {}}]}]}",
        "guilds.0.automod.0.actions.0.type: Rules of this trigger type cannot have this action.\n");
    world_file_here(w, RULED_WORLD);
    world_file_here(w, RULED_WORLD);
    expect(world_number(w, "select count(*) from automod_rules") == 2);
    expect(world_number(w, "select count(*) from guilds where automod_version > 0") == 1);
    expect_round_trip(w);
}

static const char REACTED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'emojis': [{'id': '71', 'name': 'wave'}],"
    "   'channels': [{'name': 'general', 'messages': [{'id': '900', 'author': 'ada',"
    "     'content': 'hi', 'reactions': [{'emoji': 'wave', 'users': ['ada', 'bob']},"
    "       {'emoji': '!', 'users': ['bob']}]}]}]}]}";

static void world_file_reactions_are_imported_and_exported(struct world *w)
{
    char good[sizeof REACTED_WORLD + 8];
    const char *wrong = strstr(REACTED_WORLD, "'!'");

    snprintf(good, sizeof good, "%.*s'\xf0\x9f\x94\xa5'%s", (int)(wrong - REACTED_WORLD),
             REACTED_WORLD, wrong + 3);
    expect_file_refused(
        w, REACTED_WORLD,
        "guilds.0.channels.0.messages.0.reactions.1.emoji: there is no emoji '!'\n");
    expect_file_refused(
        w,
        "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': 'ada', 'channels': "
        "[{'name': 'general', 'messages': [{'author': 'ada', 'content': 'a', 'at': "
        "'1999-01-01T00:00:00+00:00'}, {'author': 'ada', 'content': 'b', 'minutes_ago': "
        "99999999}, {'id': '5', 'author': 'ada', 'content': 'c', 'reactions': [{'emoji': "
        "'\xf0\x9f\x94\xa5', 'users': ['ada']}, {'emoji': '\xf0\x9f\x94\xa5', 'users': "
        "['ada']}]}]}]}]}",
        "guilds.0.channels.0.messages.0.at: The time is outside the range of ids.\n"
        "guilds.0.channels.0.messages.1.minutes_ago: The time is outside the range of ids.\n");
    world_file_here(w, good);
    world_file_here(w, good);
    struct str first = world_exported_here(w);
    expect(world_number(w, "select count(*) from reaction_users") == 3);
    expect(world_number(w, "select count(*) from reactions where emoji_key = ':71'") == 1);
    expect(world_number(w, "select count(*) from messages where reacted = 3 and "
                           "reactions like '%%02,0,%%,:71%%wave%%'") == 1);
    expect(memmem(first.p, first.n, "\"reactions\"", 11));
    expect_round_trip(w);
}

static const char STUCK_WORLD[] =
    "{'users': [{'username': 'ada'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'stickers': [{'id': '81', 'name': 'wave',"
    "   'tags': 'hand', 'format': 'gif', 'by': 'ada', 'image': '" PNG "'}],"
    "   'channels': [{'name': 'general', 'messages': [{'id': '900', 'author': 'ada',"
    "     'content': '', 'stickers': ['wave']}]}]}]}";

static void world_file_stickers_are_imported_and_exported(struct world *w)
{
    world_file_here(w, STUCK_WORLD);
    world_file_here(w, STUCK_WORLD);
    expect(world_number(w, "select count(*) from stickers where id = 81 and format = 4") == 1);
    expect(world_number(w, "select count(*) from messages where sticker_items like '%%81%%'") == 1);
    expect_round_trip(w);
}

static const char ENTITLED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'applications': [{'name': 'Helper', 'owner': 'ada', 'bot': 'helper',"
    "   'skus': [{'id': '51', 'name': 'Gold & Silver!'}, {'name': 'Coin', 'type': 'consumable',"
    "     'flags': 0}],"
    "   'entitlements': [{'sku': 'Coin', 'user': 'bob', 'test': true},"
    "     {'sku': '51', 'guild': 'Home', 'ends_at': '2099-01-01T00:00:00+00:00'}]}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada'}]}";

static void world_file_entitlements_are_imported_and_exported(struct world *w)
{
    expect_file_refused(
        w,
        "{'users': [{'username': 'ada'}], 'applications': [{'name': 'Helper', 'owner': "
        "'ada', 'skus': [{'name': 'Gold'}], 'entitlements': [{'sku': 'Gold'}]}]}",
        "applications.0.entitlements.0: an entitlement needs either a user or a guild\n");
    world_file_here(w, ENTITLED_WORLD);
    world_file_here(w, ENTITLED_WORLD);
    expect(world_number(w, "select count(*) from skus where slug = 'gold-silver' and flags = 4 and "
                           "type = 5") == 1);
    expect(world_number(w, "select count(*) from entitlements where sku_type = 3 and test = 1") ==
           1);
    expect(world_number(w, "select count(*) from entitlements e join guilds g on g.id = e.guild_id "
                           "and g.owner_id = e.user_id where e.sku_id = 51") == 1);
    expect_round_trip(w);
}

static const char POLLED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'emojis': [{'id': '71', 'name': 'wave'}],"
    "   'channels': [{'name': 'general', 'messages': [{'id': '900', 'author': 'ada',"
    "     'content': '', 'poll': {'question': 'Which?', 'hours': 2, 'allow_multiselect': true,"
    "       'answers': [{'text': 'one', 'emoji': 'wave', 'users': ['ada', 'bob']},"
    "         {'text': 'two', 'users': ['bob']}]}}]}]}]}";

static void world_file_polls_are_imported_and_exported(struct world *w)
{
    world_file_here(w, POLLED_WORLD);
    world_file_here(w, POLLED_WORLD);
    expect(world_number(w, "select count(*) from poll_votes") == 3);
    expect(world_number(w, "select sum(answers) from poll_voters") == 1 + 3);
    expect(world_number(w, "select count(*) from jobs where kind = 'poll-end'") == 1);
    expect_round_trip(w);
}

static void world_file_sound_must_have_one_existing_emoji(struct world *w)
{
    expect_file_refused(
        w,
        "{'users': [{'username': 'zoe'}], 'guilds': [{'name': 'Home', 'owner': 'zoe', "
        "'sounds': [{'name': 'b'}, "
        "{'name': 'both', 'emoji': 'bell', 'unicode_emoji': '!'}]}]}",
        "guilds.0.sounds.0.name: Must be between 2 and 32 in length.\n"
        "guilds.0.sounds.1: A sound has an emoji of the guild or of Unicode.\n");
    expect_file_refused(
        w,
        "{'users': [{'username': 'zoe'}], 'guilds': [{'name': 'Home', 'owner': 'zoe', "
        "'sounds': [{'name': 'hum', 'emoji': 'no'}]}]}",
        "guilds.0.sounds.0.emoji: there is no emoji 'no'\n");
}

static void world_file_integration_requires_an_existing_account(struct world *w)
{
    expect_file_refused(
        w,
        "{'users': [{'username': 'zoe'}], 'guilds': [{'name': 'Home', 'owner': 'zoe', "
        "'integrations': [{'platform': 'platform_b', 'account': 'no', 'by': 'zoe'}]}]}",
        "guilds.0.integrations.0.account: there is no account 'no'\n");
}

const struct test world_resources_tests[] = {
    TEST(world_file_integrations_are_synced_and_exported),
    TEST(world_file_integration_requires_an_existing_account),
    TEST(world_file_emojis_and_sounds_are_imported_and_exported),
    TEST(world_file_automod_rules_are_imported_and_exported),
    TEST(world_file_reactions_are_imported_and_exported),
    TEST(world_file_polls_are_imported_and_exported),
    TEST(world_file_stickers_are_imported_and_exported),
    TEST(world_file_entitlements_are_imported_and_exported),
    TEST(world_file_sound_must_have_one_existing_emoji),
    { 0 },
};
