/* orders.c - operator commands as routes below /console.
 *
 * routed_orders maps each route to an operator command. The arguments are the path parameter and
 * the body; the reply is the command's rows as JSON. */
#include "admin/console/internal.h"
#include "admin/orders/internal.h"

static const struct type type_any = { .kind = KIND_RAW };

static const struct routed_order {
    const char *route, *noun, *verb, *argument; /* argument: path parameter, or NULL */
} routed_orders[] = {
    { "get_console_health", "health", "", NULL },
    { "get_clock", "clock", "", NULL },
    { "move_clock", "clock", "move", NULL },
    { "list_faults", "fault", "", NULL },
    { "create_fault", "fault", "add", NULL },
    { "delete_faults", "fault", "clear", NULL },
    { "delete_fault", "fault", "clear", "fault.id" },
    { "list_console_sessions", "sessions", "", NULL },
    { "push_session", "sessions", "push", "console.session" },
    { "list_snapshots", "snapshot", "", NULL },
    { "create_snapshot", "snapshot", "make", NULL },
    { "restore_snapshot", "snapshot", "restore", "snapshot.name" },
    { "delete_snapshot", "snapshot", "delete", "snapshot.name" },
};

static const struct routed_order *find_routed(const struct route *route)
{
    const struct routed_order *r = routed_orders;

    while (strcmp(r->route, route->name) != 0)
        r++;
    return r;
}

/* Runs on the thread pool. An error concerns the argument "name", the only one of these
 * commands. */
static enum err console_gather(struct call *call)
{
    struct order *o = call_passed(call, "order");
    enum err e = order_gather(o);

    return e && o->problem ? call_invalid(call, "name", FORM_CHOICES, o->problem) : e;
}

/* Checks access in this function, because the compute stage runs before the handler. */
static enum err console_prepare(struct call *call)
{
    const struct routed_order *r = find_routed(call->route);
    struct order *o = call_pass(call, "order", sizeof *o);

    *o = (struct order){ .row = order_row_find(str_of(r->noun), str_of(r->verb)),
                         .api = call->api,
                         .arena = call->arena,
                         .body = call->body,
                         .as_json = true };
    buf_init(&o->out, CALL_MAX_REPLY / 2);
    if (r->argument)
        o->words[o->count++] = call_text(call, r->argument);
    else if (call->body && !o->row->body)
        o->words[o->count++] = *(const struct str *)call->body; /* the body is one string */
    if (o->row->gather)
        call->compute = console_gather;
    return call->route->admit(call);
}

static enum err console_order(struct call *call)
{
    struct order *o = call_passed(call, "order");
    enum err e = order_run(call, o);

    if (e || !call->route->reply)
        return e;
    call_reply_json(call);
    order_write_answer(o, &call->reply);
    return OK;
}

/* Common fields of all command routes, with three parameters. */
#define ORDER_ROUTE(store_, limit_, admit_)                                                \
    .service = true, .store = ROUTE_STORE_##store_, .limit = &(limit_), .admit = (admit_), \
    .prepare = console_prepare, .handle = console_order

static const struct route health_routes[] = {
    {
        .method = GET,
        .path = "/console/health",
        .name = "get_console_health",
        .doc = "Figures of the last hour, minute by minute, and calls by what they are about. "
               "The last minute is the one at hand.",
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit),
    },
    { 0 },
};

const struct domain console_health_domain = {
    .name = "Workbench: health",
    .doc = "How the server did in the last hour. At the root, below /console.",
    .routes = health_routes,
};

static const struct route clock_routes[] = {
    {
        .method = GET,
        .path = "/console/clock",
        .name = "get_clock",
        .doc = "What the server takes for now, and how far that is from the machine's time.",
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit),
    },
    {
        .method = POST,
        .path = "/console/clock",
        .name = "move_clock",
        .doc = "Lets time pass at once: expiries, time-outs and jobs follow. Of servers with "
               "a workbench.",
        .body = &order_clock_type,
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit_controls),
    },
    { 0 },
};

const struct domain console_clock_domain = {
    .name = "Workbench: time",
    .doc = "For tests: what the server takes for now. At the root, below /console.",
    .routes = clock_routes,
};

static const struct resolver fault_resolvers[] = {
    { .name = "fault.id", .field = "fault_id", .doc = "The fault's id." },
    { 0 },
};

