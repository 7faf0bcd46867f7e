/* test_interaction.h - interactions for tests, put straight into the store as if somebody had
 * asked. */
#ifndef TESTS_TEST_INTERACTION_H
#define TESTS_TEST_INTERACTION_H

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

/* What is asked; what is 0 or NULL is a slash command /weather of ada's, just now. */
struct interaction_options {
    const char *application, *channel, *guild; /* NULL: those of the stage */
    struct client *by;
    int type, command_type, handler, focused_type;
    const char *name, *nonce, *owners, *locale;
    const char *target, *message, *opener; /* ids */
    double age;                            /* seconds ago */
};

struct test_interaction {
    struct client *app; /* nobody: the token is all it takes */
    const char *id, *token, *application;
};

/* A guild with ada, its owner, bob, and an app whose bot is a member. */
struct test_bot {
    struct world *world;
    struct test_guild test_guild;
    struct client *ada, *bob, *bot;
    const char *application;
    struct channel_events room; /* what everybody in the channel hears */
};

struct test_bot world_test_bot(struct world *w);

struct test_interaction interaction_make(struct test_bot *s, const struct interaction_options *how);
#define INTERACTION(stage, ...) \
    interaction_make((stage), &(struct interaction_options){ __VA_ARGS__ })

/* POST of a callback, with `query` ("?with_response=true") behind the path. */
struct answer interaction_answer(const struct test_interaction *a, const char *query,
                                 const char *json, ...) __attribute__((format(printf, 3, 4)));
/* The same, which is accepted with 204. */
void interaction_answered(const struct test_interaction *a, const char *json);
/* A message of the app's with a button "ok" and a menu "pick"; its id. */
const char *test_bot_message(struct test_bot *s);

#define FOLLOW "/webhooks/%s/%s", ask.application, ask.token

#endif
