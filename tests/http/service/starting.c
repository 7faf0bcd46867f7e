/* starting.c - a server that cannot start says why, in a sentence, and lets go of
 * everything. */
#include "world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tries to start with the configuration as it stands. */
static void expect_refusal(struct world *w, const char *words)
{
    world_log_begin(w);
    bool started = world_try_start(w);
    const char *log = world_log_end(w);

    if (started || !strstr(log, words))
        fail_test(__FILE__, __LINE__, "%s, and the log says: %s",
                  started ? "it started" : "other words", log);
}

/* The same folder and store serve again once the cause is gone. */
static void expect_recovery(struct world *w, const struct config *good)
{
    *world_config(w) = *good;
    expect(world_try_start(w));
    expect_status(client_get(world_client(w, "ada"), "/users/@me"), 200);
    world_stop(w);
}

static void a_port_that_is_taken(struct world *w)
{
    struct config good = *world_config(w);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    expect(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0);
    getsockname(fd, (struct sockaddr *)&at, &n);
    world_stop(w);
    world_config(w)->listen = str_printf(world_arena(w), "127.0.0.1:%d", ntohs(at.sin_port)).p;
    expect_refusal(w, str_printf(world_arena(w),
                                 "cannot listen on 127.0.0.1 port %d: Address already in use",
                                 ntohs(at.sin_port))
                          .p);
    close(fd);
    expect_recovery(w, &good);
}

/* Not even a port that shares with us: the other server would get our callers. */
static void a_port_of_another_server(struct world *w)
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

static void an_address_that_is_none(struct world *w)
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
        expect_refusal(w, cases[i].words);
    }
    expect_recovery(w, &good);
}

static void a_folder_that_is_none(struct world *w)
{
    struct config good = *world_config(w);
    struct str file = str_printf(world_arena(w), "%s/file", world_folder(w));
    FILE *f = fopen(file.p, "w");

    expect(f);
    fclose(f);
    world_stop(w);
    world_config(w)->data = file.p;
    expect_refusal(w, str_printf(world_arena(w), "'%s' is not a folder", file.p).p);
    world_config(w)->data = "/proc/guildhall";
    expect_refusal(w, "cannot make the folder '/proc/guildhall': ");
    expect_recovery(w, &good);
}

static void a_folder_that_is_in_use(struct world *w)
{
    struct config other = *world_config(w);
    struct guildhall *second = NULL;

    if (other.store)
        return; /* nodes on one PostgreSQL may share the folder of pictures */
    world_log_begin(w);
    expect(guildhall_start(&other, NULL, &second) != OK);
    expect(strstr(world_log_end(w), "is in use by another guildhall"));
    expect_status(client_get(world_client(w, "ada"), "/users/@me"), 200);
}

static void a_key_file_that_is_cut(struct world *w)
{
    struct config good = *world_config(w);
    struct str file = str_printf(world_arena(w), "%s/pepper.key", world_folder(w));
    struct str kept = str_printf(world_arena(w), "%s/kept.key", world_folder(w));
    struct stat st;

    /* Nobody else reads it. */
    expect(stat(file.p, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 32);
    struct client *ada = world_client(w, "ada");
    world_stop(w);
    expect(rename(file.p, kept.p) == 0);
    FILE *f = fopen(file.p, "w");
    expect(f && fputs("short", f) >= 0);
    fclose(f);
    expect_refusal(w, str_printf(world_arena(w), "cannot use the key file '%s'", file.p).p);
    /* It was not replaced, and the old one still opens every token. */
    expect(stat(file.p, &st) == 0 && st.st_size == 5);
    expect(rename(kept.p, file.p) == 0);
    *world_config(w) = good;
    expect(world_try_start(w));
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void settings_that_make_no_sense(struct world *w)
{
    struct config good = *world_config(w);

    world_stop(w);
    world_config(w)->voice_regions = "Main Street";
    expect_refusal(w, "voice-regions has an id that is not 1-32 characters of a-z, 0-9 and -");
    world_config(w)->voice_regions = "a,b,a";
    expect_refusal(w, "voice-regions contains a region twice");
    *world_config(w) = good;
    world_config(w)->public_url = "chat.example";
    expect_refusal(w, "public-url must start with http:// or https://");
    *world_config(w) = good;
    world_config(w)->tls_cert = "cert.pem";
    expect_refusal(w, "tls-cert and tls-key must be set together");
    world_config(w)->tls_key = "/nowhere/key.pem";
    world_config(w)->tls_cert = "/nowhere/cert.pem";
    expect_refusal(w, "/nowhere/cert.pem");
    *world_config(w) = good;
    world_config(w)->tls_only = true;
    expect_refusal(w, "tls-only requires a certificate");
    expect_recovery(w, &good);
}

static void a_database_that_is_not_there(struct world *w)
{
    struct config good = *world_config(w);

    world_stop(w);
    world_config(w)->store = "postgres://nobody@127.0.0.1:1/nowhere?connect_timeout=2";
    expect_refusal(w, "store: ");
    expect_recovery(w, &good);
}

const struct test starting_tests[] = {
    TEST(a_port_that_is_taken),
    TEST(a_port_of_another_server),
    TEST(an_address_that_is_none),
    TEST(a_folder_that_is_none),
    TEST(a_folder_that_is_in_use),
    TEST(a_key_file_that_is_cut),
    TEST(settings_that_make_no_sense),
    TEST(a_database_that_is_not_there),
    { 0 },
};
