/* durations.h - how long calls took, by the domain of their route, as a histogram. */
#ifndef API_DURATIONS_H
#define API_DURATIONS_H

#include "api/route.h"
#include "base/buf.h"

struct durations;

struct durations *durations_new(const struct domain *const *domains, unsigned loops);
void durations_free(struct durations *d);

/* On that loop; group: which of the domains. */
void durations_note(struct durations *d, unsigned loop, unsigned group, int64_t ns);
/* For Prometheus, those groups that were called; from any thread. */
void durations_write(const struct durations *d, struct buf *out);

#endif
