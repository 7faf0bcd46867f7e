/* api_client.c - HTTP client for the API of a server. */
#include "tools/wire/internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "admin/control/control.h"

enum { RESPONSE_TIMEOUT_MS = 30 * 1000 };

/* --- URL ------------------------------------------------------------------------------ */

static bool parse_server_url(struct api_client *w, struct str url)
{
    w->secure = str_starts_with(url, STR("https://"));
    if (!w->secure && !str_starts_with(url, STR("http://")))
        return false;
    url = str_skip_bytes(url, w->secure ? 8 : 7);
    struct str authority = str_cut(&url, '/');

    if (url.n && !str_starts_with(url, STR("api")))
        return false;
    w->authority = str_dup(w->arena, authority);
    const char *colon = authority.n && authority.p[authority.n - 1] != ']'
                            ? memrchr(authority.p, ':', authority.n)
                            : NULL;
    struct str host = colon ? str_slice(authority.p, (size_t)(colon - authority.p)) : authority;
    if (host.n > 2 && host.p[0] == '[')
        host = str_slice(host.p + 1, host.n - 2);
    w->host = str_dup_cstring(w->arena, host);
    size_t after = colon ? (size_t)(colon - authority.p) + 1 : 0;
    w->port = colon       ? str_dup_cstring(w->arena, str_skip_bytes(authority, after))
              : w->secure ? "443"
                          : "80";
    return host.n > 0;
}

struct api_client *api_client_new(const char *url, struct arena *arena)
{
    struct api_client *w = mem_new(sizeof *w);

    w->arena = arena;
    w->token = "";
    buf_init(&w->in, WIRE_MAX_BYTES);
    if (parse_server_url(w, str_of(url)))
        return w;
    fprintf(stderr, "guildhall: '%s' is not a URL such as http://127.0.0.1:8080\n", url);
    api_client_free(w);
    return NULL;
}

void api_client_free(struct api_client *w)
{
    if (!w)
        return;
    api_connection_free(w->line);
    buf_clear(&w->in);
    mem_free(w);
}

void api_client_trust_only_server_of_folder(struct api_client *w, const char *folder)
{
    struct buf out;

    if (!w->secure)
        return;
    buf_init(&out, SIZE_MAX);
    if (control_socket_send_request(folder, "certificate", &out) == OK && out.n)
        w->fingerprint = str_dup_cstring(w->arena, buf_as_str(&out));
    buf_clear(&out);
}

void api_client_silence_errors(struct api_client *w)
{
    w->quiet = true;
}

void api_client_set_token(struct api_client *w, const char *token)
{
    w->token = str_dup_cstring(w->arena, str_of(token));
}

const char *api_client_get_token(const struct api_client *w)
{
    return w->token;
}

/* --- requests ------------------------------------------------------------------------- */

#define MULTIPART_BOUNDARY "guildhall-invoke-5b1f0c9e7d"

static void append_multipart_part(struct buf *out, const char *name, const char *filename,
                                  struct str bytes)
{
    buf_printf(out, "--" MULTIPART_BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"",
               name);
    if (filename)
        buf_printf(out, "; filename=\"%s\"", filename);
    buf_add_lit(out, "\r\n\r\n");
    buf_add_str(out, bytes);
    buf_add_lit(out, "\r\n");
}

static void append_request_body(struct buf *out, struct str json,
                                const struct api_client_file *files, size_t count)
{
    char name[32];

    if (!count) {
        buf_add_str(out, json);
        return;
    }
    append_multipart_part(out, "payload_json", NULL, json);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "files[%zu]", i);
        append_multipart_part(out, name, files[i].filename, files[i].bytes);
    }
    buf_add_lit(out, "--" MULTIPART_BOUNDARY "--\r\n");
}

static void append_http_request(const struct api_client *w, struct buf *out, const char *method,
                                const char *path, struct str body, bool multipart)
{
    bool at_root = str_starts_with(str_of(path), STR("/console/"));

    buf_printf(out, "%s %s%s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n", method,
               at_root ? "" : "/api/v9", path, STR_ARGS(w->authority));
    buf_add_lit(out, "User-Agent: guildhall-invoke\r\n");
    if (*w->token)
        buf_printf(out, "Authorization: %s\r\n", w->token);
    if (body.n)
        buf_printf(out, "Content-Type: %s\r\n",
                   multipart ? "multipart/form-data; boundary=" MULTIPART_BOUNDARY
                             : "application/json");
    buf_printf(out, "Content-Length: %zu\r\n\r\n", body.n);
    buf_add_str(out, body);
}

static bool parse_http_response(struct api_client *w, struct str bytes,
                                struct api_client_response *ret)
{
    const char *end = bytes.n ? memmem(bytes.p, bytes.n, "\r\n\r\n", 4) : NULL;
    int64_t status;

    if (!end || bytes.n < 12 || !str_starts_with(bytes, STR("HTTP/1.1 ")) ||
        !str_to_i64(str_slice(bytes.p + 9, 3), &status))
        return false;
    ret->status = (int)status;
    ret->body = str_dup(w->arena, str_skip_bytes(bytes, (size_t)(end - bytes.p) + 4));
    return true;
}

/* Waits until application data was received. It is not enough that the socket is readable, because
 * a TLS record may contain no application data. */
static int receive_application_data(struct client_connection *line, struct buf *in)
{
    int64_t until = clock_monotonic_ns() + RESPONSE_TIMEOUT_MS * INT64_C(1000000);
    int got = 0;

    while (got == 0 && clock_monotonic_ns() < until)
        got = api_connection_receive(line, in, RESPONSE_TIMEOUT_MS);
    return got;
}

bool api_client_request(struct api_client *w, const char *method, const char *path, struct str body,
                        const struct api_client_file *files, size_t file_count,
                        struct api_client_response *ret)
{
    struct buf content, out, in;
    struct client_connection *line = api_connection_open(w);
    int got = 1;

    if (!line)
        return false;
    buf_init(&content, WIRE_MAX_BYTES);
    buf_init(&out, WIRE_MAX_BYTES);
    buf_init(&in, WIRE_MAX_BYTES);
    append_request_body(&content, body, files, file_count);
    append_http_request(w, &out, method, path, buf_as_str(&content), file_count > 0);
    bool ok = !buf_is_full(&content) && !buf_is_full(&out) &&
              api_connection_send_all(line, buf_as_str(&out));
    while (ok && got > 0)
        got = receive_application_data(line, &in);
    ok = ok && !buf_is_full(&in) && parse_http_response(w, buf_as_str(&in), ret);
    if (!ok && !w->quiet)
        fprintf(stderr, "guildhall: the server did not respond to %s %s\n", method, path);
    buf_clear(&content);
    buf_clear(&out);
    buf_clear(&in);
    api_connection_free(line);
    return ok;
}
