/* apps.h - applications for tests. */
#ifndef TESTS_APPS_H
#define TESTS_APPS_H

#include "world.h"

#define TEXT(w, fmt, ...) (str_printf(world_arena(w), fmt, __VA_ARGS__).p)

/* Makes an application through the interface; its id. */
const char *make_application(struct client *owner, const char *name);
/* A connection with the bot's token, which is new. */
struct client *application_bot(struct client *owner, const char *application);
/* A new client secret. */
const char *application_secret(struct client *owner, const char *application);

/* Friends, straight in the store. */
void befriend(struct client *a, struct client *b);
/* A team of the owner's, and somebody put into it through the interface. */
const char *make_team(struct client *owner, const char *name);
void join_team(struct client *owner, const char *team, struct client *c, const char *role);

/* POST of an application/x-www-form-urlencoded body. */
struct answer client_form(struct client *c, const char *path, const char *form, ...)
    __attribute__((format(printf, 3, 4)));

/* One number that a query gives, for what the interface does not show. */
int64_t store_count(struct world *w, const char *sql);

#endif
