/* reactions.c - adding, removing and listing reactions, and their events. */
#include "apps.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES  "/channels/%s/messages"
#define MESSAGE   MESSAGES "/%s"
#define REACTIONS MESSAGE "/reactions"
#define OWN       REACTIONS "/%s/@me"

#define THUMB      "%F0%9F%91%8D"
#define THUMB_TEXT "\xf0\x9f\x91\x8d"
#define FIRE       "%F0%9F%94%A5"
#define PLAY       "%E2%96%B6"
#define PLAY_MARK  "%E2%96%B6%EF%B8%8F"

/* Guild of ada with bob, and a message of ada. */
struct reaction_test {
    struct client *ada, *bob;
    struct test_guild v;
    const char *message;
    struct channel_events room;
};

static struct reaction_test create_reaction_test(struct world *w)
{
    struct reaction_test s = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    s.v = world_test_guild(w, s.ada);
    test_guild_add(&s.v, s.bob);
    s.message =
        answer_text(client_post(s.ada, "{'content': 'hello'}", MESSAGES, s.v.channel), "id");
    s.room = world_channel_events(w, s.v.channel);
    return s;
}

static struct answer add_reaction(struct reaction_test *s, struct client *c, const char *emoji)
{
    return client_put(c, NULL, OWN, s->v.channel, s->message, emoji);
}

static struct answer get_message(struct reaction_test *s, struct client *c)
{
    return client_get(c, MESSAGE, s->v.channel, s->message);
}

/* --- adding --------------------------------------------------------------------------- */

static void adding_a_reaction_updates_the_message_and_sends_an_event(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    expect_absent(get_message(&s, s.ada), "reactions");
    expect_status(add_reaction(&s, s.bob, THUMB), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_ADD",
                         "{'user_id': '%s', 'channel_id': '%s', 'message_id': '%s', "
                         "'message_author_id': '%s', 'guild_id': '%s', 'member': {'roles': [], "
                         "'user': {'id': '%s', 'username': 'bob'}}, "
                         "'emoji': {'id': null, 'name': '" THUMB_TEXT
                         "'}, 'burst': false, 'type': 0}",
                         s.bob->id, s.v.channel, s.message, s.ada->id, s.v.id, s.bob->id);
    expect(!dom_at(world_last_event(w, "MESSAGE_REACTION_ADD"), "burst_colors"));
    expect(!dom_at(world_last_event(w, "MESSAGE_REACTION_ADD"), "emoji.animated"));
    expect_json(get_message(&s, s.bob),
                "{'reactions': [{'emoji': {'id': null, 'name': '" THUMB_TEXT "'}, 'count': 1, "
                "'count_details': {'normal': 1, 'burst': 0}, 'me': true, 'me_burst': false, "
                "'burst_colors': []}]}");
    expect_json(get_message(&s, s.ada), "{'reactions': [{'count': 1, 'me': false}]}");
    expect_status(add_reaction(&s, s.ada, THUMB), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_ADD", "{'user_id': '%s'}", s.ada->id);
    expect_json(client_get(s.ada, MESSAGES, s.v.channel),
                "[{'reactions': [{'count': 2, 'me': true}]}]");
    /* A second PUT changes nothing. */
    expect_status(add_reaction(&s, s.ada, THUMB), 204);
    expect_channel_silence(&s.room);
    expect_json(get_message(&s, s.ada), "{'reactions': [{'count': 2}]}");
}

static void message_page_contains_reactions_of_each_message(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);
    const char *second =
        answer_text(client_post(s.ada, "{'content': 'two'}", MESSAGES, s.v.channel), "id");

    client_post(s.ada, "{'content': 'three'}", MESSAGES, s.v.channel);
    add_reaction(&s, s.bob, FIRE);
    expect_status(client_put(s.ada, NULL, OWN, s.v.channel, second, THUMB), 204);
    expect_status(client_put(s.ada, NULL, OWN, s.v.channel, second, FIRE), 204);
    struct answer a = client_get(s.ada, MESSAGES, s.v.channel);
    expect_json(a, "[{'content': 'three'}, {'reactions': [{'emoji': {'name': '" THUMB_TEXT
                   "'}}, {'me': true}]}, {'reactions': [{'me': false}]}]");
    expect_absent(a, "0.reactions");
    expect_absent(a, "2.reactions.1");
}

