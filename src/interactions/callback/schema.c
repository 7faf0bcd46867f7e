/* schema.c - schemas of callbacks and follow-ups. */
#include "interactions/responses.h"

/* --- body ----------------------------------------------------------------------------- */

static const struct enum_choice callback_types[] = {
    { CALLBACK_PONG, NULL, "PONG", "To a PING" },
    { CALLBACK_MESSAGE, NULL, "CHANNEL_MESSAGE_WITH_SOURCE", "A message" },
    { CALLBACK_DEFERRED_MESSAGE, NULL, "DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE",
      "A message that comes later" },
    { CALLBACK_DEFERRED_UPDATE, NULL, "DEFERRED_UPDATE_MESSAGE",
      "The component's message changes later, or not" },
    { CALLBACK_UPDATE, NULL, "UPDATE_MESSAGE", "The component's message changes" },
    { CALLBACK_CHOICES, NULL, "APPLICATION_COMMAND_AUTOCOMPLETE_RESULT",
      "Choices for what is being typed" },
    { CALLBACK_MODAL, NULL, "MODAL", "A form to fill in" },
    { CALLBACK_LAUNCH, NULL, "LAUNCH_ACTIVITY", "The app's activity begins" },
    { 0 },
};
static const struct type type_callback_type = { .kind = KIND_INT, .choices = callback_types };

/* The minimum length is not checked here, because libraries send empty texts with callbacks that
 * are no modal. validate_modal requires a text. */
static const struct type type_custom_id = { .kind = KIND_STRING, .max = MODAL_CUSTOM_ID_MAX };
static const struct type type_title = { .kind = KIND_STRING, .max = MODAL_TITLE_MAX };

static const struct field choice_fields[] = {
    { FIELD(struct command_choice, name), .type = &type_choice_name },
    { FIELD(struct command_choice, name_localizations), .type = &type_localizations,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct command_choice, value), .type = &type_choice_value },
    { 0 },
};
static const struct schema choice_schema = {
    .name = "AutocompleteChoice",
    .size = sizeof(struct command_choice),
    .fields = choice_fields,
    .doc = "A choice for autocomplete.",
};
static const struct type type_choice = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type type_choices = { .kind = KIND_ARRAY,
                                          .max = COMMAND_MAX_CHOICES,
                                          .of = &type_choice };

