/* test_app.h - an app with commands in a guild, for tests. */
#ifndef TESTS_TEST_APP_H
#define TESTS_TEST_APP_H

#include "guilds.h"
#include "test_guild.h"

/* Ada's app, installed in her guild. */
struct test_app {
    struct world *world;
    struct client *ada, *bot;
    const char *app, *guild;
    const char *global, *local; /* API paths of its global and guild commands */
};

struct test_app world_test_app(struct world *w);
/* Installs an app in a guild, with a bot or only with its commands, and skips the events. */
void install(struct client *owner, const char *app, const char *guild, const char *scope);
/* Installs an app on the account. */
void install_on_account(struct client *c, const char *app);

/* Creates a command and returns its id. */
const char *make_command(struct client *c, const char *path, const char *json);
/* Adds a member of the app's guild with a role of these permissions; 0: none. */
struct client *test_app_member(struct test_app *s, const char *name, uint64_t perms);
/* Counts one use of a command, as an invocation does. */
void use_command(struct test_app *s, const char *id);

#endif
