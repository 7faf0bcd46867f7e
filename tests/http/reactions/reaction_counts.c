/* reaction_counts.c - concurrent reactions to one message, and their deletion. */
#include <pthread.h>

#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

#define MESSAGES  "/channels/%s/messages"
#define REACTIONS MESSAGES "/%s/reactions"
#define OWN       REACTIONS "/%s/@me"
#define THUMB     "%F0%9F%91%8D"

enum { PEOPLE = 12, USED_BY = 2000 };

static const char *send_message(struct client *c, const char *channel)
{
    return answer_text(client_post(c, "{'content': 'hello'}", MESSAGES, channel), "id");
}

static int64_t count_reaction_rows(struct world *w)
{
    return world_number(w, "select (select count(*) from reactions) + (select count(*) from "
                           "reaction_lanes) + (select count(*) from reaction_users)");
}

static void expect_reaction_rows_deleted(struct world *w)
{
    world_settle(w);
    expect(count_reaction_rows(w) == 0);
}

/* --- concurrency ---------------------------------------------------------------------- */

struct reactor {
    struct client *client;
    const char *channel, *message;
    int add, remove; /* statuses of the last requests */
    void (*act)(struct reactor *r);
};

/* Runs on a thread of its own. */
static void *run_reactor(void *arg)
{
    struct reactor *r = arg;

    r->client->arena = arena_new();
    r->act(r);
    arena_free(r->client->arena);
    r->client->arena = NULL;
    return NULL;
}

static void run_threads_that_add_reactions(struct reactor *all)
{
    pthread_t threads[PEOPLE];

    for (int i = 0; i < PEOPLE; i++)
        expect(pthread_create(&threads[i], NULL, run_reactor, &all[i]) == 0);
    for (int i = 0; i < PEOPLE; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PEOPLE; i++)
        expect(all[i].add == 204 && all[i].remove == 204);
}

static void add_and_remove_reaction(struct reactor *r)
{
    for (int i = 0; i < 3; i++) {
        r->add = client_put(r->client, NULL, OWN, r->channel, r->message, THUMB).status;
        r->remove = client_delete(r->client, OWN, r->channel, r->message, THUMB).status;
        if (r->add != 204 || r->remove != 204)
            return;
    }
    r->add = client_put(r->client, NULL, OWN, r->channel, r->message, THUMB).status;
}

static void concurrent_reactions_are_all_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct reactor all[PEOPLE];
    const char *m = send_message(ada, v.channel);

    for (int i = 0; i < PEOPLE; i++) {
        all[i] = (struct reactor){ .client = world_client(w, TEXT(w, "person%d", i)),
                                   .channel = v.channel,
                                   .message = m,
                                   .act = add_and_remove_reaction };
        test_guild_add(&v, all[i].client);
    }
    run_threads_that_add_reactions(all);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'reactions': [{'count': %d}]}]", PEOPLE);
    expect(world_number(w, "select count(*) from reaction_users") == PEOPLE);
    expect(world_number(w, "select count(*) from reactions") == 1);
}

static const char *const animals[] = { "%F0%9F%90%80", "%F0%9F%90%81", "%F0%9F%90%82" };

/* Adds and removes emojis that disappear with their last reaction, while others count them. */
static void add_and_remove_emojis(struct reactor *r)
{
    for (int i = 0; i < 6; i++) {
        const char *emoji = animals[i % 3];

        r->add = client_put(r->client, NULL, OWN, r->channel, r->message, emoji).status;
        if (r->add != 204)
            return;
        if (i % 2)
            r->remove = client_delete(r->client, OWN, r->channel, r->message, emoji).status;
        if (r->remove && r->remove != 204)
            return;
    }
}

static void remove_all_reactions_of_one_emoji(struct reactor *r)
{
    for (int i = 0; i < 6; i++) {
        r->remove =
            client_delete(r->client, REACTIONS "/%s", r->channel, r->message, animals[i % 3])
                .status;
        if (r->remove != 204)
            return;
    }
    r->add = 204;
}

