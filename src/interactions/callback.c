/* callback.c - the callback: an app's first response to an interaction.
 *
 * A callback is validated before the interaction is acknowledged, in the same transaction: a
 * rejected callback can be sent again, and of two valid ones the first succeeds. */
#include "interactions/answers.h"

#include "base/clock.h"

/* Result of a callback. */
struct callback_outcome {
    struct message message;
    bool has_message;
    struct str instance; /* activity instance; p == NULL: none */
};

/* --- permitted callback types --------------------------------------------------------- */

static unsigned allowed_types(const struct interaction *it)
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

static enum err refuse_type(struct call *call, unsigned allowed)
{
    struct buf list;

    buf_init(&list, 256);
    for (int type = 0; type <= CALLBACK_LAUNCH; type++)
        if (allowed >> type & 1)
            buf_printf(&list, "%s%d", list.n ? ", " : "", type);
    struct str sentence =
        str_printf(call->arena, "Value must be one of (%.*s).", STR_FMT(buf_str(&list)));
    buf_clear(&list);
    return call_invalid(call, "type", FORM_CHOICES, sentence.p);
}

static enum err check_type(struct call *call, const struct interaction *it, int64_t type,
                           const struct application *a)
{
    unsigned allowed = allowed_types(it);

    if (!(a->flags & APPLICATION_EMBEDDED))
        allowed &= ~(1u << CALLBACK_LAUNCH);
    return allowed >> type & 1 ? OK : refuse_type(call, allowed);
}

/* --- callback types ------------------------------------------------------------------- */

static enum err callback_acknowledge(struct call *call, struct interaction *it,
                                     const struct acknowledgement *a)
{
    enum err e = interaction_acknowledge(call, it, a);

    if (!e && a->callback_type != CALLBACK_CHOICES)
        interaction_tell_success(call, it);
    return e;
}

/* Applies callback type 4 (a message) or 5 (a deferred, empty message). */
static enum err answer_message(struct call *call, struct interaction *it, struct response *r,
                               const struct callback *in, struct callback_outcome *out)
{
    const struct callback_data *data = in->data.value;
    struct message_draft draft = { 0 };
    enum err e = OK;

    if (in->type == CALLBACK_MESSAGE)
        e = response_draft(call, r, &draft);
    else
        draft.flags = MESSAGE_LOADING | (data ? data->message.flags.value & MESSAGE_EPHEMERAL : 0);
    if (!e)
        e = response_fill(call, r, &draft);
    struct acknowledgement a = {
        .callback_type = in->type,
        .response_id = draft.id,
        .ephemeral = draft.ephemeral_for != 0,
    };
    if (!e)
        e = callback_acknowledge(call, it, &a);
    if (!e)
        e = response_send(call, &draft, &out->message);
    out->has_message = true;
    return e;
}

/* Applies callback types 6 and 7, which edit the component's message. */
static enum err answer_update(struct call *call, struct interaction *it, struct response *r,
                              const struct callback *in, struct callback_outcome *out)
{
    struct message *m = &out->message;
    struct acknowledgement a = { .callback_type = in->type, .response_id = it->message_id };
    enum err e = OK;

    if (in->type == CALLBACK_UPDATE) {
        e = message_find_ephemeral(call, it->channel_id, it->message_id, m);
        a.ephemeral = m->ephemeral_for != 0;
        out->has_message = true;
    }
    if (!e)
        e = callback_acknowledge(call, it, &a);
    if (!e && in->type == CALLBACK_UPDATE && (in->data.value || call->parts))
        e = response_edit(call, r, m);
    return e;
}

/* Applies callback type 8, autocomplete choices. */
static enum err answer_choices(struct call *call, struct interaction *it, const struct callback *in)
{
    const struct callback_data *data = in->data.value;
    struct acknowledgement a = { .callback_type = in->type };
    enum err e = choices_check(call, it, &data->choices.value);

    if (!e)
        e = callback_acknowledge(call, it, &a);
    if (!e)
        choices_tell(call, it, &data->choices.value);
    return e;
}

static const struct place data_place = { .key = STR_INIT("data") };

/* Applies callback type 9, a modal. */
static enum err answer_modal(struct call *call, struct interaction *it, const struct response *r,
                             const struct callback *in)
{
    const struct callback_data *data = in->data.value;
    enum err e =
        components_take_emojis(call, &r->from, &data_place, &data->message.components.value);

    if (e)
        return e;
    struct acknowledgement a = {
        .callback_type = in->type,
        .modal = modal_text(call->arena, data),
    };
    e = callback_acknowledge(call, it, &a);
    if (!e)
        modal_tell(call, it, &r->application, data);
    return e;
}

