/* platforms.h - other platforms for tests: their accounts, and who follows them. */
#ifndef TESTS_PLATFORMS_H
#define TESTS_PLATFORMS_H

#include "guilds.h"
#include "model/configured/platforms.h"
#include "test_guild.h"

#define INTEGRATIONS "/guilds/%s/integrations"
/* Those who are told of integrations. */
#define MANAGERS(guild) to_entitled(id_of(guild), 0, PERMISSION(MANAGE_GUILD))

/* An account of a local platform, with a subscriber programme. */
void make_account(struct world *w, enum platform p, const char *id, const char *name);
void make_partner(struct world *w, const char *id, const char *name);
void subscribe(struct world *w, enum platform p, const char *account, const char *subscriber);
void unsubscribe(struct world *w, enum platform p, const char *account, const char *subscriber);
/* Both know each other there. */
void acquaint(struct world *w, enum platform p, const char *one, const char *other);
/* A code that proves that an account is somebody's. */
const char *link_code(struct world *w, enum platform p, const char *account);

/* The state of a new link of somebody's. */
const char *link_state(struct client *c, const char *platform);
/* Connects an account through the interface. */
void link_account(struct client *c, enum platform p, const char *account);
/* The same for one that is made on the way, under the client's own name. */
void link_new(struct client *c, enum platform p, const char *account);

/* Follows an account that the client has connected, and waits for the first sync. What
 * was told is forgotten. The integration's id. */
const char *follow(struct client *c, const char *guild, enum platform p, const char *account);
/* Asks for a sync, as if the last one were long ago, and waits for its end. */
void sync_now(struct client *c, const char *guild, const char *integration);
/* Waits until a query gives a number, and what led to it is told. */
void expect_number(struct world *w, int64_t number, const char *sql);
bool has_role(const char *guild, struct client *c, const char *role);
const char *role_of(struct world *w, const char *integration);
bool is_member(const char *guild, struct client *c);

#endif
