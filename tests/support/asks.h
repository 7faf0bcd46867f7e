/* asks.h - interactions for tests, put straight into the store as if somebody had asked. */
#ifndef TESTS_ASKS_H
#define TESTS_ASKS_H

#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

/* What is asked; what is 0 or NULL is a slash command /weather of ada's, just now. */
struct asking {
    const char *application, *channel, *guild; /* NULL: those of the stage */
    struct client *by;
    int type, command_type, handler, focused_type;
    const char *name, *nonce, *owners, *locale;
    const char *target, *message, *opener; /* ids */
    double age;                            /* seconds ago */
};

struct ask {
    struct client *app; /* nobody: the token is all it takes */
    const char *id, *token, *application;
};

/* A guild with ada, its owner, bob, and an app whose bot is a member. */
struct stage {
    struct world *world;
    struct test_guild test_guild;
    struct client *ada, *bob, *bot;
    const char *application;
    struct channel_events room; /* what everybody in the channel hears */
};

struct stage world_stage(struct world *w);

struct ask ask_app(struct stage *s, const struct asking *how);
#define ASK(stage, ...) ask_app((stage), &(struct asking){ __VA_ARGS__ })

/* POST of a callback, with `query` ("?with_response=true") behind the path. */
struct answer ask_answer(const struct ask *a, const char *query, const char *json, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, which is accepted with 204. */
void ask_answered(const struct ask *a, const char *json);
/* A message of the app's with a button "ok" and a menu "pick"; its id. */
const char *stage_message(struct stage *s);

#define FOLLOW "/webhooks/%s/%s", ask.application, ask.token

#endif
