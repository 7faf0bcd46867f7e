/* control_rows.c - the commands of the control socket, for the operator's tools. */
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"
#include "admin/orders/orders.h"
#include "server/parts.h"
#include "platform/accounts/operator.h"
#include "admin/console/workbench.h"

/* Writes a token for the account with this name; writes nothing if there is no such account. */
static void give_token(void *arg, unsigned uid, struct str name, struct buf *out)
{
    const struct guildhall *g = arg;
    struct arena *arena = arena_new();
    struct str token;

    (void)uid;
    if (operator_token(g->store, g->auth, name, arena, &token) == OK)
        buf_add_str(out, token);
    arena_free(arena);
}

static void answer_order(const struct guildhall *g, unsigned uid, struct str question, bool as_json,
                         struct buf *out)
{
    operator_answer(&(struct order_server){ g->api, loops_at(g->loops, 0), g->relay }, uid,
                    question, as_json, out);
}

static void carry_out_order(void *arg, unsigned uid, struct str question, struct buf *out)
{
    answer_order(arg, uid, question, false, out);
}

static void carry_out_order_as_json(void *arg, unsigned uid, struct str question, struct buf *out)
{
    answer_order(arg, uid, question, true, out);
}

static void give_console_key(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    (void)uid, (void)rest;
    buf_add_str(out, str_of(workbench_key(((struct guildhall *)arg)->workbench)));
}

/* Writes the URL at which tools on this machine can connect. */
static void give_address(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    bool any = strcmp(g->host, "0.0.0.0") == 0, any6 = strcmp(g->host, "::") == 0;
    bool v6 = strchr(g->host, ':') && !any6;

    (void)uid, (void)rest;
    buf_printf(out, "http%s://%s%s%s:%d", g->config->tls_only ? "s" : "", v6 ? "[" : "",
               any || any6 ? "127.0.0.1" : g->host, v6 ? "]" : "", server_port(g->server));
}

/* Writes the fingerprint with which tools on this machine verify a server that accepts only TLS. */
static void give_certificate(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    char text[TLS_FINGERPRINT_TEXT];

    (void)uid, (void)rest;
    if (g->tls && tls_fingerprint(g->tls, text))
        buf_add_str(out, str_of(text));
}

/* Reloads the configuration; writes nothing on success, otherwise the reason. */
static void reload_configuration(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    struct guildhall *g = arg;

    (void)rest;
    log_info("reload: requested by user %u of this machine", uid);
    if (!g->hooks.reload)
        buf_add_lit(out, "this server was started without a configuration that can be reloaded");
    else
        g->hooks.reload(g->hooks.reload_arg, g, out);
}

const struct control_row parts_control_rows[] = {
    { "reload", reload_configuration },
    { "console-key", give_console_key },
    { "address", give_address },
    { "certificate", give_certificate },
    { "token", give_token },
    { "operate", carry_out_order },
    { "operate-json", carry_out_order_as_json },
    { 0 },
};
