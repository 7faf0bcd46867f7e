/* wire.c - HTTP client for the API of a server. */
#include "tools/wire/internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "admin/control/control.h"

enum { PATIENCE_MS = 30 * 1000 };

/* --- URL ------------------------------------------------------------------------------ */

static bool split_url(struct wire *w, struct str url)
{
    w->secure = str_starts(url, STR("https://"));
    if (!w->secure && !str_starts(url, STR("http://")))
        return false;
    url = str_from(url, w->secure ? 8 : 7);
    struct str authority = str_cut(&url, '/');

    if (url.n && !str_starts(url, STR("api")))
        return false;
    w->authority = str_dup(w->arena, authority);
    const char *colon = authority.n && authority.p[authority.n - 1] != ']'
                            ? memrchr(authority.p, ':', authority.n)
                            : NULL;
    struct str host = colon ? str_slice(authority.p, (size_t)(colon - authority.p)) : authority;
    if (host.n > 2 && host.p[0] == '[')
        host = str_slice(host.p + 1, host.n - 2);
    w->host = str_dupz(w->arena, host);
    size_t after = colon ? (size_t)(colon - authority.p) + 1 : 0;
    w->port = colon ? str_dupz(w->arena, str_from(authority, after)) : w->secure ? "443" : "80";
    return host.n > 0;
}

struct wire *wire_new(const char *url, struct arena *arena)
{
    struct wire *w = mem_new(sizeof *w);

    w->arena = arena;
    w->token = "";
    buf_init(&w->in, WIRE_LARGEST);
    if (split_url(w, str_of(url)))
        return w;
    fprintf(stderr, "guildhall: '%s' is not a URL such as http://127.0.0.1:8080\n", url);
    wire_free(w);
    return NULL;
}

void wire_free(struct wire *w)
{
    if (!w)
        return;
    line_close(w->line);
    buf_clear(&w->in);
    mem_free(w);
}

void wire_trust_server_of(struct wire *w, const char *folder)
{
    struct buf out;

    if (!w->secure)
        return;
    buf_init(&out, SIZE_MAX);
    if (control_ask(folder, "certificate", &out) == OK && out.n)
        w->pin = str_dupz(w->arena, buf_str(&out));
    buf_clear(&out);
}

void wire_hush(struct wire *w)
{
    w->hushed = true;
}

void wire_set_token(struct wire *w, const char *token)
{
    w->token = str_dupz(w->arena, str_of(token));
}

const char *wire_token(const struct wire *w)
{
    return w->token;
}

/* --- requests ------------------------------------------------------------------------- */

#define BOUNDARY "guildhall-invoke-5b1f0c9e7d"

static void add_part(struct buf *out, const char *name, const char *filename, struct str bytes)
{
    buf_printf(out, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"", name);
    if (filename)
        buf_printf(out, "; filename=\"%s\"", filename);
    buf_add_lit(out, "\r\n\r\n");
    buf_add_str(out, bytes);
    buf_add_lit(out, "\r\n");
}

static void write_body(struct buf *out, struct str json, const struct wire_file *files,
                       size_t count)
{
    char name[32];

    if (!count) {
        buf_add_str(out, json);
        return;
    }
    add_part(out, "payload_json", NULL, json);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "files[%zu]", i);
        add_part(out, name, files[i].filename, files[i].bytes);
    }
    buf_add_lit(out, "--" BOUNDARY "--\r\n");
}

static void write_request(const struct wire *w, struct buf *out, const char *method,
                          const char *path, struct str body, bool multipart)
{
    bool at_root = str_starts(str_of(path), STR("/console/"));

    buf_printf(out, "%s %s%s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n", method,
               at_root ? "" : "/api/v9", path, STR_FMT(w->authority));
    buf_add_lit(out, "User-Agent: guildhall-invoke\r\n");
    if (*w->token)
        buf_printf(out, "Authorization: %s\r\n", w->token);
    if (body.n)
        buf_printf(out, "Content-Type: %s\r\n",
                   multipart ? "multipart/form-data; boundary=" BOUNDARY : "application/json");
    buf_printf(out, "Content-Length: %zu\r\n\r\n", body.n);
    buf_add_str(out, body);
}

static bool read_answer(struct wire *w, struct str bytes, struct wire_answer *ret)
{
    const char *end = bytes.n ? memmem(bytes.p, bytes.n, "\r\n\r\n", 4) : NULL;
    int64_t status;

    if (!end || bytes.n < 12 || !str_starts(bytes, STR("HTTP/1.1 ")) ||
        !str_to_i64(str_slice(bytes.p + 9, 3), &status))
        return false;
    ret->status = (int)status;
    ret->body = str_dup(w->arena, str_from(bytes, (size_t)(end - bytes.p) + 4));
    return true;
}

/* Waits for application data, because a TLS record may contain none. */
static int receive_some(struct wire_line *line, struct buf *in)
{
    int64_t until = clock_mono() + PATIENCE_MS * INT64_C(1000000);
    int got = 0;

    while (got == 0 && clock_mono() < until)
        got = line_receive(line, in, PATIENCE_MS);
    return got;
}

bool wire_call(struct wire *w, const char *method, const char *path, struct str body,
               const struct wire_file *files, size_t file_count, struct wire_answer *ret)
{
    struct buf content, out, in;
    struct wire_line *line = line_open(w);
    int got = 1;

    if (!line)
        return false;
    buf_init(&content, WIRE_LARGEST);
    buf_init(&out, WIRE_LARGEST);
    buf_init(&in, WIRE_LARGEST);
    write_body(&content, body, files, file_count);
    write_request(w, &out, method, path, buf_str(&content), file_count > 0);
    bool ok = !buf_full(&content) && !buf_full(&out) && line_send_all(line, buf_str(&out));
    while (ok && got > 0)
        got = receive_some(line, &in);
    ok = ok && !buf_full(&in) && read_answer(w, buf_str(&in), ret);
    if (!ok && !w->hushed)
        fprintf(stderr, "guildhall: the server did not respond to %s %s\n", method, path);
    buf_clear(&content);
    buf_clear(&out);
    buf_clear(&in);
    line_close(line);
    return ok;
}
