/* object_request.h - one request to an object storage. For object_storage.c, object_request.c,
 * object_transfers.c and object_lists.c, which implement object_storage.h. */
#ifndef NET_CLIENT_OBJECT_REQUEST_H
#define NET_CLIENT_OBJECT_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/client/aws_signature.h"
#include "net/client/curl.h"
#include "net/client/object_storage.h"

enum {
    IDLE_HANDLES = 8,
    MAX_OBJECT_URL = 8 * 1024,
};

struct endpoint {
    char *scheme; /* "http" or "https" */
    char *host;   /* host with the port, unless it is the default port of the scheme */
};

struct object_storage {
    char *address, *bucket, *prefix; /* bucket and prefix of the object names; prefix ends with a
                                      * slash or is empty */
    struct endpoint endpoint, public_endpoint;
    char *region, *access_key, *secret, *ca_file;
    bool host_addressing, patient;
    size_t part_bytes;
    pthread_mutex_t lock;
    CURL *idle[IDLE_HANDLES]; /* connections for the next requests */
    unsigned idle_count;
    _Atomic int64_t down_until_ms; /* if the storage is down: time of the next attempt; 0 if the
                                    * storage answers */
    _Atomic int64_t logged_ms;
    _Atomic uint64_t requests, retries, failures;
};

struct object_request {
    const char *method;
    const char *name; /* NULL: the bucket itself */
    const struct aws_parameter *query;
    size_t query_count;
    struct str body;
    int64_t first, last; /* range of bytes to read; last is 0 if the whole object is read */
    int fd; /* descriptor to which the content of a successful response is written; -1 to store it
             * in `response` */

    struct buf response;
    long status;
    char etag[128];
    int64_t received;  /* bytes written to fd */
    int64_t full_size; /* size of the whole object; -1 if unknown */
    bool disk_failed;
    char reason[256]; /* why the last attempt failed */
};

/* --- object_request.c ------------------------------------------------------------------ */

void object_request_init(struct object_request *r, const char *method, const char *name);
/* Sends a request; repeats it after temporary failures. Returns OK for status 2xx and 416,
 * ERR_NOT_FOUND for 404. */
enum err object_request_send(struct object_storage *o, struct object_request *r);
/* Logs r->reason, at most once per LOG_PAUSE_MS. */
void object_storage_log_failure(struct object_storage *o, const struct object_request *r);
void object_storage_append_path(const struct object_storage *o, const char *name, struct buf *out);
void object_storage_append_host(const struct object_storage *o, const struct endpoint *e,
                                struct buf *out);
struct aws_credentials object_storage_get_credentials(const struct object_storage *o);

/* --- object_lists.c, object_transfers.c ------------------------------------------------ */

/* Sets *ret to the text of the next XML element with this name. The text may contain XML
 * entities. */
bool object_response_find_xml_element(struct str *xml, const char *name, struct str *ret);
/* Copies the text of an element with its entities replaced. In responses of S3 only names and ETags
 * have entities. */
void object_response_decode_xml_text(struct str text, char *out, size_t size);
enum err object_storage_abort_upload(struct object_storage *o, const char *name, const char *id);

#endif
