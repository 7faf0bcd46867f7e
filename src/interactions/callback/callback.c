/* callback.c - the callback: an app's first response to an interaction. A callback is validated
 * before the interaction is acknowledged, in the same transaction. Therefore an app can send
 * another callback after a rejected one. If an app sends two valid callbacks, the first
 * succeeds. */
#include "interactions/responses.h"

#include "base/clock.h"

/* The result of a callback, which the reply contains. */
struct callback_outcome {
    struct message message;
    bool has_message;
    struct str instance; /* id of the launched activity instance; .p is NULL without one */
};

/* --- permitted callback types --------------------------------------------------------- */

static unsigned allowed_callback_types(const struct interaction *it)
{
    const unsigned message = 1u << CALLBACK_MESSAGE | 1u << CALLBACK_DEFERRED_MESSAGE |
                             1u << CALLBACK_LAUNCH,
                   update = 1u << CALLBACK_DEFERRED_UPDATE | 1u << CALLBACK_UPDATE;

    if (it->handler == COMMAND_APP_HANDLER_LAUNCH)
        return 1u << CALLBACK_LAUNCH;
    switch (it->type) {
    case INTERACTION_COMMAND:
        return message | 1u << CALLBACK_MODAL;
    case INTERACTION_COMPONENT:
        return message | update | 1u << CALLBACK_MODAL;
    case INTERACTION_AUTOCOMPLETE:
        return 1u << CALLBACK_CHOICES;
    case INTERACTION_MODAL:
        return it->message_id ? message | update : message;
    default:
        return 0;
    }
}

static enum err refuse_callback_type(struct call *call, unsigned allowed)
{
    struct buf list;

    buf_init(&list, 256);
    for (int type = 0; type <= CALLBACK_LAUNCH; type++)
        if (allowed >> type & 1)
            buf_printf(&list, "%s%d", list.n ? ", " : "", type);
    struct str sentence =
        str_printf(call->arena, "Value must be one of (%.*s).", STR_ARGS(buf_as_str(&list)));
    buf_clear(&list);
    return call_add_field_error(call, "type", FORM_CHOICES, sentence.p);
}

static enum err check_callback_type(struct call *call, const struct interaction *it, int64_t type,
                                    const struct application *a)
{
    unsigned allowed = allowed_callback_types(it);

    if (!(a->flags & APPLICATION_EMBEDDED))
        allowed &= ~(1u << CALLBACK_LAUNCH);
    return allowed >> type & 1 ? OK : refuse_callback_type(call, allowed);
}

/* --- callback types ------------------------------------------------------------------- */

static enum err acknowledge_and_emit_success(struct call *call, struct interaction *it,
                                             const struct interaction_acknowledgement *a)
{
    enum err e = acknowledge_interaction(call, it, a);

    if (!e && a->callback_type != CALLBACK_CHOICES)
        emit_interaction_success(call, it);
    return e;
}

/* Applies callback type 4 (a message) or 5 (a deferred message, which has no content yet). */
static enum err apply_message_callback(struct call *call, struct interaction *it,
                                       struct interaction_response_context *r,
                                       const struct interaction_callback *in,
                                       struct callback_outcome *out)
{
    const struct interaction_callback_data *data = in->data.value;
    struct new_message draft = { 0 };
    enum err e = OK;

    if (in->type == CALLBACK_MESSAGE)
        e = build_interaction_response_message(call, r, &draft);
    else
        draft.flags = MESSAGE_LOADING | (data ? data->message.flags.value & MESSAGE_EPHEMERAL : 0);
    if (!e)
        e = complete_interaction_response_message(call, r, &draft);
    struct interaction_acknowledgement a = {
        .callback_type = in->type,
        .response_id = draft.id,
        .ephemeral = draft.ephemeral_for != 0,
    };
    if (!e)
        e = acknowledge_and_emit_success(call, it, &a);
    if (!e)
        e = create_interaction_response_message(call, &draft, &out->message);
    out->has_message = true;
    return e;
}

/* Applies callback types 6 and 7, which edit the message that has the component. */
static enum err apply_update_callback(struct call *call, struct interaction *it,
                                      struct interaction_response_context *r,
                                      const struct interaction_callback *in,
                                      struct callback_outcome *out)
{
    struct message *m = &out->message;
    struct interaction_acknowledgement a = { .callback_type = in->type,
                                             .response_id = it->message_id };
    enum err e = OK;

    if (in->type == CALLBACK_UPDATE) {
        e = message_find_even_ephemeral(call, it->channel_id, it->message_id, m);
        a.ephemeral = m->ephemeral_for != 0;
        out->has_message = true;
    }
    if (!e)
        e = acknowledge_and_emit_success(call, it, &a);
    if (!e && in->type == CALLBACK_UPDATE && (in->data.value || call->parts))
        e = update_interaction_response_message(call, r, m);
    return e;
}

/* Applies callback type 8, autocomplete choices. */
static enum err apply_autocomplete_choices_callback(struct call *call, struct interaction *it,
                                                    const struct interaction_callback *in)
{
    const struct interaction_callback_data *data = in->data.value;
    struct interaction_acknowledgement a = { .callback_type = in->type };
    enum err e = validate_autocomplete_choices(call, it, &data->choices.value);

    if (!e)
        e = acknowledge_and_emit_success(call, it, &a);
    if (!e)
        emit_autocomplete_choices(call, it, &data->choices.value);
    return e;
}

static const struct json_path data_path = { .key = STR_INIT("data") };

