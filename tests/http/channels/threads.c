/* threads.c - conversations that hang on a channel. */
#include "channels.h"
#include "waits.h"

#include <stdlib.h>
#include <string.h>

#define THREADS "/channels/%s/threads"
#define ACTIVE  "/guilds/%s/threads/active"

static const char *start(struct client *c, const char *channel, const char *rest)
{
    struct answer a = client_post(c,
                                  str_printf(world_arena(c->world), "{'name': 'talk'%s%s}", rest,
                                             strstr(rest, "type") ? "" : ", 'type': 11")
                                      .p,
                                  THREADS, channel);

    expect_status(a, 201);
    forget_told(c->world);
    return answer_text(a, "id");
}

static void a_thread_is_started_in_a_channel(struct world *w)
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
    expect_told(w, viewers(g, id), "THREAD_CREATE", "{'id': '%s', 'newly_created': true}", id);
    expect_told(w, viewers(g, id), "THREAD_MEMBERS_UPDATE",
                "{'id': '%s', 'guild_id': '%s', 'member_count': 1, 'added_members': [{'id': '%s', "
                "'user_id': '%s', 'flags': 1, 'presence': null, 'member': {'user': {'id': "
                "'%s'}}}]}",
                id, g, id, bob->id, bob->id);
    expect_event(bob, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", id);
    expect_told(w, viewers(g, c), "MESSAGE_CREATE",
                "{'id': '%s', 'channel_id': '%s', 'type': 18, 'content': 'talk', 'flags': 32, "
                "'message_reference': {'channel_id': '%s', 'guild_id': '%s', 'type': 0}}",
                id, c, id, g);
    expect_nothing_told(w);
    expect_json(client_get(ada, "/channels/%s", id), "{'id': '%s', 'type': 11}", id);
    expect_absent(client_get(ada, "/channels/%s", id), "member");
    expect_json(client_get(bob, "/channels/%s", id), "{'member': {'id': '%s'}}", id);
    expect_json(client_get(ada, ACTIVE, g),
                "{'threads': [{'id': '%s'}], 'members': [], 'has_more': false}", id);
    expect_json(client_get(bob, "/channels/%s/threads/active", c),
                "{'threads': [{'id': '%s'}], 'members': [{'id': '%s', 'user_id': '%s'}]}", id, id,
                bob->id);
    /* Not among the channels. */
    a = client_get(ada, "/guilds/%s/channels", g);
    for (size_t i = 0; i < a.json->count; i++)
        expect(!str_is(dom_member(&a.json->items[i], STR("id"))->text, id));
}

static void slow_mode_counts_threads_apart_from_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *helper = world_bot(w, "helper");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a', 'rate_limit_per_user': 30}");

    put_member(g, bob);
    put_member(g, helper);
    /* Writing and starting a thread each begin a time of their own, in either order. */
    expect_status(client_post(bob, "{'content': 'one'}", "/channels/%s/messages", c), 200);
    start(bob, c, "");
    expect_status(client_post(bob, "{'content': 'two'}", "/channels/%s/messages", c), 429);
    struct answer a = client_post(bob, "{'name': 'talk'}", THREADS, c);
    expect_status(a, 429);
    expect(str_is(answer_header(a, "Retry-After"), "30"));
    a = client_post(bob, NULL, "/channels/%s/typing", c);
    expect_status(a, 200);
    expect(strtod(answer_text(a, "thread_create_cooldown_ms"), NULL) > 0);
    /* What is refused for another reason does not count; owners and bots do not wait. */
    world_wait(w, 31);
    expect_invalid(client_post(bob, "{}", THREADS, c), "name", "BASE_TYPE_REQUIRED");
    start(bob, c, "");
    expect_status(client_post(bob, "{'content': 'two'}", "/channels/%s/messages", c), 200);
    start(ada, c, "");
    start(ada, c, "");
    start(helper, c, "");
    start(helper, c, "");
}

static void thread_bodies_have_limits(struct world *w)
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
    /* Three days, whatever the channel tells clients; private, where nothing is said. */
    expect_json(client_post(ada, "{'name': 'a'}", THREADS, c),
                "{'type': 12, 'thread_metadata': {'auto_archive_duration': 4320, 'invitable': "
                "true}}");
}

