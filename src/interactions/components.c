/* components.c - a user clicks a button or uses a select menu of a message. */
#include "interactions/invoke.h"

#include "model/fields/rows.h"
#include "platform/messages/messages.h"

struct component_data {
    struct str custom_id;
    int64_t component_type;
    struct opt_int id;
    struct opt_list values;
};

static const struct field data_fields[] = {
    { FIELD(struct component_data, custom_id), .type = &type_text },
    { FIELD(struct component_data, component_type), .type = &type_int },
    { FIELD(struct component_data, id), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct component_data, values), .type = &type_texts, .flags = OPTIONAL },
    { 0 },
};
static const struct schema data_schema = {
    .name = "ComponentData",
    .size = sizeof(struct component_data),
    .fields = data_fields,
    .doc = "The component that was used, and the selected values.",
};
static const struct type type_data = { .kind = KIND_OBJECT, .schema = &data_schema };

static enum err refuse_component(struct call *call, const char *field, const char *message)
{
    struct json_path data = json_path_key(NULL, STR("data")),
                     at = json_path_key(&data, str_of(field));

    form_add_error(&call->form, &at, "COMPONENT_VALIDATION_FAILED", "%s", message);
    return ERR_INVALID_FORM_BODY;
}

/* Reads the message with the component. The caller must be able to see the message. The app's bot
 * must have sent it, or it must be a response of the app. */
static enum err read_component_message(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct interaction_request_body *in = call->body;
    struct message *m = &v->message;
    const struct application *a = &v->application;
    enum err e =
        message_find_even_ephemeral(call, call->target.channel->id, in->message_id.value, m);

    /* The app gets no reactions, because they would contain the user's "me" flags. */
    m->reactions.given = ABSENT;

    if (e)
        return e;
    bool others = m->ephemeral_for && m->ephemeral_for != v->user.id;
    bool is_of_app = (m->application_id.given == GIVEN && m->application_id.value == a->id) ||
                     (a->bot_id && m->author_id == a->bot_id);
    return others || !is_of_app ? ERR_UNKNOWN_MESSAGE : OK;
}

static bool is_usable_component(const struct component *c)
{
    return (c->type == BUTTON || component_is_select(c->type)) &&
           !(c->disabled.given == GIVEN && c->disabled.value);
}

static enum err parse_component_values(struct call *call, const struct component *c,
                                       struct component_data *data)
{
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    bool good;

    if (!component_is_select(c->type))
        return OK;
    data->values.given = GIVEN;
    enum err e = parse_select_menu_values(call, c, &in->values.value, &data->values.value, &good);
    if (!e && !good)
        e = refuse_component(call, "values", "One of the values cannot be selected in this menu.");
    return e;
}

static enum err parse_used_component(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    const struct opt_int *type =
        in->component_type.given == GIVEN ? &in->component_type : &in->type;
    struct list components = components_decode_json(call->arena, v->message.components);
    const struct component *c = find_component_by_custom_id(&components, in->custom_id.value);

    if (!c || !is_usable_component(c))
        return refuse_component(call, "custom_id",
                                "The message has no usable component with this custom_id.");
    if (c->type != type->value)
        return refuse_component(call, "component_type", "The component is of another type.");
    struct component_data data = {
        .custom_id = c->custom_id.value,
        .component_type = c->type,
        .id = c->id,
    };
    enum err e = parse_component_values(call, c, &data);
    if (e)
        return e;
    v->data = json_column_encode(call->arena, &type_data, &data);
    return OK;
}

enum err read_and_check_used_component(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    enum err e = read_component_message(call);

    if (!e)
        e = parse_used_component(call);
    if (e)
        return e;
    v->it.message_id = v->message.id;
    v->it.owners = get_integration_owners_of_message(call, &v->message);
    return OK;
}
