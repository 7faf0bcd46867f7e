/* modal.c - modals in callbacks: validation, storage, and the event to the user. */
#include "interactions/responses.h"

#include "base/utf8.h"
#include "model/fields/rows.h"

enum { MOST_PARTS = 5, MOST_LABEL = 45, MOST_ABOUT = 100, MOST_HINT = 100 };

/* --- validation ----------------------------------------------------------------------- */

static void validate_text_length(struct form *form, const struct json_path *here, const char *key,
                                 const struct opt_str *text, long long min, long long max)
{
    struct json_path at = json_path_key(here, str_of(key));
    long long n = (long long)utf8_length(text->value);

    if (text->given == GIVEN && (n < min || n > max))
        form_add_error(form, &at, FORM_BAD_LENGTH, min, max);
}

static void validate_text_input(struct form *form, const struct json_path *here,
                                const struct component *c)
{
    struct json_path style = json_path_key(here, STR("style")),
                     least = json_path_key(here, STR("min_length"));

    form_add_error_if_field_missing(form, here, "style", c->style.given == GIVEN);
    if (c->style.given == GIVEN && c->style.value > 2)
        form_add_error(form, &style, FORM_CHOICES, "Value must be one of (1, 2).");
    validate_text_length(form, here, "placeholder", &c->placeholder, 0, MOST_HINT);
    if (c->min_length.given == GIVEN && c->max_length.given == GIVEN &&
        c->min_length.value > c->max_length.value)
        form_add_error(form, &least, "BASE_TYPE_INVALID", "Minimum must not exceed maximum.");
}

static bool component_is_allowed_in_label(int64_t type)
{
    return type == TEXT_INPUT || component_is_select(type) || type >= FILE_UPLOAD;
}

static void validate_component_type(struct form *form, const struct json_path *here, bool good,
                                    const char *types)
{
    struct json_path at = json_path_key(here, STR("type"));

    if (!good && !form_has_error_at_path(form, &at))
        form_add_error(form, &at, FORM_CHOICES, "Value must be one of (%s).", types);
}

/* Checks an action row, which must contain one text input with a label. */
static void validate_action_row(struct form *form, const struct json_path *here,
                                const struct component *row)
{
    struct json_path list = json_path_key(here, STR("components")),
                     item = json_path_index(&list, 0);
    const struct component *c = row->components.value.items;

    if (row->components.value.count != 1) {
        form_add_error(form, &list, FORM_BAD_LENGTH, 1LL, 1LL);
        return;
    }
    validate_component_type(form, &item, c->type == TEXT_INPUT, "4,");
    if (c->type != TEXT_INPUT)
        return;
    form_add_error_if_field_missing(form, &item, "label", c->label.given == GIVEN);
    validate_text_length(form, &item, "label", &c->label, 1, MOST_LABEL);
    validate_text_input(form, &item, c);
}

static void validate_label_component(struct form *form, const struct json_path *here,
                                     const struct component *label)
{
    struct json_path inside = json_path_key(here, STR("component"));
    const struct component *c = label->component.value;

    form_add_error_if_field_missing(form, here, "label", label->label.given == GIVEN);
    validate_text_length(form, here, "label", &label->label, 1, MOST_LABEL);
    validate_text_length(form, here, "description", &label->description, 0, MOST_ABOUT);
    if (!c)
        return;
    validate_component_type(form, &inside, component_is_allowed_in_label(c->type),
                            "3, 4, 5, 6, 7, 8, 19, 21, 22, 23");
    if (c->type == TEXT_INPUT)
        validate_text_input(form, &inside, c);
}

static void validate_modal_component(struct form *form, const struct json_path *here,
                                     const struct component *c)
{
    if (c->type == ACTION_ROW)
        validate_action_row(form, here, c);
    else if (c->type == LABEL)
        validate_label_component(form, here, c);
    else
        validate_component_type(form, here, c->type == TEXT_DISPLAY, "1, 10, 18");
}

