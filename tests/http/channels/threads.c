/* threads.c - creating, changing, archiving and deleting threads. */
#include "channels.h"
#include "waits.h"

#include <stdlib.h>
#include <string.h>

#define THREADS "/channels/%s/threads"
#define ACTIVE  "/guilds/%s/threads/active"

static const char *start_thread(struct client *c, const char *channel, const char *rest)
{
    struct answer a = client_post(c,
                                  str_printf(world_arena(c->world), "{'name': 'talk'%s%s}", rest,
                                             strstr(rest, "type") ? "" : ", 'type': 11")
                                      .p,
                                  THREADS, channel);

    expect_status(a, 201);
    discard_received(c->world);
    return answer_text(a, "id");
}

static void starting_a_thread_returns_all_fields_and_sends_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    struct answer a =
        client_post(bob, "{'name': 'talk', 'type': 11, 'rate_limit_per_user': 5}", THREADS, c);
    expect_status(a, 201);
    expect_json(a,
                "{'type': 11, 'name': 'talk', 'parent_id': '%s', 'guild_id': '%s', 'owner_id': "
                "'%s', 'rate_limit_per_user': 5, 'message_count': 0, 'member_count': 1, "
                "'last_message_id': null, 'thread_metadata': {'archived': false, 'locked': false, "
                "'auto_archive_duration': 4320}, "
                "'total_message_sent': 0, 'member': {'user_id': '%s', 'flags': 1}}",
                c, g, bob->id, bob->id);
    expect_absent(a, "permission_overwrites");
    expect_absent(a, "position");
    expect_absent(a, "newly_created");
    const char *id = answer_text(a, "id");
    expect_audit(w, g, 110, id);
    expect_received(w, viewers(g, id), "THREAD_CREATE", "{'id': '%s', 'newly_created': true}", id);
    expect_received(
        w, viewers(g, id), "THREAD_MEMBERS_UPDATE",
        "{'id': '%s', 'guild_id': '%s', 'member_count': 1, 'added_members': [{'id': '%s', "
        "'user_id': '%s', 'flags': 1, 'presence': null, 'member': {'user': {'id': "
        "'%s'}}}]}",
        id, g, id, bob->id, bob->id);
    expect_event(bob, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", id);
    expect_received(w, viewers(g, c), "MESSAGE_CREATE",
                    "{'id': '%s', 'channel_id': '%s', 'type': 18, 'content': 'talk', 'flags': 32, "
                    "'message_reference': {'channel_id': '%s', 'guild_id': '%s', 'type': 0}}",
                    id, c, id, g);
    expect_nothing_received(w);
    expect_json(client_get(ada, "/channels/%s", id), "{'id': '%s', 'type': 11}", id);
    expect_absent(client_get(ada, "/channels/%s", id), "member");
    expect_json(client_get(bob, "/channels/%s", id), "{'member': {'id': '%s'}}", id);
    expect_json(client_get(ada, ACTIVE, g),
                "{'threads': [{'id': '%s'}], 'members': [], 'has_more': false}", id);
    expect_json(client_get(bob, "/channels/%s/threads/active", c),
                "{'threads': [{'id': '%s'}], 'members': [{'id': '%s', 'user_id': '%s'}]}", id, id,
                bob->id);
    /* The thread is not in the guild's channel list. */
    a = client_get(ada, "/guilds/%s/channels", g);
    for (size_t i = 0; i < a.json->count; i++)
        expect(!str_is(dom_member(&a.json->items[i], STR("id"))->text, id));
}

static void slow_mode_counts_threads_and_messages_separately(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *helper = world_bot(w, "helper");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a', 'rate_limit_per_user': 30}");

    put_member(g, bob);
    put_member(g, helper);
    /* Messages and thread creation have separate cooldowns, in either order. */
    expect_status(client_post(bob, "{'content': 'one'}", "/channels/%s/messages", c), 200);
    start_thread(bob, c, "");
    expect_status(client_post(bob, "{'content': 'two'}", "/channels/%s/messages", c), 429);
    struct answer a = client_post(bob, "{'name': 'talk'}", THREADS, c);
    expect_status(a, 429);
    expect(str_is(answer_header(a, "Retry-After"), "30"));
    a = client_post(bob, NULL, "/channels/%s/typing", c);
    expect_status(a, 200);
    expect(strtod(answer_text(a, "thread_create_cooldown_ms"), NULL) > 0);
    /* Requests refused for another reason do not count; owners and bots are exempt. */
    world_wait(w, 31);
    expect_invalid(client_post(bob, "{}", THREADS, c), "name", "BASE_TYPE_REQUIRED");
    start_thread(bob, c, "");
    expect_status(client_post(bob, "{'content': 'two'}", "/channels/%s/messages", c), 200);
    start_thread(ada, c, "");
    start_thread(ada, c, "");
    start_thread(helper, c, "");
    start_thread(helper, c, "");
}

