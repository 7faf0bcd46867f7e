/* standby.h - reads that a streaming standby of PostgreSQL runs, because their answer may be a
 * moment old.
 *
 * Every interval the primary's position in its write-ahead log is sampled together with the time.
 * A connection to the standby is as fresh as the newest sample that it has replayed: it has all
 * commits that were acknowledged before that time, if both are on the same timeline. A connection
 * runs a read only if it is fresher than the limit, and fresher than the last write of the read's
 * owner. All other reads, and those that fail on the standby for whatever reason, run on the
 * primary. */
#ifndef STORE_POSTGRES_STANDBY_H
#define STORE_POSTGRES_STANDBY_H

#include "store/postgres/postgres.h"

/* Starts the threads. Returns NULL if the options name no standby. */
struct postgres_standby *postgres_standby_new(struct postgres *p, const struct store_options *o);
/* Ends the threads and moves waiting reads to the primary. The other functions may still be called
 * until postgres_standby_free. Both accept NULL. */
void postgres_standby_stop(struct postgres_standby *s);
void postgres_standby_free(struct postgres_standby *s);

/* Returns whether the standby would now run reads of this owner. Callable from any thread. */
bool postgres_standby_accepts(const struct postgres_standby *s, uint64_t owner);
/* Queues a read for the standby. If it returns false, the caller runs the read on the primary. */
bool postgres_standby_submit(struct postgres_standby *s, struct work_item *w);
/* Records that a write of this owner has ended. Call it before the owner learns the result. */
void postgres_standby_record_write(struct postgres_standby *s, uint64_t owner);
void postgres_standby_read_stats(const struct postgres_standby *s, struct store_stats *ret);

#endif
