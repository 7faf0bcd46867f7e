/* source.h - requests to the source server, from which a guild is copied.
 *
 * OS threads share a source, and each has one connection. All requests respect the rate limits of
 * the source server (rate_limits.h). */
#ifndef TOOLS_COPY_SOURCE_SOURCE_H
#define TOOLS_COPY_SOURCE_SOURCE_H

#include "base/buf.h"

struct guild_copy_source;

struct guild_copy_source_options {
    /* Api: URL of the API with its version; cdn: URL of files; token: of a bot. */
    const char *api, *cdn, *token;
    int64_t requests_per_second;
};
/* Counters of a source. Read them only when no request is running. */
struct guild_copy_source_counts {
    int64_t requests, rate_limited, retries, bytes;
};

enum guild_copy_result {
    COPY_OK,
    COPY_REFUSED, /* the server refused the request: 4xx */
    COPY_FAILED,  /* no usable response after several attempts */
    COPY_STOPPED, /* the run must end: the token is not valid, or the archive cannot be written */
};

/* Opens a source. If the URL is not valid or libcurl is missing, prints a problem and returns
 * NULL. */
struct guild_copy_source *guild_copy_source_new(const struct guild_copy_source_options *options);
void guild_copy_source_free(struct guild_copy_source *s);
struct guild_copy_source_counts guild_copy_source_get_counts(const struct guild_copy_source *s);

/* A connection for one OS thread. If the last request did not return COPY_OK, .reason is a
 * sentence. */
struct source_server_connection {
    struct guild_copy_source *source;
    void *handle; /* CURL */
    int status;
    bool is_private; /* the last answer came from a private address */
    /* Requests are repeated only after status 429, because they are not idempotent. */
    bool no_repeat;
    char reason[256];
};
bool source_server_connection_open(struct source_server_connection *c, struct guild_copy_source *s);
void source_server_connection_close(struct source_server_connection *c);

/* Sends a request within the rate limits, and repeats it after 429, 5xx and lost connections.
 * `path` is below the interface's URL. out gets the body of the response. */
enum guild_copy_result source_server_connection_send_request(struct source_server_connection *c,
                                                             const char *method, const char *path,
                                                             struct str body, struct buf *out);
/* Downloads a file to `path`, complete or not at all, from the address of the other server's files
 * with the path of `url`. Refuses files of more than max_bytes. */
enum guild_copy_result source_server_connection_download_file(struct source_server_connection *c,
                                                              const char *url, const char *path,
                                                              int64_t max_bytes);

#endif