static void thread_fields_outside_their_limits_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a', 'default_auto_archive_duration': 60}");
    struct arena *arena = world_arena(w);
    char name[102] = { 0 };

    memset(name, 'x', 101);
    expect_invalid(client_post(ada, "{}", THREADS, c), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, str_printf(arena, "{'name': '%s'}", name).p, THREADS, c),
                   "name", "BASE_TYPE_BAD_LENGTH");
    expect_status(client_post(ada, str_printf(arena, "{'name': '%s'}", name + 1).p, THREADS, c),
                  201);
    expect_invalid(client_post(ada, "{'name': 'a', 'type': 0}", THREADS, c), "type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada, "{'name': 'a', 'type': 10}", THREADS, c), "type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada, "{'name': 'a', 'auto_archive_duration': 61}", THREADS, c),
                   "auto_archive_duration", "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada, "{'name': 'a', 'rate_limit_per_user': 21601}", THREADS, c),
                   "rate_limit_per_user", "NUMBER_TYPE_MAX");
    expect_json(client_post(ada, "{'name': 'a', 'auto_archive_duration': 4320}", THREADS, c),
                "{'thread_metadata': {'auto_archive_duration': 4320}}");
    /* Defaults: private, and archived after 4,320 minutes, independent of the channel's default. */
    expect_json(client_post(ada, "{'name': 'a'}", THREADS, c),
                "{'type': 12, 'thread_metadata': {'auto_archive_duration': 4320, 'invitable': "
                "true}}");
}

static void channel_type_determines_the_allowed_thread_types(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *announcements = make_channel(ada, g, "{'name': 'n', 'type': 5}");
    const char *forum = make_channel(ada, g, "{'name': 'f', 'type': 15}");
    const char *voice = make_channel(ada, g, "{'name': 'v', 'type': 2}");
    const char *cat = make_channel(ada, g, "{'name': 'c', 'type': 4}");

    expect_json(client_post(ada, "{'name': 'a'}", THREADS, announcements), "{'type': 10}");
    expect_invalid(client_post(ada, "{'name': 'a', 'type': 11}", THREADS, announcements), "type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_post(ada, "{'name': 'a'}", THREADS, forum), "message",
                   "BASE_TYPE_REQUIRED");
    struct answer a = client_post(ada, "{'name': 'a', 'type': 12, 'message': {'content': 'first'}}",
                                  THREADS, forum);
    expect_json(a, "{'type': 11}");
    expect_error(client_post(ada, "{'name': 'a'}", THREADS, voice), 400, 50024);
    expect_error(client_post(ada, "{'name': 'a'}", THREADS, cat), 400, 50024);
    expect_error(client_post(ada, "{'name': 'a'}", THREADS, answer_text(a, "id")), 400, 50024);
    struct answer dm =
        client_post(ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", bob->id).p,
                    "/users/@me/channels");
    expect_error(client_post(ada, "{'name': 'a'}", THREADS, answer_text(dm, "id")), 403, 50003);
}

static void starting_a_thread_requires_the_create_threads_permission(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct arena *arena = world_arena(w);
#define DENY(name) \
    str_printf(arena, "{'type': 0, 'deny': '%llu'}", (unsigned long long)PERMISSION(name)).p

    put_member(g, bob);
    expect_status(client_put(ada, DENY(CREATE_PUBLIC_THREADS), "/channels/%s/permissions/%s", c, g),
                  204);
    expect_error(client_post(bob, "{'name': 'a', 'type': 11}", THREADS, c), 403, 50013);
    expect_status(client_post(bob, "{'name': 'a', 'type': 12}", THREADS, c), 201);
    expect_status(
        client_put(ada, DENY(CREATE_PRIVATE_THREADS), "/channels/%s/permissions/%s", c, g), 204);
    expect_status(client_post(bob, "{'name': 'a', 'type': 11}", THREADS, c), 201);
    expect_error(client_post(bob, "{'name': 'a'}", THREADS, c), 403, 50013);
    expect_status(client_put(ada, DENY(VIEW_CHANNEL), "/channels/%s/permissions/%s", c, g), 204);
    expect_error(client_post(bob, "{'name': 'a'}", THREADS, c), 403, 50001);
}