/* clang-format off */
#define MAYBE(member_, type_)                                                                      \
    { FIELD(struct interaction_callback_data, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field data_fields[] = {
    MESSAGE_BODY_FIELDS,
    MAYBE(choices, type_choices),
    MAYBE(custom_id, type_custom_id),
    MAYBE(title, type_title),
    { 0 },
};
static const struct schema data_schema = {
    .name = "InteractionCallbackData",
    .size = sizeof(struct interaction_callback_data),
    .fields = data_fields,
    .doc = "A message, choices, or a modal with custom_id, title and components.",
};
static const struct type type_data = { .kind = KIND_OBJECT, .schema = &data_schema };

static const struct field callback_fields[] = {
    { FIELD(struct interaction_callback, type), .type = &type_callback_type },
    { FIELD(struct interaction_callback, data), .type = &type_data, .flags = OPTIONAL | NULLABLE },
    { 0 },
};

/* Checks that the data matches the callback type. callback.c checks whether this callback type is
 * allowed for the interaction. */
static void check_interaction_callback_body(struct form *form, const struct json_path *here,
                                            const void *object)
{
    const struct interaction_callback *in = object;
    const struct interaction_callback_data *data = in->data.value;
    struct json_path at = json_path_key(here, STR("data")), type = json_path_key(here, STR("type")),
                     choices = json_path_key(&at, STR("choices"));

    if (form_has_error_at_path(form, &type) || form_has_error_at_path(form, &at))
        return;
    if (!data && (in->type == CALLBACK_CHOICES || in->type == CALLBACK_MODAL))
        form_add_error(form, &at, FORM_REQUIRED);
    else if (data && in->type == CALLBACK_MESSAGE)
        message_body_validate(form, &at, &data->message);
    else if (data && in->type == CALLBACK_UPDATE)
        message_patch_validate(form, &at, &data->message);
    else if (data && in->type == CALLBACK_MODAL)
        validate_modal(form, &at, data);
    else if (data && in->type == CALLBACK_CHOICES && data->choices.given != GIVEN)
        form_add_error(form, &choices, FORM_REQUIRED);
}

static const struct schema callback_schema = {
    .name = "InteractionCallback",
    .size = sizeof(struct interaction_callback),
    .fields = callback_fields,
    .check = check_interaction_callback_body,
    .doc = "An app's first response to an interaction.",
};
const struct type callback_body = { .kind = KIND_OBJECT, .schema = &callback_schema };

static const struct field query_fields[] = {
    { FIELD(struct interaction_callback_query, with_response), .type = &type_bool,
      .flags = OPTIONAL, .doc = "Return the created message or activity" },
    { 0 },
};
const struct schema callback_query = {
    .size = sizeof(struct interaction_callback_query),
    .fields = query_fields,
    .doc = "Selects the reply.",
};

/* --- reply ---------------------------------------------------------------------------- */

/* clang-format off */
#define SHOWN(member_, type_)                                                                      \
    { FIELD(struct interaction_in_callback_reply, member_), .type = &(type_), .flags = OPTIONAL }
/* clang-format on */

static const struct field interaction_fields[] = {
    { FIELD(struct interaction_in_callback_reply, id), .type = &type_id },
    { FIELD(struct interaction_in_callback_reply, type), .type = &type_count },
    SHOWN(response_message_id, type_id),
    SHOWN(response_message_loading, type_bool),
    SHOWN(response_message_ephemeral, type_bool),
    SHOWN(activity_instance_id, type_text),
    { FIELD(struct interaction_in_callback_reply, channel_id), .type = &type_id },
    SHOWN(guild_id, type_id),
    { 0 },
};
static const struct schema interaction_schema = {
    .name = "AnsweredInteraction",
    .size = sizeof(struct interaction_in_callback_reply),
    .fields = interaction_fields,
    .doc = "The interaction of the callback.",
};
static const struct field instance_fields[] = {
    { FIELD(struct activity_in_callback_reply, id), .type = &type_text },
    { 0 },
};
static const struct schema instance_schema = {
    .name = "ActivityInstance",
    .size = sizeof(struct activity_in_callback_reply),
    .fields = instance_fields,
    .doc = "An activity that was launched.",
};
static const struct type type_instance = { .kind = KIND_OBJECT, .schema = &instance_schema };
static const struct field resource_fields[] = {
    { FIELD(struct interaction_callback_resource, type), .type = &type_count,
      .doc = "Of the callback" },
    { FIELD(struct interaction_callback_resource, message), .type = &type_message,
      .flags = OPTIONAL },
    { FIELD(struct interaction_callback_resource, activity_instance), .type = &type_instance,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema resource_schema = {
    .name = "CallbackResource",
    .size = sizeof(struct interaction_callback_resource),
    .fields = resource_fields,
    .doc = "The message or activity that the callback created.",
};
static const struct type type_interaction = { .kind = KIND_OBJECT, .schema = &interaction_schema };
static const struct type type_resource = { .kind = KIND_OBJECT, .schema = &resource_schema };
static const struct field answer_fields[] = {
    { FIELD(struct interaction_callback_reply, interaction), .type = &type_interaction },
    { FIELD(struct interaction_callback_reply, resource), .type = &type_resource,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema answer_schema = {
    .name = "CallbackAnswer",
    .size = sizeof(struct interaction_callback_reply),
    .fields = answer_fields,
    .doc = "An interaction, and what the callback created.",
};
const struct type callback_reply = { .kind = KIND_OBJECT, .schema = &answer_schema };

/* --- follow-ups ----------------------------------------------------------------------- */

static const struct field follow_up_fields[] = { MESSAGE_BODY_FIELDS, { 0 } };
static const struct schema follow_up_schema = {
    .name = "FollowUpDraft",
    .size = sizeof(struct message_body),
    .fields = follow_up_fields,
    .check = message_body_validate,
    .doc = "A follow-up message of an app.",
};
const struct type follow_up_body = { .kind = KIND_OBJECT, .schema = &follow_up_schema };
