/* commands.c - invocation of an application command, and autocomplete of its options. */
#include "interactions/invoke.h"

#include "platform/messages/messages.h"

static enum err refuse_invalid_command(struct call *call)
{
    return refuse_interaction_data(call, "INTERACTION_APPLICATION_COMMAND_INVALID",
                                   "Invalid interaction application command");
}

/* Reads the invoked command. A guild command can be used only in its own guild. */
static enum err read_invoked_command(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    struct command *k = &v->command;
    enum err e = read_command(call->tx, v->application.id, in->id.value, k);

    if (e)
        return e == ERR_UNKNOWN_COMMAND ? refuse_invalid_command(call) : e;
    if (k->guild_id.given == GIVEN && k->guild_id.value != v->it.guild_id)
        return refuse_invalid_command(call);
    return OK;
}

/* Refuses an outdated version of a command. Clients then request the command's definition again. */
static enum err refuse_command_version(struct call *call)
{
    call_set_refusal_cause(call,
                           "the app has changed or registered this command again since the client "
                           "read it; fetch the command again and use its current version and name");
    return refuse_interaction_data(call, "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION",
                                   "This command is outdated, please try again in a few minutes");
}

static enum err check_command_version(struct call *call)
{
    const struct command *k = &call_get_invocation_state(call)->command;
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    int64_t type = in->type.given == GIVEN ? in->type.value : COMMAND_CHAT_INPUT;
    bool same = in->version.value == k->version && str_eq(in->name.value, k->name);

    return same && type == k->type ? OK : refuse_command_version(call);
}

static const char READ_COMMAND_VERSION[] = "select 1 from commands where id = $1 and version = $2";

enum err check_command_version_again(struct call *call)
{
    const struct command *k = &call_get_invocation_state(call)->command;
    bool found;
    enum err e =
        tx_exists(call->tx, READ_COMMAND_VERSION, BIND(v_id(k->id), v_id(k->version)), &found);

    return e || found ? e : refuse_command_version(call);
}

static enum err refuse_command_permissions(struct call *call)
{
    return refuse_interaction_data(call, "INTERACTION_APPLICATION_COMMAND_INVALID_PERMISSIONS",
                                   "You do not have permission to use this command here");
}

/* Checks that the command is available in this channel and that the user may use it. */
static enum err check_command_usable(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    enum command_permission_result result;
    unsigned install_types;
    struct command_invoker invoker = {
        .user = &v->user,
        .application = &v->application,
        .member_access = call->target.member_access,
        .channel = call->target.channel,
        .context = (enum command_context)v->it.context,
        .permissions = call->target.permissions,
    };
    enum err e = check_command_permission(call->tx, &v->command, &invoker, &result, &install_types);

    if (e)
        return e;
    v->it.owners =
        encode_integration_owners(call->arena, install_types, v->it.guild_id, v->user.id);
    if (result == COMMAND_NOT_HERE)
        return refuse_invalid_command(call);
    return result == COMMAND_ALLOWED ? OK : refuse_command_permissions(call);
}

/* --- target of user and message commands ---------------------------------------------- */

static enum err resolve_target_user(struct call *call, snowflake id)
{
    bool found;
    enum err e = resolve_user_option(call, id, &found);

    return e || found ? e : ERR_UNKNOWN_USER;
}

static enum err resolve_target_message(struct call *call, snowflake id)
{
    struct message m;
    enum err e = message_find(call, call->target.channel->id, id, &m);

    if (!e)
        add_resolved_message(call, &m);
    return e;
}

static enum err resolve_command_target(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct opt_id *target =
        &((const struct interaction_request_body *)call->body)->data->target_id;
    struct json_path data = json_path_key(NULL, STR("data")),
                     at = json_path_key(&data, STR("target_id"));

    if (v->command.type != COMMAND_USER && v->command.type != COMMAND_MESSAGE)
        return OK;
    if (target->given != GIVEN) {
        form_add_error(&call->form, &at, FORM_REQUIRED);
        return ERR_INVALID_FORM_BODY;
    }
    v->it.target_id = target->value;
    return v->command.type == COMMAND_USER ? resolve_target_user(call, target->value)
                                           : resolve_target_message(call, target->value);
}

static void set_command_of_interaction(struct invocation_state *v)
{
    const struct command *k = &v->command;

    v->it.command_id = k->id;
    v->it.command_type = k->type;
    v->it.name = k->name;
    if (k->type != COMMAND_ENTRY_POINT)
        return;
    v->it.handler = k->handler.given == GIVEN ? k->handler.value : COMMAND_APP_HANDLER;
    v->embedded_launch = v->it.handler == COMMAND_LAUNCH_ACTIVITY;
}

enum err read_and_check_invoked_command(struct call *call)
{
    const struct thread_metadata *thread = call->target.channel->thread_metadata;
    struct invocation_state *v = call_get_invocation_state(call);
    enum err e = thread && thread->archived ? ERR_THREAD_ARCHIVED : read_invoked_command(call);

    if (!e)
        e = check_command_version(call);
    if (!e)
        e = check_command_usable(call);
    if (!e)
        e = resolve_command_target(call);
    if (e)
        return e;
    set_command_of_interaction(v);
    if (v->command.type == COMMAND_CHAT_INPUT)
        return parse_submitted_command_options(call);
    /* A user or message command has no options, so autocomplete is refused. */
    return v->it.type == INTERACTION_AUTOCOMPLETE ? refuse_invalid_command(call) : OK;
}