/* Applies callback type 9, a modal. */
static enum err apply_modal_callback(struct call *call, struct interaction *it,
                                     const struct interaction_response_context *r,
                                     const struct interaction_callback *in)
{
    const struct interaction_callback_data *data = in->data.value;
    enum err e =
        components_resolve_emojis(call, &r->from, &data_path, &data->message.components.value);

    if (e)
        return e;
    struct interaction_acknowledgement a = {
        .callback_type = in->type,
        .modal = encode_modal(call->arena, data),
    };
    e = acknowledge_and_emit_success(call, it, &a);
    if (!e)
        emit_modal_create(call, it, &r->application, data);
    return e;
}

/* Applies callback type 12, which launches an activity and creates no message. */
static enum err apply_launch_callback(struct call *call, struct interaction *it,
                                      const struct interaction_callback *in,
                                      struct callback_outcome *out)
{
    struct interaction_acknowledgement a = { .callback_type = in->type };
    snowflake number = snowflake_new();

    out->instance = str_printf(call->arena, "i-%llu-%llu", (unsigned long long)number,
                               (unsigned long long)it->channel_id);
    return acknowledge_and_emit_success(call, it, &a);
}

static const struct message_body no_message;

static const struct message_body *get_message_body_of_callback(
    const struct interaction_callback *in)
{
    const struct interaction_callback_data *data = in->data.value;

    return data ? &data->message : &no_message;
}

static enum err run_handler_of_callback_type(struct call *call, struct interaction *it,
                                             const struct interaction_callback *in,
                                             struct callback_outcome *out)
{
    struct interaction_response_context r;
    enum err e = read_interaction_response_context(call, it, get_message_body_of_callback(in), &r);

    if (!e)
        e = check_callback_type(call, it, in->type, &r.application);
    if (e)
        return e;
    switch (in->type) {
    case CALLBACK_MESSAGE:
    case CALLBACK_DEFERRED_MESSAGE:
        return apply_message_callback(call, it, &r, in, out);
    case CALLBACK_DEFERRED_UPDATE:
    case CALLBACK_UPDATE:
        return apply_update_callback(call, it, &r, in, out);
    case CALLBACK_CHOICES:
        return apply_autocomplete_choices_callback(call, it, in);
    case CALLBACK_MODAL:
        return apply_modal_callback(call, it, &r, in);
    default:
        return apply_launch_callback(call, it, in, out);
    }
}

enum err apply_interaction_callback(struct call *call, struct interaction *it,
                                    const struct interaction_callback *in)
{
    struct callback_outcome out = { .has_message = false };

    return run_handler_of_callback_type(call, it, in, &out);
}

/* --- route ---------------------------------------------------------------------------- */

enum err resolve_interaction_callback_token(struct call *call)
{
    snowflake id = call_get_path_id(call, "interaction.id");
    struct interaction *it = call->target.interaction = arena_alloc(call->arena, sizeof *it);

    if (interaction_id_from_token(call, call_get_path_text(call, "interaction.callback.token")) !=
        id)
        return ERR_UNKNOWN_INTERACTION;
    it->id = id;
    enum err e = read_interaction(call->tx, id, it);
    if (!e)
        call_set_application_in_traffic_record(call, it->application_id);
    return e;
}

enum err check_can_acknowledge_interaction(struct call *call)
{
    const struct interaction *it = call->target.interaction;

    if (it->state == INTERACTION_ACKNOWLEDGED)
        return ERR_ALREADY_ACKNOWLEDGED;
    if (it->state == INTERACTION_FAILED ||
        clock_us() > interaction_creation_time(it) + INTERACTION_TIMEOUT_US)
        return ERR_UNKNOWN_INTERACTION;
    return OK;
}

enum err prepare_interaction_callback(struct call *call)
{
    const struct interaction_callback *in = call->body;
    enum err e = schedule_storing_nested_message_uploads(call, get_message_body_of_callback(in),
                                                         &data_path, check_uploads_of_new_message);

    /* With other callback types, files are validated but not stored. */
    if (in->type != CALLBACK_MESSAGE && in->type != CALLBACK_UPDATE)
        call->compute = NULL;
    return e;
}

static enum err reply_with_callback_result(struct call *call, const struct interaction *it,
                                           const struct callback_outcome *out)
{
    bool message_given = out->has_message;
    struct activity_in_callback_reply instance = { out->instance };
    struct interaction_in_callback_reply done = {
        .id = it->id,
        .type = it->type,
        .channel_id = it->channel_id,
        .guild_id = { it->guild_id ? GIVEN : ABSENT, it->guild_id },
        .response_message_id = { message_given ? GIVEN : ABSENT, out->message.id },
        .response_message_loading = { message_given ? GIVEN : ABSENT,
                                      out->message.flags & MESSAGE_LOADING },
        .response_message_ephemeral = { message_given ? GIVEN : ABSENT,
                                        out->message.ephemeral_for != 0 },
        .activity_instance_id = { out->instance.p ? GIVEN : ABSENT, out->instance },
    };
    struct interaction_callback_resource resource = {
        .type = it->callback_type,
        .message = message_given ? &out->message : NULL,
        .activity_instance = out->instance.p ? &instance : NULL,
    };
    struct interaction_callback_reply a = { &done,
                                            message_given || out->instance.p ? &resource : NULL };

    return call_reply_with_object(call, &a);
}

/* POST /interactions/{interaction.id}/{interaction.callback.token}/callback */
enum err create_interaction_response(struct call *call)
{
    const struct interaction_callback_query *q = call->query;
    struct interaction *it = call->target.interaction;
    struct callback_outcome out = { .has_message = false };
    enum err e = run_handler_of_callback_type(call, it, call->body, &out);

    if (e)
        return e;
    if (q->with_response)
        return reply_with_callback_result(call, it, &out);
    call_set_status(call, 204);
    return OK;
}
