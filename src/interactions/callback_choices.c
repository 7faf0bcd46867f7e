/* callback_choices.c - autocomplete choices: validation and the event to the user. */
#include "interactions/answers.h"

#include "base/utf8.h"
#include "json/read.h"

enum { MOST_TEXT = 100, MOST_NAME = 100 };
#define MOST_NUMBER 9007199254740992.0 /* 2^53 */

static bool is_number_of(const struct json_number *n, int64_t type)
{
    const int64_t most = INT64_C(1) << 53;

    /* Compare the integer as well, because the double may be rounded to the limit. */
    if (n->kind == NUMBER_INT && (n->i > most || n->i < -most))
        return false;
    if (!(n->d >= -MOST_NUMBER && n->d <= MOST_NUMBER))
        return false;
    return type == OPTION_NUMBER || (double)(int64_t)n->d == n->d;
}

static void check_value(struct form *form, const struct place *at, const struct str *json,
                        int64_t type)
{
    struct json_reader r;
    struct json_number number;
    struct str text;

    json_reader_init(&r, *json, form->arena);
    if (type == OPTION_STRING) {
        if (json_peek(&r) != JSON_STRING || !json_take_string(&r, &text))
            form_fail(form, at, FORM_NOT_STRING, STR_FMT(form_quote(*json)));
        else if (utf8_length(text) > MOST_TEXT)
            form_fail(form, at, FORM_MAX_LENGTH, (long long)MOST_TEXT);
        return;
    }
    if (json_peek(&r) == JSON_NUMBER && json_take_number(&r, &number) &&
        is_number_of(&number, type))
        return;
    if (type == OPTION_INTEGER)
        form_fail(form, at, FORM_NOT_INT, STR_FMT(form_quote(*json)));
    else
        form_fail(form, at, FORM_NOT_FLOAT, STR_FMT(form_quote(*json)));
}

static void check_words(struct form *form, const struct place *here, const struct list *words)
{
    const struct pair *w = words->items;

    for (size_t i = 0; i < words->count; i++) {
        struct place at = place_key(here, w[i].key);
        size_t n = utf8_length(w[i].value);

        if (!locale_bit(w[i].key))
            form_fail(form, &at, FORM_CHOICES, "There is no such locale.");
        else if (n < 1 || n > MOST_NAME)
            form_fail(form, &at, FORM_BAD_LENGTH, 1LL, (long long)MOST_NAME);
    }
}

enum err choices_check(struct call *call, const struct interaction *it, const struct list *choices)
{
    struct place data = place_key(NULL, STR("data")), list = place_key(&data, STR("choices"));
    const struct command_choice *c = choices->items;

    for (size_t i = 0; i < choices->count; i++) {
        struct place item = place_index(&list, i), value = place_key(&item, STR("value")),
                     words = place_key(&item, STR("name_localizations"));

        check_value(&call->form, &value, &c[i].value, it->focused_type);
        check_words(&call->form, &words, &c[i].name_localizations.value);
    }
    return form_failed(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

struct choices_told {
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
static const struct type type_told_choice = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type type_told_choices = { .kind = KIND_ARRAY, .of = &type_told_choice };
static const struct field told_fields[] = {
    { FIELD(struct choices_told, choices), .type = &type_told_choices },
    { FIELD(struct choices_told, nonce), .type = &type_raw, .flags = NULLABLE },
    { 0 },
};
static const struct schema told_schema = { .size = sizeof(struct choices_told),
                                           .fields = told_fields };

/* Emits the choices in the user's locale, where the app has localized names. */
void choices_tell(struct call *call, const struct interaction *it, const struct list *choices)
{
    const struct command_choice *c = choices->items;
    struct choices_told told = { .nonce = it->nonce };

    for (size_t i = 0; i < choices->count; i++) {
        struct command_choice *copy = list_add(call->arena, &told.choices, sizeof *copy);

        *copy = c[i];
        choice_localize(copy, it->locale, COMMAND_LISTED);
    }
    interaction_tell(call, it, EVENT_APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE, &told_schema,
                     &told);
}