/* Applies callback type 12, which launches an activity and creates no message. */
static enum err answer_launch(struct call *call, struct interaction *it, const struct callback *in,
                              struct callback_outcome *out)
{
    struct acknowledgement a = { .callback_type = in->type };
    snowflake number = snowflake_new();

    out->instance = str_printf(call->arena, "i-%llu-%llu", (unsigned long long)number,
                               (unsigned long long)it->channel_id);
    return callback_acknowledge(call, it, &a);
}

static const struct message_body no_message;

static const struct message_body *message_of(const struct callback *in)
{
    const struct callback_data *data = in->data.value;

    return data ? &data->message : &no_message;
}

static enum err callback_answer(struct call *call, struct interaction *it,
                                const struct callback *in, struct callback_outcome *out)
{
    struct response r;
    enum err e = response_load(call, it, message_of(in), &r);

    if (!e)
        e = check_type(call, it, in->type, &r.application);
    if (e)
        return e;
    switch (in->type) {
    case CALLBACK_MESSAGE:
    case CALLBACK_DEFERRED_MESSAGE:
        return answer_message(call, it, &r, in, out);
    case CALLBACK_DEFERRED_UPDATE:
    case CALLBACK_UPDATE:
        return answer_update(call, it, &r, in, out);
    case CALLBACK_CHOICES:
        return answer_choices(call, it, in);
    case CALLBACK_MODAL:
        return answer_modal(call, it, &r, in);
    default:
        return answer_launch(call, it, in, out);
    }
}

enum err callback_apply(struct call *call, struct interaction *it, const struct callback *in)
{
    struct callback_outcome out = { .has_message = false };

    return callback_answer(call, it, in, &out);
}

/* --- route ---------------------------------------------------------------------------- */

enum err resolve_callback_token(struct call *call)
{
    snowflake id = call_id(call, "interaction.id");
    struct interaction *it = call->target.interaction = arena_alloc(call->arena, sizeof *it);

    if (interaction_of_token(call, call_text(call, "interaction.callback.token")) != id)
        return ERR_UNKNOWN_INTERACTION;
    return interaction_find(call->tx, id, it);
}

enum err may_acknowledge(struct call *call)
{
    const struct interaction *it = call->target.interaction;

    if (it->state == INTERACTION_ACKNOWLEDGED)
        return ERR_ALREADY_ACKNOWLEDGED;
    if (it->state == INTERACTION_FAILED ||
        clock_us() > interaction_created(it) + INTERACTION_PATIENCE)
        return ERR_UNKNOWN_INTERACTION;
    return OK;
}

static enum err check_files(struct call *call)
{
    return check_uploads(call, &(struct list){ 0 });
}

enum err prepare_callback(struct call *call)
{
    const struct callback *in = call->body;
    enum err e = prepare_sending_part(call, message_of(in), &data_place, check_files);

    /* Files of other callback types are checked but not stored. */
    if (in->type != CALLBACK_MESSAGE && in->type != CALLBACK_UPDATE)
        call->compute = NULL;
    return e;
}

static enum err callback_send_reply(struct call *call, const struct interaction *it,
                                    const struct callback_outcome *out)
{
    bool shown = out->has_message;
    struct callback_instance instance = { out->instance };
    struct callback_interaction done = {
        .id = it->id,
        .type = it->type,
        .channel_id = it->channel_id,
        .guild_id = { it->guild_id ? GIVEN : ABSENT, it->guild_id },
        .response_message_id = { shown ? GIVEN : ABSENT, out->message.id },
        .response_message_loading = { shown ? GIVEN : ABSENT,
                                      out->message.flags & MESSAGE_LOADING },
        .response_message_ephemeral = { shown ? GIVEN : ABSENT, out->message.ephemeral_for != 0 },
        .activity_instance_id = { out->instance.p ? GIVEN : ABSENT, out->instance },
    };
    struct callback_resource resource = {
        .type = it->callback_type,
        .message = shown ? &out->message : NULL,
        .activity_instance = out->instance.p ? &instance : NULL,
    };
    struct callback_answer a = { &done, shown || out->instance.p ? &resource : NULL };

    return call_reply(call, &a);
}

/* POST /interactions/{interaction.id}/{interaction.callback.token}/callback */
enum err create_interaction_response(struct call *call)
{
    const struct callback_query *q = call->query;
    struct interaction *it = call->target.interaction;
    struct callback_outcome out = { .has_message = false };
    enum err e = callback_answer(call, it, call->body, &out);

    if (e)
        return e;
    if (q->with_response)
        return callback_send_reply(call, it, &out);
    call_set_status(call, 204);
    return OK;
}
