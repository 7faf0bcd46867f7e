/* apps.h - applications for tests. */
#ifndef TESTS_APPS_H
#define TESTS_APPS_H

#include "world.h"

#define TEXT(w, fmt, ...) (str_printf(world_arena(w), fmt, __VA_ARGS__).p)

/* Creates an application through the API; returns its id. */
const char *make_application(struct client *owner, const char *name);
/* A client with a new token of the application's bot. */
struct client *application_bot(struct client *owner, const char *application);
/* Creates a new client secret. */
const char *application_secret(struct client *owner, const char *application);

/* Inserts a friendship directly into the store. */
void befriend(struct client *a, struct client *b);
/* Creates a team of the owner, and adds a member through the API. */
const char *make_team(struct client *owner, const char *name);
void join_team(struct client *owner, const char *team, struct client *c, const char *role);

/* Sends a POST with an application/x-www-form-urlencoded body. */
struct answer client_form(struct client *c, const char *path, const char *form, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the number that a query gives, for data that the API does not show. */
int64_t store_count(struct world *w, const char *sql);

#endif
