/* docs.c - serves the documentation site at /docs from read-only memory.
 *
 * scripts/make-site compiles the pages into the program. Texts are stored as gzip only, which
 * nearly all clients accept. For a client that does not accept gzip, the text is decompressed at
 * each request. The longest text has less than 2 MiB, so this takes a few milliseconds. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "net/http/server.h"
#include "web/internal.h"

/* Content security policy of the documentation pages: allows the script with the search index, and
 * the form that opens the search page. */
#define DOCS_CONTENT_SECURITY_POLICY                                            \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " \
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "             \
    "require-trusted-types-for 'script'; trusted-types 'none'"

enum { MAX_FILE_NAME_BYTES = 128, GZIP_WINDOW_BITS = 15 + 16 };

static int compare_file_names(const void *name, const void *file)
{
    return strcmp(name, ((const struct docs_file *)file)->name);
}

/* Finds the file for a path below /docs/. The path of a page may omit ".html". */
static const struct docs_file *find_docs_file(struct str rest)
{
    char name[MAX_FILE_NAME_BYTES + sizeof ".html"];
    const struct docs_file *found;

    if (!rest.n)
        rest = STR("index.html");
    if (rest.n > MAX_FILE_NAME_BYTES || memchr(rest.p, '\0', rest.n))
        return NULL;
    memcpy(name, rest.p, rest.n);
    name[rest.n] = '\0';
    found = bsearch(name, docs_files, docs_file_count, sizeof *docs_files, compare_file_names);
    if (found)
        return found;
    memcpy(name + rest.n, ".html", sizeof ".html");
    return bsearch(name, docs_files, docs_file_count, sizeof *docs_files, compare_file_names);
}

static struct str decompress_docs_file(struct arena *arena, const struct docs_file *f)
{
    struct str text = { arena_alloc(arena, f->plain_n), f->plain_n };
    z_stream z = { .next_in = (Bytef *)(uintptr_t)f->p,
                   .avail_in = (uInt)f->n,
                   .next_out = (Bytef *)(uintptr_t)text.p,
                   .avail_out = (uInt)f->plain_n };

    if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
        return STR("");
    inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return text;
}

static void reply_with_docs_file(struct call *call, const struct docs_file *f)
{
    const struct http_request *r = call->exchange->request;
    bool packed = f->plain_n && http_accepts_content_coding(r->accept_encoding, STR("gzip"));
    struct str tag = str_printf(call->arena, "\"%s%s\"", f->tag, packed ? "-gzip" : "");
    /* The response never changes, because the folder is named after the file's contents. */
    bool immutable = strchr(f->name, '/') != NULL;

    call_set_status(call, 200);
    call_add_header(call, "Vary", STR("Accept-Encoding"));
    call_add_header(call, "ETag", tag);
    call_add_header(call, "Cache-Control",
                    immutable ? STR("public, max-age=31536000, immutable") : STR("no-cache"));
    if (http_etag_is_listed(http_find_header(r, STR("If-None-Match")), tag)) {
        call_set_status(call, 304);
        return;
    }
    if (packed)
        call_add_header(call, "Content-Encoding", STR("gzip"));
    if (packed || !f->plain_n)
        call_reply_with_static_bytes(call, str_of(f->type), str_slice(f->p, f->n));
    else
        call_reply_with_text(call, str_of(f->type), decompress_docs_file(call->arena, f));
}

bool reply_with_docs_page(struct call *call, struct str path)
{
    /* Redirect to /docs/, because links within the pages are relative to that path. */
    if (str_is(path, "/docs")) {
        call_set_status(call, 302);
        call_add_header(call, "Location", STR("/docs/"));
        web_add_security_headers(call, STR(DOCS_CONTENT_SECURITY_POLICY));
        return true;
    }
    const struct docs_file *f =
        str_starts_with(path, STR("/docs/")) ? find_docs_file(str_skip_bytes(path, 6)) : NULL;

    if (!f)
        return false;
    reply_with_docs_file(call, f);
    web_add_security_headers(call, STR(DOCS_CONTENT_SECURITY_POLICY));
    return true;
}
