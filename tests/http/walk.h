/* walk.h - iterates over the rows of all routes, for tests of every route. */
#ifndef TESTS_WALK_H
#define TESTS_WALK_H

#include "world.h"

/* Calls check for every route of every domain. */
void each_route(struct world *w, void (*check)(struct world *w, const struct route *r));

/* Returns the resolver of a path parameter. */
const struct path_resolver *resolver_named(struct str name);

/* Returns the path with every snowflake replaced by id and every text by "text". */
const char *route_url(struct world *w, const struct route *r, const char *id);
/* Returns the path with the snowflake at index `bad` replaced by "x"; NULL: no such parameter.
 * *ret_field is the parameter's name in errors. */
const char *route_url_with_bad(struct world *w, const struct route *r, const char *id, size_t bad,
                               const char **ret_field);

/* Returns whether the row alone decides about a request, without reading any object. */
bool route_is_plain(const struct route *r);
bool route_is_open(const struct route *r);

/* Creates a new caller that the route accepts. */
struct client *route_caller(struct world *w, const struct route *r);

/* Sends a request with a JSON body; NULL: no body. */
struct answer route_call(struct client *c, const struct route *r, const char *url,
                         const char *json);

/* Writes the smallest valid JSON body of this type. */
struct str least_body(struct arena *a, const struct type *t);

#endif