static void reactions_are_in_responses_but_not_in_message_events(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    add_reaction(&s, s.bob, THUMB);
    expect_channel_event(&s.room, "MESSAGE_REACTION_ADD", "{}");
    struct answer a = client_patch(s.ada, "{'content': 'new'}", MESSAGE, s.v.channel, s.message);
    expect_json(a, "{'reactions': [{'count': 1}]}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'content': 'new'}");
    expect(!dom_at(world_last_event(w, "MESSAGE_UPDATE"), "reactions"));
    expect_status(client_put(s.ada, NULL, "/channels/%s/pins/%s", s.v.channel, s.message), 204);
    expect_absent(client_get(s.ada, "/channels/%s/pins", s.v.channel), "0.reactions");
    expect_absent(client_get(s.ada, "/channels/%s/messages/pins", s.v.channel),
                  "items.0.message.reactions");
    a = client_post(
        s.ada, TEXT(w, "{'content': 'x', 'message_reference': {'message_id': '%s'}}", s.message),
        MESSAGES, s.v.channel);
    expect_json(a, "{'referenced_message': {'id': '%s'}}", s.message);
    expect_absent(a, "referenced_message.reactions");
}

static void emoji_added_again_after_removal_is_listed_last(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    add_reaction(&s, s.bob, THUMB);
    add_reaction(&s, s.bob, FIRE);
    expect_json(get_message(&s, s.bob),
                "{'reactions': [{'emoji': {'name': '" THUMB_TEXT "'}}, {}]}");
    expect_status(client_delete(s.bob, OWN, s.v.channel, s.message, THUMB), 204);
    add_reaction(&s, s.bob, THUMB);
    expect_json(get_message(&s, s.bob),
                "{'reactions': [{}, {'emoji': {'name': '" THUMB_TEXT "'}}]}");
}

/* The message's row contains the first few users; others are read from their rows. */
static void reaction_field_me_is_correct_for_any_number_of_users(struct world *w)
{
    enum { PEOPLE = 7 };
    struct reaction_test s = create_reaction_test(w);
    struct client *people[PEOPLE];

    for (int i = 0; i < PEOPLE; i++) {
        people[i] = world_client(w, TEXT(w, "person%d", i));
        test_guild_add(&s.v, people[i]);
    }
    for (int in = 1; in <= PEOPLE; in++) {
        expect_status(add_reaction(&s, people[in - 1], THUMB), 204);
        expect_status(add_reaction(&s, people[in - 1], THUMB), 204);
        for (int i = 0; i < PEOPLE; i++)
            expect_json(get_message(&s, people[i]), "{'reactions': [{'count': %d, 'me': %s}]}", in,
                        i < in ? "true" : "false");
    }
    for (int out = 1; out < PEOPLE; out++) {
        expect_status(client_delete(people[out - 1], OWN, s.v.channel, s.message, THUMB), 204);
        for (int i = 0; i < PEOPLE; i++)
            expect_json(get_message(&s, people[i]), "{'reactions': [{'count': %d, 'me': %s}]}",
                        PEOPLE - out, i < out ? "false" : "true");
    }
    expect_status(add_reaction(&s, people[0], FIRE), 204);
    expect_json(get_message(&s, people[0]), "{'reactions': [{'me': false}, {'me': true}]}");
    expect_json(get_message(&s, people[PEOPLE - 1]),
                "{'reactions': [{'me': true}, {'me': false}]}");
}

/* --- emojis --------------------------------------------------------------------------- */

static void emoji_with_and_without_variation_selector_are_the_same(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    expect_status(add_reaction(&s, s.ada, PLAY), 204);
    expect_status(add_reaction(&s, s.bob, PLAY_MARK), 204);
    expect_json(get_message(&s, s.ada),
                "{'reactions': [{'count': 2, 'emoji': {'name': '\xe2\x96\xb6'}}]}");
    expect_absent(get_message(&s, s.ada), "reactions.1");
    expect_channel_event(&s.room, "MESSAGE_REACTION_ADD", "{}");
    expect_channel_event(&s.room, "MESSAGE_REACTION_ADD", "{'emoji': {'name': '\xe2\x96\xb6'}}");
    expect_status(client_delete(s.bob, OWN, s.v.channel, s.message, PLAY), 204);
    /* Skin tones are different emojis. */
    expect_status(add_reaction(&s, s.ada, THUMB), 204);
    expect_status(add_reaction(&s, s.ada, THUMB "%F0%9F%8F%BD"), 204);
    expect_json(get_message(&s, s.ada), "{'reactions': [{}, {'count': 1}, {'count': 1}]}");
}

static void flag_letters_and_keycaps_are_accepted_as_emojis(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    expect_status(add_reaction(&s, s.ada, "%F0%9F%87%A6"), 204);
    expect_status(add_reaction(&s, s.ada, "%F0%9F%87%A9%F0%9F%87%AA"), 204);
    expect_status(add_reaction(&s, s.ada, "1%EF%B8%8F%E2%83%A3"), 204);
    expect_json(get_message(&s, s.ada), "{'reactions': [{}, {}, {}]}");
}

