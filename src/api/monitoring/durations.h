/* durations.h - histogram of the durations of calls, per domain. */
#ifndef API_DURATIONS_H
#define API_DURATIONS_H

#include "api/route.h"
#include "base/buf.h"

struct call_durations;

/* Upper bounds of the histogram's buckets; longer durations are counted in one more bucket. */
enum { DURATION_BOUNDS = 10 };
extern const int64_t duration_bounds_us[DURATION_BOUNDS];

struct call_durations *call_durations_new(const struct domain *const *domains, unsigned loops);
void call_durations_free(struct call_durations *d);

/* Records the duration of a call on a loop. group is the index of the domain (feature folder). */
void call_durations_record(struct call_durations *d, unsigned loop, unsigned group, int64_t ns);
/* Writes the histograms in the Prometheus text format, for domains that had calls; may be called
 * from any thread. */
void call_durations_write_metrics(const struct call_durations *d, struct buf *out);
/* call_durations_get_domain_count returns the number of domains (feature folders).
 * call_durations_get_domain_name returns the name of a domain, call_durations_read_histogram its
 * histogram; domains are numbered from 0. */
size_t call_durations_get_domain_count(const struct call_durations *d);
const char *call_durations_get_domain_name(const struct call_durations *d, size_t group);
void call_durations_read_histogram(const struct call_durations *d, size_t group,
                                   uint64_t ret[DURATION_BOUNDS + 1]);

#endif
