/* echo.c - a WebSocket echo server with the code of src/net.
 *
 *   echo [PORT]      accepts any path; prints its address; runs until a signal
 *
 * For conformance suites: tests/conformance/websocket.c, or a public one such as the fuzzing
 * client of Autobahn with {"url": "ws://127.0.0.1:PORT"}. Messages may have up to 16 MiB. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/http/server.h"

enum { MAX_MESSAGE = 16 * 1024 * 1024, MAX_WAITING = 4 * MAX_MESSAGE };

static struct body_limits intake(void *arg, const struct http_request *r)
{
    (void)arg, (void)r;
    return (struct body_limits){ .max_body = 1024 };
}

static void request(void *arg, struct http_exchange *x)
{
    struct response_head head = { .status = 404, .content_type = STR("text/plain") };

    (void)arg;
    http_respond(x, &head, STR("only WebSockets\n"));
}

static void refusal(void *arg, int status, struct buf *out)
{
    (void)arg, (void)status;
    buf_add_lit(out, "{}");
}

static void echo(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    websocket_send(ws, opcode, payload);
}

static bool upgrade(void *arg, const struct http_request *r, struct websocket_handler *ret)
{
    (void)arg, (void)r;
    *ret = (struct websocket_handler){
        .max_message = MAX_MESSAGE,
        .max_unsent = MAX_WAITING,
        .message = echo,
    };
    return true;
}

int main(int argc, char **argv)
{
    struct http_server_callbacks app = {
        .body_limits = intake, .request = request, .refusal = refusal, .upgrade = upgrade
    };
    struct http_server_options options = {
        .host = "127.0.0.1",
        .port = argc > 1 ? atoi(argv[1]) : 0,
        .head_timeout_ms = 30000,
        .idle_timeout_ms = 75000,
        .via = "echo",
    };
    struct http_server *server;
    sigset_t ends;
    int number;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct loops *loops = loops_start(2, NULL, NULL);
    if (http_server_start(loops, &options, &app, &server))
        return 1;
    printf("echo: listening on ws://127.0.0.1:%d\n", http_server_get_port(server));
    fflush(stdout);
    sigwait(&ends, &number);
    http_server_stop(server, 1000);
    http_server_free(server);
    loops_stop(loops);
    return 0;
}
