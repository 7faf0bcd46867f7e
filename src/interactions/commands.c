/* commands.c - invocation of an application command, and autocomplete of its options. */
#include "interactions/invoke.h"

#include "platform/messages/messages.h"

static enum err refuse_command(struct call *call)
{
    return refuse_data(call, "INTERACTION_APPLICATION_COMMAND_INVALID",
                       "Invalid interaction application command");
}

/* Reads the command. A guild command can be used only in its guild. */
static enum err find_command(struct call *call)
{
    struct invoking *v = invoking_of(call);
    const struct data_in *in = ((const struct invocation *)call->body)->data;
    struct command *k = &v->command;
    enum err e = command_find(call->tx, v->application.id, in->id.value, k);

    if (e)
        return e == ERR_UNKNOWN_COMMAND ? refuse_command(call) : e;
    if (k->guild_id.given == GIVEN && k->guild_id.value != v->it.guild_id)
        return refuse_command(call);
    return OK;
}

/* Refuses an outdated command; clients fetch the command again on this error. */
static enum err refuse_version(struct call *call)
{
    return refuse_data(call, "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION",
                       "This command is outdated, please try again in a few minutes");
}

static enum err check_version(struct call *call)
{
    const struct command *k = &invoking_of(call)->command;
    const struct data_in *in = ((const struct invocation *)call->body)->data;
    int64_t type = in->type.given == GIVEN ? in->type.value : COMMAND_CHAT_INPUT;
    bool same = in->version.value == k->version && str_eq(in->name.value, k->name);

    return same && type == k->type ? OK : refuse_version(call);
}

static const char STILL_THERE[] = "select 1 from commands where id = $1 and version = $2";

enum err command_recheck(struct call *call)
{
    const struct command *k = &invoking_of(call)->command;
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, STILL_THERE, BIND(v_id(k->id), v_id(k->version)), &row, &found);

    return e || found ? e : refuse_version(call);
}

static enum err refuse_permissions(struct call *call)
{
    return refuse_data(call, "INTERACTION_APPLICATION_COMMAND_INVALID_PERMISSIONS",
                       "You do not have permission to use this command here");
}

/* Checks that the command is available in this channel and that the user may use it. */
static enum err check_usable(struct call *call)
{
    struct invoking *v = invoking_of(call);
    enum command_verdict verdict;
    unsigned ways;
    struct command_invoker who = {
        .user = &v->user,
        .application = &v->application,
        .standing = call->target.standing,
        .channel = call->target.channel,
        .context = (enum command_context)v->it.context,
        .rights = call->target.rights,
    };
    enum err e = command_permit(call->tx, &v->command, &who, &verdict, &ways);

    if (e)
        return e;
    v->it.owners = owners_write(call->arena, ways, v->it.guild_id, v->user.id);
    if (verdict == COMMAND_NOT_HERE)
        return refuse_command(call);
    return verdict == COMMAND_ALLOWED ? OK : refuse_permissions(call);
}

/* --- target of user and message commands ---------------------------------------------- */

static enum err take_target_user(struct call *call, snowflake id)
{
    bool found;
    enum err e = resolve_user(call, id, &found);

    return e || found ? e : ERR_UNKNOWN_USER;
}

static enum err take_target_message(struct call *call, snowflake id)
{
    struct message m;
    enum err e = message_find(call, call->target.channel->id, id, &m);

    if (!e)
        resolve_message(call, &m);
    return e;
}

static enum err take_target(struct call *call)
{
    struct invoking *v = invoking_of(call);
    const struct opt_id *target = &((const struct invocation *)call->body)->data->target_id;
    struct place data = place_key(NULL, STR("data")), at = place_key(&data, STR("target_id"));

    if (v->command.type != COMMAND_USER && v->command.type != COMMAND_MESSAGE)
        return OK;
    if (target->given != GIVEN) {
        form_fail(&call->form, &at, FORM_REQUIRED);
        return ERR_INVALID_FORM_BODY;
    }
    v->it.target_id = target->value;
    return v->command.type == COMMAND_USER ? take_target_user(call, target->value)
                                           : take_target_message(call, target->value);
}

static void note_command(struct invoking *v)
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

enum err look_at_command(struct call *call)
{
    const struct thread_metadata *thread = call->target.channel->thread_metadata;
    struct invoking *v = invoking_of(call);
    enum err e = thread && thread->archived ? ERR_THREAD_ARCHIVED : find_command(call);

    if (!e)
        e = check_version(call);
    if (!e)
        e = check_usable(call);
    if (!e)
        e = take_target(call);
    if (e)
        return e;
    note_command(v);
    if (v->command.type == COMMAND_CHAT_INPUT)
        return options_take(call);
    /* User and message commands have no options to autocomplete. */
    return v->it.type == INTERACTION_AUTOCOMPLETE ? refuse_command(call) : OK;
}
