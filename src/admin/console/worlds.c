/* worlds.c - console routes that export and import the database as a world file. */
#include <signal.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "platform/worlds/worlds.h"
#include "store/backup/snapshots.h"
#include "admin/console/internal.h"

enum { WORLD_FILE_MAX_BYTES = 16 * 1024 * 1024 };

/* Strict rate limit, because each of these calls reads or writes the whole database. */
static const struct rate_limit limit_worlds = {
    .name = "console worlds", .count = 10, .window_s = 10, .by_address = true
};
static const struct type type_any = { .kind = KIND_RAW };

struct world_text {
    struct str json;
};

static enum err export_world_to_text(struct call *call)
{
    struct world_text *w = call_store_stage_data(call, "world_text", sizeof *w);
    struct buf out;
    bool importable;

    buf_init(&out, CALL_MAX_REPLY);
    enum err e = world_file_export(api_get_options(call->api)->store, api_get_domains(call->api),
                                   NULL, &out, &importable);
    if (!e && (buf_is_full(&out) || !importable))
        e = ERR_ANSWER_TOO_LARGE;
    if (e)
        buf_clear(&out);
    else
        w->json = buf_move_to_arena(&out, call->arena);
    return e;
}

static enum err prepare_export_world(struct call *call)
{
    call->compute = export_world_to_text;
    return check_console_controls_permission(call);
}

/* GET /console/world: exports the whole database as a world file. */
static enum err export_world(struct call *call)
{
    const struct world_text *w = call_get_stage_data(call, "world_text");

    call_add_header(call, "Content-Disposition", STR("attachment; filename=\"world.json\""));
    return call_reply_with_text(call, STR("application/json"), w->json);
}

static enum err check_world_file(struct call *call)
{
    struct world_text *w = call_store_stage_data(call, "world_text", sizeof *w);
    struct str problems, text = *(const struct str *)call->body;
    enum err e = world_file_validate(api_get_domains(call->api), text, call->arena, &problems);

    w->json = text;
    if (e && problems.n)
        e = call_add_field_error(call, "world", FORM_CHOICES,
                                 str_dup_cstring(call->arena, problems));
    return e;
}

static enum err prepare_import_world(struct call *call)
{
    call->compute = check_world_file;
    return check_console_controls_permission(call);
}

/* Runs after the reply. Sends this process the signal that restarts the server; running calls
 * finish first. */
static void restart_server_for_import(struct call *call)
{
    (void)call;
    kill(getpid(), SNAPSHOT_SIGNAL);
}

/* POST /console/world: stops the server, imports the file and starts the server again. */
static enum err import_world(struct call *call)
{
    const struct world_text *w = call_get_stage_data(call, "world_text");

    const struct cluster *cluster = api_get_options(call->api)->cluster;

    if (cluster && !cluster_has_no_other_nodes(cluster))
        return call_add_field_error(call, "world", FORM_CHOICES,
                                    "Stop the other nodes before an import.");
    world_file_import_enqueue(w->json);
    call->after = restart_server_for_import;
    return OK;
}

/* GET /console/world/import: returns the result of the last import. */
static enum err get_world_import(struct call *call)
{
    call_get_reply_json_writer(call);
    write_last_world_file_import_json(&call->reply);
    return OK;
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/world",
        .name = "export_world",
        .doc = "Exports all data as a world file, including password hashes. Only on servers with "
               "a workbench.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_worlds,
        .prepare = prepare_export_world,
        .admit = check_console_controls_permission,
        .handle = export_world,
    },
    {
        .method = POST,
        .path = "/console/world",
        .name = "import_world",
        .doc = "Imports a world file completely or not at all. The server restarts on the same "
               "port, so clients must identify again. Only on servers with a workbench.",
        .service = true,
        .body = &type_any,
        .max_body = WORLD_FILE_MAX_BYTES,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_worlds,
        .prepare = prepare_import_world,
        .admit = check_console_controls_permission,
        .handle = import_world,
    },
    {
        .method = GET,
        .path = "/console/world/import",
        .name = "get_world_import",
        .doc = "Returns the result of the last import: its number in this process, the created "
               "objects, and the errors.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = check_console_permission,
        .handle = get_world_import,
    },
    { 0 },
};

const struct domain console_worlds_domain = {
    .name = "Workbench: world files",
    .doc = "For tests: import and export of world files. Paths begin with /console, not with /api.",
    .routes = routes,
};
