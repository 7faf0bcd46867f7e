/* modals.c - a user submits a modal. */
#include "interactions/invoke.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "json/read.h"
#include "model/fields/rows.h"
#include "platform/messages/messages.h"

/* --- stored modal --------------------------------------------------------------------- */

struct stored_modal {
    struct str custom_id, components; /* components is JSON */
};
static const struct field stored_modal_fields[] = {
    { FIELD(struct stored_modal, custom_id), .type = &type_text },
    { FIELD(struct stored_modal, components), .type = &type_raw },
    { 0 },
};
static const struct schema stored_modal_schema = {
    .name = "KeptModal",
    .size = sizeof(struct stored_modal),
    .fields = stored_modal_fields,
};
static const struct type type_stored_modal = { .kind = KIND_OBJECT,
                                               .schema = &stored_modal_schema };

/* Reads the interaction that opened the modal. It must belong to the caller, and the modal must be
 * neither submitted nor expired. */
static enum err read_opening_interaction(struct call *call, struct interaction *ret)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    enum err e = read_interaction(call->tx, in->id.value, ret);

    if (e)
        return e;
    bool belongs_to_caller = ret->user_id == v->user.id &&
                             ret->application_id == v->application.id &&
                             ret->channel_id == call->target.channel->id;
    bool open = ret->callback_type == CALLBACK_MODAL && ret->modal.given == GIVEN &&
                clock_us() <= interaction_creation_time(ret) + INTERACTION_TOKEN_LIFE_US;
    return belongs_to_caller && open ? OK : ERR_UNKNOWN_INTERACTION;
}

static const char CLEAR_MODAL[] =
    "update interactions set modal = null where id = $1 and modal is not null";

enum err mark_modal_submitted(struct call *call)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    int64_t changed;
    enum err e = tx_exec(call->tx, CLEAR_MODAL, BIND(v_id(v->it.opener_id)), &changed);

    return e || changed ? e : ERR_UNKNOWN_INTERACTION;
}

/* --- one component -------------------------------------------------------------------- */

/* State while the submitted values of a modal are checked and written as JSON. */
struct modal_writer {
    struct call *call;
    struct json_writer *out;
    struct json_path at; /* JSON path of the component in the request body */
};

