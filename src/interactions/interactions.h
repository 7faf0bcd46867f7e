/* interactions.h - from a user's slash to the app's answer.
 *
 * Somebody uses a command, a component or a modal (POST /interactions); the app hears
 * of it through the gateway or at its own address, and answers with a callback and
 * follow-ups. */
#ifndef INTERACTIONS_INTERACTIONS_H
#define INTERACTIONS_INTERACTIONS_H

#include "api/api.h"

extern const struct domain interactions_domain; /* POST /interactions */
extern const struct domain callbacks_domain;    /* callbacks and follow-ups */

#endif
