/* routes.c - POST /interactions: a user invokes a command, component or modal. All checks run in a
 * read transaction before the write transaction. The write transaction repeats only the checks of
 * the command's version, of the nonce, and that a modal is submitted once. */
#include "api/hooks.h"
#include "interactions/invoke.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/messages/uploads.h"

/* --- read transaction ----------------------------------------------------------------- */

/* Checks that the caller can view the channel, and that guild_id is the guild of the channel. */
static enum err check_interaction_channel(struct call *call)
{
    const struct interaction_request_body *in = call->body;
    struct interaction *it = &call_get_invocation_state(call)->it;
    enum err e = resolve_channel_by_id(call, in->channel_id);

    if (e)
        return e;
    const struct channel *c = call->target.channel;
    snowflake guild_id = channel_is_private(c->type) ? 0 : c->guild_id.value;
    if (guild_id && in->guild_id.given != GIVEN)
        return call_add_field_error(call, "guild_id", FORM_REQUIRED);
    if (in->guild_id.given == GIVEN && in->guild_id.value != guild_id)
        return ERR_UNKNOWN_GUILD;
    it->channel_id = c->id;
    it->guild_id = guild_id;
    if (guild_id && (in->type == INTERACTION_COMPONENT || in->type == INTERACTION_MODAL))
        e = check_member_may_write(
            &call->target.member_access->input); /* for commands, see check_command_permission */
    if (e)
        return e;
    return channel_accepts_messages(c->type) ? require_direct_channel_writable(call)
                                             : ERR_NOT_TEXT_CHANNEL;
}

/* Reads the permissions of the app's bot, if the bot is a member of the guild. */
static enum err read_bot_member(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);

    v->bot_is_member = false;
    if (!v->it.guild_id || !v->application.bot_id)
        return OK;
    enum err e =
        member_access_find_of_other_user(call->tx, v->it.guild_id, v->application.bot_id, &v->bot);
    v->bot_is_member = e == OK;
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

static enum err read_app_and_user(struct call *call)
{
    const struct interaction_request_body *in = call->body;
    struct invocation_state *v = call_get_invocation_state(call);
    enum err e = application_find(call->tx, in->application_id, &v->application);

    if (!e)
        e = user_find(call->tx, call->caller->id, &v->user);
    if (!e)
        e = read_bot_member(call);
    if (!e)
        e = determine_interaction_context(call);
    if (!e)
        v->it.locale = determine_request_locale_of_user(call, &v->user);
    v->it.application_id = v->application.id;
    v->it.user_id = v->user.id;
    return e;
}

static enum err read_and_check_request(struct call *call)
{
    switch (((const struct interaction_request_body *)call->body)->type) {
    case INTERACTION_COMPONENT:
        return read_and_check_used_component(call);
    case INTERACTION_MODAL:
        return read_and_check_submitted_modal(call);
    default:
        return read_and_check_invoked_command(call);
    }
}

static enum err check_interaction_file_sizes(const struct call *call)
{
    const struct submitted_interaction_file *f = call_get_invocation_state(call)->files.items;

    for (size_t i = 0; i < call_get_invocation_state(call)->files.count; i++)
        if (f[i].part->data.n > MESSAGE_MAX_FILE)
            return ERR_ENTITY_TOO_LARGE;
    return OK;
}

static enum err store_files_and_encode_payload(struct call *call)
{
    enum err e = store_interaction_files(call);

    if (!e)
        encode_interaction_payload(call);
    return e;
}

static const char SAME_NONCE[] =
    "select 1 from interactions where user_id = $1 and nonce = $2 and id > $3";

/* Reads whether the client repeats an earlier request with the same nonce. */
static enum err read_is_repeated_request(struct call *call, bool *ret)
{
    enum { NONCE_LIFE_MS = 60 * 1000 };
    const struct opt_str *nonce = &((const struct interaction_request_body *)call->body)->nonce;

    *ret = false;
    if (nonce->given != GIVEN)
        return OK;
    return tx_exists(call->tx, SAME_NONCE,
                     BIND(v_id(call->caller->id), v_text(nonce->value),
                          v_id(snowflake_from_ms(clock_ms() - NONCE_LIFE_MS))),
                     ret);
}

static enum err read_and_check_invocation(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    enum err e = check_interaction_channel(call);

    if (!e)
        e = read_app_and_user(call);
    if (!e)
        e = read_and_check_request(call);
    if (!e)
        e = check_interaction_file_sizes(call);
    if (!e)
        e = read_interaction_payload_objects(call);
    if (e)
        return e;
    if (v->files.count)
        call->compute = store_files_and_encode_payload;
    else
        encode_interaction_payload(call);
    return OK;
}

static enum err read_interaction_request(struct call *call)
{
    const struct interaction_request_body *in = call->body;
    struct invocation_state *v = call_get_invocation_state(call);

    *v = (struct invocation_state){ .it = { .id = snowflake_new(),
                                            .type = in->type,
                                            .nonce = in->nonce,
                                            .session = in->session_id } };
    enum err e = read_and_check_invocation(call);
    if (!e)
        return OK; /* the write transaction checks whether the request is a repetition */
    /* A repeated request may fail because the first one succeeded, for example if a modal is
     * submitted again. Then the reply is success. */
    if (read_is_repeated_request(call, &v->again) || !v->again)
        return e;
    return OK;
}

static enum err prepare_create_interaction(struct call *call)
{
    call_store_stage_data(call, "invocation_state", sizeof(struct invocation_state));
    call->read = read_interaction_request;
    return OK;
}

/* --- write transaction ---------------------------------------------------------------- */

static enum err insert_interaction_rows(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    enum err e = OK;

    if (v->command.id)
        e = check_command_version_again(call);
    else if (v->it.opener_id)
        e = mark_modal_submitted(call);
    if (!e)
        e = insert_interaction(call->tx, &v->it);
    if (!e)
        e = insert_interaction_files(call);
    if (!e && v->message.id && v->message.ephemeral_for)
        e = schedule_ephemeral_message_deletion(call, &v->message);
    return e;
}

static enum err create_interaction(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    bool is_repeated = false;
    enum err e = v->again ? OK : read_is_repeated_request(call, &is_repeated);

    if (!e && is_repeated)
        e = delete_interaction_files(call);
    if (e || v->again || is_repeated)
        return e;
    e = insert_interaction_rows(call);
    if (e)
        return e;
    emit_interaction_created(call, &v->it);
    e = schedule_interaction_timeout(call, &v->it);
    if (e)
        return e;
    if (v->embedded_launch)
        return launch_activity_of_entry_point_command(call, &v->it);
    deliver_interaction_to_app(call);
    return OK;
}

/* Rate limit of POST /interactions: high enough for autocomplete, which sends requests while the
 * user types. */
static const struct rate_limit interactions_limit = { .name = "interactions",
                                                      .count = 50,
                                                      .window_s = 10 };

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
                                       EVENT_MESSAGE_CREATE, EVENT_CHANNEL_CREATE,
                                       THREAD_MESSAGE_EVENTS, EVENT_NONE },
        .limit = &interactions_limit,
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
