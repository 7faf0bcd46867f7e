/* page.c - replies with an embedded file: encoding, ETag, range. */
#include <string.h>

#include "web/internal.h"
#include "api/api.h"
#include "net/http/server.h"
#include "store/store.h"

/* Content security policy: allows only scripts of the program itself, no inline code, and no other
 * origins. */
#define CONTENT_SECURITY_POLICY(origin)                                                          \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:" origin \
    "; media-src 'self' blob:" origin "; connect-src 'self'" origin                              \
    "; font-src 'self'; manifest-src 'self'; "                                                   \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "                              \
    "require-trusted-types-for 'script'; trusted-types service-worker"

/* Returns the content security policy of a page. It includes the origin to which downloads of
 * attachments are redirected. */
static struct str page_content_security_policy(struct call *call)
{
    struct buf origin;

    buf_init(&origin, 1024);
    if (!blobs_append_presigned_url_origin(api_get_options(call->api)->store, &origin)) {
        buf_clear(&origin);
        return STR(CONTENT_SECURITY_POLICY(""));
    }
    struct str added = buf_move_to_arena(&origin, call->arena);
    return str_printf(call->arena, CONTENT_SECURITY_POLICY(" %.*s"), STR_ARGS(added),
                      STR_ARGS(added), STR_ARGS(added));
}

void web_add_security_headers(struct call *call, struct str policy)
{
    call_add_header(call, "Content-Security-Policy", policy);
    call_add_header(call, "Referrer-Policy", STR("no-referrer"));
    call_add_header(call, "X-Frame-Options", STR("DENY"));
    call_add_header(call, "Cross-Origin-Opener-Policy", STR("same-origin"));
    call_add_header(call, "Cross-Origin-Resource-Policy", STR("same-origin"));
}

static const struct web_file *find_embedded_file(struct str name)
{
    for (const struct web_file *f = web_files; f->name; f++)
        if (str_is(name, f->name))
            return f;
    return NULL;
}

static const char *const codings[WEB_ENCODINGS] = { [WEB_GZIP] = "gzip", [WEB_ZSTD] = "zstd" };

static enum web_encoding choose_content_encoding(const struct web_file *f, struct str accepted)
{
    for (int form = WEB_ZSTD; form > WEB_PLAIN; form--)
        if (f->forms[form].p && http_accepts_content_coding(accepted, str_of(codings[form])))
            return (enum web_encoding)form;
    return WEB_PLAIN;
}

/* Applies the Range header. If the request has If-Range, it must match the ETag of this
 * encoding. */
static void apply_range_header(struct call *call, struct str tag, struct str *body)
{
    const struct http_request *r = call->exchange->request;
    struct str range = http_find_header(r, STR("Range")),
               only_if = http_find_header(r, STR("If-Range"));
    int64_t first, last, size = (int64_t)body->n;
    int range_result = range.p && (!only_if.p || str_eq(only_if, tag))
                           ? http_parse_range(range, size, &first, &last)
                           : 0;

    if (range_result == 0)
        return;
    call_set_status(call, range_result > 0 ? 206 : 416);
    if (range_result > 0)
        *body = str_slice(body->p + first, (size_t)(last - first + 1));
    else
        *body = STR("");
    call_add_header(call, "Content-Range",
                    range_result > 0
                        ? str_printf(call->arena, "bytes %lld-%lld/%lld", (long long)first,
                                     (long long)last, (long long)size)
                        : str_printf(call->arena, "bytes */%lld", (long long)size));
}

static void reply_with_file(struct call *call, const struct web_file *f,
                            const struct web_lookup_result *found)
{
    const struct http_request *r = call->exchange->request;
    enum web_encoding form = choose_content_encoding(f, r->accept_encoding);
    struct str body = str_slice(f->forms[form].p, f->forms[form].n);
    struct str tag =
        str_printf(call->arena, "\"%s%s%s\"", f->tag, form ? "-" : "", form ? codings[form] : "");

    call_set_status(call, found->status);
    call_add_header(call, "Vary", STR("Accept-Encoding"));
    call_add_header(call, "ETag", tag);
    call_add_header(call, "Accept-Ranges", STR("bytes"));
    call_add_header(call, "Cache-Control",
                    found->immutable ? STR("public, max-age=31536000, immutable")
                                     : STR("no-cache"));
    if (found->status == 200 &&
        http_etag_is_listed(http_find_header(r, STR("If-None-Match")), tag)) {
        call_set_status(call, 304);
        return;
    }
    if (form)
        call_add_header(call, "Content-Encoding", str_of(codings[form]));
    if (found->status == 200)
        apply_range_header(call, tag, &body);
    call_reply_with_static_bytes(call, str_of(f->type), body);
}

bool web_reply_with_page(void *arg, struct call *call)
{
    const struct web_options *web = arg;
    const struct http_request *r = call->exchange->request;
    struct str bundle = web->folder ? STR("dev") : str_of(web_bundle);
    if (reply_with_docs_page(call, r->path))
        return true;

    struct web_lookup_result found =
        find_web_file_of_path(web, r->path, http_find_header(r, STR("Accept")), bundle);

    if (!found.name.n)
        return false;
    if (web->folder) {
        if (!reply_with_web_file_of_folder(call, web->folder, &found))
            return false;
    } else {
        const struct web_file *f = find_embedded_file(found.name);

        if (!f)
            return false;
        reply_with_file(call, f, &found);
    }
    web_add_security_headers(call, page_content_security_policy(call));
    return true;
}
