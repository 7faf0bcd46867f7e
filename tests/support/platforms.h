/* platforms.h - external platforms for tests: accounts, connections, integrations. */
#ifndef TESTS_PLATFORMS_H
#define TESTS_PLATFORMS_H

#include "guilds.h"
#include "model/configured/platforms.h"
#include "test_guild.h"

#define INTEGRATIONS "/guilds/%s/integrations"
/* The audience of integration events. */
#define MANAGERS(guild) \
    audience_of_members_with_permission(id_of(guild), 0, PERMISSION(MANAGE_GUILD))

/* Creates an account of a local platform, with a subscriber programme. */
void make_account(struct world *w, enum platform p, const char *id, const char *name);
void make_partner(struct world *w, const char *id, const char *name);
void subscribe(struct world *w, enum platform p, const char *account, const char *subscriber);
void unsubscribe(struct world *w, enum platform p, const char *account, const char *subscriber);
/* Makes two platform accounts friends. */
void acquaint(struct world *w, enum platform p, const char *one, const char *other);
/* Returns a code that proves the ownership of an account. */
const char *link_code(struct world *w, enum platform p, const char *account);

/* Returns the state parameter of a new connection. */
const char *link_state(struct client *c, const char *platform);
/* Connects an account through the API. */
void link_account(struct client *c, enum platform p, const char *account);
/* Creates a platform account with the client's name and connects it. */
void link_new(struct client *c, enum platform p, const char *account);

/* Creates an integration of a connected account, waits for the first sync, skips the events, and
 * returns the integration's id. */
const char *follow(struct client *c, const char *guild, enum platform p, const char *account);
/* Requests a sync as if the last one were long ago, and waits for its end. */
void sync_now(struct client *c, const char *guild, const char *integration);
/* Waits until a query returns this number and the events were emitted. */
void expect_number(struct world *w, int64_t number, const char *sql);
bool has_role(const char *guild, struct client *c, const char *role);
const char *role_of(struct world *w, const char *integration);
bool is_member(const char *guild, struct client *c);

#endif
