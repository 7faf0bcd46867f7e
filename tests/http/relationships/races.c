/* races.c - concurrent changes of relationships. Each user acts on a thread and a connection of
 * its own. Afterwards every pair of rows must be consistent, and each user's events must add up
 * to the stored state. */
#include "people.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps.h"
#include "base/clock.h"
#include "base/mem.h"
#include "internal.h"

#define CONFIRM "{\"confirm_stranger_request\":true}"
#define ACCEPT  "{\"type\":1,\"confirm_stranger_request\":true}"
#define BLOCK   "{\"type\":2}"

/* --- requests without the test client, which is for one thread ------------------------ */

struct action {
    const char *method, *suffix, *body;
};

/* Sends one request and reads its response; returns the status, or 0. */
static int send_action(int fd, const struct client *me, const char *other, const struct action *d)
{
    char text[8192];
    size_t n = 0;
    int sent = snprintf(text, sizeof text,
                        "%s /api/v10" RELATIONSHIPS "/%s%s HTTP/1.1\r\nHost: localhost\r\n"
                        "Authorization: %s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        d->method, other, d->suffix, me->authorization, strlen(d->body), d->body);

    if (send(fd, text, (size_t)sent, MSG_NOSIGNAL) != sent)
        return 0;
    for (;;) {
        ssize_t got = recv(fd, text + n, sizeof text - 1 - n, 0);

        if (got <= 0)
            return 0;
        text[n += (size_t)got] = '\0';
        char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length: ");
        if (!end)
            continue;
        size_t body = length && length < end ? strtoul(length + 18, NULL, 10) : 0;
        if (n >= (size_t)(end + 4 - text) + body)
            return atoi(text + 9);
    }
}

struct actor {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct client *me;
    const struct client *others[2];
    int other_count, fd, rounds;
    unsigned seed;
    const struct action *actions; /* chosen at random for each round */
    int action_count;
    int last, failures; /* status of the last action; unexpected responses */
    int slow;           /* responses that took as long as PostgreSQL's deadlock timeout */
};

/* Deadlock timeout of PostgreSQL, which a busy machine does not reach otherwise. */
enum { DEADLOCK_S = 20 };

static void *run_actor(void *arg)
{
    struct actor *a = arg;

    pthread_barrier_wait(a->start);
    for (int i = 0; i < a->rounds; i++) {
        const struct client *other = a->others[rand_r(&a->seed) % (unsigned)a->other_count];
        const struct action *d = &a->actions[rand_r(&a->seed) % (unsigned)a->action_count];

        int64_t began = clock_monotonic_ns();
        a->last = send_action(a->fd, a->me, other->id, d);
        a->slow += clock_monotonic_ns() - began >= DEADLOCK_S * INT64_C(1000000000);
        a->failures += a->last == 0 || a->last == 409 || a->last >= 500;
    }
    return NULL;
}

static void run_actors(struct actor *actors, unsigned count)
{
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        actors[i].start = &start;
        actors[i].fd = client_dial((struct client *)(uintptr_t)actors[i].me);
        pthread_create(&actors[i].thread, NULL, run_actor, &actors[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(actors[i].thread, NULL);
        close(actors[i].fd);
    }
    pthread_barrier_destroy(&start);
    for (unsigned i = 0; i < count; i++)
        expect(actors[i].failures == 0);
}

/* --- invariants ----------------------------------------------------------------------- */

/* Every row matches the other side's, and no row is empty. */
static void expect_consistent_relationship_pairs(struct world *w)
{
    expect(store_count(w, "select count(*) from relationships a left join relationships b on "
                          "b.user_id = a.target_id and b.target_id = a.user_id where not ("
                          "(a.type = 0 and a.ignored = 1 and coalesce(b.type, 0) in (0, 2)) or "
                          "(a.type = 1 and coalesce(b.type, 0) = 1) or "
                          "(a.type = 2 and coalesce(b.type, 0) in (0, 2)) or "
                          "(a.type = 3 and coalesce(b.type, 0) = 4) or "
                          "(a.type = 4 and coalesce(b.type, 0) = 3))") == 0);
    expect(store_count(w, "select count(*) from relationships where nickname is not null and "
                          "type <> 1") == 0);
}

enum { UNKNOWN = -1 };

/* Returns the type that a client derives from its events only, plus 10 if ignored. */
static int64_t type_from_events(struct world *w, const struct client *c, const struct client *other)
{
    int64_t type = UNKNOWN;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h; h = h->next) {
        if (h->to.kind != AUDIENCE_USER || h->to.id != id_of(c->id))
            continue;
        const struct dom *d = dom_parse(w->arena, str_of(h->payload));
        if (!dom_at(d, "id") || !str_is(dom_at(d, "id")->text, other->id))
            continue;
        int64_t reported = strtoll(dom_at(d, "type")->text.p, NULL, 10) +
                           (dom_at(d, "user_ignored")->truth ? 10 : 0);
        if (h->event == EVENT_RELATIONSHIP_ADD)
            type = reported;
        else if (h->event == EVENT_RELATIONSHIP_UPDATE)
            type = type == UNKNOWN ? 100 : reported;
        else if (h->event == EVENT_RELATIONSHIP_REMOVE)
            type = type == UNKNOWN ? 200 : UNKNOWN;
    }
    pthread_mutex_unlock(&w->lock);
    return type;
}

static int64_t type_from_list(struct client *c, const struct client *other)
{
    struct answer a = client_get(c, RELATIONSHIPS);

    for (size_t i = 0; i < a.json->count; i++)
        if (str_is(dom_at(&a.json->items[i], "id")->text, other->id))
            return strtoll(dom_at(&a.json->items[i], "type")->text.p, NULL, 10) +
                   (dom_at(&a.json->items[i], "user_ignored")->truth ? 10 : 0);
    return UNKNOWN;
}

static void expect_events_match_relationship_lists(struct world *w, struct client *const *people,
                                                   int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                expect(type_from_events(w, people[i], people[j]) ==
                       type_from_list(people[i], people[j]));
}

/* --- tests ---------------------------------------------------------------------------- */

static void concurrent_mutual_friend_requests_make_friends(struct world *w)
{
    static const struct action asking = { "PUT", "", CONFIRM };
    struct people p = world_people(w);
    struct client *both[] = { p.ada, p.bob };

    for (int round = 0; round < 20; round++) {
        struct actor actors[] = {
            { .me = p.ada, .others = { p.bob }, .other_count = 1, .rounds = 1 },
            { .me = p.bob, .others = { p.ada }, .other_count = 1, .rounds = 1 },
        };

        for (int i = 0; i < 2; i++) {
            actors[i].actions = &asking;
            actors[i].action_count = 1;
        }
        run_actors(actors, 2);
        expect(actors[0].last == 204 && actors[1].last == 204);
        expect(type_of(p.ada, p.bob) == 1 && type_of(p.bob, p.ada) == 1);
        expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    }
    expect_events_match_relationship_lists(w, both, 2);
}

static void concurrent_accept_and_cancel_leave_no_relationship(struct world *w)
{
    static const struct action cancel = { "DELETE", "", "" }, accept = { "PUT", "", ACCEPT };
    struct people p = world_people(w);
    struct client *both[] = { p.ada, p.bob };

    for (int round = 0; round < 20; round++) {
        struct actor actors[] = {
            { .me = p.ada, .others = { p.bob }, .other_count = 1, .rounds = 1 },
            { .me = p.bob, .others = { p.ada }, .other_count = 1, .rounds = 1 },
        };

        expect_status(client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.bob->id), 204);
        actors[0].actions = &cancel;
        actors[1].actions = &accept;
        actors[0].action_count = actors[1].action_count = 1;
        run_actors(actors, 2);
        /* Ada's deletion was last in either order: it ended a request or a friendship. */
        expect(actors[0].last == 204);
        expect(actors[1].last == 204 || actors[1].last == 400);
        expect(type_of(p.ada, p.bob) == -1 && type_of(p.bob, p.ada) == -1);
    }
    expect_events_match_relationship_lists(w, both, 2);
}

