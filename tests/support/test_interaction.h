/* test_interaction.h - inserts interactions directly into the store. */
#ifndef TESTS_TEST_INTERACTION_H
#define TESTS_TEST_INTERACTION_H

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

/* An interaction; fields that are 0 or NULL mean a slash command /weather of ada, now. */
struct interaction_options {
    const char *application, *channel, *guild; /* NULL: those of the test bot */
    struct client *by;
    int type, command_type, handler, focused_type;
    const char *name, *nonce, *owners, *locale;
    const char *target, *message, *opener; /* ids */
    double age;                            /* age in seconds */
};

struct test_interaction {
    struct client *app; /* a client without account: the token is enough */
    const char *id, *token, *application;
};

/* A guild with its owner ada, bob, and an app whose bot is a member. */
struct test_bot {
    struct world *world;
    struct test_guild test_guild;
    struct client *ada, *bob, *bot;
    const char *application;
    struct channel_events room; /* events of the channel */
};

struct test_bot world_test_bot(struct world *w);

struct test_interaction interaction_make(struct test_bot *s, const struct interaction_options *how);
#define INTERACTION(stage, ...) \
    interaction_make((stage), &(struct interaction_options){ __VA_ARGS__ })

/* Sends a callback, with `query` ("?with_response=true") appended to the path. */
struct answer interaction_answer(const struct test_interaction *a, const char *query,
                                 const char *json, ...) __attribute__((format(printf, 3, 4)));
/* Sends a callback and expects 204. */
void interaction_answered(const struct test_interaction *a, const char *json);
/* Creates a message of the app with a button "ok" and a menu "pick"; returns its id. */
const char *test_bot_message(struct test_bot *s);

#define FOLLOW "/webhooks/%s/%s", ask.application, ask.token

#endif