static void thread_is_visible_to_viewers_of_its_parent_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct arena *arena = world_arena(w);

    put_member(g, bob);
    const char *id = start_thread(ada, c, "");
    expect_status(client_get(bob, "/channels/%s", id), 200);
    expect_json(client_get(bob, ACTIVE, g), "{'threads': [{'id': '%s'}]}", id);
    expect_status(client_put(ada, DENY(VIEW_CHANNEL), "/channels/%s/permissions/%s", c, g), 204);
    expect_error(client_get(bob, "/channels/%s", id), 403, 50001);
    expect_json(client_get(bob, ACTIVE, g), "{'threads': []}");
}

static void private_thread_is_visible_to_its_creator_and_managers_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    put_member(g, cleo);
    const char *id = start_thread(bob, c, ", 'type': 12");
    expect_status(client_get(bob, "/channels/%s", id), 200);
    expect_error(client_get(cleo, "/channels/%s", id), 403, 50001);
    expect_json(client_get(cleo, ACTIVE, g), "{'threads': []}");
    struct client *dan = member_with(ada, g, "dan", PERMISSION(MANAGE_THREADS));
    expect_status(client_get(dan, "/channels/%s", id), 200);

    /* GUILD_CREATE of a new member does not contain the private thread either. */
    struct client *eve = world_client(w, "eve");
    start_thread(bob, c, "");
    const char *code = answer_text(client_post(ada, "{}", "/channels/%s/invites", c), "code");
    expect_status(client_post(eve, "{}", "/invites/%s", code), 200);
    expect_event(eve, "GUILD_CREATE", "{'threads': []}");
}

static void only_its_creator_or_moderators_can_change_a_thread(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    put_member(g, cleo);
    const char *id = start_thread(bob, c, "");
    expect_error(client_patch(cleo, "{'name': 7}", "/channels/%s", id), 403, 50013);
    struct answer a =
        client_patch(bob, "{'name': 'more', 'auto_archive_duration': 60}", "/channels/%s", id);
    expect_json(a, "{'name': 'more', 'thread_metadata': {'auto_archive_duration': 60}}");
    expect_audit(w, g, 111, id);
    expect_received(w, viewers(g, id), "THREAD_UPDATE", "{'id': '%s', 'name': 'more'}", id);
    expect_received(w, viewers(g, id), "MESSAGE_CREATE", "{'type': 4, 'content': 'more'}");
    expect_nothing_received(w);
    expect_invalid(client_patch(bob, "{'name': null}", "/channels/%s", id), "name",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(bob, "{'auto_archive_duration': 7}", "/channels/%s", id),
                   "auto_archive_duration", "BASE_TYPE_CHOICES");
    expect_error(client_patch(bob, "{'locked': true}", "/channels/%s", id), 403, 50013);
    expect_error(client_patch(bob, "{'rate_limit_per_user': 9}", "/channels/%s", id), 403, 50013);
    struct client *dan = member_with(ada, g, "dan", PERMISSION(MANAGE_THREADS));
    expect_json(client_patch(dan, "{'locked': true, 'rate_limit_per_user': 9}", "/channels/%s", id),
                "{'rate_limit_per_user': 9, 'thread_metadata': {'locked': true}}");
}