static int64_t sum_shown_counts(struct client *c, const char *channel)
{
    const struct dom *reactions = dom_at(client_get(c, MESSAGES, channel).json, "0.reactions");
    int64_t sum = 0, count;

    for (size_t i = 0; reactions && i < reactions->count; i++) {
        const struct dom *shown = dom_member(&reactions->items[i], STR("count"));

        expect(shown && str_to_i64(shown->text, &count) && count > 0);
        sum += count;
    }
    return sum;
}

static void reaction_counts_stay_exact_under_concurrent_removal(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct reactor all[PEOPLE];
    const char *m = send_message(ada, v.channel);

    all[0] = (struct reactor){
        .client = ada, .channel = v.channel, .message = m, .act = remove_all_reactions_of_one_emoji
    };
    for (int i = 1; i < PEOPLE; i++) {
        all[i] = (struct reactor){ .client = world_client(w, TEXT(w, "person%d", i)),
                                   .channel = v.channel,
                                   .message = m,
                                   .act = add_and_remove_emojis };
        test_guild_add(&v, all[i].client);
    }
    run_threads_that_add_reactions(all);
    world_settle(w);
    expect(sum_shown_counts(ada, v.channel) ==
           world_number(w, "select count(*) from reaction_users"));
    expect_status(client_put(all[1].client, NULL, OWN, v.channel, m, THUMB), 204);
    expect(sum_shown_counts(ada, v.channel) ==
           world_number(w, "select count(*) from reaction_users"));
    expect(world_number(w, "select count(*) from reactions r where not exists (select 1 from "
                           "reaction_users u where u.reaction_id = r.id)") == 0);
}

/* --- many users ----------------------------------------------------------------------- */

/* Inserts reactions of so many deleted accounts, in a counter shard that nobody else uses. */
static void insert_reactions(struct world *w)
{
    int64_t id = world_number(w, "select id from reactions where message_id <> 0");
    int64_t message = world_number(w, "select message_id from reactions where message_id <> 0");

    for (int i = 0; i < USED_BY; i++)
        world_sql(w,
                  "insert into reaction_users (reaction_id, burst, user_id) values (%lld, 0, %d)",
                  (long long)id, i + 1);
    world_sql(w,
              "insert into reaction_lanes (message_id, lane, counts) values (%lld, 77, "
              "'%016llx0%d,0,,\t\n')",
              (long long)message, (long long)id, USED_BY);
    world_sql(w, "update messages set reacted = 2 where id = %lld", (long long)message);
}

static void reactions_of_many_users_are_deleted_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel);

    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    insert_reactions(w);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'reactions': [{'count': %d}]}]",
                USED_BY + 1);
    expect_status(client_delete(ada, REACTIONS, v.channel, m), 204);
    expect_absent(client_get(ada, MESSAGES, v.channel), "0.reactions");
    expect_json(client_get(ada, REACTIONS "/%s", v.channel, m, THUMB), "[]");
    expect_reaction_rows_deleted(w);
}

static void deleting_messages_deletes_their_reactions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel), *second = send_message(ada, v.channel),
               *third = send_message(ada, v.channel);

    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    insert_reactions(w);
    expect_status(client_delete(ada, MESSAGES "/%s", v.channel, m), 204);
    client_put(ada, NULL, OWN, v.channel, second, THUMB);
    client_put(ada, NULL, OWN, v.channel, third, THUMB);
    expect_status(client_post(ada, TEXT(w, "{'messages': ['%s', '%s']}", second, third),
                              MESSAGES "/bulk-delete", v.channel),
                  204);
    expect_reaction_rows_deleted(w);
}

static void deleting_a_channel_deletes_its_reactions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    client_put(ada, NULL, OWN, v.channel, send_message(ada, v.channel), THUMB);
    insert_reactions(w);
    client_put(ada, NULL, OWN, v.channel, send_message(ada, v.channel), THUMB);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_reaction_rows_deleted(w);
    expect_soon(world_number(w, "select count(*) from messages") == 0);
}

const struct test reaction_counts_tests[] = {
    TEST(concurrent_reactions_are_all_counted),
    TEST(reaction_counts_stay_exact_under_concurrent_removal),
    TEST(reactions_of_many_users_are_deleted_in_batches),
    TEST(deleting_messages_deletes_their_reactions),
    TEST(deleting_a_channel_deletes_its_reactions),
    { 0 },
};
