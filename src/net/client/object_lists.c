/* object_lists.c - lists objects and unfinished uploads, deletes objects, and reads the XML of the
 * answers. */
#include "net/client/object_request.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

bool object_response_find_xml_element(struct str *xml, const char *name, struct str *ret)
{
    char open[64], close[64];

    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    const char *p = xml->n ? memmem(xml->p, xml->n, open, strlen(open)) : NULL;
    if (!p)
        return false;
    struct str rest = str_skip_bytes(*xml, (size_t)(p - xml->p) + strlen(open));
    const char *end = rest.n ? memmem(rest.p, rest.n, close, strlen(close)) : NULL;
    if (!end)
        return false;
    *ret = str_slice(rest.p, (size_t)(end - rest.p));
    *xml = str_skip_bytes(rest, (size_t)(end - rest.p) + strlen(close));
    return true;
}

void object_response_decode_xml_text(struct str text, char *out, size_t size)
{
    static const struct {
        const char *entity, *character;
    } entities[] = { { "&quot;", "\"" }, { "&amp;", "&" },  { "&lt;", "<" },
                     { "&gt;", ">" },    { "&apos;", "'" }, { "&#34;", "\"" } };
    size_t n = 0;

    for (size_t at = 0; at < text.n && n + 1 < size;) {
        bool found = false;

        for (size_t i = 0; i < COUNT_OF(entities) && !found; i++) {
            size_t length = strlen(entities[i].entity);

            found = text.n - at >= length && memcmp(text.p + at, entities[i].entity, length) == 0;
            if (found) {
                out[n++] = *entities[i].character;
                at += length;
            }
        }
        if (!found)
            out[n++] = text.p[at++];
    }
    out[n] = '\0';
}

enum err object_storage_delete(struct object_storage *o, const char *name)
{
    struct object_request r;

    object_request_init(&r, "DELETE", name);
    enum err e = object_request_send(o, &r);
    buf_clear(&r.response);
    return e;
}

enum err object_storage_abort_incomplete_uploads(struct object_storage *o, const char *name)
{
    struct object_request r;
    struct str upload, text;
    char key[1024], full[1024], id[1024];
    enum err e = OK;

    snprintf(full, sizeof full, "%s%s", o->prefix, name);
    const struct aws_parameter query[] = { { STR("prefix"), str_of(full) },
                                           { STR("uploads"), STR("") } };
    object_request_init(&r, "GET", NULL);
    r.query = query;
    r.query_count = 2;
    e = object_request_send(o, &r);
    for (struct str xml = buf_as_str(&r.response);
         !e && object_response_find_xml_element(&xml, "Upload", &upload);) {
        struct str rest = upload;

        if (!object_response_find_xml_element(&rest, "Key", &text))
            continue;
        object_response_decode_xml_text(text, key, sizeof key);
        rest = upload;
        if (strcmp(key, full) != 0 || !object_response_find_xml_element(&rest, "UploadId", &text))
            continue;
        object_response_decode_xml_text(text, id, sizeof id);
        e = object_storage_abort_upload(o, name, id);
    }
    buf_clear(&r.response);
    return e;
}

static time_t parse_iso_time(struct str text)
{
    char copy[32];
    struct tm tm = { 0 };

    snprintf(copy, sizeof copy, "%.*s", STR_ARGS(text));
    return strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm) ? timegm(&tm) : 0;
}

static enum err visit_objects_of_list_page(const struct object_storage *o, struct str xml,
                                           enum err (*found)(void *arg, const char *name,
                                                             time_t written),
                                           void *arg)
{
    struct str entry, text;
    char key[1100];
    size_t n = strlen(o->prefix);
    enum err e = OK;

    while (!e && object_response_find_xml_element(&xml, "Contents", &entry)) {
        struct str rest = entry, written = STR("");

        if (!object_response_find_xml_element(&rest, "Key", &text))
            continue;
        object_response_decode_xml_text(text, key, sizeof key);
        rest = entry;
        object_response_find_xml_element(&rest, "LastModified", &written);
        if (strncmp(key, o->prefix, n) == 0)
            e = found(arg, key + n, parse_iso_time(written));
    }
    return e;
}

enum err object_storage_list(struct object_storage *o,
                             enum err (*found)(void *arg, const char *name, time_t written),
                             void *arg)
{
    char token[2048] = "";
    enum err e = OK;

    do {
        const struct aws_parameter query[] = { { STR("list-type"), STR("2") },
                                               { STR("prefix"), str_of(o->prefix) },
                                               { STR("continuation-token"), str_of(token) } };
        struct object_request r;
        struct str text;

        object_request_init(&r, "GET", NULL);
        r.query = query;
        r.query_count = token[0] ? 3 : 2;
        e = object_request_send(o, &r);
        if (!e && buf_is_full(&r.response))
            e = ERR_FILES_UNAVAILABLE;
        struct str xml = buf_as_str(&r.response);
        token[0] = '\0';
        if (!e && object_response_find_xml_element(&xml, "NextContinuationToken", &text))
            object_response_decode_xml_text(text, token, sizeof token);
        if (!e)
            e = visit_objects_of_list_page(o, buf_as_str(&r.response), found, arg);
        buf_clear(&r.response);
    } while (!e && token[0]);
    return e;
}
