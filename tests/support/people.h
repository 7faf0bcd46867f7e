/* people.h - users and their relationships for tests. */
#ifndef TESTS_PEOPLE_H
#define TESTS_PEOPLE_H

#include "guilds.h"
#include "store/store.h"
#include "world.h"

#define RELATIONSHIPS "/users/@me/relationships"

/* Ada, Bob and Eve have accounts that are two days old, because new accounts count as spammers. */
struct people {
    struct client *ada, *bob, *eve;
};
struct people world_people(struct world *w);

/* Writes directly into the store. values: BIND(…). */
void store_write(struct world *w, const char *sql, const struct value *values, size_t count);
struct value v_client(const struct client *c);

/* Sends or accepts a friend request through the API and skips its events. */
void ask_friend(struct client *a, struct client *b);
void ask_and_accept(struct client *a, struct client *b);
void block_user(struct client *a, struct client *b);
void ignore_them(struct client *a, struct client *b);

/* Creates a friend of both users, so that they have a mutual friend; skips the events. */
struct client *introduce(struct client *a, struct client *b);

/* Returns the relationship type of a towards b, and whether a ignores b; -1: no row. */
int64_t type_of(struct client *a, const struct client *b);

/* Expects an event with this relationship type. */
#define expect_relationship(c, event, other, type) \
    expect_event(c, "RELATIONSHIP_" event, "{'id': '%s', 'type': %d}", (other)->id, type)

/* Expects the event with a notification. */
#define expect_notice(c, notice, about)                \
    expect_event(c, "NOTIFICATION_CENTER_ITEM_CREATE", \
                 "{'type': '%s', 'other_user': {'id': '%s'}}", notice, (about)->id)
#define REQUESTED "friend_request_pending"
#define ACCEPTED  "friend_request_accepted"

/* Expects a friend request event without a notification. */
void expect_unnoticed(struct client *c, const struct client *from, const char *more);

/* For TEST_WITH: rate limits apply, except for the global one. */
void buckets_only(struct config *config);

/* Creates a client with a bearer token of this user for the application, with these scopes. */
struct client *application_for(struct client *c, const char *application, const char *scopes);
void grant_application(const struct client *c, const char *application);
void revoke_application(const struct client *c, const char *application);

#endif