static void unarchiving_a_thread_requires_send_messages_in_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct arena *arena = world_arena(w);

    put_member(g, bob);
    put_member(g, cleo);
    const char *id = start_thread(bob, c, "");
    struct answer a = client_patch(bob, "{'archived': true}", "/channels/%s", id);
    expect_json(a, "{'thread_metadata': {'archived': true}}");
    const char *first = answer_text(a, "thread_metadata.archive_timestamp");
    expect_status(client_patch(bob, "{'archived': false}", "/channels/%s", id), 200);
    world_wait(w, 5);
    a = client_patch(bob, "{'archived': true}", "/channels/%s", id);
    expect(strcmp(answer_text(a, "thread_metadata.archive_timestamp"), first) > 0);
    expect_json(client_get(bob, ACTIVE, g), "{'threads': []}");
    expect_error(client_patch(cleo, "{'name': 'x'}", "/channels/%s", id), 403, 50013);
    expect_error(client_patch(bob, "{'name': 'x'}", "/channels/%s", id), 400, 50083);
    expect_json(client_patch(cleo, "{'archived': false}", "/channels/%s", id),
                "{'thread_metadata': {'archived': false}}");
    expect_error(client_patch(cleo, "{'archived': true}", "/channels/%s", id), 403, 50013);

    /* A locked thread can be unarchived only with MANAGE_THREADS. */
    expect_status(client_patch(ada, "{'archived': true, 'locked': true}", "/channels/%s", id), 200);
    expect_error(client_patch(cleo, "{'archived': false}", "/channels/%s", id), 403, 50013);
    expect_error(client_patch(bob, "{'archived': false}", "/channels/%s", id), 403, 50013);
    expect_status(client_patch(ada, "{'locked': false}", "/channels/%s", id), 200);
    expect_status(
        client_put(ada, DENY(SEND_MESSAGES_IN_THREADS), "/channels/%s/permissions/%s", c, g), 204);
    expect_error(client_patch(cleo, "{'archived': false}", "/channels/%s", id), 403, 50013);
}

static void deleting_a_thread_requires_manage_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    const char *id = start_thread(bob, c, "");
    expect_error(client_delete(bob, "/channels/%s", id), 403, 50013);
    expect_json(client_delete(ada, "/channels/%s", id), "{'id': '%s'}", id);
    expect_received(w, viewers(g, id), "THREAD_DELETE",
                    "{'id': '%s', 'guild_id': '%s', 'parent_id': '%s', 'type': 11}", id, g, c);
    expect_received(w, viewers(g, c), "MESSAGE_UPDATE", "{'id': '%s', 'flags': 0}", id);
    expect_audit(w, g, 112, id);
    expect_nothing_received(w);
    expect_error(client_get(ada, "/channels/%s", id), 404, 10003);
}

static void deleting_a_channel_deletes_its_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = start_thread(ada, c, "");

    expect_status(client_delete(ada, "/channels/%s", c), 200);
    expect_received(w, viewers(g, id), "THREAD_DELETE", "{'id': '%s'}", id);
    expect_audit(w, g, 12, c);
    expect_received(w, viewers(g, c), "CHANNEL_DELETE", "{'id': '%s'}", c);
    expect_error(client_get(ada, "/channels/%s", id), 404, 10003);
}

static void overwrites_on_a_thread_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *id = start_thread(ada, make_channel(ada, g, "{'name': 'a'}"), "");

    expect_error(client_put(ada, "{'type': 0}", "/channels/%s/permissions/%s", id, g), 400, 50024);
    expect_error(client_delete(ada, "/channels/%s/permissions/%s", id, g), 400, 50024);
}

