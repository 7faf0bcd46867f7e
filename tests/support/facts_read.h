/* facts_read.h - the facts of an event as its payload says them. */
#ifndef TESTS_SUPPORT_FACTS_READ_H
#define TESTS_SUPPORT_FACTS_READ_H

#include "model/events/facts.h"

/* NULL: such an event has none, or the payload is not what such an event holds. */
const struct facts *facts_read(enum event event, struct str payload, struct arena *arena);

#endif
