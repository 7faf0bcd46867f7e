/* guilds.h - guilds for tests, and what is told about them. */
#ifndef TESTS_GUILDS_H
#define TESTS_GUILDS_H

#include "model/events/events.h"
#include "model/permissions/permissions.h"
#include "world.h"

/* Text that lives as long as the world. */
#define TEXT(w, fmt, ...) (str_printf(world_arena(w), fmt, __VA_ARGS__).p)
/* A set of rights, for "%llu". */
#define BITS(set) ((unsigned long long)(set))

/* Founds a guild through the interface; its id. What was told is forgotten. */
const char *found_guild(struct client *owner, const char *name);
/* Straight into the store, without a word to anybody. */
void put_member(const char *guild, struct client *c);
void put_role_on(const char *guild, struct client *c, const char *role);
/* Makes a role through the interface; its id. What was told is forgotten. */
const char *make_role(struct client *c, const char *guild, const char *json);

/* A guild of ada's with bob in it, who has one role with these rights. */
struct home {
    const char *guild, *role;
    struct client *ada, *bob;
};
struct home world_home(struct world *w, uint64_t rights);

/* The same with three roles. From below: low, bob's with these rights, high. */
struct ranks {
    const char *guild, *low, *bobs, *high;
    struct client *ada, *bob;
};
struct ranks world_ranks(struct world *w, uint64_t rights);

/* The number of an id, for subjects. */
snowflake id_of(const char *text);

/* Those who see where a guild is told of newcomers. */
struct subject system_viewers(struct world *w, const char *guild);

/* The next announcement that is not for one account's sessions, of this very subject. */
#define expect_told(w, to, e, ...) expect_told_at(__FILE__, __LINE__, (w), (to), (e), __VA_ARGS__)
/* No such announcement is left. */
#define expect_nothing_told(w) expect_nothing_told_at(__FILE__, __LINE__, (w))

void expect_told_at(const char *file, int line, struct world *w, struct subject to,
                    const char *event, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void expect_nothing_told_at(const char *file, int line, struct world *w);
/* Skips what was told so far, to guilds and to everybody. */
void forget_told(struct world *w);

#endif
