/* sight.h - channels that come into view for somebody, or go out of it. */
#ifndef GATEWAY_SIGHT_H
#define GATEWAY_SIGHT_H

#include "gateway/facts.h"
#include "gateway/internal.h"

struct sight;

/* Before an event changes rights in a guild; NULL when it cannot change who views what. */
struct sight *sight_begin(struct topic *t, enum event event, const struct facts *f);
/* After it, with the same seats: tells who sees more now, or less. Accepts NULL. */
void sight_end(struct sight *s, struct hub *h);

#endif
