/* startup_errors.c - a server that cannot start logs the reason and releases everything. */
#include "world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Expects that the server does not start with the current configuration, and this text in the
 * log. */
static void expect_server_start_refused(struct world *w, const char *words)
{
    world_log_begin(w);
    bool started = world_try_start(w);
    const char *log = world_log_end(w);

    if (started || !strstr(log, words))
        fail_test(__FILE__, __LINE__, "%s, and the log says: %s",
                  started ? "it started" : "other words", log);
}

/* Expects that the same folder and store work again once the cause is gone. */
static void expect_server_starts_after_correction(struct world *w, const struct config *good)
{
    *world_config(w) = *good;
    expect(world_try_start(w));
    expect_status(client_get(world_client(w, "ada"), "/users/@me"), 200);
    world_stop(w);
}

static void start_fails_when_the_port_is_in_use(struct world *w)
{
    struct config good = *world_config(w);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    expect(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0);
    getsockname(fd, (struct sockaddr *)&at, &n);
    world_stop(w);
    world_config(w)->listen = str_printf(world_arena(w), "127.0.0.1:%d", ntohs(at.sin_port)).p;
    expect_server_start_refused(
        w, str_printf(world_arena(w), "cannot listen on 127.0.0.1, port %d: Address already in use",
                      ntohs(at.sin_port))
               .p);
    close(fd);
    expect_server_starts_after_correction(w, &good);
}

/* Also with SO_REUSEPORT: the other server would get some of the connections. */
static void start_fails_on_the_port_of_another_server(struct world *w)
{
    struct config other = *world_config(w);
    struct guildhall *second = NULL;
    struct str folder = str_printf(world_arena(w), "%s/second", world_folder(w));

    other.data = folder.p;
    other.store = NULL;
    other.listen = str_printf(world_arena(w), "127.0.0.1:%d", world_port(w)).p;
    world_log_begin(w);
    expect(guildhall_start(&other, NULL, &second) != OK);
    expect(strstr(world_log_end(w), "Address already in use"));
    expect_status(client_get(world_client(w, "ada"), "/users/@me"), 200);
}

static void start_fails_with_an_invalid_listen_address(struct world *w)
{
    static const struct {
        const char *listen, *words;
    } cases[] = {
        { "nowhere", "listen must be HOST:PORT, not 'nowhere'" },
        { "127.0.0.1:", "listen must be HOST:PORT, not '127.0.0.1:'" },
        { "127.0.0.1:65536", "listen must be HOST:PORT, not '127.0.0.1:65536'" },
        { ":80", "listen must be HOST:PORT, not ':80'" },
        { "no.such.address:0", "'no.such.address' is not an IP address to listen on" },
    };
    struct config good = *world_config(w);

    world_stop(w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world_config(w)->listen = cases[i].listen;
        expect_server_start_refused(w, cases[i].words);
    }
    expect_server_starts_after_correction(w, &good);
}

static void start_fails_when_the_data_folder_is_not_a_folder(struct world *w)
{
    struct config good = *world_config(w);
    struct str file = str_printf(world_arena(w), "%s/file", world_folder(w));
    FILE *f = fopen(file.p, "w");

    expect(f);
    fclose(f);
    world_stop(w);
    world_config(w)->data = file.p;
    expect_server_start_refused(w, str_printf(world_arena(w), "'%s' is not a folder", file.p).p);
    world_config(w)->data = "/proc/guildhall";
    expect_server_start_refused(w, "cannot create the folder '/proc/guildhall': ");
    expect_server_starts_after_correction(w, &good);
}

static void start_fails_when_the_data_folder_is_in_use(struct world *w)
{
    struct config other = *world_config(w);
    struct guildhall *second = NULL;

    if (other.store)
        return; /* nodes with one PostgreSQL may share the folder of files */
    world_log_begin(w);
    expect(guildhall_start(&other, NULL, &second) != OK);
    expect(strstr(world_log_end(w), "is in use by another guildhall"));
    expect_status(client_get(world_client(w, "ada"), "/users/@me"), 200);
}

static void start_fails_with_a_truncated_key_file(struct world *w)
{
    struct config good = *world_config(w);
    struct str file = str_printf(world_arena(w), "%s/pepper.key", world_folder(w));
    struct str backup = str_printf(world_arena(w), "%s/kept.key", world_folder(w));
    struct stat st;

    /* The file is readable by its owner only. */
    expect(stat(file.p, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 32);
    struct client *ada = world_client(w, "ada");
    world_stop(w);
    expect(rename(file.p, backup.p) == 0);
    FILE *f = fopen(file.p, "w");
    expect(f && fputs("short", f) >= 0);
    fclose(f);
    expect_server_start_refused(
        w, str_printf(world_arena(w), "cannot read or create the key file '%s'", file.p).p);
    /* The file was not replaced, and the original still verifies every token. */
    expect(stat(file.p, &st) == 0 && st.st_size == 5);
    expect(rename(backup.p, file.p) == 0);
    *world_config(w) = good;
    expect(world_try_start(w));
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void start_fails_with_invalid_options(struct world *w)
{
    struct config good = *world_config(w);

    world_stop(w);
    world_config(w)->voice_regions = "Main Street";
    expect_server_start_refused(
        w, "voice-regions is invalid: it has an id that is not 1-32 characters of "
           "a-z, 0-9 and -");
    world_config(w)->voice_regions = "a,b,a";
    expect_server_start_refused(w, "voice-regions is invalid: it contains a region twice");
    *world_config(w) = good;
    world_config(w)->public_url = "chat.example";
    expect_server_start_refused(w, "public-url must start with http:// or https://");
    *world_config(w) = good;
    world_config(w)->tls_cert = "cert.pem";
    expect_server_start_refused(w, "tls-cert and tls-key must be set together");
    world_config(w)->tls_key = "/nowhere/key.pem";
    world_config(w)->tls_cert = "/nowhere/cert.pem";
    expect_server_start_refused(w, "/nowhere/cert.pem");
    *world_config(w) = good;
    world_config(w)->tls_only = true;
    expect_server_start_refused(w, "tls-only requires a certificate");
    expect_server_starts_after_correction(w, &good);
}

static void start_fails_when_the_database_is_unreachable(struct world *w)
{
    struct config good = *world_config(w);

    world_stop(w);
    world_config(w)->store = "postgres://nobody@127.0.0.1:1/nowhere?connect_timeout=2";
    expect_server_start_refused(w, "store: ");
    expect_server_starts_after_correction(w, &good);
}

const struct test startup_errors_tests[] = {
    TEST(start_fails_when_the_port_is_in_use),
    TEST(start_fails_on_the_port_of_another_server),
    TEST(start_fails_with_an_invalid_listen_address),
    TEST(start_fails_when_the_data_folder_is_not_a_folder),
    TEST(start_fails_when_the_data_folder_is_in_use),
    TEST(start_fails_with_a_truncated_key_file),
    TEST(start_fails_with_invalid_options),
    TEST(start_fails_when_the_database_is_unreachable),
    { 0 },
};