static const struct route fault_routes[] = {
    {
        .method = GET,
        .path = "/console/faults",
        .name = "list_faults",
        .doc = "Faults that wait for a call.",
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit),
    },
    {
        .method = POST,
        .path = "/console/faults",
        .name = "create_fault",
        .doc = "The next calls that fit are answered with another status, later, or not at "
               "all. Of servers with a workbench.",
        .body = &order_fault_type,
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit_controls),
    },
    {
        .method = DELETE,
        .path = "/console/faults",
        .name = "delete_faults",
        .doc = "Takes all faults back.",
        ORDER_ROUTE(NONE, limit_console, console_admit_controls),
    },
    {
        .method = DELETE,
        .path = "/console/faults/{fault.id}",
        .name = "delete_fault",
        .doc = "Takes a fault back.",
        ORDER_ROUTE(NONE, limit_console, console_admit_controls),
    },
    { 0 },
};

const struct domain console_faults_domain = {
    .name = "Workbench: faults",
    .doc = "For tests: calls that go wrong. At the root, below /console.",
    .routes = fault_routes,
    .resolvers = fault_resolvers,
};

static const struct resolver session_resolvers[] = {
    { .name = "console.session",
      .field = "session_id",
      .is_text = true,
      .doc = "A session's id, as READY gave it, or an account's name: all of its sessions." },
    { 0 },
};

static const struct route session_routes[] = {
    {
        .method = GET,
        .path = "/console/sessions",
        .name = "list_console_sessions",
        .doc = "Sessions of the gateway, names of their accounts, and who is in voice.",
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit),
    },
    {
        .method = POST,
        .path = "/console/sessions/{console.session}",
        .name = "push_session",
        .doc = "Asks a client to come back, ends its session, or closes its socket.",
        .body = &order_push_type,
        .status = 204,
        ORDER_ROUTE(READ, limit_console, console_admit),
    },
    { 0 },
};

const struct domain console_sessions_domain = {
    .name = "Workbench: sessions",
    .doc = "For the operator: who is connected. At the root, below /console.",
    .routes = session_routes,
    .resolvers = session_resolvers,
};

static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 64 };

struct snapshot_order {
    struct str name;
};
static const struct field order_fields[] = {
    { FIELD(struct snapshot_order, name), .type = &type_name,
      .doc = "Letters, digits, dashes, dots and underscores" },
    { 0 },
};
static const struct schema order_schema = { .name = "SnapshotOrder",
                                            .size = sizeof(struct snapshot_order),
                                            .fields = order_fields };
static const struct type type_order = { .kind = KIND_OBJECT, .schema = &order_schema };

/* Strict limit: each call reads or writes the whole database. */
static const struct limit limit_snapshots = {
    .name = "console snapshots", .count = 10, .window_s = 10, .by_address = true
};
static const struct resolver snapshot_resolvers[] = {
    { .name = "snapshot.name", .field = "name", .is_text = true, .doc = "The snapshot's name." },
    { 0 },
};

static const struct route snapshot_routes[] = {
    {
        .method = GET,
        .path = "/console/snapshots",
        .name = "list_snapshots",
        .doc = "Worlds that are kept by name, and how often one was to be brought back and was.",
        .reply = &type_any,
        ORDER_ROUTE(NONE, limit_console, console_admit),
    },
    {
        .method = POST,
        .path = "/console/snapshots",
        .name = "create_snapshot",
        .doc = "Keeps the world as it is: rows, files and keys. Of servers with a workbench "
               "whose rows are in SQLite.",
        .body = &type_order,
        ORDER_ROUTE(NONE, limit_snapshots, console_admit_controls),
    },
    {
        .method = POST,
        .path = "/console/snapshots/{snapshot.name}/restore",
        .name = "restore_snapshot",
        .doc = "Brings a world back. What is there is kept as before-restore, and the server "
               "starts anew on the same port: sessions identify again. Of servers with a "
               "workbench.",
        ORDER_ROUTE(NONE, limit_snapshots, console_admit_controls),
    },
    {
        .method = DELETE,
        .path = "/console/snapshots/{snapshot.name}",
        .name = "delete_snapshot",
        .doc = "Forgets a snapshot. Of servers with a workbench.",
        ORDER_ROUTE(NONE, limit_snapshots, console_admit_controls),
    },
    { 0 },
};

const struct domain console_snapshots_domain = {
    .name = "Workbench: snapshots",
    .doc = "For tests: the world kept by name, and back. At the root, below /console.",
    .routes = snapshot_routes,
    .resolvers = snapshot_resolvers,
};
