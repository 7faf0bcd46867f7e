/* reaction_counts.c - many who react to one message, and the end of what they left. */
#include <pthread.h>

#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

#define MESSAGES  "/channels/%s/messages"
#define REACTIONS MESSAGES "/%s/reactions"
#define OWN       REACTIONS "/%s/@me"
#define THUMB     "%F0%9F%91%8D"

enum { PEOPLE = 12, USED_BY = 2000 };

static const char *say(struct client *c, const char *channel)
{
    return answer_text(client_post(c, "{'content': 'hello'}", MESSAGES, channel), "id");
}

static int64_t rows_left(struct world *w)
{
    return world_number(w, "select (select count(*) from reactions) + (select count(*) from "
                           "reaction_lanes) + (select count(*) from reaction_users)");
}

static void expect_all_gone(struct world *w)
{
    world_settle(w);
    expect(rows_left(w) == 0);
}

/* --- at the same time ----------------------------------------------------------------- */

struct reactor {
    struct client *client;
    const char *channel, *message;
    int add, remove; /* the last answers */
    void (*act)(struct reactor *r);
};

/* On a thread of its own. */
static void *reactor_run(void *arg)
{
    struct reactor *r = arg;

    r->client->arena = arena_new();
    r->act(r);
    arena_free(r->client->arena);
    r->client->arena = NULL;
    return NULL;
}

static void run_reactors(struct reactor *all)
{
    pthread_t threads[PEOPLE];

    for (int i = 0; i < PEOPLE; i++)
        expect(pthread_create(&threads[i], NULL, reactor_run, &all[i]) == 0);
    for (int i = 0; i < PEOPLE; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PEOPLE; i++)
        expect(all[i].add == 204 && all[i].remove == 204);
}

static void react_and_more(struct reactor *r)
{
    for (int i = 0; i < 3; i++) {
        r->add = client_put(r->client, NULL, OWN, r->channel, r->message, THUMB).status;
        r->remove = client_delete(r->client, OWN, r->channel, r->message, THUMB).status;
        if (r->add != 204 || r->remove != 204)
            return;
    }
    r->add = client_put(r->client, NULL, OWN, r->channel, r->message, THUMB).status;
}

static void many_react_at_once_and_all_are_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct reactor all[PEOPLE];
    const char *m = say(ada, v.channel);

    for (int i = 0; i < PEOPLE; i++) {
        all[i] = (struct reactor){ .client = world_client(w, TEXT(w, "person%d", i)),
                                   .channel = v.channel,
                                   .message = m,
                                   .act = react_and_more };
        test_guild_add(&v, all[i].client);
    }
    run_reactors(all);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'reactions': [{'count': %d}]}]", PEOPLE);
    expect(world_number(w, "select count(*) from reaction_users") == PEOPLE);
    expect(world_number(w, "select count(*) from reactions") == 1);
}

static const char *const animals[] = { "%F0%9F%90%80", "%F0%9F%90%81", "%F0%9F%90%82" };

/* Emoji that come with their first and go with their last, while others count them. */
static void come_and_go(struct reactor *r)
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

static void take_off(struct reactor *r)
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

static int64_t shown_counts(struct client *c, const char *channel)
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

static void counts_are_exact_while_emoji_come_and_go(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct reactor all[PEOPLE];
    const char *m = say(ada, v.channel);

    all[0] = (struct reactor){ .client = ada, .channel = v.channel, .message = m, .act = take_off };
    for (int i = 1; i < PEOPLE; i++) {
        all[i] = (struct reactor){ .client = world_client(w, TEXT(w, "person%d", i)),
                                   .channel = v.channel,
                                   .message = m,
                                   .act = come_and_go };
        test_guild_add(&v, all[i].client);
    }
    run_reactors(all);
    world_settle(w);
    expect(shown_counts(ada, v.channel) == world_number(w, "select count(*) from reaction_users"));
    expect_status(client_put(all[1].client, NULL, OWN, v.channel, m, THUMB), 204);
    expect(shown_counts(ada, v.channel) == world_number(w, "select count(*) from reaction_users"));
    expect(world_number(w, "select count(*) from reactions r where not exists (select 1 from "
                           "reaction_users u where u.reaction_id = r.id)") == 0);
}

/* --- very many ------------------------------------------------------------------------ */

/* As if so many people, whose accounts are gone, had used an emoji, in a lane that nobody else
 * counts in. */
static void use_often(struct world *w)
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

static void what_many_used_goes_in_steps(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel);

    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    use_often(w);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'reactions': [{'count': %d}]}]",
                USED_BY + 1);
    expect_status(client_delete(ada, REACTIONS, v.channel, m), 204);
    expect_absent(client_get(ada, MESSAGES, v.channel), "0.reactions");
    expect_json(client_get(ada, REACTIONS "/%s", v.channel, m, THUMB), "[]");
    expect_all_gone(w);
}

static void reactions_go_with_their_message(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel), *second = say(ada, v.channel),
               *third = say(ada, v.channel);

    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    use_often(w);
    expect_status(client_delete(ada, MESSAGES "/%s", v.channel, m), 204);
    client_put(ada, NULL, OWN, v.channel, second, THUMB);
    client_put(ada, NULL, OWN, v.channel, third, THUMB);
    expect_status(client_post(ada, TEXT(w, "{'messages': ['%s', '%s']}", second, third),
                              MESSAGES "/bulk-delete", v.channel),
                  204);
    expect_all_gone(w);
}

static void reactions_go_with_their_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    client_put(ada, NULL, OWN, v.channel, say(ada, v.channel), THUMB);
    use_often(w);
    client_put(ada, NULL, OWN, v.channel, say(ada, v.channel), THUMB);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_all_gone(w);
    expect_soon(world_number(w, "select count(*) from messages") == 0);
}

const struct test reaction_counts_tests[] = {
    TEST(many_react_at_once_and_all_are_counted), TEST(counts_are_exact_while_emoji_come_and_go),
    TEST(what_many_used_goes_in_steps),           TEST(reactions_go_with_their_message),
    TEST(reactions_go_with_their_channel),        { 0 },
};
