/* facts_read.h - reads the routing fields of an event from its JSON payload. */
#ifndef TESTS_SUPPORT_FACTS_READ_H
#define TESTS_SUPPORT_FACTS_READ_H

#include "model/events/event_routing.h"

/* Returns NULL if the event has no routing fields or the payload does not fit the event. */
const struct event_routing *facts_read(enum event event, struct str payload, struct arena *arena);

#endif