static const struct action all_actions[] = {
    { "PUT", "", CONFIRM },   { "PUT", "", CONFIRM },      { "PUT", "", ACCEPT },
    { "PUT", "", BLOCK },     { "DELETE", "", "" },        { "DELETE", "", "" },
    { "PUT", "/ignore", "" }, { "DELETE", "/ignore", "" }, { "PATCH", "", "{\"nickname\":\"x\"}" },
};

static void concurrent_actions_of_two_users_leave_consistent_pairs(struct world *w)
{
    struct people p = world_people(w);
    struct client *both[] = { p.ada, p.bob };
    struct actor actors[2];

    for (int i = 0; i < 2; i++)
        actors[i] = (struct actor){ .me = both[i],
                                    .others = { both[1 - i] },
                                    .other_count = 1,
                                    .rounds = 150,
                                    .seed = (unsigned)i + 1,
                                    .actions = all_actions,
                                    .action_count = COUNT_OF(all_actions) };
    run_actors(actors, 2);
    expect_consistent_relationship_pairs(w);
    expect_events_match_relationship_lists(w, both, 2);
}

/* PostgreSQL aborts one of two deadlocked transactions after a second by default. */
static void configure_deadlock_timeout(struct config *c)
{
    static char store[512];

    if (!c->store || !strstr(c->store, "options="))
        return; /* SQLite */
    snprintf(store, sizeof store, "%s\\ -cdeadlock_timeout=%ds", c->store, DEADLOCK_S);
    c->store = store;
}

static void concurrent_actions_of_three_users_cause_no_deadlock(struct world *w)
{
    struct people p = world_people(w);
    struct client *all[] = { p.ada, p.bob, p.eve };
    struct actor actors[3];

    for (int i = 0; i < 3; i++)
        actors[i] = (struct actor){ .me = all[i],
                                    .others = { all[(i + 1) % 3], all[(i + 2) % 3] },
                                    .other_count = 2,
                                    .rounds = 120,
                                    .seed = (unsigned)i + 77,
                                    .actions = all_actions,
                                    .action_count = COUNT_OF(all_actions) };
    run_actors(actors, 3);
    /* No transaction waited for another one until the deadlock timeout. */
    expect(actors[0].slow + actors[1].slow + actors[2].slow == 0);
    expect_consistent_relationship_pairs(w);
    expect_events_match_relationship_lists(w, all, 3);
}

const struct test relationships_races_tests[] = {
    TEST(concurrent_mutual_friend_requests_make_friends),
    TEST(concurrent_accept_and_cancel_leave_no_relationship),
    TEST(concurrent_actions_of_two_users_leave_consistent_pairs),
    TEST_WITH(concurrent_actions_of_three_users_cause_no_deadlock, configure_deadlock_timeout),
    { 0 },
};