static void require_text_in_modal(struct form *form, const struct json_path *here, const char *key,
                                  const struct opt_str *text, long long max)
{
    struct json_path at = json_path_key(here, str_of(key));

    form_add_error_if_field_missing(form, here, key, text->given == GIVEN);
    if (text->given == GIVEN && !text->value.n)
        form_add_error(form, &at, FORM_BAD_LENGTH, 1LL, max);
}

void validate_modal(struct form *form, const struct json_path *here,
                    const struct interaction_callback_data *in)
{
    struct json_path list = json_path_key(here, STR("components"));
    const struct opt_list *parts = &in->message.components;
    const struct component *c = parts->value.items;

    require_text_in_modal(form, here, "custom_id", &in->custom_id, MODAL_CUSTOM_ID_MAX);
    require_text_in_modal(form, here, "title", &in->title, MODAL_TITLE_MAX);
    form_add_error_if_field_missing(form, here, "components", parts->given == GIVEN);
    if (parts->given != GIVEN || form_has_error_at_path(form, &list))
        return;
    if (parts->value.count < 1 || parts->value.count > MOST_PARTS)
        form_add_error(form, &list, FORM_BAD_LENGTH, 1LL, (long long)MOST_PARTS);
    for (size_t i = 0; i < parts->value.count; i++) {
        struct json_path item = json_path_index(&list, i);

        validate_modal_component(form, &item, &c[i]);
    }
    components_validate_limits(form, &list, &parts->value);
}

/* --- storage and event ---------------------------------------------------------------- */

struct modal_object {
    snowflake id, channel_id;
    struct str custom_id, title, components;
    const struct application *application;
    struct opt_str nonce;
};

static const struct field stored_modal_fields[] = {
    { FIELD(struct modal_object, custom_id), .type = &type_text },
    { FIELD(struct modal_object, title), .type = &type_text },
    { FIELD(struct modal_object, components), .type = &type_raw },
    { 0 },
};
static const struct schema stored_modal_schema = { .size = sizeof(struct modal_object),
                                                   .fields = stored_modal_fields };
static const struct type type_stored_modal = { .kind = KIND_OBJECT,
                                               .schema = &stored_modal_schema };

static const struct field modal_event_fields[] = {
    { FIELD(struct modal_object, id), .type = &type_id },
    { FIELD(struct modal_object, channel_id), .type = &type_id },
    { FIELD(struct modal_object, custom_id), .type = &type_text },
    { FIELD(struct modal_object, application), .type = &type_integration_application },
    { FIELD(struct modal_object, title), .type = &type_text },
    { FIELD(struct modal_object, components), .type = &type_raw },
    { FIELD(struct modal_object, nonce), .type = &type_raw, .flags = NULLABLE },
    { 0 },
};
static const struct schema modal_event_schema = { .size = sizeof(struct modal_object),
                                                  .fields = modal_event_fields };

static struct str encode_modal_components(struct arena *arena,
                                          const struct interaction_callback_data *in)
{
    struct list parts = in->message.components.value;

    return components_encode_json(arena, &parts);
}

struct str encode_modal(struct arena *arena, const struct interaction_callback_data *in)
{
    struct modal_object m = {
        .custom_id = in->custom_id.value,
        .title = in->title.value,
        .components = encode_modal_components(arena, in),
    };

    return json_column_encode(arena, &type_stored_modal, &m);
}

void emit_modal_create(struct call *call, const struct interaction *it, const struct application *a,
                       const struct interaction_callback_data *in)
{
    struct modal_object m = {
        .id = it->id,
        .channel_id = it->channel_id,
        .custom_id = in->custom_id.value,
        .application = a,
        .title = in->title.value,
        .components = encode_modal_components(call->arena, in),
        .nonce = it->nonce,
    };

    emit_event_to_invoking_user(call, it, EVENT_INTERACTION_MODAL_CREATE, &modal_event_schema, &m);
}
