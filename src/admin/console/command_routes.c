/* command_routes.c - operator commands as routes below /console.
 *
 * command_routes maps each route to an operator command. The arguments are the path parameter and
 * the body; the reply is the command's rows as JSON. */
#include "admin/console/internal.h"
#include "admin/operator_commands/internal.h"

static const struct type type_any = { .kind = KIND_RAW };

static const struct command_route {
    const char *route, *noun, *verb, *argument; /* argument: path parameter, or NULL */
} command_routes[] = {
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

static const struct command_route *find_command_route(const struct route *route)
{
    const struct command_route *r = command_routes;

    while (strcmp(r->route, route->name) != 0)
        r++;
    return r;
}

/* Runs on the thread pool. An error concerns the argument "name", the only one of these
 * commands. */
static enum err run_blocking_command(struct call *call)
{
    struct operator_command *o = call_passed_data(call, "operator_command");
    enum err e = operator_command_run_blocking(o);

    return e && o->problem ? call_add_field_error(call, "name", FORM_CHOICES, o->problem) : e;
}

/* Checks access in this function, because the compute stage runs before the handler. */
static enum err prepare_console_command(struct call *call)
{
    const struct command_route *r = find_command_route(call->route);
    struct operator_command *o = call_pass_data(call, "operator_command", sizeof *o);

    *o = (struct operator_command){ .row =
                                        operator_command_row_find(str_of(r->noun), str_of(r->verb)),
                                    .api = call->api,
                                    .arena = call->arena,
                                    .body = call->body,
                                    .as_json = true };
    buf_init(&o->out, CALL_MAX_REPLY / 2);
    if (r->argument)
        o->words[o->count++] = call_path_text(call, r->argument);
    else if (call->body && !o->row->body)
        o->words[o->count++] = *(const struct str *)call->body; /* the body is one string */
    if (o->row->run_blocking)
        call->compute = run_blocking_command;
    return call->route->admit(call);
}

static enum err run_console_command(struct call *call)
{
    struct operator_command *o = call_passed_data(call, "operator_command");
    enum err e = operator_command_run_in_transaction(call, o);

    if (e || !call->route->reply)
        return e;
    call_reply_json_writer(call);
    operator_command_write_reply(o, &call->reply);
    return OK;
}

/* Common fields of all command routes, with three parameters. */
#define COMMAND_ROUTE(store_, limit_, admit_)                                              \
    .service = true, .store = ROUTE_STORE_##store_, .limit = &(limit_), .admit = (admit_), \
    .prepare = prepare_console_command, .handle = run_console_command

static const struct route health_routes[] = {
    {
        .method = GET,
        .path = "/console/health",
        .name = "get_console_health",
        .doc = "Figures of the last hour, minute by minute, and calls by what they are about. "
               "The last minute is the one at hand.",
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
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
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/clock",
        .name = "move_clock",
        .doc = "Lets time pass at once: expiries, time-outs and jobs follow. Of servers with "
               "a workbench.",
        .body = &operator_clock_type,
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
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
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/faults",
        .name = "create_fault",
        .doc = "The next calls that fit are answered with another status, later, or not at "
               "all. Of servers with a workbench.",
        .body = &operator_fault_type,
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
    },
    {
        .method = DELETE,
        .path = "/console/faults",
        .name = "delete_faults",
        .doc = "Takes all faults back.",
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
    },
    {
        .method = DELETE,
        .path = "/console/faults/{fault.id}",
        .name = "delete_fault",
        .doc = "Takes a fault back.",
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
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
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/sessions/{console.session}",
        .name = "push_session",
        .doc = "Asks a client to come back, ends its session, or closes its socket.",
        .body = &operator_session_action_type,
        .status = 204,
        COMMAND_ROUTE(READ, limit_console, check_console_permission),
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

struct snapshot_name {
    struct str name;
};
static const struct field snapshot_name_fields[] = {
    { FIELD(struct snapshot_name, name), .type = &type_name,
      .doc = "Letters, digits, dashes, dots and underscores" },
    { 0 },
};
static const struct schema snapshot_name_schema = { .name = "SnapshotOrder",
                                                    .size = sizeof(struct snapshot_name),
                                                    .fields = snapshot_name_fields };
static const struct type type_snapshot_name = { .kind = KIND_OBJECT,
                                                .schema = &snapshot_name_schema };

/* Strict limit: each call reads or writes the whole database. */
static const struct rate_limit limit_snapshots = {
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
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/snapshots",
        .name = "create_snapshot",
        .doc = "Keeps the world as it is: rows, files and keys. Of servers with a workbench "
               "whose rows are in SQLite.",
        .body = &type_snapshot_name,
        COMMAND_ROUTE(NONE, limit_snapshots, check_console_controls_permission),
    },
    {
        .method = POST,
        .path = "/console/snapshots/{snapshot.name}/restore",
        .name = "restore_snapshot",
        .doc = "Brings a world back. What is there is kept as before-restore, and the server "
               "starts anew on the same port: sessions identify again. Of servers with a "
               "workbench.",
        COMMAND_ROUTE(NONE, limit_snapshots, check_console_controls_permission),
    },
    {
        .method = DELETE,
        .path = "/console/snapshots/{snapshot.name}",
        .name = "delete_snapshot",
        .doc = "Forgets a snapshot. Of servers with a workbench.",
        COMMAND_ROUTE(NONE, limit_snapshots, check_console_controls_permission),
    },
    { 0 },
};

const struct domain console_snapshots_domain = {
    .name = "Workbench: snapshots",
    .doc = "For tests: the world kept by name, and back. At the root, below /console.",
    .routes = snapshot_routes,
    .resolvers = snapshot_resolvers,
};
