/* consents.h - an application that asks, and whoever may allow it. */
#ifndef TESTS_CONSENTS_H
#define TESTS_CONSENTS_H

#include "apps.h"

#define AUTHORIZE "/oauth2/authorize"
#define TOKEN     "/oauth2/token"
#define BACK      "https%%3A%%2F%%2Fapp.example%%2Fback"

#define INSTALL AUTHORIZE "?client_id=%s&scope=bot"

/* An application of ada's with a secret and one address to return to, and bob. */
struct consent {
    struct client *ada, *bob, *nobody;
    const char *app, *secret, *guild; /* a guild of bob's */
};

struct consent world_consent(struct world *w);

/* What stands behind "name=" in the url of an answer. */
const char *url_part(struct answer a, const char *name);

const char *get_code(struct client *c, const char *app, const char *scope);
struct answer exchange(const struct consent *s, const char *code);
/* Everything from asking to the token. */
struct answer granted(const struct consent *s, const char *scope);

#endif
