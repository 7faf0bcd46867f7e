/* multipart.h - multipart/form-data, read as its bytes arrive.
 *
 * Push parser: feed it whatever came, in any pieces; each part's content goes to
 * a bounded buffer of its own. */
#ifndef NET_MULTIPART_H
#define NET_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/errors.h"
#include "base/str.h"

enum { MULTIPART_MAX_PARTS = 64, MULTIPART_MAX_PART_HEAD = 4096, MULTIPART_MAX_BOUNDARY = 70 };

/* Names and types are valid UTF-8 without control characters. */
struct part {
    char *name;         /* NUL-terminated, "files[0]" */
    char *filename;     /* NULL for a plain field; as sent, so never a path to trust */
    char *content_type; /* NULL when not said */
    struct buf data;
};

struct multipart;

/* max_total: content bytes of all parts together. NULL when the boundary is not
 * one (RFC 2046: 1-70 of the allowed characters). */
struct multipart *multipart_new(struct str boundary, size_t max_total);
void multipart_free(struct multipart *m);
/* The same on the pool, if it is much (loop_dispose). */
struct loop;
void multipart_dispose(struct multipart *m, struct loop *l);

/* ERR_BAD_REQUEST: not multipart/form-data; ERR_ENTITY_TOO_LARGE: past a limit.
 * After an error nothing more is taken. */
enum err multipart_feed(struct multipart *m, struct str bytes);
/* OK when the closing boundary was seen; ERR_BAD_REQUEST when it was not. */
enum err multipart_end(struct multipart *m);

size_t multipart_count(const struct multipart *m);
const struct part *multipart_at(const struct multipart *m, size_t i);
/* The first part of that name, or NULL. */
const struct part *multipart_find(const struct multipart *m, struct str name);

#endif
