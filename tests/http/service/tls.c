/* tls.c - the server over TLS, and the URLs it returns. */
#include "world.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GATEWAY "GET /api/v10/gateway HTTP/1.1\r\nHost: chat.test:1234\r\nConnection: close\r\n\r\n"

static void configure_self_signed(struct config *config)
{
    config->tls_self_signed = true;
}

static void configure_tls_only(struct config *config)
{
    config->tls_self_signed = config->tls_only = true;
}

static void configure_https_proxy(struct config *config)
{
    config->public_url = "https://chat.example";
}

static void configure_http_proxy(struct config *config)
{
    configure_self_signed(config);
    config->public_url = "http://chat.example:8080";
}

/* --- a client that trusts the server's certificate ------------------------------------ */

static SSL_CTX *create_trusting_context(struct world *w)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    struct str file = str_printf(world_arena(w), "%s/cert.pem", world_folder(w));

    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    expect(SSL_CTX_load_verify_locations(ctx, file.p, NULL) == 1);
    X509_VERIFY_PARAM_set1_ip_asc(SSL_CTX_get0_param(ctx), "127.0.0.1");
    return ctx;
}

/* Returns all received bytes, or p == NULL if the handshake fails. */
static struct str send_over_tls(struct world *w, const char *request)
{
    SSL_CTX *ctx = create_trusting_context(w);
    SSL *ssl = SSL_new(ctx);
    int fd = client_dial(world_anonymous(w)), got;
    char in[16384];
    size_t n = 0;
    struct str answer = { 0 };

    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) == 1 && SSL_write(ssl, request, (int)strlen(request)) > 0) {
        while (n < sizeof in && (got = SSL_read(ssl, in + n, (int)(sizeof in - n))) > 0)
            n += (size_t)got;
        answer = str_dup(world_arena(w), str_slice(in, n));
    }
    ERR_clear_error();
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    close(fd);
    return answer;
}

static struct str send_plain(struct world *w, const char *request)
{
    return client_raw(world_anonymous(w), str_of(request), 60000);
}

static bool text_contains(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

/* --- tests ---------------------------------------------------------------------------- */

static void one_port_accepts_http_and_https(struct world *w)
{
    expect(guildhall_has_tls(world_server(w)));
    struct str answer = send_over_tls(w, GATEWAY);
    expect(text_contains(answer, "HTTP/1.1 200 OK") &&
           text_contains(answer, "\"wss://chat.test:1234\""));
    answer = send_plain(w, GATEWAY);
    expect(text_contains(answer, "HTTP/1.1 200 OK") &&
           text_contains(answer, "\"ws://chat.test:1234\""));
    answer = send_over_tls(w, "GET /healthz HTTP/2.0\r\n\r\n");
    expect(text_contains(answer, "HTTP/1.1 505"));
}

static void api_requests_work_over_tls(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct str request =
        str_printf(world_arena(w),
                   "PATCH /api/v10/users/@me HTTP/1.1\r\nHost: x\r\nAuthorization: "
                   "%s\r\nContent-Type: application/json\r\nContent-Length: 16\r\n"
                   "Connection: close\r\n\r\n{\"bio\":\"secret\"}",
                   ada->authorization);

    expect(text_contains(send_over_tls(w, request.p), "\"bio\":\"secret\""));
    expect_event(ada, "USER_UPDATE", "{'bio': 'secret'}");
}

static void tls_only_server_refuses_plain_http(struct world *w)
{
    struct str answer = send_plain(w, GATEWAY);

    expect(text_contains(answer, "HTTP/1.1 400 ") && !text_contains(answer, "chat.test"));
    expect(text_contains(send_over_tls(w, GATEWAY), "\"wss://chat.test:1234\""));
}

static void self_signed_certificate_survives_a_restart(struct world *w)
{
    struct str file = str_printf(world_arena(w), "%s/cert.pem", world_folder(w));
    char before[8192] = "", after[8192] = "";
    FILE *f = fopen(file.p, "r");

    expect(f && fread(before, 1, sizeof before - 1, f) > 0);
    fclose(f);
    world_restart(w);
    f = fopen(file.p, "r");
    expect(f && fread(after, 1, sizeof after - 1, f) > 0);
    fclose(f);
    expect(strcmp(before, after) == 0);
    expect(text_contains(send_over_tls(w, GATEWAY), "HTTP/1.1 200 OK"));
}

static void gateway_url_names_the_https_proxy(struct world *w)
{
    expect(!guildhall_has_tls(world_server(w)));
    expect(text_contains(send_plain(w, GATEWAY), "\"wss://chat.example\""));
    expect_json(client_get(world_bot(w, "helper"), "/gateway/bot"),
                "{'url': 'wss://chat.example'}");
}

static void gateway_url_names_the_http_proxy(struct world *w)
{
    expect(text_contains(send_plain(w, GATEWAY), "\"ws://chat.example:8080\""));
    expect(text_contains(send_over_tls(w, GATEWAY), "\"ws://chat.example:8080\""));
}

const struct test tls_tests[] = {
    TEST_WITH(one_port_accepts_http_and_https, configure_self_signed),
    TEST_WITH(api_requests_work_over_tls, configure_self_signed),
    TEST_WITH(tls_only_server_refuses_plain_http, configure_tls_only),
    TEST_WITH(self_signed_certificate_survives_a_restart, configure_self_signed),
    TEST_WITH(gateway_url_names_the_https_proxy, configure_https_proxy),
    TEST_WITH(gateway_url_names_the_http_proxy, configure_http_proxy),
    { 0 },
};
