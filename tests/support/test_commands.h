/* test_commands.h - an app with commands, and users who invoke them. */
#ifndef TESTS_TEST_COMMANDS_H
#define TESTS_TEST_COMMANDS_H

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

/* A guild of ada with bob, and an app that is installed there with its bot. */
struct test_commands {
    struct world *world;
    struct test_guild test_guild;
    struct client *ada, *bob, *bot;
    const char *application;
};

struct test_commands world_test_commands(struct world *w);

/* Inserts a global command into the store: a slash command "roll" that is available everywhere,
 * unless these members of its object say otherwise ("" or "'name': 'x',"). Returns its id, which
 * is its version too. */
const char *make_global_command(struct test_commands *s, const char *members, ...)
    __attribute__((format(printf, 2, 3)));
/* Installs an app in a guild or on an account, without events. */
void install_in(struct test_commands *s, const char *guild, const char *scopes);
void install_on(struct test_commands *s, struct client *user);

/* Sends POST /interactions in the test channel; data is the content of the data object. */
struct answer invoke(struct test_commands *s, struct client *by, const char *more, const char *data,
                     ...) __attribute__((format(printf, 4, 5)));
/* Invokes a command "roll", with more members for data ("'options': […]"). */
struct answer roll(struct test_commands *s, struct client *by, const char *command,
                   const char *more, ...) __attribute__((format(printf, 4, 5)));

/* Returns the last interaction that the app received, and their number. */
const struct dom *last_interaction(struct test_commands *s);
size_t interactions_received(struct test_commands *s);

/* Returns the text at a path; fails the test if it does not exist. */
const char *dom_text(struct test_commands *s, const struct dom *d, const char *path);
#define expect_dom(s, d, ...) expect_dom_at(__FILE__, __LINE__, (s), (d), __VA_ARGS__)
void expect_dom_at(const char *file, int line, struct test_commands *s, const struct dom *d,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
