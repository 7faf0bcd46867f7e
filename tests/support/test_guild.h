/* test_guild.h - guilds for tests, made directly in the store, and what is heard in them. */
#ifndef TESTS_TEST_GUILD_H
#define TESTS_TEST_GUILD_H

#include "model/permissions/permissions.h"
#include "world.h"

/* A guild with its owner and one text channel. */
struct test_guild {
    struct world *world;
    char id[24], channel[24];
    size_t heard; /* announcements already looked at */
};

struct test_guild world_test_guild(struct world *w, struct client *owner);
/* Puts somebody in, silently. */
void test_guild_add(struct test_guild *p, struct client *c);
/* A new role; its id lives as long as the world. */
const char *test_guild_role(struct test_guild *p, int position, uint64_t permissions);
void test_guild_give(struct test_guild *p, struct client *c, const char *role);
/* In, with a role of its own of these rights. Returns the role. */
const char *test_guild_add_with(struct test_guild *p, struct client *c, int position,
                                uint64_t permissions);

/* Takes rights from everybody in the guild. */
void test_guild_take_right(struct test_guild *p, uint64_t right);

/* Any one statement; %s and %d as in printf. */
void world_sql(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* No work of this name has held the writer for so many milliseconds of its own processor time;
 * how slow the build is counts. Else the test is tried again, as with other holds. */
void expect_short_writes(const char *part, double ms);
/* The same of a loop's turn. */
void expect_short_turns(const char *part, double ms);
/* A number of /metrics, without labels. */
int64_t world_counter(struct world *w, const char *name);
/* The one number that a query returns. */
int64_t world_number(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the last announcement of this name carried. */
const struct dom *world_last_event(struct world *w, const char *event);

/* The next announcement to the guild, narrowed to those with one of these rights (0: to
 * all). */
#define expect_guild_event(p, any_of, e, ...) \
    expect_guild_event_at(__FILE__, __LINE__, (p), (any_of), (e), __VA_ARGS__)
#define expect_guild_silence(p) expect_guild_silence_at(__FILE__, __LINE__, (p))

void expect_guild_event_at(const char *file, int line, struct test_guild *p, uint64_t any_of,
                           const char *event, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void expect_guild_silence_at(const char *file, int line, struct test_guild *p);

#endif
