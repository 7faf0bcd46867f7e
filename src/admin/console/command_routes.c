/* command_routes.c - operator commands as routes below /console.
 *
 * command_routes maps each route to an operator command. The arguments are the path parameter and
 * the body; the reply is the command's rows as JSON. */
#include "admin/console/internal.h"
#include "admin/operator_commands/internal.h"

static const struct type type_any = { .kind = KIND_RAW };

static const struct command_route {
    const char *route, *noun, *verb, *argument; /* argument: path parameter name, or NULL */
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

/* Runs a command on the thread pool. Errors are reported on the field "name", which is the only
 * argument of these commands. */
static enum err run_blocking_command(struct call *call)
{
    struct running_operator_command *o = call_get_stage_data(call, "running_operator_command");
    enum err e = operator_command_run_blocking(o);

    return e && o->problem ? call_add_field_error(call, "name", FORM_CHOICES, o->problem) : e;
}

/* Checks access in the prepare stage, because some commands run in the later COMPUTE stage. */
static enum err prepare_console_command(struct call *call)
{
    const struct command_route *r = find_command_route(call->route);
    struct running_operator_command *o =
        call_store_stage_data(call, "running_operator_command", sizeof *o);

    *o = (struct running_operator_command){ .row = operator_command_row_find(str_of(r->noun),
                                                                             str_of(r->verb)),
                                            .api = call->api,
                                            .arena = call->arena,
                                            .body = call->body,
                                            .as_json = true };
    buf_init(&o->out, CALL_MAX_REPLY / 2);
    if (r->argument)
        o->words[o->count++] = call_get_path_text(call, r->argument);
    else if (call->body && !o->row->body)
        o->words[o->count++] = *(const struct str *)call->body; /* the body is one JSON string */
    if (o->row->run_blocking)
        call->compute = run_blocking_command;
    return call->route->admit(call);
}

static enum err run_console_command(struct call *call)
{
    struct running_operator_command *o = call_get_stage_data(call, "running_operator_command");
    enum err e = operator_command_run_in_transaction(call, o);

    if (e || !call->route->reply)
        return e;
    call_get_reply_json_writer(call);
    operator_command_write_reply(o, &call->reply);
    return OK;
}

/* Fields of struct route that all command routes have: kind of transaction, rate limit, access
 * check. */
#define COMMAND_ROUTE(store_, limit_, admit_)                                              \
    .service = true, .store = ROUTE_STORE_##store_, .limit = &(limit_), .admit = (admit_), \
    .prepare = prepare_console_command, .handle = run_console_command

static const struct route health_routes[] = {
    {
        .method = GET,
        .path = "/console/health",
        .name = "get_console_health",
        .doc = "Returns statistics of the last hour, one entry per minute, and the number of "
               "requests per resource. The last entry is the current minute.",
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    { 0 },
};

const struct domain console_health_domain = {
    .name = "Workbench: health",
    .doc = "Statistics of the last hour. Paths begin with /console, not with /api.",
    .routes = health_routes,
};

static const struct route clock_routes[] = {
    {
        .method = GET,
        .path = "/console/clock",
        .name = "get_clock",
        .doc = "Returns the time that the server uses, and its offset from the machine's clock.",
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/clock",
        .name = "move_clock",
        .doc = "Moves the server's clock forward; expiries, timeouts and jobs follow. Only on "
               "servers with a workbench.",
        .body = &operator_clock_type,
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
    },
    { 0 },
};

const struct domain console_clock_domain = {
    .name = "Workbench: time",
    .doc = "For tests: the server's clock. Paths begin with /console, not with /api.",
    .routes = clock_routes,
};

static const struct path_resolver fault_resolvers[] = {
    { .name = "fault.id", .field = "fault_id", .doc = "The fault's id." },
    { 0 },
};

static const struct route fault_routes[] = {
    {
        .method = GET,
        .path = "/console/faults",
        .name = "list_faults",
        .doc = "Lists the injected faults that are active.",
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/faults",
        .name = "create_fault",
        .doc = "Injects a fault: the next matching requests fail, are delayed or get no "
               "response. Only on servers with a workbench.",
        .body = &operator_fault_type,
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
    },
    {
        .method = DELETE,
        .path = "/console/faults",
        .name = "delete_faults",
        .doc = "Removes all injected faults.",
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
    },
    {
        .method = DELETE,
        .path = "/console/faults/{fault.id}",
        .name = "delete_fault",
        .doc = "Removes an injected fault.",
        COMMAND_ROUTE(NONE, limit_console, check_console_controls_permission),
    },
    { 0 },
};

const struct domain console_faults_domain = {
    .name = "Workbench: faults",
    .doc = "For tests: injected faults. Paths begin with /console, not with /api.",
    .routes = fault_routes,
    .resolvers = fault_resolvers,
};

static const struct path_resolver session_resolvers[] = {
    { .name = "console.session",
      .field = "session_id",
      .is_text = true,
      .doc = "A session id from READY, or an account name, which selects all its sessions." },
    { 0 },
};

static const struct route session_routes[] = {
    {
        .method = GET,
        .path = "/console/sessions",
        .name = "list_console_sessions",
        .doc = "Lists gateway sessions, the names of their accounts, and voice states.",
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/sessions/{console.session}",
        .name = "push_session",
        .doc = "Asks clients to reconnect, invalidates sessions, or closes their sockets.",
        .body = &operator_session_action_type,
        .status = 204,
        COMMAND_ROUTE(READ, limit_console, check_console_permission),
    },
    { 0 },
};

const struct domain console_sessions_domain = {
    .name = "Workbench: sessions",
    .doc = "For the operator: gateway sessions. Paths begin with /console, not with /api.",
    .routes = session_routes,
    .resolvers = session_resolvers,
};

static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 64 };

struct snapshot_name {
    struct str name;
};
static const struct field snapshot_name_fields[] = {
    { FIELD(struct snapshot_name, name), .type = &type_name,
      .doc = "Letters, digits, hyphens, dots and underscores" },
    { 0 },
};
static const struct schema snapshot_name_schema = { .name = "SnapshotRequest",
                                                    .size = sizeof(struct snapshot_name),
                                                    .fields = snapshot_name_fields };
static const struct type type_snapshot_name = { .kind = KIND_OBJECT,
                                                .schema = &snapshot_name_schema };

/* Strict rate limit, because each of these calls reads or writes the whole database. */
static const struct rate_limit limit_snapshots = {
    .name = "console snapshots", .count = 10, .window_s = 10, .by_address = true
};
static const struct path_resolver snapshot_resolvers[] = {
    { .name = "snapshot.name", .field = "name", .is_text = true, .doc = "The snapshot's name." },
    { 0 },
};

static const struct route snapshot_routes[] = {
    {
        .method = GET,
        .path = "/console/snapshots",
        .name = "list_snapshots",
        .doc = "Lists the snapshots, and counts attempted and successful restores.",
        .reply = &type_any,
        COMMAND_ROUTE(NONE, limit_console, check_console_permission),
    },
    {
        .method = POST,
        .path = "/console/snapshots",
        .name = "create_snapshot",
        .doc = "Saves a snapshot of all data: rows, files and keys. Only on servers with a "
               "workbench that use SQLite.",
        .body = &type_snapshot_name,
        COMMAND_ROUTE(NONE, limit_snapshots, check_console_controls_permission),
    },
    {
        .method = POST,
        .path = "/console/snapshots/{snapshot.name}/restore",
        .name = "restore_snapshot",
        .doc = "Restores a snapshot. The server saves the present data as the snapshot "
               "before-restore and restarts on the same port, so clients must identify again. "
               "Only on servers with a workbench.",
        COMMAND_ROUTE(NONE, limit_snapshots, check_console_controls_permission),
    },
    {
        .method = DELETE,
        .path = "/console/snapshots/{snapshot.name}",
        .name = "delete_snapshot",
        .doc = "Deletes a snapshot. Only on servers with a workbench.",
        COMMAND_ROUTE(NONE, limit_snapshots, check_console_controls_permission),
    },
    { 0 },
};

const struct domain console_snapshots_domain = {
    .name = "Workbench: snapshots",
    .doc = "For tests: snapshots of all data. Paths begin with /console, not with /api.",
    .routes = snapshot_routes,
    .resolvers = snapshot_resolvers,
};
