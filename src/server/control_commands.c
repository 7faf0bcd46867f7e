/* control_commands.c - the commands of the control socket, for the operator's tools. */
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"
#include "admin/operator_commands/operator_commands.h"
#include "server/guildhall_internal.h"
#include "platform/accounts/operator.h"
#include "admin/console/workbench.h"

/* Writes a token of the account with this name to `out`, or nothing if there is no such account. */
static void control_reply_with_token(void *arg, unsigned uid, struct str name, struct buf *out)
{
    const struct guildhall *g = arg;
    struct arena *arena = arena_new();
    struct str token;

    (void)uid;
    if (issue_token_for_operator(g->store, g->auth, name, arena, &token) == OK)
        buf_add_str(out, token);
    arena_free(arena);
}

static void run_operator_command(const struct guildhall *g, unsigned uid, struct str request,
                                 bool as_json, struct buf *out)
{
    operator_command_run(
        &(struct operator_command_environment){ g->api, loops_get_loop_at(g->loops, 0), g->relay },
        uid, request, as_json, out);
}

static void control_reply_to_operator_command(void *arg, unsigned uid, struct str request,
                                              struct buf *out)
{
    run_operator_command(arg, uid, request, false, out);
}

static void control_reply_to_operator_command_json(void *arg, unsigned uid, struct str request,
                                                   struct buf *out)
{
    run_operator_command(arg, uid, request, true, out);
}

static void control_reply_with_console_key(void *arg, unsigned uid, struct str rest,
                                           struct buf *out)
{
    (void)uid, (void)rest;
    buf_add_str(out, str_of(workbench_get_console_key(((struct guildhall *)arg)->workbench)));
}

/* Writes the URL at which tools on this machine can connect to the server. */
static void control_reply_with_server_url(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    bool any = strcmp(g->host, "0.0.0.0") == 0, any6 = strcmp(g->host, "::") == 0;
    bool v6 = strchr(g->host, ':') && !any6;

    (void)uid, (void)rest;
    buf_printf(out, "http%s://%s%s%s:%d", g->config->tls_only ? "s" : "", v6 ? "[" : "",
               any || any6 ? "127.0.0.1" : g->host, v6 ? "]" : "", http_server_get_port(g->server));
}

/* Writes the fingerprint of the server's TLS certificate, which tools on this machine expect. */
static void control_reply_with_certificate_fingerprint(void *arg, unsigned uid, struct str rest,
                                                       struct buf *out)
{
    const struct guildhall *g = arg;
    char text[TLS_FINGERPRINT_TEXT];

    (void)uid, (void)rest;
    if (g->tls && tls_format_server_fingerprint(g->tls, text))
        buf_add_str(out, str_of(text));
}

/* Reloads the configuration. Writes nothing on success, otherwise the reason of the failure. */
static void control_reply_to_reload_command(void *arg, unsigned uid, struct str rest,
                                            struct buf *out)
{
    struct guildhall *g = arg;

    (void)rest;
    log_info("reload: requested by user %u of this machine", uid);
    if (!g->hooks.reload)
        buf_add_lit(out, "this server was started without a configuration that can be reloaded");
    else
        g->hooks.reload(g->hooks.reload_arg, g, out);
}

const struct control_socket_command control_socket_commands[] = {
    { "reload", control_reply_to_reload_command },
    { "console-key", control_reply_with_console_key },
    { "address", control_reply_with_server_url },
    { "certificate", control_reply_with_certificate_fingerprint },
    { "token", control_reply_with_token },
    { "import-archive", control_import_guild_archive_and_reply },
    { "claim-code", control_create_claim_code_and_reply },
    { "operate", control_reply_to_operator_command },
    { "operate-json", control_reply_to_operator_command_json },
    { 0 },
};
