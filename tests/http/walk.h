/* walk.h - going through the rows of the interface, for tests that hold for all. */
#ifndef TESTS_WALK_H
#define TESTS_WALK_H

#include "world.h"

/* Calls look for every route of every domain. */
void each_route(struct world *w, void (*look)(struct world *w, const struct route *r));

/* What a {name} stands for, of the domains that are served. */
const struct resolver *resolver_named(struct str name);

/* The path with every snowflake replaced by id and every text by "text". */
const char *route_url(struct world *w, const struct route *r, const char *id);
/* The same with the snowflake at index `bad` replaced by "x"; NULL: no such
 * parameter. *ret_field is what errors call it. */
const char *route_url_with_bad(struct world *w, const struct route *r, const char *id, size_t bad,
                               const char **ret_field);

/* Does the row alone decide about a call, before anything is looked up? */
bool route_is_plain(const struct route *r);
bool route_is_open(const struct route *r);

/* Somebody new whom the route accepts. */
struct client *route_caller(struct world *w, const struct route *r);

/* A call with a JSON body; none when text is NULL. */
struct answer route_call(struct client *c, const struct route *r, const char *url,
                         const char *json);

/* The least that a body of this type must hold, as JSON. */
struct str least_body(struct arena *a, const struct type *t);

#endif
