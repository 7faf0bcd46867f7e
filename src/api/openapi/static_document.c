/* static_document.c - responses that are equal for all callers, with an ETag; compressed once. */
#include "api/internal.h"

#include <sodium.h>

#include "base/mem.h"

enum { TAG_BYTES = 16, SMALLEST = 9 };

/* Computes the ETag. It is weak, because the plain and the gzipped text have the same ETag. */
static void compute_etag(struct static_document *d)
{
    unsigned char hash[TAG_BYTES];
    char hex[2 * TAG_BYTES + 1];
    struct str text = buf_as_str(&d->plain);

    crypto_generichash(hash, sizeof hash, (const unsigned char *)text.p, text.n, NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    buf_printf(&d->tag, "W/\"%s\"", hex);
}

struct static_document *static_document_new(void)
{
    struct static_document *d = mem_new(sizeof *d);

    buf_init(&d->plain, CALL_MAX_REPLY);
    buf_init(&d->zipped, CALL_MAX_REPLY);
    buf_init(&d->tag, 2 * TAG_BYTES + 8);
    return d;
}

void static_document_compress_and_compute_etag(struct static_document *d)
{
    if (!http_compress_gzip(buf_as_str(&d->plain), SMALLEST, &d->zipped))
        buf_clear(&d->zipped);
    compute_etag(d);
}

void static_document_free(struct static_document *d)
{
    if (!d)
        return;
    buf_clear(&d->plain);
    buf_clear(&d->zipped);
    buf_clear(&d->tag);
    mem_free(d);
}

enum err call_reply_with_static_document(struct call *call, const struct static_document *d)
{
    const struct http_request *r = call->exchange->request;
    struct call_response *a = &call_get_context(call)->response;

    call_add_header(call, "ETag", buf_as_str(&d->tag));
    call_add_header(call, "Cache-Control", STR("no-cache"));
    if (http_etag_is_listed(http_find_header(r, STR("If-None-Match")), buf_as_str(&d->tag))) {
        call_add_header(call, "Vary", STR("Accept-Encoding"));
        call_set_status(call, 304);
        return OK;
    }
    a->zipped = d->zipped.n && http_accepts_content_coding(r->accept_encoding, STR("gzip"));
    a->borrowed = buf_as_str(a->zipped ? &d->zipped : &d->plain);
    return OK;
}
