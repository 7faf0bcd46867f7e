/* people.h - people who know each other, for tests. */
#ifndef TESTS_PEOPLE_H
#define TESTS_PEOPLE_H

#include "guilds.h"
#include "store/store.h"
#include "world.h"

#define RELATIONSHIPS "/users/@me/relationships"

/* Ada, Bob and Eve, whose accounts are two days old: newcomers are taken for spammers. */
struct people {
    struct client *ada, *bob, *eve;
};
struct people world_people(struct world *w);

/* Straight into the store. values: BIND(…). */
void store_write(struct world *w, const char *sql, const struct value *values, size_t count);
struct value v_client(const struct client *c);

/* Through the interface; what was told is forgotten. */
void ask_friend(struct client *a, struct client *b);
void ask_and_accept(struct client *a, struct client *b);
void block_user(struct client *a, struct client *b);
void ignore_them(struct client *a, struct client *b);

/* A friend of both, so that they are no strangers; what was told is forgotten. */
struct client *introduce(struct client *a, struct client *b);

/* The type as one side sees the other, and whether it ignores; -1: there is no row. */
int64_t type_of(struct client *a, const struct client *b);

/* What somebody hears: an event with this type of the relationship with other. */
#define expect_relationship(c, event, other, type) \
    expect_event(c, "RELATIONSHIP_" event, "{'id': '%s', 'type': %d}", (other)->id, type)

/* And is to look at. */
#define expect_notice(c, notice, about)                \
    expect_event(c, "NOTIFICATION_CENTER_ITEM_CREATE", \
                 "{'type': '%s', 'other_user': {'id': '%s'}}", notice, (about)->id)
#define REQUESTED "friend_request_pending"
#define ACCEPTED  "friend_request_accepted"

/* The same for a request that somebody connected hears of without being disturbed. */
void expect_unnoticed(struct client *c, const struct client *from, const char *more);

/* For TEST_WITH: limits count, but not all calls together. */
void buckets_only(struct config *config);

/* A call by an application for somebody who allowed it, with these scopes. */
struct client *application_for(struct client *c, const char *application, const char *scopes);
void grant_application(const struct client *c, const char *application);
void revoke_application(const struct client *c, const char *application);

#endif
