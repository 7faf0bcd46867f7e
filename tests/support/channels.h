/* channels.h - channels for tests, and what is told about them. */
#ifndef TESTS_CHANNELS_H
#define TESTS_CHANNELS_H

#include "guilds.h"

/* Makes a channel through the interface; its id. What was told is forgotten. */
const char *make_channel(struct client *c, const char *guild, const char *json);
/* Tries to make one with a name and these members of the body besides. */
struct answer try_channel(struct client *c, const char *guild, const char *rest);

/* The direct channel of somebody with the account of that id. */
const char *talk_to(struct client *c, const char *id);

/* A guild of ada's in which bob and a bot are, with a channel that only those of a role see, which
 * neither of them has. */
struct hidden_place {
    struct client *ada, *bob, *bot;
    const char *guild, *role, *hidden;
};
struct hidden_place world_hidden_place(struct world *w);

/* Everybody who sees a channel of a guild. */
struct subject viewers(const char *guild, const char *channel);

/* The next thing told is an entry of the audit log. */
#define expect_audit(w, g, action, target) \
    expect_audit_at(__FILE__, __LINE__, (w), (g), (action), (target))
void expect_audit_at(const char *file, int line, struct world *w, const char *guild, int action,
                     const char *target);

/* Runs SQL with ids as its parameters. */
void run_sql(struct world *w, const char *sql, const char *one, const char *two);

/* Straight into the store. */
void make_friends(struct client *a, struct client *b);

/* A member with a role of these rights besides everybody's. */
struct client *member_with(struct client *owner, const char *guild, const char *name,
                           uint64_t rights);

#endif