static void invalid_emoji_is_400_10014(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);
    static const char *const wrong[] = { "smile",      "%3Asmile%3A",  "123456789", "a",   "%20",
                                         "a:b:c:77",   "x:",           "%3A77",     "%2F", "x:y",
                                         "%E2%96%B6x", "a%3A%3A77777", "x:0" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_error(add_reaction(&s, s.ada, wrong[i]), 400, 10014);
        expect_error(client_get(s.ada, REACTIONS "/%s", s.v.channel, s.message, wrong[i]), 400,
                     10014);
    }
    expect_absent(get_message(&s, s.ada), "reactions");
}

static void custom_emoji_reaction_is_identified_by_its_id_only(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);
    static const char *const forms[] = { "wave:71",          "other%3A71",     "a:wave:71",
                                         "a%3Awave%3A71",    ":wave:71",       "%3Cwave:71%3E",
                                         "%3C%3Awave:71%3E", "%3Ca:wave:71%3E" };

    world_sql(w, "insert into emojis (id, guild_id, name, animated) values (71, %s, 'wave', 1)",
              s.v.id);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        expect_status(add_reaction(&s, s.ada, forms[i]), 204);
        expect_channel_event(&s.room, "MESSAGE_REACTION_ADD",
                             "{'emoji': {'id': '71', 'name': 'wave', 'animated': true}}");
        expect_status(client_delete(s.ada, OWN, s.v.channel, s.message, "x:71"), 204);
        expect_channel_event(&s.room, "MESSAGE_REACTION_REMOVE", "{'emoji': {'id': '71'}}");
    }
    expect_channel_silence(&s.room);
    /* The name stays after the emoji is deleted, and everyone may add the same reaction. */
    add_reaction(&s, s.ada, "wave:71");
    world_sql(w, "delete from emojis");
    expect_status(add_reaction(&s, s.bob, "wave:71"), 204);
    expect_json(get_message(&s, s.bob),
                "{'reactions': [{'count': 2, 'emoji': {'id': '71', 'name': 'wave', "
                "'animated': true}}]}");
    expect_error(add_reaction(&s, s.bob, "wave:72"), 400, 10014);
}

/* --- removing ------------------------------------------------------------------------- */

