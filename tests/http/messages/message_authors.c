/* message_authors.c - finding messages by author: on SQLite, in the table message_authors, to which
 * a job adds new messages, and in messages. */
#include "channel_events.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

static void wait_until_messages_are_filed(struct world *w)
{
    expect_soon((world_wait(w, 1), world_number(w, "select count(*) from unfiled_messages") == 0));
}

/* Returns how many messages authored_messages has too many or too few. */
static int64_t count_wrong_authors(struct world *w)
{
    return world_number(
        w, "select (select count(*) from (select author_id, id from messages except select "
           "author_id, id from authored_messages) a) + abs((select count(*) from messages) - "
           "(select count(*) from authored_messages))");
}

static void ban_deletes_messages_before_and_after_they_are_filed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    say_text(bob, v.channel, "one");
    wait_until_messages_are_filed(w);
    say_text(bob, v.channel, "two");
    say_text(ada, v.channel, "three");
    expect(count_wrong_authors(w) == 0);
    expect_status(
        client_put(ada, "{'delete_message_seconds': 3600}", "/guilds/%s/bans/%s", v.id, bob->id),
        204);
    expect(world_number(w, "select count(*) from messages") == 1);
    expect(count_wrong_authors(w) == 0);
    wait_until_messages_are_filed(w);
    expect(world_number(w, "select count(*) from message_authors where author_id = %s", ada->id) ==
           1);
    expect(count_wrong_authors(w) == 0);
}

/* An import, or a node whose clock is ahead, has written the second message. */
static void ban_deletes_messages_with_ids_far_ahead_of_the_clock(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    for (int filed = 0; filed < 2; filed++) {
        say_text(bob, v.channel, "one");
        world_insert_message(w, 8000000000000000000, v.channel, bob->id, "far ahead");
        if (filed)
            wait_until_messages_are_filed(w);
        expect_status(client_put(ada, "{'delete_message_seconds': 3600}", "/guilds/%s/bans/%s",
                                 v.id, bob->id),
                      204);
        expect(world_number(w, "select count(*) from messages where author_id = %s", bob->id) == 0);
        expect_status(client_delete(ada, "/guilds/%s/bans/%s", v.id, bob->id), 204);
        test_guild_add(&v, bob);
    }
}

static void messages_with_lower_ids_are_filed_when_they_are_inserted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    say_text(ada, v.channel, "one");
    wait_until_messages_are_filed(w);
    world_insert_message(w, 5, v.channel, ada->id, "two");
    expect(world_number(w, "select count(*) from message_authors where author_id = %s", ada->id) ==
           2);
    expect(count_wrong_authors(w) == 0);
    world_sql(w, "delete from channels where id = %s", v.channel);
    expect(world_number(w, "select count(*) from message_authors") == 0);
}

/* Ephemeral messages have authors, but are not indexed for search. */
static void job_continues_until_all_messages_are_filed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    if (world_config(w)->store)
        return;
    say_text(ada, v.channel, "one");
    wait_until_messages_are_filed(w);
    world_sql(
        w,
        "insert into messages (id, channel_id, author_id, ephemeral_for) with recursive n (i) "
        "as (select 1 union all select i + 1 from n where i < 3500) select (select max(id) from "
        "messages) + i, %s, %s, %s from n",
        v.channel, ada->id, ada->id);
    say_text(ada, v.channel, "two");
    wait_until_messages_are_filed(w);
    expect(count_wrong_authors(w) == 0);
}

static void nonce_is_enforced_before_and_after_messages_are_filed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *body = "{'content': 'one', 'nonce': 'n', 'enforce_nonce': true}";
    struct answer first = client_post(ada, body, "/channels/%s/messages", v.channel);

    expect_status(first, 200);
    for (int filed = 0; filed < 2; filed++) {
        struct answer again = client_post(ada, body, "/channels/%s/messages", v.channel);

        expect_json(again, "{'id': '%s'}", answer_text(first, "id"));
        wait_until_messages_are_filed(w);
    }
}

/* A message counts as activity of its author even if the token that sent it is gone. */
static void members_who_wrote_messages_are_not_pruned(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, cleo);
    test_guild_add(&v, dan);
    say_text(bob, v.channel, "one");
    wait_until_messages_are_filed(w);
    say_text(cleo, v.channel, "two");
    world_sql(w, "update members set joined_at = 0");
    world_sql(w, "update tokens set created_at = 0, last_used_at = null where user_id <> %s",
              ada->id);
    expect_json(client_get(ada, "/guilds/%s/prune", v.id), "{'pruned': 1}");
    expect_json(client_post(ada, "{}", "/guilds/%s/prune", v.id), "{'pruned': 1}");
    expect(world_number(w, "select count(*) from members where user_id = %s", dan->id) == 0);
}

const struct test message_authors_tests[] = {
    TEST(ban_deletes_messages_before_and_after_they_are_filed),
    TEST(ban_deletes_messages_with_ids_far_ahead_of_the_clock),
    TEST(messages_with_lower_ids_are_filed_when_they_are_inserted),
    TEST(job_continues_until_all_messages_are_filed),
    TEST(nonce_is_enforced_before_and_after_messages_are_filed),
    TEST(members_who_wrote_messages_are_not_pruned),
    { 0 },
};