static void kinds_of_channels_have_kinds_of_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *news = make_channel(ada, g, "{'name': 'n', 'type': 5}");
    const char *forum = make_channel(ada, g, "{'name': 'f', 'type': 15}");
    const char *voice = make_channel(ada, g, "{'name': 'v', 'type': 2}");
    const char *cat = make_channel(ada, g, "{'name': 'c', 'type': 4}");

    expect_json(client_post(ada, "{'name': 'a'}", THREADS, news), "{'type': 10}");
    expect_invalid(client_post(ada, "{'name': 'a', 'type': 11}", THREADS, news), "type",
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

static void starting_takes_rights(struct world *w)
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

static void threads_are_seen_like_their_parent(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct arena *arena = world_arena(w);

    put_member(g, bob);
    const char *id = start(ada, c, "");
    expect_status(client_get(bob, "/channels/%s", id), 200);
    expect_json(client_get(bob, ACTIVE, g), "{'threads': [{'id': '%s'}]}", id);
    expect_status(client_put(ada, DENY(VIEW_CHANNEL), "/channels/%s/permissions/%s", c, g), 204);
    expect_error(client_get(bob, "/channels/%s", id), 403, 50001);
    expect_json(client_get(bob, ACTIVE, g), "{'threads': []}");
}

static void a_private_thread_is_for_its_starter_and_managers(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    put_member(g, cleo);
    const char *id = start(bob, c, ", 'type': 12");
    expect_status(client_get(bob, "/channels/%s", id), 200);
    expect_error(client_get(cleo, "/channels/%s", id), 403, 50001);
    expect_json(client_get(cleo, ACTIVE, g), "{'threads': []}");
    struct client *dan = member_with(ada, g, "dan", PERMISSION(MANAGE_THREADS));
    expect_status(client_get(dan, "/channels/%s", id), 200);

    /* Nor is it in the guild that a newcomer is shown. */
    struct client *eve = world_client(w, "eve");
    start(bob, c, "");
    const char *code = answer_text(client_post(ada, "{}", "/channels/%s/invites", c), "code");
    expect_status(client_post(eve, "{}", "/invites/%s", code), 200);
    expect_event(eve, "GUILD_CREATE", "{'threads': []}");
}

static void a_thread_is_changed_by_its_starter(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    put_member(g, cleo);
    const char *id = start(bob, c, "");
    expect_error(client_patch(cleo, "{'name': 7}", "/channels/%s", id), 403, 50013);
    struct answer a =
        client_patch(bob, "{'name': 'more', 'auto_archive_duration': 60}", "/channels/%s", id);
    expect_json(a, "{'name': 'more', 'thread_metadata': {'auto_archive_duration': 60}}");
    expect_audit(w, g, 111, id);
    expect_told(w, viewers(g, id), "THREAD_UPDATE", "{'id': '%s', 'name': 'more'}", id);
    expect_told(w, viewers(g, id), "MESSAGE_CREATE", "{'type': 4, 'content': 'more'}");
    expect_nothing_told(w);
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

static void an_archived_thread_is_woken_by_who_may_write_there(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct arena *arena = world_arena(w);

    put_member(g, bob);
    put_member(g, cleo);
    const char *id = start(bob, c, "");
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

    /* Locked: only who manages threads. */
    expect_status(client_patch(ada, "{'archived': true, 'locked': true}", "/channels/%s", id), 200);
    expect_error(client_patch(cleo, "{'archived': false}", "/channels/%s", id), 403, 50013);
    expect_error(client_patch(bob, "{'archived': false}", "/channels/%s", id), 403, 50013);
    expect_status(client_patch(ada, "{'locked': false}", "/channels/%s", id), 200);
    expect_status(
        client_put(ada, DENY(SEND_MESSAGES_IN_THREADS), "/channels/%s/permissions/%s", c, g), 204);
    expect_error(client_patch(cleo, "{'archived': false}", "/channels/%s", id), 403, 50013);
}

static void deleting_a_thread_takes_manage_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    const char *id = start(bob, c, "");
    expect_error(client_delete(bob, "/channels/%s", id), 403, 50013);
    expect_json(client_delete(ada, "/channels/%s", id), "{'id': '%s'}", id);
    expect_told(w, viewers(g, id), "THREAD_DELETE",
                "{'id': '%s', 'guild_id': '%s', 'parent_id': '%s', 'type': 11}", id, g, c);
    expect_told(w, viewers(g, c), "MESSAGE_UPDATE", "{'id': '%s', 'flags': 0}", id);
    expect_audit(w, g, 112, id);
    expect_nothing_told(w);
    expect_error(client_get(ada, "/channels/%s", id), 404, 10003);
}

static void threads_go_with_their_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = start(ada, c, "");

    expect_status(client_delete(ada, "/channels/%s", c), 200);
    expect_told(w, viewers(g, id), "THREAD_DELETE", "{'id': '%s'}", id);
    expect_audit(w, g, 12, c);
    expect_told(w, viewers(g, c), "CHANNEL_DELETE", "{'id': '%s'}", c);
    expect_error(client_get(ada, "/channels/%s", id), 404, 10003);
}

static void threads_have_no_overwrites_of_their_own(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *id = start(ada, make_channel(ada, g, "{'name': 'a'}"), "");

    expect_error(client_put(ada, "{'type': 0}", "/channels/%s/permissions/%s", id, g), 400, 50024);
    expect_error(client_delete(ada, "/channels/%s/permissions/%s", id, g), 400, 50024);
}

