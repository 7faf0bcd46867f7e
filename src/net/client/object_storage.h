/* object_storage.h - a bucket of an S3-compatible object storage.
 *
 * All functions that send requests block on the network and may be called from any thread but an
 * event loop. A request has a time limit and is repeated after a failure that may pass (no answer,
 * 429, 5xx). If all attempts failed, requests fail at once for some seconds; then one request tries
 * again. So an outage occupies the callers' threads only for one time limit, and not again for each
 * file. */
#ifndef NET_OBJECT_STORAGE_H
#define NET_OBJECT_STORAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/errors.h"
#include "base/str.h"

struct object_storage_options {
    const char *address;    /* s3://BUCKET or s3://BUCKET/PREFIX */
    const char *endpoint;   /* http(s)://HOST[:PORT]; NULL means Amazon's, by region */
    const char *public_url; /* URL that replaces `endpoint` in presigned URLs; NULL means
                             * `endpoint` */
    const char *region, *access_key, *secret;
    const char *ca_file;  /* file with CA certificates (PEM); NULL means the certificates of the
                           * system */
    bool host_addressing; /* BUCKET.HOST/NAME instead of HOST/BUCKET/NAME */
    bool patient; /* whether the caller is a tool: then more attempts are made, and requests do not
                   * fail at once while the storage is down */
    size_t part_bytes; /* size in bytes of the parts of uploads and downloads; 0 means 5 MiB */
};

struct object_storage;
/* Creates the state for a bucket; sends no request. If an option is invalid, returns NULL and a
 * sentence in *ret_problem. */
struct object_storage *object_storage_new(const struct object_storage_options *o,
                                          const char **ret_problem);
void object_storage_free(struct object_storage *o); /* accepts NULL */
/* Returns the address of the bucket, s3://BUCKET[/PREFIX], without a slash at the end. */
const char *object_storage_get_address(const struct object_storage *o);

/* The next functions return ERR_FILES_UNAVAILABLE if the storage does not answer or refuses the
 * request; the reason is logged. Names consist of unreserved characters and slashes. */
/* Stores an object. When it returns OK, the object is complete. Objects above part_bytes are
 * uploaded in parts. */
enum err object_storage_put(struct object_storage *o, const char *name, struct str bytes);
/* Writes the object to fd, from offset 0; if fd is -1, only returns its size. Returns ERR_NOT_FOUND
 * if there is no such object. */
enum err object_storage_read(struct object_storage *o, const char *name, int fd, int64_t *ret_size);
enum err object_storage_delete(struct object_storage *o, const char *name);
/* Removes the parts of those uploads of this object that were not completed. */
enum err object_storage_abort_incomplete_uploads(struct object_storage *o, const char *name);
/* Calls found for each object, ordered by name. */
enum err object_storage_list(struct object_storage *o,
                             enum err (*found)(void *arg, const char *name, time_t written),
                             void *arg);

/* Appends a URL that allows anybody to read the object for `seconds`. The response will have these
 * headers. */
void object_storage_append_presigned_url(const struct object_storage *o, const char *name,
                                         int seconds, struct str content_type,
                                         struct str disposition, struct str cache_control,
                                         struct buf *out);
/* Appends the origin of presigned URLs: scheme, host and port. */
void object_storage_append_presigned_url_origin(const struct object_storage *o, struct buf *out);

struct object_storage_stats {
    uint64_t requests, retries, failures;
    bool is_down; /* whether the last request failed after all attempts */
};
void object_storage_read_stats(const struct object_storage *o, struct object_storage_stats *ret);

#endif
