/* guilds.h - creates guilds for tests and expects their events. */
#ifndef TESTS_GUILDS_H
#define TESTS_GUILDS_H

#include "model/events/events.h"
#include "model/permissions/permissions.h"
#include "world.h"

/* Formats text that lives as long as the world. */
#define TEXT(w, fmt, ...) (str_printf(world_arena(w), fmt, __VA_ARGS__).p)
/* A permission set, for "%llu". */
#define BITS(set) ((unsigned long long)(set))

/* Creates a guild through the API, skips its events, and returns its id. */
const char *found_guild(struct client *owner, const char *name);
/* Inserts a member directly into the store, without events. */
void put_member(const char *guild, struct client *c);
void put_role_on(const char *guild, struct client *c, const char *role);
/* Creates a role through the API, skips its events, and returns its id. */
const char *make_role(struct client *c, const char *guild, const char *json);

/* A guild of ada with bob, who has one role with these permissions. */
struct server_loop {
    const char *guild, *role;
    struct client *ada, *bob;
};
struct server_loop world_home(struct world *w, uint64_t perms);

/* A guild of ada with bob and three roles, from the bottom: low, bob's role with these
 * permissions, high. */
struct ranks {
    const char *guild, *low, *bobs, *high;
    struct client *ada, *bob;
};
struct ranks world_ranks(struct world *w, uint64_t perms);

/* Converts an id to a number. */
snowflake id_of(const char *text);

/* The audience of the channel for join messages. */
struct audience system_viewers(struct world *w, const char *guild);

/* Expects the next event that is not for one account, with exactly this audience. */
#define expect_received(w, to, e, ...) \
    expect_received_at(__FILE__, __LINE__, (w), (to), (e), __VA_ARGS__)
/* Expects that no such event is left. */
#define expect_nothing_received(w) expect_nothing_received_at(__FILE__, __LINE__, (w))

void expect_received_at(const char *file, int line, struct world *w, struct audience to,
                        const char *event, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void expect_nothing_received_at(const char *file, int line, struct world *w);
/* Skips all guild events and broadcasts so far. */
void discard_received(struct world *w);

#endif
