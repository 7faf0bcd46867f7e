/* channels.h - creates channels for tests and expects their events. */
#ifndef TESTS_CHANNELS_H
#define TESTS_CHANNELS_H

#include "guilds.h"

/* Creates a channel through the API, skips its events, and returns its id. */
const char *make_channel(struct client *c, const char *guild, const char *json);
/* Sends the request to create a channel with a name and these other fields. */
struct answer try_channel(struct client *c, const char *guild, const char *rest);

/* Returns the direct channel of the client with the account of that id. */
const char *talk_to(struct client *c, const char *id);

/* A guild of ada with bob and a bot, and a channel that only a role can view which neither of
 * them has. */
struct hidden_position {
    struct client *ada, *bob, *bot;
    const char *guild, *role, *hidden;
};
struct hidden_position world_hidden_position(struct world *w);

/* The audience of a guild channel. */
struct audience viewers(const char *guild, const char *channel);

/* Expects that the next event is an entry of the audit log. */
#define expect_audit(w, g, action, target) \
    expect_audit_at(__FILE__, __LINE__, (w), (g), (action), (target))
void expect_audit_at(const char *file, int line, struct world *w, const char *guild, int action,
                     const char *target);

/* Runs SQL with ids as its parameters. */
void run_sql(struct world *w, const char *sql, const char *one, const char *two);

/* Inserts a friendship directly into the store. */
void make_friends(struct client *a, struct client *b);

/* Adds a member with a role that has these permissions. */
struct client *member_with(struct client *owner, const char *guild, const char *name,
                           uint64_t perms);

#endif
