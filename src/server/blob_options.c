/* blob_options.c - sets the store's options for stored files, from the configuration. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "net/client/object_storage.h"
#include "server/config.h"
#include "store/store.h"

enum { MAX_SECRET = 1024 };

/* Reads a secret from the first line of a file. */
static const char *read_secret_file(const char *path, struct arena *arena)
{
    char *text = arena_alloc(arena, MAX_SECRET + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, MAX_SECRET);

    if (n < 0)
        log_error("s3-secret-file: cannot read '%s': %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static const char *environment_value(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

bool config_get_blob_options(const struct config *c, const char *blobs, struct arena *arena,
                             struct store_options *ret)
{
    bool redirects_to_url = strcmp(c->s3_redirects, "off") != 0 && strcmp(c->s3_redirects, "on");

    ret->blobs_inside = c->store && strcmp(blobs, "postgres") == 0;
    ret->objects = NULL;
    if (strcmp(blobs, "folder") == 0 || strcmp(blobs, "postgres") == 0)
        return true;
    struct object_storage_options *o = arena_alloc(arena, sizeof *o);
    *o = (struct object_storage_options){
        .address = blobs,
        .endpoint = c->s3_endpoint,
        .public_url = redirects_to_url ? c->s3_redirects : NULL,
        .region = c->s3_region,
        .access_key = c->s3_access_key ? c->s3_access_key : environment_value("AWS_ACCESS_KEY_ID"),
        .secret = c->s3_secret_file ? read_secret_file(c->s3_secret_file, arena)
                                    : environment_value("AWS_SECRET_ACCESS_KEY"),
        .ca_file = c->s3_ca,
        .patient = !ret->serves,
        .host_addressing = strcmp(c->s3_addressing, "host") == 0,
    };
    if (c->s3_secret_file && !o->secret)
        return false;
    ret->objects = o;
    ret->blob_redirects = strcmp(c->s3_redirects, "off") != 0;
    return true;
}
