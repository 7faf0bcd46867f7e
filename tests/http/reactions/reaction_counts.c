/* reaction_counts.c - many who react to one message, and the end of what they left. */
#include <pthread.h>

#include "guilds.h"
#include "venues.h"
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
                           "reaction_counts) + (select count(*) from reaction_users)");
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
};

static void *react_and_more(void *arg)
{
    struct reactor *r = arg;

    for (int i = 0; i < 3; i++) {
        r->add = client_put(r->client, NULL, OWN, r->channel, r->message, THUMB).status;
        r->remove = client_delete(r->client, OWN, r->channel, r->message, THUMB).status;
        if (r->add != 204 || r->remove != 204)
            return NULL;
    }
    r->add = client_put(r->client, NULL, OWN, r->channel, r->message, THUMB).status;
    return NULL;
}

static void many_react_at_once_and_all_are_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct venue v = world_venue(w, ada);
    struct reactor all[PEOPLE];
    pthread_t threads[PEOPLE];
    const char *m = say(ada, v.channel);

    for (int i = 0; i < PEOPLE; i++) {
        all[i] = (struct reactor){ world_client(w, TEXT(w, "person%d", i)), v.channel, m, 0, 0 };
        venue_add(&v, all[i].client);
    }
    for (int i = 0; i < PEOPLE; i++)
        expect(pthread_create(&threads[i], NULL, react_and_more, &all[i]) == 0);
    for (int i = 0; i < PEOPLE; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PEOPLE; i++)
        expect(all[i].add == 204 && all[i].remove == 204);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'reactions': [{'count': %d}]}]", PEOPLE);
    expect(world_number(w, "select count(*) from reaction_users") == PEOPLE);
    expect(world_number(w, "select count(*) from reactions") == 1);
}

/* --- very many ------------------------------------------------------------------------ */

/* As if so many people, whose accounts are gone, had used an emoji. */
static void use_often(struct world *w)
{
    int64_t id = world_number(w, "select id from reactions where message_id <> 0");

    for (int i = 0; i < USED_BY; i++)
        world_sql(w,
                  "insert into reaction_users (reaction_id, burst, user_id) values (%lld, 0, %d)",
                  (long long)id, i + 1);
    world_sql(w, "update reaction_counts set normal = normal + %d", USED_BY);
}

static void what_many_used_goes_in_steps(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct venue v = world_venue(w, ada);
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
    struct venue v = world_venue(w, ada);
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
    struct venue v = world_venue(w, ada);

    client_put(ada, NULL, OWN, v.channel, say(ada, v.channel), THUMB);
    use_often(w);
    client_put(ada, NULL, OWN, v.channel, say(ada, v.channel), THUMB);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_all_gone(w);
    expect(world_number(w, "select count(*) from messages") == 0);
}

const struct test reaction_counts_tests[] = {
    TEST(many_react_at_once_and_all_are_counted),
    TEST(what_many_used_goes_in_steps),
    TEST(reactions_go_with_their_message),
    TEST(reactions_go_with_their_channel),
    { 0 },
};
