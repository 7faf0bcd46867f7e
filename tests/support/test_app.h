/* test_app.h - an app with commands for tests, in a guild. */
#ifndef TESTS_TEST_APP_H
#define TESTS_TEST_APP_H

#include "guilds.h"
#include "test_guild.h"

/* Ada's app and her guild, which it is installed in. */
struct test_app {
    struct world *world;
    struct client *ada, *bot;
    const char *app, *guild;
    const char *global, *local; /* paths of its commands, global and in the guild */
};

struct test_app world_test_app(struct world *w);
/* Brings an app into a guild, with a bot or with its commands alone. What was told is
 * forgotten. */
void install(struct client *owner, const char *app, const char *guild, const char *scope);
/* On the account itself. */
void install_on_account(struct client *c, const char *app);

/* Makes a command and gives its id. */
const char *make_command(struct client *c, const char *path, const char *json);
/* A member of the app's guild with a role of these rights; 0: none. */
struct client *test_app_member(struct test_app *s, const char *name, uint64_t rights);
/* Counts a use, as an invocation would. */
void use_command(struct test_app *s, const char *id);

#endif
