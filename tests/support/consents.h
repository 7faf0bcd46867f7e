/* consents.h - OAuth2 authorizations for tests. */
#ifndef TESTS_CONSENTS_H
#define TESTS_CONSENTS_H

#include "apps.h"

#define AUTHORIZE "/oauth2/authorize"
#define TOKEN     "/oauth2/token"
#define BACK      "https%%3A%%2F%%2Fapp.example%%2Fback"

#define INSTALL AUTHORIZE "?client_id=%s&scope=bot"

/* An application of ada with a secret and one redirect URI, and bob. */
struct consent {
    struct client *ada, *bob, *nobody;
    const char *app, *secret, *guild; /* guild: owned by bob */
};

struct consent world_consent(struct world *w);

/* Returns the value of "name=" in the URL of a reply. */
const char *url_part(struct answer a, const char *name);

const char *get_code(struct client *c, const char *app, const char *scope);
struct answer exchange(const struct consent *s, const char *code);
/* Runs the whole flow from authorization to the token. */
struct answer granted(const struct consent *s, const char *scope);

#endif
