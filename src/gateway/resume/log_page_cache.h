/* log_page_cache.h - decoded pages of the event log, which sessions that resume share.
 *
 * After the loss of a node thousands of sessions miss the same events. Each row of the log is read
 * and decoded at most once per node. A row of guilds and users without a session that resumes here
 * is not read: the page has an unread entry in its place (unread_log_entry_new), which is replaced
 * by the row's events when a session needs them. A page has LOG_PAGE_POSITIONS positions; the last
 * page of the log may have fewer, and is extended when later sessions need newer rows. Only
 * positions that this node has delivered are cached, because no more rows can appear there. */
#ifndef GATEWAY_RESUME_LOG_PAGE_CACHE_H
#define GATEWAY_RESUME_LOG_PAGE_CACHE_H

#include <stdint.h>

#include "gateway/resume/session_interest.h"

enum { LOG_PAGE_POSITIONS = 128 };

struct event_log_page {
    int64_t number; /* the first position is number * LOG_PAGE_POSITIONS */
    /* Rows with positions after `after`, up to `last`, were read. */
    int64_t after, last;
    int64_t used_ms;
    size_t count, cap;
    struct gateway_event **events; /* events and unread entries, with a reference each */
};

struct event_log_page *event_log_page_new(int64_t number, int64_t after, int64_t last);
void event_log_page_add_event(struct event_log_page *p,
                              struct gateway_event *n); /* takes over the reference */
void event_log_page_free(struct event_log_page *p);     /* accepts NULL */
/* Calls take(arg, event) for each event with a position after `after`, up to `last`, that the
 * session may need. Unread entries are left out. */
void event_log_page_visit_events(const struct event_log_page *p, int64_t after, int64_t last,
                                 const struct session_interest *interest,
                                 void (*take)(void *arg, struct gateway_event *n), void *arg);

struct log_page_cache;

struct log_page_cache *event_log_page_cache_new(void);
void event_log_page_cache_free(struct log_page_cache *c); /* accepts NULL */

/* The functions below are thread-safe. */

enum log_page_visit {
    LOG_PAGE_MISSING,    /* the cache does not have the page up to the last position */
    LOG_PAGE_INCOMPLETE, /* the session needs unread entries, whose parts are *ret_unread */
    LOG_PAGE_VISITED,
};
/* Calls take(arg, event) for each event of the cached page with a position after `after`, up to
 * `last`, that the session may need. */
enum log_page_visit event_log_page_cache_visit_events(
    struct log_page_cache *c, int64_t number, int64_t after, int64_t last,
    const struct session_interest *interest, int64_t now_ms,
    void (*take)(void *arg, struct gateway_event *n), void *arg, struct log_part_set *ret_unread);
/* Returns the last position of the cached page, or 0 if the page is not cached. Newer rows of the
 * page can be read and inserted alone. */
int64_t event_log_page_cache_last_position(struct log_page_cache *c, int64_t number);
/* Adds a page to the cache, which becomes its owner. If the page overlaps the cached page or begins
 * where it ends, its events replace unread entries of the cached page and are appended to it. If
 * the page does not begin with its first position otherwise, it is freed. If the cache is full, the
 * page that was not used for the longest time is evicted. */
void event_log_page_cache_insert(struct log_page_cache *c, struct event_log_page *p,
                                 int64_t now_ms);
/* Evicts pages that were not used for 30 seconds. Accepts NULL. */
void event_log_page_cache_evict_unused(struct log_page_cache *c, int64_t now_ms);

#endif
