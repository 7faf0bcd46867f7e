/* control_rows.c - what its operator may ask of a server that runs. */
#include "base/log.h"
#include "base/mem.h"
#include "admin/control/names.h"
#include "net/tls.h"
#include "admin/orders/orders.h"
#include "server/parts.h"
#include "platform/accounts/operator.h"
#include "store/backup/snapshots.h"
#include "admin/console/workbench.h"

/* Without names, when the store cannot be asked. */
static void give_named(const struct guildhall *g, struct buf *lines, struct buf *out)
{
    if (control_name_accounts(g->store, buf_str(lines), out)) {
        buf_reset(out);
        buf_add_str(out, buf_str(lines));
    }
    buf_clear(lines);
}

static void list_sessions(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    struct buf lines;

    (void)uid, (void)rest;
    buf_init(&lines, SIZE_MAX);
    gateway_census(g->gateway, &lines);
    give_named(g, &lines, out);
}

static void list_voice(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    struct buf lines;

    (void)uid, (void)rest;
    buf_init(&lines, SIZE_MAX);
    relay_census(g->relay, &lines);
    give_named(g, &lines, out);
}

/* Of the person with this name; nothing when there is none. */
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

static void carry_out_order(void *arg, unsigned uid, struct str question, struct buf *out)
{
    const struct guildhall *g = arg;

    operator_answer(g->api, loops_at(g->loops, 0), uid, question, out);
}

static void give_console_key(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    (void)uid, (void)rest;
    buf_add_str(out, str_of(workbench_key(((struct guildhall *)arg)->workbench)));
}

/* Where tools on this machine reach us. */
static void give_address(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    bool any = strcmp(g->host, "0.0.0.0") == 0, any6 = strcmp(g->host, "::") == 0;
    bool v6 = strchr(g->host, ':') && !any6;

    (void)uid, (void)rest;
    buf_printf(out, "http%s://%s%s%s:%d", g->config->tls_only ? "s" : "", v6 ? "[" : "",
               any || any6 ? "127.0.0.1" : g->host, v6 ? "]" : "", server_port(g->server));
}

/* Tools on this machine know us by it, when we speak nothing but TLS. */
static void give_certificate(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    const struct guildhall *g = arg;
    char text[TLS_FINGERPRINT_TEXT];

    (void)uid, (void)rest;
    if (g->tls && tls_fingerprint(g->tls, text))
        buf_add_str(out, str_of(text));
}

static void keep_snapshot(void *arg, unsigned uid, struct str name, struct buf *out)
{
    const struct guildhall *g = arg;

    (void)uid;
    snapshot_make(g->store, g->config->data, name, out);
}

static void list_snapshots(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    (void)uid, (void)rest;
    snapshot_list(((struct guildhall *)arg)->config->data, out);
}

static void restore_snapshot(void *arg, unsigned uid, struct str name, struct buf *out)
{
    const struct guildhall *g = arg;

    (void)uid;
    snapshot_ask_back(g->store, g->config->data, name, out);
}

static void count_restored(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    int tried, restored;

    (void)arg, (void)uid, (void)rest;
    snapshot_count(&tried, &restored);
    buf_printf(out, "%d %d", tried, restored);
}

/* Nothing when all went well, else a sentence. */
static void reload_configuration(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    struct guildhall *g = arg;

    (void)rest;
    log_info("reload: asked for by user %u of this machine", uid);
    if (!g->hooks.reload)
        buf_add_lit(out, "this server has no configuration to read again");
    else
        g->hooks.reload(g->hooks.reload_arg, g, out);
}

const struct control_row parts_control_rows[] = {
    { "reload", reload_configuration },
    { "console-key", give_console_key },
    { "address", give_address },
    { "certificate", give_certificate },
    { "sessions", list_sessions },
    { "token", give_token },
    { "operate", carry_out_order },
    { "snapshot", keep_snapshot },
    { "snapshots", list_snapshots },
    { "restore", restore_snapshot },
    { "restored", count_restored },
    { "voice", list_voice },
    { 0 },
};