static void a_message_has_one_thread_with_its_id(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *news = make_channel(ada, g, "{'name': 'n', 'type': 5}");
    struct arena *arena = world_arena(w);
#define FROM "/channels/%s/messages/%s/threads"

    put_member(g, bob);
    struct answer said = client_post(bob, "{'content': 'Look'}", "/channels/%s/messages", c);
    const char *id = answer_text(said, "id");
    forget_told(w);
    struct answer a = client_post(ada, "{'name': 'about it', 'type': 12}", FROM, c, id);
    expect_status(a, 201);
    expect_json(a, "{'id': '%s', 'type': 11, 'parent_id': '%s', 'owner_id': '%s'}", id, c, ada->id);
    expect_audit(w, g, 110, id);
    expect_told(w, viewers(g, id), "THREAD_CREATE", "{'id': '%s', 'newly_created': true}", id);
    expect_told(w, viewers(g, c), "MESSAGE_UPDATE",
                "{'id': '%s', 'flags': 32, 'thread': {'id': '%s', 'name': 'about it'}}", id, id);
    expect_told(w, viewers(g, id), "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", id);
    expect_event(ada, "THREAD_MEMBERS_UPDATE", "{}");
    expect_told(w, viewers(g, id), "MESSAGE_CREATE",
                "{'type': 21, 'channel_id': '%s', 'content': '', 'position': 0, "
                "'message_reference': {'channel_id': '%s', 'message_id': '%s'}, "
                "'referenced_message': {'id': '%s', 'content': 'Look'}}",
                id, c, id, id);
    expect_nothing_told(w);
    expect_json(client_get(ada, "/channels/%s/messages/%s", c, id),
                "{'flags': 32, 'thread': {'id': '%s', 'member': {'user_id': '%s'}}}", id, ada->id);
    expect_absent(client_get(bob, "/channels/%s/messages/%s", c, id), "thread.member");
    expect_json(client_get(ada, "/channels/%s", id),
                "{'message_count': 0, 'total_message_sent': 0}");
    expect_error(client_post(bob, "{'name': 'again'}", FROM, c, id), 400, 160004);
    expect_error(client_post(bob, "{'name': 'a'}", FROM, c, c), 404, 10008);
    expect_invalid(client_post(bob, "{}", FROM, c, id), "name", "BASE_TYPE_REQUIRED");

    said = client_post(ada, "{'content': 'News'}", "/channels/%s/messages", news);
    expect_status(
        client_put(ada, DENY(CREATE_PUBLIC_THREADS), "/channels/%s/permissions/%s", news, g), 204);
    expect_error(client_post(bob, "{'name': 'a'}", FROM, news, answer_text(said, "id")), 403,
                 50013);
    expect_json(client_post(ada, "{'name': 'a'}", FROM, news, answer_text(said, "id")),
                "{'type': 10}");
}

/* When what is due by the moved clock is done. */
static void expect_archived(struct client *c, const char *thread, const char *archived)
{
    world_settle(c->world);
    expect_json(client_get(c, "/channels/%s", thread), "{'thread_metadata': {'archived': %s}}",
                archived);
}

static void a_quiet_thread_is_archived_by_itself(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = start(ada, c, ", 'auto_archive_duration': 60");

    world_wait(w, 3500);
    world_settle(w);
    expect_nothing_told(w);
    world_wait(w, 101);
    expect_archived(ada, id, "true");
    expect_told(w, viewers(g, id), "THREAD_UPDATE",
                "{'id': '%s', 'thread_metadata': {'archived': true}}", id);
    expect_nothing_told(w);
    /* Opened again, it has its whole time. */
    expect_status(client_patch(ada, "{'archived': false}", "/channels/%s", id), 200);
    world_wait(w, 3500);
    expect_archived(ada, id, "false");
    world_wait(w, 101);
    expect_archived(ada, id, "true");
}

static void a_thread_in_which_somebody_speaks_stays_open(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = start(ada, c, ", 'auto_archive_duration': 60");

    world_wait(w, 3000);
    expect_status(client_post(ada, "{'content': 'still here'}", "/channels/%s/messages", id), 200);
    world_wait(w, 3000);
    expect_archived(ada, id, "false");
    world_wait(w, 601);
    expect_archived(ada, id, "true");
    /* Speaking opens it again, with its whole time. */
    expect_status(client_post(ada, "{'content': 'back'}", "/channels/%s/messages", id), 200);
    world_wait(w, 3500);
    expect_archived(ada, id, "false");
    world_wait(w, 101);
    expect_archived(ada, id, "true");
}

const struct test threads_tests[] = {
    TEST(a_thread_is_started_in_a_channel),
    TEST(slow_mode_counts_threads_apart_from_messages),
    TEST(thread_bodies_have_limits),
    TEST(kinds_of_channels_have_kinds_of_threads),
    TEST(starting_takes_rights),
    TEST(threads_are_seen_like_their_parent),
    TEST(a_private_thread_is_for_its_starter_and_managers),
    TEST(a_thread_is_changed_by_its_starter),
    TEST(an_archived_thread_is_woken_by_who_may_write_there),
    TEST(deleting_a_thread_takes_manage_threads),
    TEST(threads_go_with_their_channel),
    TEST(threads_have_no_overwrites_of_their_own),
    TEST(a_message_has_one_thread_with_its_id),
    TEST(a_quiet_thread_is_archived_by_itself),
    TEST(a_thread_in_which_somebody_speaks_stays_open),
    { 0 },
};
