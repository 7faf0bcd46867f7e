/* operator_routes.c - runs operator commands by name for the operator's page.
 *
 * GET runs commands that read, POST runs commands that change data, which the operator log records.
 * Commands that block or need a password can only be run through the control socket. */
#include <limits.h>

#include "base/log.h"

#include "admin/console/internal.h"
#include "admin/operator_commands/internal.h"
#include "model/fields/types.h"

enum { ARGUMENT_MAX_CHARACTERS = 2000, PAGE_DEFAULT = 50 };
/* User id in the operator log for changes that were made through the console. No user of the
 * machine has this id. */
static const unsigned CONSOLE_UID = UINT_MAX;

struct operator_query {
    struct str argument;
    snowflake after;
    int64_t limit;
};
static const struct type type_argument = { .kind = KIND_STRING, .max = ARGUMENT_MAX_CHARACTERS };
static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = OPERATOR_PAGE_MAX };
static const struct field query_fields[] = {
    { FIELD(struct operator_query, argument), .type = &type_argument, .flags = OPTIONAL,
      .doc = "First argument of the command" },
    { FIELD(struct operator_query, after), .type = &type_id, .flags = OPTIONAL,
      .doc = "Lists: rows after this id" },
    { FIELD(struct operator_query, limit), .type = &type_page, .flags = OPTIONAL,
      .doc = "Lists: number of rows, default 50" },
    { 0 },
};
static const struct schema query_schema = { .name = "OperatorQuery",
                                            .size = sizeof(struct operator_query),
                                            .fields = query_fields };

struct operator_body {
    struct list arguments; /* struct str */
};
static const struct type type_arguments = { .kind = KIND_ARRAY,
                                            .of = &type_argument,
                                            .max = OPERATOR_ARGUMENTS_MAX };
static const struct field body_fields[] = {
    { FIELD(struct operator_body, arguments), .type = &type_arguments,
      .doc = "Arguments after noun and verb" },
    { 0 },
};
static const struct schema body_schema = { .name = "OperatorArguments",
                                           .size = sizeof(struct operator_body),
                                           .fields = body_fields };
static const struct type type_body = { .kind = KIND_OBJECT, .schema = &body_schema };
static const struct type type_rows = { .kind = KIND_RAW, .doc = "Array of the command's rows" };

/* Returns the command in the path. Returns NULL if the page may not run this command with this
 * method. */
static const struct operator_command_row *find_operator_command_row(const struct call *call,
                                                                    bool writes)
{
    const struct operator_command_row *row = operator_command_row_find(
        call_get_path_text(call, "operator.noun"), call_get_path_text(call, "operator.verb"));

    return row && row->columns && !row->run_blocking && !row->has_secret && !row->body &&
                   !row->for_tests && row->writes == writes
               ? row
               : NULL;
}

static void log_operator_change(struct call *call)
{
    struct str noun = call_get_path_text(call, "operator.noun");
    struct str verb = call_get_path_text(call, "operator.verb");

    log_info("operator: '%.*s %.*s' was run through the console", STR_ARGS(noun), STR_ARGS(verb));
}

static enum err run_operator_command_of_call(struct call *call, struct running_operator_command *o)
{
    enum err e;

    o->api = call->api;
    o->arena = call->arena;
    o->uid = CONSOLE_UID;
    o->as_json = true;
    if (o->count < o->row->least || o->count > o->row->most)
        return call_add_field_error(call, "arguments", FORM_CHOICES,
                                    "The command has too few or too many arguments");
    buf_init(&o->out, CALL_MAX_REPLY / 2);
    e = operator_command_run_in_transaction(call, o);
    if (!e && o->row->writes) {
        call->after = log_operator_change;
        e = operator_log_record_command(call, o);
    }
    if (e)
        return o->problem ? call_add_field_error(call, "arguments", FORM_CHOICES, o->problem) : e;
    call_get_reply_json_writer(call);
    buf_printf(&call->reply, "[%.*s]", STR_ARGS(o->output));
    return OK;
}

static enum err read_with_operator_command(struct call *call)
{
    const struct operator_query *q = call->query;
    struct running_operator_command o = { .row = find_operator_command_row(call, false),
                                          .after = q->after,
                                          .limit = q->limit ? q->limit : PAGE_DEFAULT };

    if (!o.row)
        return ERR_NOT_FOUND;
    if (q->argument.p)
        o.words[o.count++] = q->argument;
    return run_operator_command_of_call(call, &o);
}

static enum err write_with_operator_command(struct call *call)
{
    const struct operator_body *b = call->body;
    const struct str *words = b->arguments.items;
    struct running_operator_command o = { .row = find_operator_command_row(call, true) };

    if (!o.row)
        return ERR_NOT_FOUND;
    for (size_t i = 0; i < b->arguments.count; i++)
        o.words[o.count++] = words[i];
    return run_operator_command_of_call(call, &o);
}

static const struct path_resolver resolvers[] = {
    { .name = "operator.noun",
      .field = "noun",
      .is_text = true,
      .doc = "The noun of an operator command, for example report." },
    { .name = "operator.verb",
      .field = "verb",
      .is_text = true,
      .doc = "The verb of an operator command, for example list." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/commands/{operator.noun}/{operator.verb}",
        .name = "read_with_operator_command",
        .doc = "Runs an operator command that changes nothing, and returns its rows.",
        .service = true,
        .query = &query_schema,
        .reply = &type_rows,
        .store = ROUTE_STORE_READ,
        /* Runs in the background, because commands that list accounts and guilds count rows. */
        .background = true,
        .limit = &limit_console,
        .admit = check_console_permission,
        .handle = read_with_operator_command,
    },
    {
        .method = POST,
        .path = "/console/commands/{operator.noun}/{operator.verb}",
        .name = "write_with_operator_command",
        .doc = "Runs an operator command that changes data, and returns its rows. The operator "
               "log records it with the uid 4294967295.",
        .service = true,
        .body = &type_body,
        .reply = &type_rows,
        .store = ROUTE_STORE_WRITE,
        .limit = &limit_console,
        .admit = check_console_permission,
        .handle = write_with_operator_command,
    },
    { 0 },
};

const struct domain console_commands_domain = {
    .name = "Workbench: operator commands",
    .doc = "For the operator: commands by name. Paths begin with /console, not with /api.",
    .routes = routes,
    .resolvers = resolvers,
};
