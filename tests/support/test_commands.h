/* test_commands.h - an app with commands, and people who use them. */
#ifndef TESTS_TEST_COMMANDS_H
#define TESTS_TEST_COMMANDS_H

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

/* A guild of ada's with bob in it, and an app that is installed there with its bot. */
struct test_commands {
    struct world *world;
    struct test_guild test_guild;
    struct client *ada, *bob, *bot;
    const char *application;
};

struct test_commands world_test_commands(struct world *w);

/* A global command, straight in the store: a slash command "roll" that can be used
 * everywhere, unless these members of its object say otherwise ("" or "'name': 'x',").
 * Its id, which is its version too. */
const char *make_global_command(struct test_commands *s, const char *members, ...)
    __attribute__((format(printf, 2, 3)));
/* Puts an app into a guild, or onto an account, without a word to anybody. */
void install_in(struct test_commands *s, const char *guild, const char *scopes);
void install_on(struct test_commands *s, struct client *user);

/* POST /interactions in the scene's channel: data is the inside of its object. */
struct answer invoke(struct test_commands *s, struct client *by, const char *more, const char *data,
                     ...) __attribute__((format(printf, 4, 5)));
/* A command called "roll", with more members for data ("'options': […]"). */
struct answer roll(struct test_commands *s, struct client *by, const char *command,
                   const char *more, ...) __attribute__((format(printf, 4, 5)));

/* What the app was told last, and how often so far. */
const struct dom *last_interaction(struct test_commands *s);
size_t interactions_told(struct test_commands *s);

/* The text at a path of it; fails the test when it is not there. */
const char *dom_text(struct test_commands *s, const struct dom *d, const char *path);
#define expect_dom(s, d, ...) expect_dom_at(__FILE__, __LINE__, (s), (d), __VA_ARGS__)
void expect_dom_at(const char *file, int line, struct test_commands *s, const struct dom *d,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
