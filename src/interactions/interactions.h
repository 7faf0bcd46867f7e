/* interactions.h - interactions: commands, components and modals that users invoke and apps answer.
 * A user invokes an interaction with POST /interactions (routes.c); the app gets it through the
 * gateway or at its endpoint URL (app_delivery.c) and answers with a callback (callback.c) and
 * follow-ups (followups.c). Owns the tables interactions and interaction_files. Invariant: an
 * interaction is acknowledged once, within 3 seconds, or fails. Uses commands/ and platform/. Start
 * with routes.c, then callback.c. */
#ifndef INTERACTIONS_INTERACTIONS_H
#define INTERACTIONS_INTERACTIONS_H

#include "api/api.h"

extern const struct domain interactions_domain; /* POST /interactions */
extern const struct domain callbacks_domain;    /* callbacks and follow-ups */

#endif
