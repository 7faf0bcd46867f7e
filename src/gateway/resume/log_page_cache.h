/* log_page_cache.h - decoded pages of the event log, which sessions that resume share.
 *
 * After the loss of a node thousands of sessions miss the same events. Each row of the log is read
 * and decoded once per node. A page has LOG_PAGE_POSITIONS positions; the last page of the log may
 * have fewer, and is extended when later sessions need newer rows. Only positions that this node
 * has delivered are cached, because no more rows can appear there. */
#ifndef GATEWAY_RESUME_LOG_PAGE_CACHE_H
#define GATEWAY_RESUME_LOG_PAGE_CACHE_H

#include <stdint.h>

#include "gateway/wire/gateway_event.h"

enum { LOG_PAGE_POSITIONS = 128 };

struct event_log_page {
    int64_t number; /* the first position is number * LOG_PAGE_POSITIONS */
    /* Rows with positions after `after`, up to `last`, were read. */
    int64_t after, last;
    int64_t used_ms;
    size_t count, cap;
    struct gateway_event **events; /* with a reference each */
};

struct event_log_page *event_log_page_new(int64_t number, int64_t after, int64_t last);
void event_log_page_add_event(struct event_log_page *p,
                              struct gateway_event *n); /* takes over the reference */
void event_log_page_free(struct event_log_page *p);     /* accepts NULL */

struct log_page_cache;

struct log_page_cache *event_log_page_cache_new(void);
void event_log_page_cache_free(struct log_page_cache *c); /* accepts NULL */

/* The functions below are thread-safe. */

/* Calls take(arg, event) for each event of the cached page. Returns false if the cache does not
 * have the page up to the position `last`. */
bool event_log_page_cache_visit_events(struct log_page_cache *c, int64_t number, int64_t last,
                                       int64_t now_ms,
                                       void (*take)(void *arg, struct gateway_event *n), void *arg);
/* Returns the last position of the cached page, or 0 if the page is not cached. Newer rows of the
 * page can be read and inserted alone. */
int64_t event_log_page_cache_last_position(struct log_page_cache *c, int64_t number);
/* Adds a page to the cache, which becomes its owner. If the page begins where the cached page ends,
 * its events are appended to the cached page. If the page does not begin with its first position
 * otherwise, it is freed. If the cache is full, the page that was not used for the longest time is
 * evicted. */
void event_log_page_cache_insert(struct log_page_cache *c, struct event_log_page *p,
                                 int64_t now_ms);
/* Evicts pages that were not used for 30 seconds. Accepts NULL. */
void event_log_page_cache_evict_unused(struct log_page_cache *c, int64_t now_ms);

#endif
