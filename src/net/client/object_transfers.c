/* object_transfers.c - uploads and downloads of objects, in parts if they are large. */
#include "net/client/object_request.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_PARTS = 10000 };

static enum err read_object_size(struct object_storage *o, const char *name, int64_t *ret_size)
{
    struct object_request r;

    object_request_init(&r, "HEAD", name);
    enum err e = object_request_send(o, &r);
    if (!e && r.full_size < 0)
        e = ERR_FILES_UNAVAILABLE;
    *ret_size = r.full_size;
    buf_clear(&r.response);
    return e;
}

static enum err begin_multipart_upload(struct object_storage *o, const char *name, char id[1024])
{
    const struct aws_parameter query[] = { { STR("uploads"), STR("") } };
    struct object_request r;
    struct str text;

    object_request_init(&r, "POST", name);
    r.query = query;
    r.query_count = 1;
    enum err e = object_request_send(o, &r);
    struct str xml = buf_as_str(&r.response);
    if (!e && object_response_find_xml_element(&xml, "UploadId", &text))
        object_response_decode_xml_text(text, id, 1024);
    else if (!e)
        e = ERR_FILES_UNAVAILABLE;
    buf_clear(&r.response);
    return e;
}

static enum err upload_object_part(struct object_storage *o, const char *name, const char *id,
                                   unsigned number, struct str bytes, struct buf *list)
{
    char text[16];
    struct object_request r;

    snprintf(text, sizeof text, "%u", number);
    const struct aws_parameter query[] = { { STR("partNumber"), str_of(text) },
                                           { STR("uploadId"), str_of(id) } };
    object_request_init(&r, "PUT", name);
    r.query = query;
    r.query_count = 2;
    r.body = bytes;
    enum err e = object_request_send(o, &r);
    if (!e)
        buf_printf(list, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", number, r.etag);
    buf_clear(&r.response);
    return e;
}

/* Completes an upload. Because that takes long, S3 may send status 200 first and report an error in
 * the body. */
static enum err complete_multipart_upload(struct object_storage *o, const char *name,
                                          const char *id, const struct buf *list)
{
    const struct aws_parameter query[] = { { STR("uploadId"), str_of(id) } };
    struct object_request r;

    object_request_init(&r, "POST", name);
    r.query = query;
    r.query_count = 1;
    r.body = buf_as_str(list);
    enum err e = object_request_send(o, &r);
    struct str xml = buf_as_str(&r.response), text;
    if (!e && object_response_find_xml_element(&xml, "Code", &text)) {
        object_storage_log_failure(o, &r);
        e = ERR_FILES_UNAVAILABLE;
    }
    buf_clear(&r.response);
    return e;
}

enum err object_storage_abort_upload(struct object_storage *o, const char *name, const char *id)
{
    const struct aws_parameter query[] = { { STR("uploadId"), str_of(id) } };
    struct object_request r;

    object_request_init(&r, "DELETE", name);
    r.query = query;
    r.query_count = 1;
    enum err e = object_request_send(o, &r);
    buf_clear(&r.response);
    return e == ERR_NOT_FOUND ? OK : e; /* no error if the upload was completed or aborted
                                         * meanwhile */
}

/* An earlier attempt to complete the upload, whose response was lost, may have succeeded. Then the
 * storage no longer knows the upload. */
static enum err check_upload_is_complete(struct object_storage *o, const char *name, size_t bytes)
{
    int64_t size = -1;
    enum err e = read_object_size(o, name, &size);

    return !e && size == (int64_t)bytes ? OK : ERR_FILES_UNAVAILABLE;
}

static enum err put_object_in_parts(struct object_storage *o, const char *name, struct str bytes)
{
    size_t part = o->part_bytes;
    char id[1024];
    struct buf list;
    enum err e = begin_multipart_upload(o, name, id);

    if (e)
        return e;
    while (bytes.n / part >= MAX_PARTS)
        part *= 2;
    buf_init(&list, 4 * 1024 * 1024);
    buf_add_lit(&list, "<CompleteMultipartUpload>");
    for (size_t at = 0, number = 1; !e && at < bytes.n; at += part, number++) {
        size_t left = bytes.n - at;

        e = upload_object_part(o, name, id, (unsigned)number,
                               str_slice(bytes.p + at, left < part ? left : part), &list);
    }
    buf_add_lit(&list, "</CompleteMultipartUpload>");
    if (!e)
        e = complete_multipart_upload(o, name, id, &list);
    if (e == ERR_NOT_FOUND)
        e = check_upload_is_complete(o, name, bytes.n);
    if (e)
        object_storage_abort_upload(o, name, id);
    buf_clear(&list);
    return e;
}

enum err object_storage_put(struct object_storage *o, const char *name, struct str bytes)
{
    struct object_request r;

    if (bytes.n > o->part_bytes)
        return put_object_in_parts(o, name, bytes);
    object_request_init(&r, "PUT", name);
    r.body = bytes;
    enum err e = object_request_send(o, &r);
    buf_clear(&r.response);
    return e == ERR_NOT_FOUND ? ERR_FILES_UNAVAILABLE : e;
}

/* --- download ------------------------------------------------------------------------- */

/* Reads a part of an object. Objects are read in parts, so that after a lost connection only one
 * part is requested again. */
static enum err read_object_part(struct object_storage *o, const char *name, int fd, int64_t first,
                                 int64_t *ret_end, int64_t *ret_size)
{
    struct object_request r;

    object_request_init(&r, "GET", name);
    r.fd = fd;
    r.first = first;
    r.last = first + (int64_t)o->part_bytes - 1;
    enum err e = object_request_send(o, &r);
    *ret_end = first + r.received;
    /* If the storage ignores the requested range, it sends the whole object. */
    if (!e && r.status == 200 && first == 0)
        *ret_size = r.received;
    else if (!e && r.status == 206 && r.full_size >= *ret_end && r.received)
        *ret_size = r.full_size;
    else if (!e && r.status == 416 && first == 0)
        *ret_size = 0;
    else if (!e)
        e = ERR_FILES_UNAVAILABLE;
    buf_clear(&r.response);
    return e;
}

enum err object_storage_read(struct object_storage *o, const char *name, int fd, int64_t *ret_size)
{
    int64_t end = 0, size = -1, total = -1;
    enum err e = OK;

    if (fd < 0)
        return read_object_size(o, name, ret_size);
    if (ftruncate(fd, 0) != 0)
        return ERR_UNAVAILABLE;
    do {
        e = read_object_part(o, name, fd, end, &end, &size);
        if (!e && total >= 0 && size != total)
            e = ERR_FILES_UNAVAILABLE; /* the object was replaced meanwhile */
        total = size;
    } while (!e && end < total);
    *ret_size = total;
    return e;
}