static enum err refuse_modal_value(struct modal_writer *f, const char *code, const char *message)
{
    form_add_error(&f->call->form, &f->at, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

static const struct submitted_component *find_submitted_component(const struct list *entries,
                                                                  struct str custom_id)
{
    const struct submitted_component *in = entries->items, *found = NULL;

    for (size_t i = 0; !found && i < entries->count; i++) {
        if (in[i].custom_id.given == GIVEN && str_eq(in[i].custom_id.value, custom_id))
            return &in[i];
        found = find_submitted_component(&in[i].components.value, custom_id);
        if (!found && in[i].component.value)
            found = find_submitted_component(&(struct list){ in[i].component.value, 1 }, custom_id);
    }
    return found;
}

static bool is_component_required(const struct component *c)
{
    return c->required.given != GIVEN || c->required.value;
}

static enum err parse_text_input(struct modal_writer *f, const struct component *c,
                                 const struct submitted_component *in)
{
    struct str text = STR("");
    struct json_reader r;

    if (in && in->value.given == GIVEN) {
        json_reader_init(&r, in->value.value, f->call->arena);
        if (json_peek_kind(&r) != JSON_STRING || !json_read_string(&r, &text))
            return refuse_modal_value(f, "STRING_TYPE_CONVERT", "The value is not text.");
    }
    int64_t n = (int64_t)utf8_length(text);
    int64_t least = c->min_length.given == GIVEN ? c->min_length.value : 0;
    int64_t most = c->max_length.given == GIVEN ? c->max_length.value : COMPONENT_TEXT_MOST;
    if (n == 0 && is_component_required(c))
        return refuse_modal_value(f, FORM_REQUIRED);
    if (n > most || (n && n < least)) {
        form_add_error(&f->call->form, &f->at, FORM_BAD_LENGTH, (long long)least, (long long)most);
        return ERR_INVALID_FORM_BODY;
    }
    json_write_name(f->out, "value");
    json_write_text(f->out, text);
    return OK;
}

static enum err parse_checkbox(struct modal_writer *f, const struct submitted_component *in)
{
    struct json_reader r;
    bool on = false;

    if (in && in->value.given == GIVEN) {
        json_reader_init(&r, in->value.value, f->call->arena);
        if (json_peek_kind(&r) != JSON_BOOL || !json_read_bool(&r, &on))
            return refuse_modal_value(f, FORM_NOT_BOOL);
    }
    json_write_name(f->out, "value");
    json_write_bool(f->out, on);
    return OK;
}

/* Writes the selected value as a string, or null if nothing is selected and the component is not
 * required. */
static enum err parse_radio_group(struct modal_writer *f, const struct component *c,
                                  const struct submitted_component *in)
{
    struct json_reader r;
    struct str text;
    struct list values = { &text, 0 }, parsed_values = { 0 };
    bool good;

    if (in && in->value.given == GIVEN) {
        json_reader_init(&r, in->value.value, f->call->arena);
        if (json_peek_kind(&r) != JSON_STRING || !json_read_string(&r, &text))
            return refuse_modal_value(f, "STRING_TYPE_CONVERT", "The value is not text.");
        values.count = 1;
    }
    enum err e = parse_select_menu_values(f->call, c, &values, &parsed_values, &good);
    if (e || !good)
        return e ? e
                 : refuse_modal_value(f, "COMPONENT_VALIDATION_FAILED",
                                      "This cannot be chosen here.");
    json_write_name(f->out, "value");
    if (parsed_values.count)
        json_write_text(f->out, text);
    else
        json_write_null(f->out);
    return OK;
}

static enum err parse_select_menu(struct modal_writer *f, const struct component *c,
                                  const struct submitted_component *in)
{
    struct list none = { 0 }, parsed_values = { 0 };
    bool good;
    enum err e =
        parse_select_menu_values(f->call, c, in ? &in->values.value : &none, &parsed_values, &good);

    if (e || !good)
        return e ? e
                 : refuse_modal_value(f, "COMPONENT_VALIDATION_FAILED",
                                      "This cannot be chosen here.");
    json_write_name(f->out, "values");
    schema_encode(f->out, &type_texts, &parsed_values);
    return OK;
}

static enum err parse_modal_field(struct modal_writer *f, const struct component *c)
{
    const struct interaction_request_data *data =
        ((const struct interaction_request_body *)f->call->body)->data;
    const struct submitted_component *in =
        find_submitted_component(&data->components.value, c->custom_id.value);
    enum err e;

    if (in && in->type != c->type)
        return refuse_modal_value(f, "COMPONENT_VALIDATION_FAILED",
                                  "The component is of another type.");
    json_write_name(f->out, "custom_id");
    json_write_text(f->out, c->custom_id.value);
    switch ((enum component_type)c->type) {
    case TEXT_INPUT:
        e = parse_text_input(f, c, in);
        break;
    case CHECKBOX:
        e = parse_checkbox(f, in);
        break;
    case RADIO_GROUP:
        e = parse_radio_group(f, c, in);
        break;
    default:
        e = parse_select_menu(f, c, in);
    }
    return e;
}

/* --- values of all components, in the order of the modal's components ------------------- */

static enum err write_submitted_component_json(struct modal_writer *f, const struct component *c)
{
    const struct component *inside = c->components.value.items;
    enum err e = OK;

    json_begin_object(f->out);
    json_write_name(f->out, "type");
    json_write_int(f->out, c->type);
    json_write_name(f->out, "id");
    json_write_int(f->out, c->id.value);
    if (c->type == ACTION_ROW) {
        json_write_name(f->out, "components");
        json_begin_array(f->out);
        for (size_t i = 0; !e && i < c->components.value.count; i++)
            e = write_submitted_component_json(f, &inside[i]);
        json_end_array(f->out);
    } else if (c->type == LABEL && c->component.value) {
        json_write_name(f->out, "component");
        e = write_submitted_component_json(f, c->component.value);
    } else if (c->custom_id.given == GIVEN) {
        e = parse_modal_field(f, c);
    }
    json_end_object(f->out);
    return e;
}

static enum err write_all_submitted_components_json(struct call *call, const struct list *parts,
                                                    struct json_writer *out)
{
    struct json_path data = json_path_key(NULL, STR("data")),
                     list = json_path_key(&data, STR("components"));
    const struct component *c = parts->items;
    enum err e = OK;

    json_begin_array(out);
    for (size_t i = 0; !e && i < parts->count; i++) {
        struct modal_writer f = { call, out, json_path_index(&list, i) };

        e = write_submitted_component_json(&f, &c[i]);
    }
    json_end_array(out);
    return e;
}

/* Returns whether the modal has all submitted components. */
static bool all_components_are_in_modal(const struct list *parts, const struct list *entries)
{
    const struct submitted_component *in = entries->items;
    bool known = true;

    for (size_t i = 0; known && i < entries->count; i++) {
        struct list inside = { in[i].component.value, in[i].component.value ? 1 : 0 };

        known = (in[i].custom_id.given != GIVEN ||
                 find_component_by_custom_id(parts, in[i].custom_id.value)) &&
                all_components_are_in_modal(parts, &in[i].components.value) &&
                all_components_are_in_modal(parts, &inside);
    }
    return known;
}

static enum err write_submitted_modal_data(struct call *call, const struct stored_modal *modal)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    struct list parts = components_decode_json(call->arena, modal->components);
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (!str_eq(modal->custom_id, in->custom_id.value) ||
        !all_components_are_in_modal(&parts, &in->components.value))
        return refuse_interaction_data(call, "COMPONENT_VALIDATION_FAILED",
                                       "The submission does not match the modal that was sent.");
    buf_init(&out, CALL_MAX_REPLY);
    json_begin_object(&j);
    json_write_name(&j, "custom_id");
    json_write_text(&j, modal->custom_id);
    json_write_name(&j, "components");
    enum err e = write_all_submitted_components_json(call, &parts, &j);
    json_end_object(&j);
    v->data = buf_move_to_arena(&out, call->arena);
    return e;
}

/* Copies the command, message and context of the interaction that opened the modal. */
static void copy_fields_of_opening_interaction(struct invocation_state *v,
                                               const struct interaction *opener)
{
    struct interaction *it = &v->it;

    it->opener_id = opener->id;
    it->message_id = opener->message_id;
    it->owners = opener->owners;
    it->context = opener->context;
    it->command_id = opener->command_id;
    it->command_type = opener->command_type;
    it->name = opener->name;
    it->target_id = opener->target_id;
}

enum err read_and_check_submitted_modal(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct interaction opener;
    enum err e = read_opening_interaction(call, &opener);

    if (e)
        return e;
    const struct stored_modal *modal =
        json_column_decode(call->arena, &type_stored_modal, opener.modal.value);
    if (!modal)
        return ERR_UNKNOWN_INTERACTION;
    copy_fields_of_opening_interaction(v, &opener);
    e = write_submitted_modal_data(call, modal);
    if (!e && opener.message_id) {
        e = message_find_even_ephemeral(call, opener.channel_id, opener.message_id, &v->message);
        v->message.reactions.given = ABSENT;
        if (e == ERR_UNKNOWN_MESSAGE) {
            v->message.id = 0;
            e = OK;
        }
    }
    return e;
}
