/* thread_search.c - searching the threads of a channel by name, tags and time. */
#include <string.h>

#include "channels.h"
#include "test_guild.h"

#define SEARCH "/channels/%s/threads/search"

struct search_forum {
    struct client *ada, *bob; /* the owner, a member */
    const char *guild, *id, *one, *two;
};

static struct search_forum create_forum(struct world *w)
{
    struct search_forum f = { world_client(w, "ada"), world_client(w, "bob") };

    f.guild = found_guild(f.ada, "Hall");
    put_member(f.guild, f.bob);
    struct answer a = client_post(
        f.ada, "{'name': 'f', 'type': 15, 'available_tags': [{'name': 'one'}, {'name': 'two'}]}",
        "/guilds/%s/channels", f.guild);
    expect_status(a, 201);
    f.id = answer_text(a, "id");
    f.one = answer_text(a, "available_tags.0.id");
    f.two = answer_text(a, "available_tags.1.id");
    return f;
}

static const char *create_forum_post(struct world *w, struct search_forum *f, const char *name,
                                     const char *tags)
{
    struct answer a = client_post(f->bob,
                                  str_printf(world_arena(w),
                                             "{'name': '%s', 'applied_tags': [%s], 'message': "
                                             "{'content': 'first of %s'}}",
                                             name, tags, name)
                                      .p,
                                  "/channels/%s/threads", f->id);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static void thread_search_finds_posts_by_name_tags_and_time(struct world *w)
{
    struct search_forum f = create_forum(w);
    struct arena *arena = world_arena(w);
    const char *red = create_forum_post(w, &f, "Red Apples", str_printf(arena, "'%s'", f.one).p),
               *blue = create_forum_post(w, &f, "blue apple tree",
                                         str_printf(arena, "'%s', '%s'", f.one, f.two).p),
               *pear = create_forum_post(w, &f, "Pears", "");

    struct answer a = client_get(f.bob, SEARCH "?name=APPLE", f.id);
    expect_json(a,
                "{'threads': [{'id': '%s'}, {'id': '%s'}], 'members': [{'id': '%s', 'user_id': "
                "'%s'}, {}], 'has_more': false, 'total_results': 2, 'first_messages': "
                "[{'content': 'first of blue apple tree'}, {'content': 'first of Red Apples'}]}",
                blue, red, blue, f.bob->id);
    expect_json(client_get(f.bob, SEARCH "?name=app+blu", f.id), "{'threads': [{'id': '%s'}]}",
                blue);
    expect_json(client_get(f.bob, SEARCH "?name=pple", f.id),
                "{'threads': [], 'members': [], 'total_results': 0, 'first_messages': []}");
    expect_json(client_get(f.bob, SEARCH "?tag=%s,%s", f.id, f.one, f.two), "{'total_results': 2}");
    expect_json(client_get(f.bob, SEARCH "?tag=%s,%s&tag_setting=match_all", f.id, f.one, f.two),
                "{'threads': [{'id': '%s'}], 'total_results': 1}", blue);
    expect_json(client_get(f.bob, SEARCH "?tag=7", f.id), "{'total_results': 0}");
    a = client_get(f.bob, SEARCH "?limit=1&offset=1", f.id);
    expect_json(a, "{'threads': [{'id': '%s'}], 'has_more': true, 'total_results': 3}", blue);
    expect_json(client_get(f.bob, SEARCH "?offset=5", f.id),
                "{'threads': [], 'has_more': false, 'total_results': 3}");
    expect_json(client_get(f.bob, SEARCH "?sort_order=asc&sort_by=creation_time&limit=1", f.id),
                "{'threads': [{'id': '%s'}]}", red);
    expect_json(client_get(f.bob, SEARCH "?min_id=%s&max_id=%s", f.id, red, pear),
                "{'threads': [{'id': '%s'}], 'total_results': 1}", blue);

    expect_status(client_post(f.bob, "{'content': 'late'}", "/channels/%s/messages", red), 200);
    expect_json(client_get(f.bob, SEARCH "?limit=1", f.id), "{'threads': [{'id': '%s'}]}", red);
    expect_status(client_patch(f.ada, "{'archived': true}", "/channels/%s", pear), 200);
    expect_json(client_get(f.bob, SEARCH "?archived=true", f.id),
                "{'threads': [{'id': '%s'}], 'total_results': 1}", pear);
    expect_json(client_get(f.bob, SEARCH "?archived=false", f.id), "{'total_results': 2}");
    /* The first message of a post may be deleted; a tag deleted from the forum matches nothing. */
    expect_status(client_delete(f.ada, "/channels/%s/messages/%s", blue, blue), 204);
    expect_json(client_get(f.bob, SEARCH "?name=blue", f.id),
                "{'threads': [{'id': '%s'}], 'first_messages': []}", blue);
    expect_status(client_patch(f.ada, "{'available_tags': []}", "/channels/%s", f.id), 200);
    expect_json(client_get(f.bob, SEARCH "?tag=%s", f.id, f.one), "{'total_results': 0}");
}

static void thread_search_finds_private_threads_only_for_viewers(struct world *w)
{
    struct search_forum f = create_forum(w);
    struct client *cid = world_client(w, "cid"), *eve = world_client(w, "eve");

    put_member(f.guild, cid);
    struct answer a = client_post(f.ada, "{'name': 't'}", "/guilds/%s/channels", f.guild);
    const char *channel = answer_text(a, "id");
    a = client_post(f.bob, "{'name': 'secret', 'type': 12}", "/channels/%s/threads", channel);
    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    a = client_get(f.bob, SEARCH, channel);
    expect_json(a, "{'threads': [{'id': '%s'}], 'members': [{'id': '%s'}], 'total_results': 1}", id,
                id);
    expect_absent(a, "first_messages");
    expect_json(client_get(f.ada, SEARCH, channel), "{'members': [], 'total_results': 1}");
    expect_json(client_get(cid, SEARCH, channel), "{'threads': [], 'total_results': 0}");
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 1, %d)",
              channel, cid->id, (int)PERMISSION(READ_MESSAGE_HISTORY));
    expect_error(client_get(cid, SEARCH, channel), 403, 50013);
    expect_error(client_get(eve, SEARCH, channel), 403, 50001);
    expect_error(client_get(f.bob, SEARCH, id), 400, 50024);
}

