/* worlds.c - console routes that export and import the database as a world file. */
#include <signal.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "platform/worlds/worlds.h"
#include "store/backup/snapshots.h"
#include "admin/console/internal.h"

enum { LARGEST_WORLD = 16 * 1024 * 1024 };

/* Strict limit: each call reads or writes the whole database. */
static const struct limit limit_worlds = {
    .name = "console worlds", .count = 10, .window_s = 10, .by_address = true
};
static const struct type type_any = { .kind = KIND_RAW };

struct world_text {
    struct str json;
};

static enum err write_world(struct call *call)
{
    struct world_text *w = call_pass(call, "world_text", sizeof *w);
    struct buf out;
    bool importable;

    buf_init(&out, CALL_MAX_REPLY);
    enum err e =
        world_export(api_options(call->api)->store, api_domains(call->api), &out, &importable);
    if (!e && buf_full(&out))
        e = ERR_ANSWER_TOO_LARGE;
    if (e)
        buf_clear(&out);
    else
        w->json = buf_take(&out, call->arena);
    return e;
}

static enum err prepare_export_world(struct call *call)
{
    call->compute = write_world;
    return console_admit_controls(call);
}

/* GET /console/world: exports the whole database as a world file. */
static enum err export_world(struct call *call)
{
    const struct world_text *w = call_passed(call, "world_text");

    call_add_header(call, "Content-Disposition", STR("attachment; filename=\"world.json\""));
    return call_reply_text(call, STR("application/json"), w->json);
}

static enum err check_world(struct call *call)
{
    struct world_text *w = call_pass(call, "world_text", sizeof *w);
    struct str problems, text = *(const struct str *)call->body;
    enum err e = world_check(api_domains(call->api), text, call->arena, &problems);

    w->json = text;
    if (e && problems.n)
        e = call_invalid(call, "world", FORM_CHOICES, str_dupz(call->arena, problems));
    return e;
}

static enum err prepare_import_world(struct call *call)
{
    call->compute = check_world;
    return console_admit_controls(call);
}

/* Signals the process, after the reply, to restart the server, which finishes running calls
 * first. */
static void import_follows(struct call *call)
{
    (void)call;
    kill(getpid(), SNAPSHOT_SIGNAL);
}

/* POST /console/world: stops the server, imports the file and starts the server again. */
static enum err import_world(struct call *call)
{
    const struct world_text *w = call_passed(call, "world_text");

    const struct cluster *cluster = api_options(call->api)->cluster;

    if (cluster && !cluster_is_alone(cluster))
        return call_invalid(call, "world", FORM_CHOICES,
                            "Other servers use this database, and would not know.");
    world_import_later(w->json);
    call->after = import_follows;
    return OK;
}

/* GET /console/world/import: returns the result of the last import. */
static enum err get_world_import(struct call *call)
{
    call_reply_json(call);
    world_last_import(&call->reply);
    return OK;
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/world",
        .name = "export_world",
        .doc = "The whole world as a file, hashes of passwords included. Of servers with a "
               "workbench.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_worlds,
        .prepare = prepare_export_world,
        .admit = console_admit_controls,
        .handle = export_world,
    },
    {
        .method = POST,
        .path = "/console/world",
        .name = "import_world",
        .doc = "Reads a world file, all of it or nothing. The server stops for it and starts anew "
               "on the same port: sessions identify again. Of servers with a workbench.",
        .service = true,
        .body = &type_any,
        .max_body = LARGEST_WORLD,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_worlds,
        .prepare = prepare_import_world,
        .admit = console_admit_controls,
        .handle = import_world,
    },
    {
        .method = GET,
        .path = "/console/world/import",
        .name = "get_world_import",
        .doc = "What became of the last world file: its number in this process, what was made, "
               "what was wrong.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit,
        .handle = get_world_import,
    },
    { 0 },
};

const struct domain console_worlds_domain = {
    .name = "Workbench: world files",
    .doc = "For tests: the whole world as a file, in and out. At the root, below /console.",
    .routes = routes,
};
