/* test_guild.h - creates guilds directly in the store and expects their events. */
#ifndef TESTS_TEST_GUILD_H
#define TESTS_TEST_GUILD_H

#include "model/permissions/permissions.h"
#include "world.h"

/* A guild with its owner and one text channel. */
struct test_guild {
    struct world *world;
    char id[24], channel[24];
    size_t arrivals; /* number of events already checked */
};

struct test_guild world_test_guild(struct world *w, struct client *owner);
/* Adds a member without events. */
void test_guild_add(struct test_guild *p, struct client *c);
/* Creates a role; its id lives as long as the world. */
const char *test_guild_role(struct test_guild *p, int position, uint64_t permissions);
void test_guild_give(struct test_guild *p, struct client *c, const char *role);
/* Adds a member with a new role of these permissions. Returns the role. */
const char *test_guild_add_with(struct test_guild *p, struct client *c, int position,
                                uint64_t permissions);

/* Removes permissions from @everyone. */
void test_guild_take_right(struct test_guild *p, uint64_t right);

/* Executes one SQL statement; %s and %d as in printf. */
void world_sql(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Expects that no transaction of this name occupied the writer for this many milliseconds of
 * processor time, adjusted to the build. Otherwise the test is repeated. */
void expect_short_writes(const char *part, double ms);
/* Expects that no loop iteration of this name was longer, as expect_short_writes does for
 * transactions. */
void expect_short_turns(const char *part, double ms);
/* Returns a metric without labels. */
int64_t world_counter(struct world *w, const char *name);
/* Returns the number that a query gives. */
int64_t world_number(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Inserts a message as an import does: its id may be lower than those of messages that are indexed
 * for search and filed by author. Statements of world_sql must not insert such messages. */
void world_insert_message(struct world *w, snowflake id, const char *channel, const char *author,
                          const char *content);
/* Returns the number of messages that wait for the search index. */
int64_t world_count_unindexed_messages(struct world *w);

/* Returns the payload of the last event of this name. */
const struct dom *world_last_event(struct world *w, const char *event);

/* Expects the next event for the guild, limited to members with one of these permissions (0:
 * all). */
#define expect_guild_event(p, any_of, e, ...) \
    expect_guild_event_at(__FILE__, __LINE__, (p), (any_of), (e), __VA_ARGS__)
#define expect_guild_silence(p) expect_guild_silence_at(__FILE__, __LINE__, (p))

void expect_guild_event_at(const char *file, int line, struct test_guild *p, uint64_t any_of,
                           const char *event, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void expect_guild_silence_at(const char *file, int line, struct test_guild *p);

#endif