/* Direct channels have no members with permissions. */
static void thread_search_in_a_direct_channel_is_403_50003(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    make_friends(ada, bob);
    const char *channel = answer_text(
        client_post(ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", bob->id).p,
                    "/users/@me/channels"),
        "id");
    expect_error(client_get(ada, SEARCH, channel), 403, 50003);
}

static void invalid_thread_search_parameters_are_refused(struct world *w)
{
    static const char *const bad[][3] = {
        { "limit=0", "limit", "NUMBER_TYPE_MIN" },
        { "limit=26", "limit", "NUMBER_TYPE_MAX" },
        { "offset=9976", "offset", "NUMBER_TYPE_MAX" },
        { "slop=101", "slop", "NUMBER_TYPE_MAX" },
        { "sort_by=x", "sort_by", "BASE_TYPE_CHOICES" },
        { "sort_order=x", "sort_order", "BASE_TYPE_CHOICES" },
        { "tag_setting=x", "tag_setting", "BASE_TYPE_CHOICES" },
        { "tag=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21", "tag",
          "BASE_TYPE_MAX_LENGTH" },
    };
    struct search_forum f = create_forum(w);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_invalid(client_get(f.bob, SEARCH "?%s", f.id, bad[i][0]), bad[i][1], bad[i][2]);
    expect_status(client_get(f.bob, SEARCH "?limit=25&offset=9975&slop=100&min_id=%s&max_id=%s",
                             f.id, "9223372036854775807", "9223372036854775807"),
                  200);
}

const struct test thread_search_tests[] = {
    TEST(thread_search_finds_posts_by_name_tags_and_time),
    TEST(thread_search_finds_private_threads_only_for_viewers),
    TEST(thread_search_in_a_direct_channel_is_403_50003),
    TEST(invalid_thread_search_parameters_are_refused),
    { 0 },
};
