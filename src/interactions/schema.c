/* schema.c - schema of the body of POST /interactions. */
#include "interactions/invoke.h"

static const struct enum_choice interaction_types[] = {
    { INTERACTION_COMMAND, NULL, "APPLICATION_COMMAND", "A command is used" },
    { INTERACTION_COMPONENT, NULL, "MESSAGE_COMPONENT", "A button or a menu is used" },
    { INTERACTION_AUTOCOMPLETE, NULL, "APPLICATION_COMMAND_AUTOCOMPLETE",
      "An option is being typed" },
    { INTERACTION_MODAL, NULL, "MODAL_SUBMIT", "A modal is filled in" },
    { 0 },
};
static const struct type type_interaction = { .kind = KIND_INT, .choices = interaction_types };
static const struct type type_anything = { .kind = KIND_RAW, .doc = "Any JSON value" };
static const struct type type_nonce = { .kind = KIND_RAW,
                                        .doc = "Text or number, returned in events" };
static const struct type type_session = { .kind = KIND_STRING, .max = 100 };
static const struct type type_custom_id = { .kind = KIND_STRING, .min = 1, .max = 100 };

/* --- options -------------------------------------------------------------------------- */

static const struct schema option_in_schema;
static const struct type type_option_in = { .kind = KIND_OBJECT, .schema = &option_in_schema };
static const struct type type_options_in = { .kind = KIND_ARRAY,
                                             .max = COMMAND_MAX_OPTIONS,
                                             .of = &type_option_in };
static const struct field option_in_fields[] = {
    { FIELD(struct submitted_option, type), .type = &type_int },
    { FIELD(struct submitted_option, name), .type = &type_text },
    { FIELD(struct submitted_option, value), .type = &type_anything, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct submitted_option, options), .type = &type_options_in,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct submitted_option, focused), .type = &type_bool, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema option_in_schema = {
    .name = "OptionValue",
    .size = sizeof(struct submitted_option),
    .fields = option_in_fields,
    .doc = "The submitted value of an option.",
};

static const struct type type_filename = { .kind = KIND_STRING, .min = 1, .max = 1024 };
static const struct type type_description = { .kind = KIND_STRING, .max = 1024 };
static const struct field file_fields[] = {
    { FIELD(struct attachment_in_body, id), .type = &type_id, .doc = "The n of files[n]" },
    { FIELD(struct attachment_in_body, filename), .type = &type_filename,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct attachment_in_body, description), .type = &type_description,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema file_schema = {
    .name = "InteractionFile",
    .size = sizeof(struct attachment_in_body),
    .fields = file_fields,
    .doc = "Description of an uploaded file.",
};
static const struct type type_file = { .kind = KIND_OBJECT, .schema = &file_schema };
static const struct type type_files = { .kind = KIND_ARRAY,
                                        .max = INVOKE_MAX_FILES,
                                        .of = &type_file };

/* --- submitted components ------------------------------------------------------------- */

static const struct type type_value = { .kind = KIND_STRING, .max = 100 };
static const struct type type_values = { .kind = KIND_ARRAY, .max = 25, .of = &type_value };
static const struct schema entry_schema;
static const struct type type_entry = { .kind = KIND_OBJECT, .schema = &entry_schema };
static const struct type type_entries = { .kind = KIND_ARRAY, .max = 40, .of = &type_entry };
static const struct field entry_fields[] = {
    { FIELD(struct submitted_component, type), .type = &type_int },
    { FIELD(struct submitted_component, custom_id), .type = &type_custom_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct submitted_component, value), .type = &type_anything,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct submitted_component, values), .type = &type_values,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct submitted_component, components), .type = &type_entries,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct submitted_component, component), .type = &type_entry,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema entry_schema = {
    .name = "ModalEntry",
    .size = sizeof(struct submitted_component),
    .fields = entry_fields,
    .doc = "A submitted component of a modal.",
};

/* --- data ----------------------------------------------------------------------------- */

/* clang-format off */
#define MAYBE(member_, type_)                                                                      \
    { FIELD(struct interaction_request_data, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field data_fields[] = {
    MAYBE(id, type_id),
    MAYBE(name, type_text),
    MAYBE(type, type_int),
    MAYBE(version, type_id),
    MAYBE(options, type_options_in),
    MAYBE(target_id, type_id),
    MAYBE(attachments, type_files),
    MAYBE(component_type, type_int),
    MAYBE(custom_id, type_custom_id),
    MAYBE(values, type_values),
    MAYBE(components, type_entries),
    { 0 },
};
static const struct schema data_schema = {
    .name = "InvocationData",
    .size = sizeof(struct interaction_request_data),
    .fields = data_fields,
    .doc = "The command, component or modal; which fields it has depends on the type.",
};
static const struct type type_data = { .kind = KIND_OBJECT, .schema = &data_schema };

/* --- whole body ----------------------------------------------------------------------- */

static const struct field fields[] = {
    { FIELD(struct interaction_request_body, type), .type = &type_interaction },
    { FIELD(struct interaction_request_body, application_id), .type = &type_id },
    { FIELD(struct interaction_request_body, channel_id), .type = &type_id },
    { FIELD(struct interaction_request_body, guild_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "Guild of the channel, if it has one" },
    { FIELD(struct interaction_request_body, session_id), .type = &type_session,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Gateway session that receives the result; default: all of the user's" },
    { FIELD(struct interaction_request_body, nonce), .type = &type_nonce,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct interaction_request_body, message_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "Message of the component" },
    { FIELD(struct interaction_request_body, data), .type = &type_data },
    { 0 },
};

static void check_interaction_request_data(struct form *form, const struct json_path *here,
                                           int64_t type, const struct interaction_request_data *d)
{
    switch (type) {
    case INTERACTION_COMPONENT:
        form_add_error_if_field_missing(form, here, "component_type",
                                        d->component_type.given == GIVEN || d->type.given == GIVEN);
        form_add_error_if_field_missing(form, here, "custom_id", d->custom_id.given == GIVEN);
        break;
    case INTERACTION_MODAL:
        form_add_error_if_field_missing(form, here, "id", d->id.given == GIVEN);
        form_add_error_if_field_missing(form, here, "custom_id", d->custom_id.given == GIVEN);
        form_add_error_if_field_missing(form, here, "components", d->components.given == GIVEN);
        break;
    default:
        form_add_error_if_field_missing(form, here, "id", d->id.given == GIVEN);
        form_add_error_if_field_missing(form, here, "name", d->name.given == GIVEN);
        form_add_error_if_field_missing(form, here, "version", d->version.given == GIVEN);
    }
}

static void check_interaction_request(struct form *form, const struct json_path *here,
                                      const void *object)
{
    const struct interaction_request_body *in = object;
    struct json_path data = json_path_key(here, STR("data")),
                     type = json_path_key(here, STR("type"));

    if (in->data && !form_has_error_at_path(form, &type))
        check_interaction_request_data(form, &data, in->type, in->data);
    if (in->type == INTERACTION_COMPONENT)
        form_add_error_if_field_missing(form, here, "message_id", in->message_id.given == GIVEN);
    message_nonce_validate(form, here, &in->nonce);
}

static const struct schema schema = {
    .name = "Invocation",
    .size = sizeof(struct interaction_request_body),
    .fields = fields,
    .check = check_interaction_request,
    .doc = "An invocation of a command, component or modal.",
};
const struct type invocation_body = { .kind = KIND_OBJECT, .schema = &schema };