static void thread_started_from_a_message_has_its_id_and_is_unique(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *announcements = make_channel(ada, g, "{'name': 'n', 'type': 5}");
    struct arena *arena = world_arena(w);
#define FROM "/channels/%s/messages/%s/threads"

    put_member(g, bob);
    struct answer said = client_post(bob, "{'content': 'Look'}", "/channels/%s/messages", c);
    const char *id = answer_text(said, "id");
    discard_received(w);
    struct answer a = client_post(ada, "{'name': 'about it', 'type': 12}", FROM, c, id);
    expect_status(a, 201);
    expect_json(a, "{'id': '%s', 'type': 11, 'parent_id': '%s', 'owner_id': '%s'}", id, c, ada->id);
    expect_audit(w, g, 110, id);
    expect_received(w, viewers(g, id), "THREAD_CREATE", "{'id': '%s', 'newly_created': true}", id);
    expect_received(w, viewers(g, c), "MESSAGE_UPDATE",
                    "{'id': '%s', 'flags': 32, 'thread': {'id': '%s', 'name': 'about it'}}", id,
                    id);
    expect_received(w, viewers(g, id), "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", id);
    expect_event(ada, "THREAD_MEMBERS_UPDATE", "{}");
    expect_received(w, viewers(g, id), "MESSAGE_CREATE",
                    "{'type': 21, 'channel_id': '%s', 'content': '', 'position': 0, "
                    "'message_reference': {'channel_id': '%s', 'message_id': '%s'}, "
                    "'referenced_message': {'id': '%s', 'content': 'Look'}}",
                    id, c, id, id);
    expect_nothing_received(w);
    expect_json(client_get(ada, "/channels/%s/messages/%s", c, id),
                "{'flags': 32, 'thread': {'id': '%s', 'member': {'user_id': '%s'}}}", id, ada->id);
    expect_absent(client_get(bob, "/channels/%s/messages/%s", c, id), "thread.member");
    expect_json(client_get(ada, "/channels/%s", id),
                "{'message_count': 0, 'total_message_sent': 0}");
    expect_error(client_post(bob, "{'name': 'again'}", FROM, c, id), 400, 160004);
    expect_error(client_post(bob, "{'name': 'a'}", FROM, c, c), 404, 10008);
    expect_invalid(client_post(bob, "{}", FROM, c, id), "name", "BASE_TYPE_REQUIRED");

    said = client_post(ada, "{'content': 'News'}", "/channels/%s/messages", announcements);
    expect_status(client_put(ada, DENY(CREATE_PUBLIC_THREADS), "/channels/%s/permissions/%s",
                             announcements, g),
                  204);
    expect_error(client_post(bob, "{'name': 'a'}", FROM, announcements, answer_text(said, "id")),
                 403, 50013);
    expect_json(client_post(ada, "{'name': 'a'}", FROM, announcements, answer_text(said, "id")),
                "{'type': 10}");
}

/* Checks after all due jobs have run. */
static void expect_thread_archived(struct client *c, const char *thread, const char *archived)
{
    world_settle(c->world);
    expect_json(client_get(c, "/channels/%s", thread), "{'thread_metadata': {'archived': %s}}",
                archived);
}

static void inactive_thread_is_archived_after_its_duration(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = start_thread(ada, c, ", 'auto_archive_duration': 60");

    world_wait(w, 3500);
    world_settle(w);
    expect_nothing_received(w);
    world_wait(w, 101);
    expect_thread_archived(ada, id, "true");
    expect_received(w, viewers(g, id), "THREAD_UPDATE",
                    "{'id': '%s', 'thread_metadata': {'archived': true}}", id);
    expect_nothing_received(w);
    /* An unarchived thread gets its full duration again. */
    expect_status(client_patch(ada, "{'archived': false}", "/channels/%s", id), 200);
    world_wait(w, 3500);
    expect_thread_archived(ada, id, "false");
    world_wait(w, 101);
    expect_thread_archived(ada, id, "true");
}

static void messages_keep_a_thread_from_being_archived(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = start_thread(ada, c, ", 'auto_archive_duration': 60");

    world_wait(w, 3000);
    expect_status(client_post(ada, "{'content': 'still here'}", "/channels/%s/messages", id), 200);
    world_wait(w, 3000);
    expect_thread_archived(ada, id, "false");
    world_wait(w, 601);
    expect_thread_archived(ada, id, "true");
    /* A message unarchives the thread for its full duration. */
    expect_status(client_post(ada, "{'content': 'back'}", "/channels/%s/messages", id), 200);
    world_wait(w, 3500);
    expect_thread_archived(ada, id, "false");
    world_wait(w, 101);
    expect_thread_archived(ada, id, "true");
}

const struct test threads_tests[] = {
    TEST(starting_a_thread_returns_all_fields_and_sends_events),
    TEST(slow_mode_counts_threads_and_messages_separately),
    TEST(thread_fields_outside_their_limits_are_refused),
    TEST(channel_type_determines_the_allowed_thread_types),
    TEST(starting_a_thread_requires_the_create_threads_permission),
    TEST(thread_is_visible_to_viewers_of_its_parent_channel),
    TEST(private_thread_is_visible_to_its_creator_and_managers_only),
    TEST(only_its_creator_or_moderators_can_change_a_thread),
    TEST(unarchiving_a_thread_requires_send_messages_in_threads),
    TEST(deleting_a_thread_requires_manage_threads),
    TEST(deleting_a_channel_deletes_its_threads),
    TEST(overwrites_on_a_thread_are_refused),
    TEST(thread_started_from_a_message_has_its_id_and_is_unique),
    TEST(inactive_thread_is_archived_after_its_duration),
    TEST(messages_keep_a_thread_from_being_archived),
    { 0 },
};
