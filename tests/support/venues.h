/* venues.h - guilds for tests, made directly in the store, and what is heard in them. */
#ifndef TESTS_VENUES_H
#define TESTS_VENUES_H

#include "model/permissions/permissions.h"
#include "world.h"

/* A guild with its owner and one text channel. */
struct venue {
    struct world *world;
    char id[24], channel[24];
    size_t heard; /* announcements already looked at */
};

struct venue world_venue(struct world *w, struct client *owner);
/* Puts somebody in, silently. */
void venue_add(struct venue *p, struct client *c);
/* A new role; its id lives as long as the world. */
const char *venue_role(struct venue *p, int position, uint64_t permissions);
void venue_give(struct venue *p, struct client *c, const char *role);
/* In, with a role of its own of these rights. Returns the role. */
const char *venue_add_with(struct venue *p, struct client *c, int position, uint64_t permissions);

/* Takes rights from everybody in the guild. */
void venue_take_right(struct venue *p, uint64_t right);

/* Any one statement; %s and %d as in printf. */
void world_sql(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* No work of this name has held the writer for so many milliseconds of its own processor time;
 * how slow the build is counts. Else the test is tried again, as with other holds. */
void expect_short_writes(const char *part, double ms);
/* The same of a loop's turn. */
void expect_short_turns(const char *part, double ms);
/* A number of /metrics, without labels. */
int64_t world_counter(struct world *w, const char *name);
/* The one number that a query returns. */
int64_t world_number(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the last announcement of this name carried. */
const struct dom *world_last_event(struct world *w, const char *event);

/* The next announcement to the guild, narrowed to those with one of these rights (0: to
 * all). */
#define expect_venue_event(p, any_of, e, ...) \
    expect_venue_event_at(__FILE__, __LINE__, (p), (any_of), (e), __VA_ARGS__)
#define expect_venue_silence(p) expect_venue_silence_at(__FILE__, __LINE__, (p))

void expect_venue_event_at(const char *file, int line, struct venue *p, uint64_t any_of,
                           const char *event, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void expect_venue_silence_at(const char *file, int line, struct venue *p);

#endif
