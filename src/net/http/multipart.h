/* multipart.h - incremental parser for multipart/form-data.
 *
 * The parser accepts input split at any byte; each part has its own bounded buffer. */
#ifndef NET_MULTIPART_H
#define NET_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/errors.h"
#include "base/str.h"

enum { MULTIPART_MAX_PARTS = 64, MULTIPART_MAX_PART_HEAD = 4096, MULTIPART_MAX_BOUNDARY = 70 };

/* A part of a form. Name, filename and content type are valid UTF-8 without control characters. */
struct multipart_part {
    char *name;     /* name of the form field, such as "files[0]"; NUL-terminated */
    char *filename; /* name of the uploaded file, or NULL; chosen by the client, so it is not a safe
                     * path */
    char *content_type; /* NULL if absent */
    struct buf data;
};

struct multipart;

/* Creates a parser. max_total limits the size of all contents together, in bytes. Returns NULL if
 * the boundary is invalid (RFC 2046: 1-70 of the allowed characters). */
struct multipart *multipart_new(struct str boundary, size_t max_total);
void multipart_free(struct multipart *m);
/* Frees the parser like multipart_free, but frees large contents on the thread pool
 * (loop_free_block_on_thread_pool). */
struct loop;
void multipart_free_on_thread_pool(struct multipart *m, struct loop *l);

/* Parses more input. Returns ERR_BAD_REQUEST for malformed input and ERR_ENTITY_TOO_LARGE if a
 * limit is exceeded. After an error, all further input is ignored. */
enum err multipart_feed(struct multipart *m, struct str bytes);
/* Call it after the last input. Returns OK if the closing boundary was received, otherwise
 * ERR_BAD_REQUEST. */
enum err multipart_finish(struct multipart *m);

size_t multipart_get_part_count(const struct multipart *m);
const struct multipart_part *multipart_get_part_at(const struct multipart *m, size_t i);
const struct multipart_part *multipart_find_part(const struct multipart *m, struct str name);

#endif