static void removing_ones_own_reaction_sends_an_event(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    add_reaction(&s, s.ada, THUMB);
    add_reaction(&s, s.bob, THUMB);
    s.room = world_channel_events(w, s.v.channel);
    expect_status(client_delete(s.bob, OWN, s.v.channel, s.message, THUMB), 204);
    expect_channel_event(
        &s.room, "MESSAGE_REACTION_REMOVE",
        "{'user_id': '%s', 'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s', "
        "'emoji': {'id': null, 'name': '" THUMB_TEXT "'}, 'burst': false, 'type': 0}",
        s.bob->id, s.v.channel, s.message, s.v.id);
    expect_json(get_message(&s, s.bob), "{'reactions': [{'count': 1, 'me': false}]}");
    /* Removing a missing reaction sends no event. */
    expect_status(client_delete(s.bob, OWN, s.v.channel, s.message, THUMB), 204);
    expect_status(client_delete(s.bob, OWN, s.v.channel, s.message, FIRE), 204);
    expect_status(client_delete(s.ada, REACTIONS "/%s/1/@me", s.v.channel, s.message, THUMB), 204);
    expect_channel_silence(&s.room);
    expect_status(client_delete(s.ada, REACTIONS "/%s/0/@me", s.v.channel, s.message, THUMB), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_REMOVE", "{'user_id': '%s'}", s.ada->id);
    expect_absent(get_message(&s, s.bob), "reactions");
    expect(world_number(w, "select (select count(*) from reactions) + (select count(*) from "
                           "reaction_lanes) + (select count(*) from reaction_users)") == 0);
}

static void removing_reactions_of_others_requires_manage_messages(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    add_reaction(&s, s.ada, THUMB);
    add_reaction(&s, s.bob, THUMB);
    add_reaction(&s, s.bob, FIRE);
    s.room = world_channel_events(w, s.v.channel);
    expect_error(client_delete(s.bob, REACTIONS "/%s/%s", s.v.channel, s.message, THUMB, s.ada->id),
                 403, 50013);
    expect_error(client_delete(s.bob, REACTIONS "/%s", s.v.channel, s.message, THUMB), 403, 50013);
    expect_error(client_delete(s.bob, REACTIONS, s.v.channel, s.message), 403, 50013);
    expect_status(client_delete(s.ada, REACTIONS "/%s/1", s.v.channel, s.message, THUMB), 204);
    expect_invalid(client_delete(s.ada, REACTIONS "/%s/x", s.v.channel, s.message, THUMB),
                   "user_id", "NUMBER_TYPE_COERCE");
    expect_channel_silence(&s.room);
    expect_status(
        client_delete(s.ada, REACTIONS "/%s/%s", s.v.channel, s.message, THUMB, s.bob->id), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_REMOVE", "{'user_id': '%s'}", s.bob->id);
    expect_status(
        client_delete(s.bob, REACTIONS "/%s/0/%s", s.v.channel, s.message, FIRE, s.bob->id), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_REMOVE", "{'user_id': '%s'}", s.bob->id);
    expect_status(client_delete(s.ada, REACTIONS "/%s", s.v.channel, s.message, THUMB), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_REMOVE_EMOJI",
                         "{'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s', "
                         "'emoji': {'name': '" THUMB_TEXT "'}}",
                         s.v.channel, s.message, s.v.id);
    expect_status(client_delete(s.ada, REACTIONS "/%s", s.v.channel, s.message, THUMB), 204);
    expect_status(client_delete(s.ada, REACTIONS, s.v.channel, s.message), 204);
    expect_channel_silence(&s.room);
    add_reaction(&s, s.ada, THUMB);
    add_reaction(&s, s.bob, FIRE);
    s.room = world_channel_events(w, s.v.channel);
    expect_status(client_delete(s.ada, REACTIONS, s.v.channel, s.message), 204);
    expect_channel_event(&s.room, "MESSAGE_REACTION_REMOVE_ALL",
                         "{'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s'}", s.v.channel,
                         s.message, s.v.id);
    expect_channel_silence(&s.room);
    expect_absent(get_message(&s, s.ada), "reactions");
    expect_status(add_reaction(&s, s.bob, FIRE), 204);
    expect_json(get_message(&s, s.bob), "{'reactions': [{'count': 1, 'me': true}]}");
}

/* --- users of an emoji ---------------------------------------------------------------- */

static void users_of_a_reaction_are_listed_by_id_in_pages(struct world *w)
{
    struct reaction_test s = create_reaction_test(w);

    add_reaction(&s, s.bob, THUMB);
    add_reaction(&s, s.ada, THUMB);
    struct answer a = client_get(s.ada, REACTIONS "/%s", s.v.channel, s.message, THUMB);
    expect_json(a, "[{'id': '%s', 'username': 'ada'}, {'id': '%s'}]", s.ada->id, s.bob->id);
    a = client_get(s.ada, REACTIONS "/%s?limit=1&after=%s", s.v.channel, s.message, THUMB,
                   s.ada->id);
    expect_json(a, "[{'id': '%s'}]", s.bob->id);
    expect_json(client_get(s.ada, REACTIONS "/%s?type=1", s.v.channel, s.message, THUMB), "[]");
    expect_json(client_get(s.ada, REACTIONS "/%s", s.v.channel, s.message, FIRE), "[]");
    expect_invalid(client_get(s.ada, REACTIONS "/%s?limit=0", s.v.channel, s.message, THUMB),
                   "limit", "NUMBER_TYPE_MIN");
    expect_invalid(client_get(s.ada, REACTIONS "/%s?limit=101", s.v.channel, s.message, THUMB),
                   "limit", "NUMBER_TYPE_MAX");
    expect_invalid(client_get(s.ada, REACTIONS "/%s?type=2", s.v.channel, s.message, THUMB), "type",
                   "BASE_TYPE_CHOICES");
}

const struct test reactions_tests[] = {
    TEST(adding_a_reaction_updates_the_message_and_sends_an_event),
    TEST(message_page_contains_reactions_of_each_message),
    TEST(reactions_are_in_responses_but_not_in_message_events),
    TEST(emoji_added_again_after_removal_is_listed_last),
    TEST(reaction_field_me_is_correct_for_any_number_of_users),
    TEST(emoji_with_and_without_variation_selector_are_the_same),
    TEST(flag_letters_and_keycaps_are_accepted_as_emojis),
    TEST(invalid_emoji_is_400_10014),
    TEST(custom_emoji_reaction_is_identified_by_its_id_only),
    TEST(removing_ones_own_reaction_sends_an_event),
    TEST(removing_reactions_of_others_requires_manage_messages),
    TEST(users_of_a_reaction_are_listed_by_id_in_pages),
    { 0 },
};
