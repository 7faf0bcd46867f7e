/* routes.c - POST /interactions: a user invokes a command, component or modal.
 *
 * All checks run in a read transaction on one snapshot, before the write transaction. Only what
 * must happen once (nonce, modal submission) and the command's version are checked again in the
 * write transaction. */
#include "api/hooks.h"
#include "interactions/invoke.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/messages/uploads.h"

/* --- read transaction ----------------------------------------------------------------- */

/* Checks that the caller can view the channel, and that guild_id is the channel's. */
static enum err interaction_enter(struct call *call)
{
    const struct invocation *in = call->body;
    struct interaction *it = &invoking_of(call)->it;
    enum err e = channel_enter(call, in->channel_id);

    if (e)
        return e;
    const struct channel *c = call->target.channel;
    snowflake guild_id = channel_is_private(c->type) ? 0 : c->guild_id.value;
    if (guild_id && in->guild_id.given != GIVEN)
        return call_invalid(call, "guild_id", FORM_REQUIRED);
    if (in->guild_id.given == GIVEN && in->guild_id.value != guild_id)
        return ERR_UNKNOWN_GUILD;
    it->channel_id = c->id;
    it->guild_id = guild_id;
    if (guild_id && (in->type == INTERACTION_COMPONENT || in->type == INTERACTION_MODAL))
        e = rights_to_speak(&call->target.standing->rights_of); /* commands: see command_permit */
    if (e)
        return e;
    return channel_takes_messages(c->type) ? channel_check_barred(call) : ERR_NOT_TEXT_CHANNEL;
}

/* Reads the member data of the app's bot, if it is in the guild. */
static enum err find_bot(struct call *call)
{
    struct invoking *v = invoking_of(call);

    v->bot_is_member = false;
    if (!v->it.guild_id || !v->application.bot_id)
        return OK;
    enum err e = standing_of_member(call->tx, v->it.guild_id, v->application.bot_id, &v->bot);
    v->bot_is_member = e == OK;
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

static enum err find_parties(struct call *call)
{
    const struct invocation *in = call->body;
    struct invoking *v = invoking_of(call);
    enum err e = application_find(call->tx, in->application_id, &v->application);

    if (!e)
        e = user_find(call->tx, call->caller->id, &v->user);
    if (!e)
        e = find_bot(call);
    if (!e)
        e = context_find(call);
    if (!e)
        v->it.locale = request_locale_of(call, &v->user);
    v->it.application_id = v->application.id;
    v->it.user_id = v->user.id;
    return e;
}

static enum err look_at_request(struct call *call)
{
    switch (((const struct invocation *)call->body)->type) {
    case INTERACTION_COMPONENT:
        return look_at_component(call);
    case INTERACTION_MODAL:
        return look_at_modal(call);
    default:
        return look_at_command(call);
    }
}

static enum err check_sizes(const struct call *call)
{
    const struct file_out *f = invoking_of(call)->files.items;

    for (size_t i = 0; i < invoking_of(call)->files.count; i++)
        if (f[i].part->data.n > MESSAGE_MAX_FILE)
            return ERR_ENTITY_TOO_LARGE;
    return OK;
}

static enum err keep_files(struct call *call)
{
    enum err e = files_keep(call);

    if (!e)
        payload_write(call);
    return e;
}

static const char SAME_NONCE[] =
    "select 1 from interactions where user_id = $1 and nonce = $2 and id > $3";

/* *ret: the client repeats an earlier request with the same nonce. */
static enum err asked_before(struct call *call, bool *ret)
{
    enum { REMEMBERED_MS = 60 * 1000 };
    const struct opt_str *nonce = &((const struct invocation *)call->body)->nonce;
    struct rows row;

    *ret = false;
    if (nonce->given != GIVEN)
        return OK;
    return tx_one(call->tx, SAME_NONCE,
                  BIND(v_id(call->caller->id), v_text(nonce->value),
                       v_id(snowflake_at(clock_ms() - REMEMBERED_MS))),
                  &row, ret);
}

static enum err look_at_all(struct call *call)
{
    struct invoking *v = invoking_of(call);
    enum err e = interaction_enter(call);

    if (!e)
        e = find_parties(call);
    if (!e)
        e = look_at_request(call);
    if (!e)
        e = check_sizes(call);
    if (!e)
        e = payload_gather(call);
    if (e)
        return e;
    if (v->files.count)
        call->compute = keep_files;
    else
        payload_write(call);
    return OK;
}

static enum err interaction_look(struct call *call)
{
    const struct invocation *in = call->body;
    struct invoking *v = invoking_of(call);

    *v = (struct invoking){ .it = { .id = snowflake_new(),
                                    .type = in->type,
                                    .nonce = in->nonce,
                                    .session = in->session_id } };
    enum err e = look_at_all(call);
    if (!e)
        return OK; /* the write transaction checks for repetitions */
    /* A repeated request may fail only because the first one succeeded, as with a modal; then the
     * response is success. */
    if (asked_before(call, &v->again) || !v->again)
        return e;
    return OK;
}

static enum err prepare_create_interaction(struct call *call)
{
    call_pass(call, "invoking", sizeof(struct invoking));
    call->look = interaction_look;
    return OK;
}

/* --- write transaction ---------------------------------------------------------------- */

static enum err write_rows(struct call *call)
{
    struct invoking *v = invoking_of(call);
    enum err e = OK;

    if (v->command.id)
        e = command_recheck(call);
    else if (v->it.opener_id)
        e = modal_take(call);
    if (!e)
        e = interaction_insert(call->tx, &v->it);
    if (!e)
        e = files_insert(call);
    if (!e && v->message.id && v->message.ephemeral_for)
        e = ephemeral_touch(call, &v->message);
    if (!e && v->it.type == INTERACTION_COMMAND)
        e = command_used(call, &v->command);
    return e;
}

static enum err create_interaction(struct call *call)
{
    struct invoking *v = invoking_of(call);
    bool meanwhile = false;
    enum err e = v->again ? OK : asked_before(call, &meanwhile);

    if (!e && meanwhile)
        e = files_drop(call);
    if (e || v->again || meanwhile)
        return e;
    e = write_rows(call);
    if (e)
        return e;
    interaction_tell_created(call, &v->it);
    e = deadline_set(call, &v->it);
    if (e)
        return e;
    if (v->embedded_launch)
        return interaction_launch(call, &v->it);
    interaction_deliver(call);
    return OK;
}

/* High enough for autocomplete, which sends requests while the user types. */
static const struct limit asking = { .name = "interactions", .count = 50, .window_s = 10 };

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/interactions",
        .name = "create_interaction",
        .doc = "Use a command, a component or a modal of an app. The result is sent through the "
               "gateway.",
        .auth = AUTH_USER,
        .body = &invocation_body,
        .body_kinds = BODY_MULTIPART,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .status = 204,
        .fires = (const enum event[]){ EVENT_INTERACTION_CREATE, EVENT_INTERACTION_SUCCESS,
                                       EVENT_MESSAGE_CREATE, EVENT_CHANNEL_CREATE, SPEAKING_EVENTS,
                                       EVENT_NONE },
        .limit = &asking,
        .prepare = prepare_create_interaction,
        .handle = create_interaction,
    },
    { 0 },
};

const struct domain interactions_domain = {
    .name = "Interactions",
    .doc = "Invocation of commands, components and modals of apps.",
    .routes = routes,
    .jobs = interaction_jobs,
};
