/* choices.c - autocomplete choices: validation and the event to the user. */
#include "interactions/responses.h"

#include "base/utf8.h"
#include "json/read.h"

enum { MOST_TEXT = 100, MOST_NAME = 100 };
#define MOST_NUMBER 9007199254740992.0 /* 2^53 */

static bool number_fits_option_type(const struct json_number *n, int64_t type)
{
    const int64_t most = INT64_C(1) << 53;

    /* An integer is also compared as an integer, because its double may be rounded to the limit. */
    if (n->kind == NUMBER_INT && (n->i > most || n->i < -most))
        return false;
    if (!(n->d >= -MOST_NUMBER && n->d <= MOST_NUMBER))
        return false;
    return type == OPTION_NUMBER || (double)(int64_t)n->d == n->d;
}

static void validate_choice_value(struct form *form, const struct json_path *at,
                                  const struct str *json, int64_t type)
{
    struct json_reader r;
    struct json_number number;
    struct str text;

    json_reader_init(&r, *json, form->arena);
    if (type == OPTION_STRING) {
        if (json_peek_kind(&r) != JSON_STRING || !json_read_string(&r, &text))
            form_add_error(form, at, FORM_NOT_STRING, STR_ARGS(form_shorten_quoted_value(*json)));
        else if (utf8_length(text) > MOST_TEXT)
            form_add_error(form, at, FORM_MAX_LENGTH, (long long)MOST_TEXT);
        return;
    }
    if (json_peek_kind(&r) == JSON_NUMBER && json_read_number(&r, &number) &&
        number_fits_option_type(&number, type))
        return;
    if (type == OPTION_INTEGER)
        form_add_error(form, at, FORM_NOT_INT, STR_ARGS(form_shorten_quoted_value(*json)));
    else
        form_add_error(form, at, FORM_NOT_FLOAT, STR_ARGS(form_shorten_quoted_value(*json)));
}

static void validate_choice_localizations(struct form *form, const struct json_path *here,
                                          const struct list *localizations)
{
    const struct string_pair *w = localizations->items;

    for (size_t i = 0; i < localizations->count; i++) {
        struct json_path at = json_path_key(here, w[i].key);
        size_t n = utf8_length(w[i].value);

        if (!locale_get_bit(w[i].key))
            form_add_error(form, &at, FORM_CHOICES, "There is no such locale.");
        else if (n < 1 || n > MOST_NAME)
            form_add_error(form, &at, FORM_BAD_LENGTH, 1LL, (long long)MOST_NAME);
    }
}

enum err validate_autocomplete_choices(struct call *call, const struct interaction *it,
                                       const struct list *choices)
{
    struct json_path data = json_path_key(NULL, STR("data")),
                     list = json_path_key(&data, STR("choices"));
    const struct command_choice *c = choices->items;

    for (size_t i = 0; i < choices->count; i++) {
        struct json_path item = json_path_index(&list, i),
                         value = json_path_key(&item, STR("value")),
                         localizations = json_path_key(&item, STR("name_localizations"));

        validate_choice_value(&call->form, &value, &c[i].value, it->focused_type);
        validate_choice_localizations(&call->form, &localizations, &c[i].name_localizations.value);
    }
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

struct choices_event {
    struct list choices;
    struct opt_str nonce;
};

static const struct field choice_fields[] = {
    { FIELD(struct command_choice, name), .type = &type_choice_name },
    { FIELD(struct command_choice, name_localized), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct command_choice, value), .type = &type_choice_value },
    { 0 },
};
static const struct schema choice_schema = {
    .size = sizeof(struct command_choice),
    .fields = choice_fields,
};
static const struct type type_event_choice = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type type_event_choices = { .kind = KIND_ARRAY, .of = &type_event_choice };
static const struct field choices_event_fields[] = {
    { FIELD(struct choices_event, choices), .type = &type_event_choices },
    { FIELD(struct choices_event, nonce), .type = &type_raw, .flags = NULLABLE },
    { 0 },
};
static const struct schema choices_event_schema = { .size = sizeof(struct choices_event),
                                                    .fields = choices_event_fields };

/* Emits the choices to the user. If the app has localized their names, the user's locale
 * decides. */
void emit_autocomplete_choices(struct call *call, const struct interaction *it,
                               const struct list *choices)
{
    const struct command_choice *c = choices->items;
    struct choices_event event = { .nonce = it->nonce };

    for (size_t i = 0; i < choices->count; i++) {
        struct command_choice *copy = list_append(call->arena, &event.choices, sizeof *copy);

        *copy = c[i];
        command_choice_localize(copy, it->locale, COMMAND_FORM_LIST);
    }
    emit_event_to_invoking_user(call, it, EVENT_APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE,
                                &choices_event_schema, &event);
}
